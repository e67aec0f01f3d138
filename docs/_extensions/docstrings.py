"""Docstrings of the library as reStructuredText.

They are written to be read as they are: |Z| is a size, W_x a letter with its index, and a formula stands on lines of its own, indented.
Here bars and underscores lose the meaning that reStructuredText gives them, such formulas become literal blocks, and pages that are named
become links.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from infoplane.solvers import registry

LITERAL = re.compile(r"(``.+?``|`[^`]+`)")
UNDERLINE = re.compile(r"^\s*-{3,}\s*$")


def plain(line: str) -> str:
    """One line of running text: escaped outside of its backticks, with links to the pages that it names."""
    parts = LITERAL.split(line)
    parts[::2] = [re.sub(r"(?<=\w)_(?!\w)|\|", r"\\\g<0>", part) for part in parts[::2]]
    return re.sub(r"\bdocs/([\w/-]+)\.md\b", r":doc:`/\1`", "".join(parts))


def prepare(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    said = registry.__test__.get(name.rpartition(".")[2]) if what == "data" else None
    if said is not None:
        lines[:] = inspect.cleandoc(said).splitlines()
    made: list[str] = []
    sections = formula = example = False
    for number, line in enumerate(lines):
        blank = not line.strip()
        if number + 1 < len(lines) and UNDERLINE.match(lines[number + 1]):
            sections = True
        if line.lstrip().startswith(">>>"):
            example = True
        elif blank:
            example = False
        indented = line.startswith("    ") and not sections
        if indented and not formula and made and not made[-1].strip():
            made += ["::", ""]
            formula = True
        elif not blank and not indented:
            formula = False
        verbatim = formula or example or blank or UNDERLINE.match(line) or line.lstrip().startswith("..")
        made.append(line if verbatim else plain(line))
    lines[:] = made


def setup(app: Any) -> dict[str, Any]:
    # Before numpydoc, which reads the sections.
    app.connect("autodoc-process-docstring", prepare, priority=100)
    return {"parallel_read_safe": True}
