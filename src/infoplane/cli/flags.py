"""How commands declare their options: flag, type, and its sentence in the help. What follows from the type need not be said.

A number is called N or NUMBER, a default is in the help, columns are split at commas; a file that is to be written is looked at before any
work: whether its ending is known, the place can be written to, and what it needs is installed.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..checks import extra
from ..joint.binning import CALENDAR
from ..view.drawing import require_matplotlib
from .numerals import Asked, Number, NumberOr, ParamType, Whole, Within

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


class ColumnNames(ParamType[tuple[str, ...]]):
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
