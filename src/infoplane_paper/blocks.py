"""A report as a list of blocks, each as Markdown and as HTML; the HTML is one self-contained page."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple


class Block(NamedTuple):
    """A part of a report, in both languages."""

    markdown: str
    html: str


def heading(level: int, words: str) -> Block:
    """A heading; level 1 is the title."""
    return Block(f"{'#' * level} {words}", f"<h{level}>{escape(words)}</h{level}>")


def text(words: str) -> Block:
    """A paragraph."""
    return Block(words, f"<p>{escape(words)}</p>")


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
    return Block(f"![{alt}]({file.name})", f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}">')


STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1080px; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; } td, th { padding: .25em .7em; border-bottom: 1px solid #ddd; text-align: left;
vertical-align: top; } pre { background: #f6f6f6; padding: .7em; white-space: pre-wrap; font-size: 12px; } img { max-width: 100%; }
h2 { margin-top: 2em; border-top: 1px solid #ccc; padding-top: 1em; }
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
