"""HTML for notebooks: a heading and a table of facts, every text escaped, in the colours of whatever page shows it.

No colour is set but shades of the text's own (``currentColor``), so that the same markup can be read on a light and on a dark page.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence

_LINE = "border-bottom:1px solid color-mix(in srgb, currentColor 18%, transparent);"
_CELL = f"padding:2px 14px 2px 0;vertical-align:top;text-align:left;background:none;color:inherit;{_LINE}"
_NUMBER = _CELL.replace("text-align:left", "text-align:right") + "font-variant-numeric:tabular-nums;"


def page(title: str, *parts: str) -> str:
    """A titled block; ``parts`` are HTML already."""
    return f'<div style="color:inherit"><div style="font-weight:600;margin:2px 0 4px">{_text(title)}</div>{"".join(parts)}</div>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Two columns: what it is, and its value."""
    body = "".join(
        f'<tr style="background:none"><th scope="row" style="{_CELL}font-weight:400;opacity:.75">{_text(name)}</th>'
        f'<td style="{_CELL}">{_text(value)}</td></tr>'
        for name, value in rows
    )
    return f'<table style="border-collapse:collapse;margin:0 0 6px">{body}</table>'


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[str] = ()) -> str:
    """A table with a header; columns are aligned to the right unless named in ``left``."""
    styles = [_CELL if name in left else _NUMBER for name in header]
    head = "".join(
        f'<th scope="col" style="{style}">{_text(name)}</th>' for name, style in zip(header, styles, strict=True)
    )
    body = "".join(
        '<tr style="background:none">'
        + "".join(f'<td style="{style}">{_text(cell)}</td>' for cell, style in zip(row, styles, strict=True))
        + "</tr>"
        for row in rows
    )
    head = f'<thead><tr style="background:none">{head}</tr></thead>'
    return f'<table style="border-collapse:collapse;margin:0 0 6px">{head}<tbody>{body}</tbody></table>'


def image(png: bytes, words: str) -> str:
    """A picture, and what a reader says of it."""
    data = base64.b64encode(png).decode()
    return f'<img alt="{_text(words)}" style="max-width:100%;height:auto" src="data:image/png;base64,{data}">'


def note(text: str) -> str:
    """A paragraph in small letters."""
    return f'<p style="margin:2px 0;font-size:90%;opacity:.85">{_text(text)}</p>'


def _text(text: str) -> str:
    # Half a surrogate pair, which a label may hold, has no UTF-8.
    return html.escape(text.encode("utf-8", "backslashreplace").decode())
