"""How commands declare their options: flag, type, and its sentence in the help. What follows from the type need not be said.

A number is called N or NUMBER, a default is in the help, columns are split at commas; a file that is to be written is looked at before any
work: whether its ending is known, its folder can be written to, and what it needs is installed. Python reads ``1_0`` as 10, and the digits
of every script: a label, or a slip of the finger, would become a number without a word. Here neither is one.

A command gets what it was asked as one record: ``asked.max_seconds`` is ``--max-seconds``.
"""

from __future__ import annotations

import csv
import math
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import SimpleNamespace
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


# -- types -------------------------------------------------------------------------------------------------------------


class _Plain(click.ParamType):  # type: ignore[type-arg]  # click says what one converts to since 8.4 only
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The text as a number; what is one already stays."""
        if isinstance(value, str) and ("_" in value or not value.isascii()):
            self.fail(f"{value!r} is not a number; write it in digits, without underscores.", param, ctx)
        return super().convert(value, param, ctx)


class Number(_Plain, click.types.FloatParamType):
    """A number, from ``least`` on."""

    def __init__(self, least: float = -math.inf) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The text as a number; what is one already stays."""
        found = super().convert(value, param, ctx)
        if found < self.least:
            self.fail(f"expected {self.least:g} or more, found {found:g}.", param, ctx)
        return found


class Whole(_Plain, click.IntRange):
    """A whole number, from ``min`` on."""


class Parsed(click.ParamType):  # type: ignore[type-arg]  # click says what one converts to since 8.4 only
    """What ``read`` makes of a text; the sentence of its ValueError is a usage error."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name, self.read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value; what is one already stays."""
        if not isinstance(value, str):
            return value
        try:
            return self.read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _finite(text: str) -> float:
    try:
        number = number_of(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"expected a finite number, found {text!r}.")
    return number


def numbers(count: int | None = None, least: float = -math.inf) -> Parsed:
    """Finite numbers separated by commas, so many or any, each from ``least`` on."""

    def read(text: str) -> tuple[float, ...]:
        found = tuple(map(_finite, text.split(",")))
        if low := [number for number in found if number < least]:
            raise ValueError(f"expected {least:g} or more, found {low[0]:g}.")
        if count not in (None, len(found)):
            raise ValueError(f"expected {count} numbers separated by commas, found {text!r}.")
        return found

    return Parsed("NUMBERS", read)


def number_or(words: tuple[str, ...]) -> Parsed:
    """A number, or one of some words."""
    return Parsed("|".join((*words, "NUMBER")), lambda text: text if text in words else _finite(text))


def _grid(text: str) -> tuple[float, float, int]:
    parts = text.split(":")
    if len(parts) != 3:
        raise ValueError(f"expected LOW:HIGH:COUNT such as 0.1:1:16, found {text!r}.")
    low, high = map(_finite, parts[:2])
    if not 0.0 < low <= high:
        raise ValueError(f"expected 0 < LOW <= HIGH, found LOW = {low:g} and HIGH = {high:g}.")
    if not (count := count_of(parts[2])):
        raise ValueError(f"COUNT must be a positive whole number, found {parts[2]!r}.")
    return low, high, count


def count_of(text: str) -> int:
    """A positive whole number in plain digits; 0 for any other text."""
    return int(text) if text.strip().isdecimal() and text.isascii() else 0


GRID = Parsed("LOW:HIGH:COUNT", _grid)


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True), []))
    if not names or not all(names):
        raise ValueError(f"expected column names separated by commas, found {text!r}.")
    return names


COLUMNS = Parsed("COLS", _names)
"""Names separated by commas; one that contains a comma is put in double quotes."""

COUNT = Whole(min=1)
BITS = Number(least=0.0)

# -- options -----------------------------------------------------------------------------------------------------------

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]

KINDS: dict[Any, Any] = {int: Whole(min=0), float: Number(), Path: click.Path(path_type=Path)}
"""Types by what they read."""

METAVARS: dict[Any, str] = {bool: "true|false", Whole: "N", Number: "NUMBER"}
"""What a value is called in the help, unless the flag says so."""


