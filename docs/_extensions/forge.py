"""Links and pictures that a forge understands, as the site has them.

A forge shows scripts and the pages beside `docs/`, and draws Mermaid. In the site a script is its page in the gallery, the pages at the
root are pages like the others, and the picture of the modules is a table.
"""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx import addnodes

import infoplane as ip

SHOWN = {
    "reference/changes": "CHANGELOG.md",
    "reference/conduct": "CODE_OF_CONDUCT.md",
    "reference/contributing": "CONTRIBUTING.md",
    "reference/security": "SECURITY.md",
}
"""Pages of the site that show a page beside docs/, whole."""

PUBLIC = {*ip.__all__, *ip._EXTRAS}

BELOW = {"benchmarks/README": "*", "reproduction/report": "appendix-*"}
"""Pages that scripts write, and those that hang below them in the site."""

BOX = re.compile(r'^\s*(\w+)\["(.*?)<br/><i>(.*?)</i>"\]', re.MULTILINE)


def in_site(path: str) -> str | None:
    """The page of the site, from docs/, that shows a path of the repository; None for what is shown as it is."""
    if script := re.fullmatch(r"examples(?:/([\w/]+)\.py)?", path):
        return f"gallery/{script[1] or 'index'}.rst"
    return next((f"{page}.md" for page, root in SHOWN.items() if root == path), None)


def prepare(app: Any, name: str, source: list[str]) -> None:
    """A page as the site shows it."""
    folder = text_folder = os.path.dirname(name)
    text = source[0]
    if name in SHOWN:
        path = Path(app.srcdir).parent / SHOWN[name]
        app.env.note_dependency(path)
        text, text_folder = path.read_text(encoding="utf-8"), ".."

    def moved(found: re.Match[str]) -> str:
        path = os.path.normpath(os.path.join("docs", text_folder, found[1]))
        target = in_site(path) or os.path.relpath(path, "docs")
        return f"]({os.path.relpath(target, folder or '.')}{found[2] or ''})"

    text = re.sub(r"\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)", moved, text)
    if name in BELOW:
        text += f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{BELOW[name]}\n```\n"
    source[0] = text.replace("```mermaid", "```{mermaid}")


def link_names(app: Any, doctree: nodes.document) -> None:
    """`ip.solve` or `ip.solve(...)` in running text leads to its page of the reference."""
    for literal in list(doctree.findall(nodes.literal)):
        named = re.match(r"ip\.(\w+)(?:\.\w+)*(?:\(|$)", literal.astext())
        if named and named[1] in PUBLIC and not isinstance(literal.parent, nodes.reference | addnodes.pending_xref):
            link = addnodes.pending_xref(
                "",
                refdomain="py",
                reftype="obj",
                reftarget=f"infoplane.{named[1]}",
                refdoc=app.env.docname,
                refexplicit=True,
            )
            literal.replace_self(link)
            link += literal


class Mermaid(Directive):
    """A flowchart as a table: each box, what it says, and the boxes that lead to it."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content)
        boxes = {key: (title, says) for key, title, says in BOX.findall(text)}
        before: dict[str, list[str]] = {key: [] for key in boxes}
        for line in text.splitlines():
            chain = re.split(r"\s*-(?:->|\..*?\.->)\s*", line.strip())
            for first, second in itertools.pairwise(chain):
                before[second].append(first)
        table = nodes.table(classes=["modules"])
        group = nodes.tgroup(cols=3)
        group += [nodes.colspec(colwidth=width) for width in (30, 50, 20)]
        group += nodes.thead("", _row(["modules", "what they are", "after"], literal=False))
        body = nodes.tbody()
        for key, (title, says) in boxes.items():
            body += _row([title, says, ", ".join(before[key])])
        table += [group]
        group += body
        return [table]


def _row(cells: list[str], literal: bool = True) -> nodes.row:
    row = nodes.row()
    for number, text in enumerate(cells):
        paragraph = nodes.paragraph()
        if literal and number == 0:
            for name in text.split():
                paragraph += [nodes.literal(text=name), nodes.Text(" ")]
        else:
            paragraph += nodes.Text(text)
        row += nodes.entry("", paragraph)
    return row


def setup(app: Any) -> dict[str, Any]:
    app.connect("source-read", prepare)
    app.connect("doctree-read", link_names)
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True}
