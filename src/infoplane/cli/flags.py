"""How commands declare their options: flag, type, and its sentence in the help. What follows from the type need not be said.

A number is called N or NUMBER, a default is in the help, columns are split at commas; a file that is to be written is looked at before any
work: whether its ending is known, the place can be written to, and what it needs is installed. Python reads ``1_0`` as 10, and the digits
of every script: a label, or a slip of the finger, would become a number without a word. Here neither is one.
"""

from __future__ import annotations

import csv
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..checks import extra
from ..joint.binning import CALENDAR
from ..view.drawing import require_matplotlib


def number_of(text: str) -> float:
    """A number in ASCII and without underscores, or a ValueError."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not written as a number")
    return float(text)


def whole_number_of(text: str) -> int:
    """A whole number, as `number_of`."""
    number_of(text)
    return int(text)


class Parsed(click.ParamType):  # type: ignore[type-arg]  # click says what one converts to since 8.4 only
    """A value of an option that is more than click's own types."""


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


class Numbers(Parsed):
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


class Grid(Parsed):
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


class NumberOr(Parsed):
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


F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]

METAVARS: dict[Any, str] = {bool: "true|false", Whole: "N", Number: "NUMBER"}
"""What a value is called in the help."""

COUNT = Whole(min=1)

PATH = click.Path(path_type=Path)

TABLES = (".csv", ".parquet")
"""Endings of tables that are written."""

ARCHIVES = (*TABLES, ".npz")
"""Endings of what `Frontier.load` may read again, and of tables."""

PICTURES = (".png", ".svg", ".pdf")

PAGES = (".html",)


def option(flag: str, kind: Any, text: str, *, name: str | None = None, **more: Any) -> Decorator[Any]:
    """An option, ``--flag`` of some type, with its sentence; ``name`` is the argument's, if it is not the flag's."""
    called = kind.name if isinstance(kind, NumberOr) else METAVARS.get(kind if isinstance(kind, type) else type(kind))
    more = {"metavar": called, "show_default": more.get("default") not in (None, ()), **more}
    return click.option(flag, *([] if name is None else [name]), type=kind, help=text, **more)


def switch(flag: str, text: str, name: str | None = None) -> Decorator[Any]:
    """An option without a value."""
    return click.option(flag, *([] if name is None else [name]), is_flag=True, help=text)


def several(*options: Decorator[Any]) -> Decorator[Any]:
    """One decorator for several options, which the help lists in the order given."""

    def decorate(command: F) -> F:
        for one in reversed(options):
            command = one(command)
        return command

    return decorate


def flag_of(name: str) -> str:
    """``max_cells`` as it is typed: ``--max-cells``."""
    return "--" + name.replace("_", "-")


def taken(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The named options, taken out of a command's other options."""
    return {name: options.pop(name) for name in names}


class ColumnNames(Parsed):
    """Names separated by commas; a name that contains a comma is put in double quotes."""

    name = "COLS"

    def convert(self, value: Any, param: Asked, ctx: Within) -> tuple[str, ...]:
        """The names."""
        if isinstance(value, tuple):
            return value
        names = tuple(name.strip() for name in next(csv.reader([value], skipinitialspace=True), []))
        if not names or not all(names):
            self.fail(f"expected column names separated by commas, found {value!r}.", param, ctx)
        return names


def columns(flag: str, text: str, *, name: str | None = None, required: bool = False) -> Decorator[Any]:
    """An option that names columns; none, unless it is ``required``."""
    more: dict[str, Any] = {"required": True} if required else {"default": ()}
    return option(flag, ColumnNames(), text, name=name, **more)


class Written(click.Path):
    """A file to be written: a usage error, before any work, if that cannot be."""

    def __init__(self, endings: tuple[str, ...]) -> None:
        super().__init__(path_type=Path)
        self.endings = endings

    def convert(self, value: Any, param: Asked, ctx: Within) -> Any:
        """The path, looked at."""
        path: Any = super().convert(value, param, ctx)
        check_target(path, "the file" if param is None else param.opts[0], self.endings)
        return path


def written(flag: str, endings: tuple[str, ...], text: str, **more: Any) -> Decorator[Any]:
    """An option that names a file to be written."""
    return option(flag, Written(endings), text, **more)


def check_target(path: Path, flag: str, endings: tuple[str, ...]) -> None:
    """A usage error if a file of that name cannot be written, an error if what it needs is not installed."""
    kind = path.suffix.lower()
    if kind not in endings:
        raise click.UsageError(f"{flag} must end in {', '.join(endings)}; found {path.name!r}.")
    if path.is_dir():
        raise click.UsageError(f"{flag} names a directory, {path}.")
    check_directory(path.parent, flag)
    if kind == ".parquet":
        extra("pyarrow.parquet", "Parquet files need pyarrow", "parquet")
    elif kind in PICTURES:
        require_matplotlib()


def check_directory(directory: Path, flag: str) -> None:
    """A usage error if no file can be made in the directory, which is tried with a temporary one."""
    try:
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise click.UsageError(f"{flag}: nothing can be written to {directory}: {error.strerror}.") from error


def made_directory(out: Path) -> None:
    """The directory of ``--out``, made if it is not there; a usage error if nothing can be written to it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"--out: {out} cannot be made a directory: {error.strerror}.") from error
    check_directory(out, "--out")


def _bin_rules(_context: click.Context, parameter: click.Parameter, values: Any) -> dict[str, int | str]:
    """Each COLUMN:N, or COLUMN:year and the like; a column's name may contain colons."""
    found: dict[str, int | str] = {}
    for value in values:
        name, _, rule = value.rpartition(":")
        name, rule = name.strip().strip('"'), rule.strip()
        count = int(rule) if rule.isdecimal() and rule.isascii() else 0
        if not name or not (count or rule in CALENDAR):
            raise click.BadParameter(
                f"expected COLUMN:N such as age:5, or COLUMN:{', COLUMN:'.join(CALENDAR)} for dates; found {value!r}.",
                param=parameter,
            )
        if name in found:
            raise click.BadParameter(f"the column {name!r} is binned twice.", param=parameter)
        found[name] = count or rule
    return found


bins = option(
    "--bin",
    str,
    "Put the numbers or dates of a column into N bins of about equal mass, such as age:5, or dates by year, month or weekday, such as "
    "born:year; may be repeated.",
    name="bins",
    multiple=True,
    callback=_bin_rules,
    metavar="COL:N",
)

complete_rows = option(
    "--missing",
    click.Choice(["error", "category"]),
    "An empty cell is refused, or is the label 'missing'.",
    default="error",
)

as_json = switch("--json", "One JSON object on stdout, instead of a table.", "as_json")
