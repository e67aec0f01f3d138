"""Numbers and labels as people read them: in representations, tables, messages and pages."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Hashable, Sequence

SHOWN_ROWS = 20
"""Parameters, or clusters, that a notebook or the command line shows: about a screen."""


def counted(count: int, word: str) -> str:
    """A number and what it counts: ``1 cluster``, ``2 clusters``."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def rounded(value: float, digits: int = 6) -> str:
    """A number with ``digits`` decimals, and no minus sign before zeros."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def label_text(label: Hashable, longest: int = 120) -> str:
    """A label as text, at most so many characters of it: the values of a tuple with commas between them."""
    text = ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
    return shortened(shown(text), longest)


def alternatives(name: str, names: Sequence[str]) -> str:
    """What might have been meant by a name that is none of these: all of them if they are few, else the nearest, and how many there are.

    Examples
    --------
    >>> alternatives("aeg", ["age", "job"])
    "one of 'age', 'job' (did you mean 'age'?)"
    >>> alternatives("g7", [f"gene{i}" for i in range(100_000)] + ["g17"])
    "one of 100,001 names; the nearest is 'g17'"
    """
    if len(names) <= 12:
        listed = ", ".join(repr(shortened(one)) for one in names)
        return f"one of {listed}{did_you_mean(name, names)}" if names else "some, and there are none"
    near = difflib.get_close_matches(name, names, 5)
    listed = f"the nearest {'is' if len(near) == 1 else 'are'}" if near else "the first are"
    return f"one of {len(names):,} names; {listed} {', '.join(repr(shortened(one)) for one in near or names[:5])}"


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
