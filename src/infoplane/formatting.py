"""Numbers and labels as people read them, in representations, tables, messages and pages; and HTML for notebooks.

In HTML every text is escaped, and no colour is set but shades of the text's own (``currentColor``), so that it can be read on a light and
on a dark page.
"""

from __future__ import annotations

import base64
import difflib
import html
import unicodedata
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

SHOWN_ROWS = 20
"""Parameters, or clusters, that a notebook or the command line shows: about a screen."""


def counted(count: int, word: str) -> str:
    """A number and what it counts: ``1 cluster``, ``2 clusters``."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def rounded(value: float, digits: int = 6) -> str:
    """A number with ``digits`` decimals, and no minus sign before zeros."""
    return f"{value:z.{digits}f}"


def filled(columns: Mapping[str, str], records: Iterable[Mapping[Any, Any]]) -> list[dict[str, str]]:
    """Records as rows of a table: what the format of each column makes of them.

    Examples
    --------
    >>> filled({"who": "{name}", "share": "{p:.0%}"}, [{"name": "a", "p": 0.25}])
    [{'who': 'a', 'share': '25%'}]
    """
    return [{name: text.format_map(record) for name, text in columns.items()} for record in records]


def label_text(label: Hashable, longest: int = 120) -> str:
    """A label as text, at most so many characters of it: the values of a tuple with commas between them."""
    text = ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
    return shortened(shown(text), longest)


def alternatives(name: str, names: Sequence[str]) -> str:
    """What might have been meant by a name that is none of these, as `offered`.

    Examples
    --------
    >>> alternatives("aeg", ["age", "job"])
    "one of 'age', 'job' (did you mean 'age'?)"
    """
    return f"one of {offered(name, names)}" if names else "some, and there are none"


def offered(name: str, names: Sequence[str]) -> str:
    """Names among which one is not: all of them if they are few, else the nearest, and how many there are.

    Examples
    --------
    >>> offered("g7", [f"gene{i}" for i in range(100_000)] + ["g17"])
    "100,001 names; the nearest is 'g17'"
    """
    if len(names) <= 12:
        return (", ".join(repr(shortened(one)) for one in names) or "none") + did_you_mean(name, names)
    near = difflib.get_close_matches(name, names, 5)
    listed = f"the nearest {'is' if len(near) == 1 else 'are'}" if near else "the first are"
    return f"{len(names):,} names; {listed} {', '.join(repr(shortened(one)) for one in near or names[:5])}"


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """The nearest of the names, as a question in brackets after a list of them; nothing if none is near.

    Examples
    --------
    >>> did_you_mean("haert", ["heart", "colours"])
    " (did you mean 'heart'?)"
    """
    folded = {one.casefold(): one for one in names}
    near = difflib.get_close_matches(name.casefold(), folded, 1)
    return f" (did you mean {shortened(folded[near[0]])!r}?)" if near else ""


def shown(text: object) -> str:
    r"""Text from elsewhere, such as a label or the name of a file, as it may be printed: what commands a terminal is spelled out.

    Those are the control characters (``\x1b`` begins most commands), and the invisible ones that reorder text or hide in it. A line break
    or a tab becomes visible too, since it would break a table.

    Examples
    --------
    >>> print(shown("age\x1b[2J"))
    age\x1b[2J
    """
    said = str(text)
    return said if said.isprintable() else "".join(map(_visible, said))


def shown_lines(text: str) -> str:
    """The same for text of several lines, which stay lines."""
    return text if text.isprintable() else "\n".join(map(shown, text.split("\n")))


def _visible(character: str) -> str:
    # `isprintable` counts every separator but the space as unprintable; these are wide or narrow spaces, and do no harm.
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode()


def shortened(text: str, longest: int = 120) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


_HTML_LINE = "border-bottom:1px solid color-mix(in srgb, currentColor 18%, transparent);"
_HTML_CELL = f"padding:2px 14px 2px 0;vertical-align:top;text-align:left;background:none;color:inherit;{_HTML_LINE}"
_HTML_NUMBER = _HTML_CELL.replace("text-align:left", "text-align:right") + "font-variant-numeric:tabular-nums;"


def html_page(title: str, *parts: str) -> str:
    """A titled block; ``parts`` are HTML already."""
    return f'<div style="color:inherit"><div style="font-weight:600;margin:2px 0 4px">{_escaped(title)}</div>{"".join(parts)}</div>'


def html_facts(rows: Iterable[tuple[str, str]]) -> str:
    """Two columns: what it is, and its value."""
    body = "".join(
        f'<tr style="background:none"><th scope="row" style="{_HTML_CELL}font-weight:400;opacity:.75">{_escaped(name)}</th>'
        f'<td style="{_HTML_CELL}">{_escaped(value)}</td></tr>'
        for name, value in rows
    )
    return f'<table style="border-collapse:collapse;margin:0 0 6px">{body}</table>'


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[str] = ()) -> str:
    """A table with a header; columns are aligned to the right unless named in ``left``."""
    styles = [_HTML_CELL if name in left else _HTML_NUMBER for name in header]
    head = "".join(
        f'<th scope="col" style="{style}">{_escaped(name)}</th>' for name, style in zip(header, styles, strict=True)
    )
    body = "".join(
        '<tr style="background:none">'
        + "".join(f'<td style="{style}">{_escaped(cell)}</td>' for cell, style in zip(row, styles, strict=True))
        + "</tr>"
        for row in rows
    )
    head = f'<thead><tr style="background:none">{head}</tr></thead>'
    return f'<table style="border-collapse:collapse;margin:0 0 6px">{head}<tbody>{body}</tbody></table>'


def html_image(png: bytes, words: str) -> str:
    """A picture, and what a reader says of it."""
    data = base64.b64encode(png).decode()
    return f'<img alt="{_escaped(words)}" style="max-width:100%;height:auto" src="data:image/png;base64,{data}">'


def html_note(text: str) -> str:
    """A paragraph in small letters."""
    return f'<p style="margin:2px 0;font-size:90%;opacity:.85">{_escaped(text)}</p>'


def _escaped(text: str) -> str:
    # Half a surrogate pair, which a label may hold, has no UTF-8.
    return html.escape(text.encode("utf-8", "backslashreplace").decode())
