"""Numbers as people write them, in tables and on the command line: one, several, a grid.

Python reads ``1_0`` as 10, and the digits of every script: a label, or a slip of the finger, would become a number without a word.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click


def number_of(text: str) -> float:
    """A number in ASCII and without underscores, or a ValueError."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not written as a number")
    return float(text)


def whole_number_of(text: str) -> int:
    """A whole number, as `number_of`."""
    number_of(text)
    return int(text)


if TYPE_CHECKING:
    from click import ParamType as ParamType
else:

    class ParamType(click.ParamType):
        """click's own, which says what it converts to since 8.4 only."""

        def __class_getitem__(cls, _converted):
            return cls


Asked = click.Parameter | None
Within = click.Context | None


class Number(click.types.FloatParamType):
    """A number, from ``least`` on, as an option's type."""

    def __init__(self, least: float = -math.inf) -> None:
        self.least = least

    def convert(self, value: Any, param: Asked, ctx: Within) -> Any:
        """The text as a number; what is one already stays."""
        found = super().convert(_plain(self, value, param, ctx), param, ctx)
        return _at_least(self.least, found, self, param, ctx)


class Whole(click.IntRange):
    """A whole number, from ``min`` on."""

    def convert(self, value: Any, param: Asked, ctx: Within) -> Any:
        """The text as a whole number; what is one already stays."""
        return super().convert(_plain(self, value, param, ctx), param, ctx)


def _plain(kind: click.ParamType[Any], value: Any, param: Asked, ctx: Within) -> Any:
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        kind.fail(f"{value!r} is not a number; write it in digits, without underscores.", param, ctx)
    return value


class Numbers(ParamType[tuple[float, ...]]):
    """Numbers separated by commas, each from ``least`` on."""

    name = "NUMBERS"

    def __init__(self, count: int | None = None, least: float = -math.inf) -> None:
        self.count, self.least = count, least

    def convert(self, value: Any, param: Asked, ctx: Within) -> tuple[float, ...]:
        """Each part as a number."""
        if isinstance(value, tuple):
            return value
        parts = (_finite(part, self, param, ctx) for part in str(value).split(","))
        numbers = tuple(_at_least(self.least, part, self, param, ctx) for part in parts)
        if self.count is not None and len(numbers) != self.count:
            self.fail(f"expected {self.count} numbers separated by commas, found {value!r}.", param, ctx)
        return numbers


class Grid(ParamType[tuple[float, float, int]]):
    """LOW:HIGH:COUNT, a geometric grid."""

    name = "LOW:HIGH:COUNT"

    def convert(self, value: Any, param: Asked, ctx: Within) -> tuple[float, float, int]:
        """The two ends and the number of points."""
        if isinstance(value, tuple):
            return value
        parts = str(value).split(":")
        if len(parts) != 3:
            self.fail(f"expected LOW:HIGH:COUNT such as 0.1:1:16, found {value!r}.", param, ctx)
        low, high = (_finite(part, self, param, ctx) for part in parts[:2])
        if not 0.0 < low <= high:
            self.fail(f"expected 0 < LOW <= HIGH, found LOW = {low:g} and HIGH = {high:g}.", param, ctx)
        if not (parts[2].strip().isdecimal() and parts[2].isascii()) or int(parts[2]) < 1:
            self.fail(f"COUNT must be a positive whole number, found {parts[2]!r}.", param, ctx)
        return low, high, int(parts[2])


class NumberOr(ParamType[float | str]):
    """A number, or one of some words."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words, self.name = words, "|".join((*words, "NUMBER"))

    def convert(self, value: Any, param: Asked, ctx: Within) -> float | str:
        """The word as it is, anything else as a number."""
        return value if value in self.words else _finite(str(value), self, param, ctx)


def _at_least(least: float, number: float, kind: click.ParamType[Any], param: Asked, ctx: Within) -> float:
    if number < least:
        kind.fail(f"expected {least:g} or more, found {number:g}.", param, ctx)
    return number


def _finite(text: str, kind: click.ParamType[Any], param: Asked, ctx: Within) -> float:
    try:
        number = number_of(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        kind.fail(f"expected a finite number, found {text!r}.", param, ctx)
    return number
