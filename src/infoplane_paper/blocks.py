"""A report as a list of blocks, each as Markdown and as HTML; the HTML is one self-contained page."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple


class Block(NamedTuple):
    """A part of a report, in both languages."""

    markdown: str
    html: str


MARKS = {
    r"`([^`]+)`": r"<code>\1</code>",
    r"\*\*(.+?)\*\*": r"<strong>\1</strong>",
    r"\[([^\]]+)\]\(([\w.-]+)\)": r'<a href="\2">\1</a>',
}
"""Of Markdown inside a paragraph, and what each becomes in HTML."""


def heading(level: int, words: str) -> Block:
    """A heading; level 1 is the title."""
    return Block(f"{'#' * level} {words}", f"<h{level}>{escape(words)}</h{level}>")


def text(words: str) -> Block:
    """A paragraph; `code`, **bold** and [links](to) of Markdown are what they are in HTML, too."""
    tags = escape(words, quote=False)
    for mark, tag in MARKS.items():
        tags = re.sub(mark, tag, tags)
    return Block(words, f"<p>{tags}</p>")


def items(words: Iterable[str]) -> Block:
    """A bulleted list."""
    said = list(words)
    return Block(
        "\n".join(f"- {one}" for one in said), f"<ul>{''.join(f'<li>{escape(one)}</li>' for one in said)}</ul>"
    )


def python(lines: str) -> Block:
    """Python code."""
    return Block(f"```python\n{lines}\n```", f"<pre>{escape(lines)}</pre>")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Block:
    """A table."""
    body = list(rows)
    lines = [columns, ["---"] * len(columns), *body]
    tags = ["".join(f"<th>{escape(cell)}</th>" for cell in columns)]
    tags += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in body]
    return Block(
        "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines),
        f"<table>{''.join(f'<tr>{line}</tr>' for line in tags)}</table>",
    )


def picture(file: Path, alt: str) -> Block:
    """A PNG file in the folder of the report: a link in Markdown, the picture itself in HTML."""
    data = base64.b64encode(file.read_bytes()).decode()
    shown = f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}">'
    return Block(f"![{alt}]({file.name})", f'<a href="{file.name}">{shown}</a>')


def beside(left: Sequence[Block], right: Block) -> Block:
    """Some blocks, small, and what they belong to on their right; in Markdown one after another."""
    tags = "\n".join(one.html for one in left)
    return Block(markdown([*left, right]).rstrip("\n"), f'<div class="beside"><div>{tags}</div>\n{right.html}</div>')


STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1240px; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; } td, th { padding: .25em .7em; border-bottom: 1px solid #ddd; text-align: left;
vertical-align: top; } pre { background: #f6f6f6; padding: .7em; white-space: pre-wrap; font-size: 12px; } img { max-width: 100%; }
h2 { margin: 1.2em 0 .3em; border-top: 1px solid #ccc; padding-top: .6em; font-size: 1.25em; }
.beside { display: grid; grid-template-columns: 2fr 3fr; gap: 0 1.5em; align-items: start; font-size: 13px; line-height: 1.4; }
.beside table { margin: 0; width: 100%; } .beside th:nth-child(2) { width: 42%; }
@media screen and (max-width: 800px) { .beside { display: block; } }
@media print { @page { size: A4; margin: 8mm; } body { font-size: 7pt; line-height: 1.2; max-width: none; margin: 0; padding: 0; }
.beside { font-size: 6pt; line-height: 1.15; grid-template-columns: 3fr 7fr; gap: 0 1em; } p, table { margin: .2em 0; }
td, th { padding: 0 4px 1px; } h1 { font-size: 12pt; margin: 0; } tr, img { break-inside: avoid; }
h2 { margin-top: .3em; padding-top: .2em; font-size: 8pt; break-after: avoid; } }
""".strip()


def markdown(blocks: Sequence[Block]) -> str:
    """Markdown, with pictures as links to the files beside it."""
    return "\n\n".join(block.markdown for block in blocks) + "\n"


def html_page(blocks: Sequence[Block], title: str) -> str:
    """One HTML page that contains its pictures."""
    body = "\n".join(block.html for block in blocks)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )
