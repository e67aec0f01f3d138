"""Numbers as people write them, in tables and on the command line.

Python reads ``1_0`` as 10, and the digits of every script: a label, or a slip of the finger, would become a number without a word.
"""

from __future__ import annotations

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


class Number(click.types.FloatParamType):
    """A number, as an option's type."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The text as a number; what is one already stays."""
        return super().convert(_plain(self, value, param, ctx), param, ctx)


class Whole(click.IntRange):
    """A whole number, from ``min`` on."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The text as a whole number; what is one already stays."""
        return super().convert(_plain(self, value, param, ctx), param, ctx)


def _plain(kind: click.ParamType[Any], value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        kind.fail(f"{value!r} is not a number; write it in digits, without underscores.", param, ctx)
    return value