def option(flag: str, kind: Any, text: str, *, name: str | None = None, **more: Any) -> Decorator[Any]:
    """An option, ``--flag`` or ``--flag VALUE``, of some type, with its sentence; ``name`` is the argument's, if it is not the flag's."""
    kind, (flag, _, called) = KINDS.get(kind, kind), flag.partition(" ")
    usual = kind.name if isinstance(kind, Parsed) else METAVARS.get(kind if isinstance(kind, type) else type(kind))
    more = {"metavar": called or usual, "show_default": more.get("default") not in (None, ()), **more}
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


class Request(SimpleNamespace):
    """The arguments and options of a command by name."""

    def of(self, *names: str) -> dict[str, Any]:
        """Some of them."""
        return {name: getattr(self, name) for name in names}

    def given(self, *names: str) -> dict[str, Any]:
        """Those of them that were given."""
        return {name: value for name, value in self.of(*names).items() if value is not None}


def command(
    cls: type[click.Command] = click.Command, **more: Any
) -> Callable[[Callable[[Request], None]], click.Command]:
    """A command that gets what it was asked as one record."""

    def decorate(function: Callable[[Request], None]) -> click.Command:
        @wraps(function)
        def call(**given: Any) -> None:
            function(Request(**given))

        return click.command(cls=cls, **more)(call)

    return decorate


def columns(flag: str, text: str, *, name: str | None = None, required: bool = False) -> Decorator[Any]:
    """An option that names columns; none, unless it is ``required``."""
    more: dict[str, Any] = {"required": True} if required else {"default": ()}
    return option(flag, COLUMNS, text, name=name, **more)


# -- files to be written -----------------------------------------------------------------------------------------------

ENDINGS = {
    "table": (".csv", ".parquet"),
    "archive": (".csv", ".parquet", ".npz"),
    "proof": (".npz",),
    "model": (".json",),
    "picture": (".png", ".svg", ".pdf"),
    "page": (".html",),
    "report": (".html",),
}
"""Of each kind of file; `Frontier.load` reads an archive that ends in .npz, and a report is a page with charts."""


def written(flag: str, kind: str, text: str, **more: Any) -> Decorator[Any]:
    """An option that names a file of some kind to be written."""
    return option(flag, Written(kind), text, **more)


class Written(click.Path):
    """A file to be written: a usage error, before any work, if that cannot be."""

    def __init__(self, kind: str) -> None:
        super().__init__(path_type=Path)
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, looked at."""
        path: Any = super().convert(value, param, ctx)
        check_target(path, "the file" if param is None else param.opts[0], self.kind)
        return path


def check_target(path: Path, flag: str, kind: str) -> None:
    """A usage error if a file of that name cannot be written, an error if what it needs is not installed."""
    ending = path.suffix.lower()
    if ending not in ENDINGS[kind]:
        raise click.UsageError(f"{flag} must end in {', '.join(ENDINGS[kind])}; found {path.name!r}.")
    if path.is_dir():
        raise click.UsageError(f"{flag} names a directory, {path}.")
    check_directory(path.parent, flag)
    if ending == ".parquet":
        extra("pyarrow.parquet", "Parquet files need pyarrow", "parquet")
    elif kind == "picture":
        require_matplotlib()
    elif kind == "report":
        from ..view.report.page import vega_library

        vega_library()


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


# -- options of many commands ------------------------------------------------------------------------------------------


def _bin_rules(_context: click.Context, parameter: click.Parameter, values: Any) -> dict[str, int | str]:
    """Each COLUMN:N, or COLUMN:year and the like; a column's name may contain colons."""
    found: dict[str, int | str] = {}
    for value in values:
        name, _, rule = value.rpartition(":")
        name, rule = name.strip().strip('"'), rule.strip()
        count = count_of(rule)
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
    "--bin COL:N",
    str,
    "Put the numbers or dates of a column into N bins of about equal mass, such as age:5, or dates by year, month or weekday, such as "
    "born:year; may be repeated.",
    name="bins",
    multiple=True,
    callback=_bin_rules,
)

complete_rows = option(
    "--missing",
    click.Choice(["error", "category"]),
    "An empty cell is refused, or is the label 'missing'.",
    default="error",
)

as_json = switch("--json", "One JSON object on stdout, instead of a table.", "as_json")
