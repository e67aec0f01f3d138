"""A report as a list of blocks, and the blocks as Markdown or as one self-contained HTML page."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title."""

    level: int
    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Items:
    """A bulleted list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Code:
    """Python code."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """A PNG file in the folder of the report."""

    file: str
    alt: str


Block = Heading | Text | Items | Code | Table | Picture


def markdown(blocks: Sequence[Block]) -> str:
    """Markdown, with pictures as links to the files beside it."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}"
        case Text(text):
            return text
        case Items(items):
            return "\n".join(f"- {item}" for item in items)
        case Code(text):
            return f"```python\n{text}\n```"
        case Table(columns, rows):
            lines = [columns, ["---"] * len(columns), *rows]
            return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
        case Picture(file, alt):
            return f"![{alt}]({file})"


STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1080px; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; } td, th { padding: .25em .7em; border-bottom: 1px solid #ddd; text-align: left;
vertical-align: top; } pre { background: #f6f6f6; padding: .7em; white-space: pre-wrap; font-size: 12px; } img { max-width: 100%; }
h2 { margin-top: 2em; border-top: 1px solid #ccc; padding-top: 1em; }
""".strip()


def html_page(blocks: Sequence[Block], title: str, folder: Path) -> str:
    """One HTML page that contains its pictures."""
    body = "\n".join(_html(block, folder) for block in blocks)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _html(block: Block, folder: Path) -> str:
    match block:
        case Heading(level, text):
            return f"<h{level}>{html.escape(text)}</h{level}>"
        case Text(text):
            return f"<p>{html.escape(text)}</p>"
        case Items(items):
            return f"<ul>{''.join(f'<li>{html.escape(item)}</li>' for item in items)}</ul>"
        case Code(text):
            return f"<pre>{html.escape(text)}</pre>"
        case Table(columns, rows):
            head = "".join(f"<th>{html.escape(cell)}</th>" for cell in columns)
            lines = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
            return f"<table><tr>{head}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
        case Picture(file, alt):
            data = base64.b64encode((folder / file).read_bytes()).decode()
            return f'<img alt="{html.escape(alt)}" src="data:image/png;base64,{data}">'
