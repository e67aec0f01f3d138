"""Numbers and labels as people read them: in representations, tables, messages and pages."""

from __future__ import annotations

from collections.abc import Hashable


def counted(count: int, word: str) -> str:
    """A number and what it counts: ``1 cluster``, ``2 clusters``."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def rounded(value: float, digits: int = 6) -> str:
    """A number with ``digits`` decimals, and no minus sign before zeros."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def label_text(label: Hashable, longest: int = 120) -> str:
    """A label as text, at most so many characters of it: the values of a tuple with commas between them."""
    text = ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
    return shortened(text, longest)


def shortened(text: str, longest: int = 120) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
