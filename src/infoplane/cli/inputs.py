"""JOINT: a built-in name, a table of samples or counts, or a matrix.

In a .csv table every value is a label: ``NA`` and ``null`` are labels like any other, and only an empty cell is a missing
value, which is an error. A column whose values are all written as whole numbers becomes numbers; any other keeps its
text, so that ``007`` is not 7.
"""

from __future__ import annotations

import csv
import importlib
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np

from .. import datasets
from ..errors import InvalidJointError, MissingExtraError
from ..joint.joint import Joint

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Source:
    """JOINT and the options that say how to read it."""

    name: str
    x: tuple[str, ...]
    y: tuple[str, ...]
    count: str | None
    smoothing: float | None
    matrix: bool
    counts: bool

    @property
    def title(self) -> str:
        """The name that tables and pictures show."""
        return self.name if self.name in datasets.REGISTRY else Path(self.name).stem

    def load(self) -> Joint:
        """The joint; a usage error if options and JOINT do not go together, InvalidJointError if the data is bad."""
        if self.name in datasets.REGISTRY:
            given = [flag for flag, value in self._flags().items() if value]
            if given:
                raise click.UsageError(
                    f"{self.name} is built in and takes no {given[0]}; for a file of that name write ./{self.name}."
                )
            return datasets.load(self.name)
        path = Path(self.name)
        kinds = {True: (".csv", ".npy"), False: (".csv", ".parquet")}[self.matrix]
        if path.suffix.lower() not in kinds:
            what = "a matrix" if self.matrix else f"a built-in joint ({', '.join(datasets.names())}) or a table"
            raise InvalidJointError(f"JOINT must be {what} ending in {' or '.join(kinds)}; found {self.name!r}.")
        return self._matrix(path) if self.matrix else self._table(path)

    def _flags(self) -> dict[str, Any]:
        return {
            "--x": self.x,
            "--y": self.y,
            "--count": self.count,
            "--smoothing": self.smoothing is not None,
            "--matrix": self.matrix,
            "--counts": self.counts,
        }

    def _matrix(self, path: Path) -> Joint:
        if self.x or self.y or self.count:
            raise click.UsageError("a --matrix has no columns to name: leave out --x, --y and --count.")
        if self.smoothing is not None and not self.counts:
            raise click.UsageError("--smoothing adds to counts: say --counts if the matrix holds counts.")
        with _readable(path):
            table = np.load(path, allow_pickle=False) if path.suffix.lower() == ".npy" else _read_matrix(path)
            if self.counts:
                return Joint.from_counts(table, self.smoothing or 0.0)
            try:
                return Joint.from_matrix(table)
            except InvalidJointError as error:
                advice = " On the command line: --counts." if "from_counts" in str(error) else ""
                raise InvalidJointError(f"{error}{advice}") from None

    def _table(self, path: Path) -> Joint:
        if not self.x or not self.y:
            raise click.UsageError(f"{path.name} is a table: name its columns with --x and --y, or say --matrix.")
        if self.counts:
            raise click.UsageError("--counts goes with --matrix; the column of counts of a table is named by --count.")
        if self.count in (*self.x, *self.y):
            raise click.UsageError(f"the column {self.count!r} of --count cannot be part of --x or --y.")
        with _readable(path):
            if path.suffix.lower() == ".parquet":
                frame, weight = _read_parquet(path, self._columns()), self.count
            else:
                frame, weight = _read_table(path, self.x, self.y, self.count), _WEIGHT
            return Joint.from_frame(frame, list(self.x), list(self.y), weight, self.smoothing or 0.0)

    def _columns(self) -> list[str]:
        return [*self.x, *self.y, *([self.count] if self.count else [])]


def joint_options(command: F) -> F:
    """JOINT and its options, handed to the command as one `Source` named ``source``."""

    def collect(**values: Any) -> Any:
        source = Source(
            values.pop("joint"),
            *(values.pop(key) for key in ("x", "y", "count", "smoothing", "matrix", "counts")),
        )
        return command(source=source, **values)

    collect.__name__, collect.__doc__ = command.__name__, command.__doc__
    collect.__dict__.update(command.__dict__)
    for option in reversed(
        (
            click.argument("joint"),
            click.option(
                "--x", callback=_split, metavar="COLS", help="Columns of the table that make up X, separated by commas."
            ),
            click.option(
                "--y", callback=_split, metavar="COLS", help="Columns of the table that make up Y, separated by commas."
            ),
            click.option(
                "--count",
                metavar="COL",
                help="Column with the number of samples that a row stands for; without it, one.",
            ),
            click.option(
                "--smoothing", type=float, metavar="S", help="Add S to every count, also to those that are 0."
            ),
            click.option(
                "--matrix",
                is_flag=True,
                help="JOINT is the matrix p(x,y), one row per x: .csv without a header, or .npy.",
            ),
            click.option("--counts", is_flag=True, help="With --matrix: it holds counts, which are normalised."),
        )
    ):
        option(collect)
    return collect  # type: ignore[return-value]


def _split(_context: click.Context, parameter: click.Parameter, value: Any) -> tuple[str, ...]:
    """Names separated by commas; a name that contains a comma is put in double quotes."""
    if value is None:
        return ()
    names = tuple(name.strip() for name in next(csv.reader([value], skipinitialspace=True), []))
    if not names or not all(names):
        raise click.BadParameter(f"expected column names separated by commas, found {value!r}.", param=parameter)
    return names


# -- files -------------------------------------------------------------------------------------------------------------

_WEIGHT = "\0count"
"""The name of the column of weights: no column of a text file can have it."""


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Whatever is wrong with a file is an InvalidJointError that begins with its name."""
    try:
        yield
    except InvalidJointError as error:
        raise InvalidJointError(f"{path}: {error}") from error
    except FileNotFoundError:
        raise InvalidJointError(
            f"there is no file {path}, nor a built-in joint of that name; built in: {', '.join(datasets.names())}."
        ) from None
    except OSError as error:
        raise InvalidJointError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (UnicodeDecodeError, csv.Error, ValueError, EOFError) as error:
        raise InvalidJointError(f"{path} cannot be read as {path.suffix.lstrip('.').lower()}: {error}.") from error


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row that is not blank."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        for row in reader:
            if row:
                yield reader.line_num, row


def _read_matrix(path: Path) -> list[list[float]]:
    matrix: list[list[float]] = []
    for line, row in _rows(path):
        if matrix and len(row) != len(matrix[0]):
            raise InvalidJointError(f"line {line} has {len(row)} numbers, the first has {len(matrix[0])}.")
        matrix.append([_number(cell, line) for cell in row])
    return matrix


def _read_table(path: Path, x: tuple[str, ...], y: tuple[str, ...], count: str | None) -> Any:
    """A frame with one row for each combination of values that occurs, and the number of samples that have it."""
    import pandas as pd

    rows = _rows(path)
    _, header = next(rows, (0, []))
    names = dict.fromkeys([*x, *y])
    places = [_place(header, name) for name in names]
    weight = None if count is None else _place(header, count)
    amounts: dict[tuple[str, ...], float] = {}
    for line, row in rows:
        if len(row) != len(header):
            raise InvalidJointError(f"line {line} has {len(row)} cells, the header has {len(header)}.")
        cells = tuple(row[place] for place in places)
        if "" in cells:
            raise InvalidJointError(
                f"line {line} has an empty cell in column {list(names)[cells.index('')]!r}. Leave the row out, or give "
                "what is missing a name."
            )
        amount = 1.0 if weight is None else _number(row[weight], line)
        if not 0.0 <= amount < math.inf:
            raise InvalidJointError(f"line {line} has the count {amount:g}; counts are finite and not negative.")
        amounts[cells] = amounts.get(cells, 0.0) + amount
    frame = {name: _whole_numbers([cells[i] for cells in amounts]) for i, name in enumerate(names)}
    return pd.DataFrame({**frame, _WEIGHT: np.fromiter(amounts.values(), dtype=float, count=len(amounts))})


def _place(header: list[str], name: str) -> int:
    if header.count(name) > 1:
        raise InvalidJointError(f"the column {name!r} is there {header.count(name)} times; rename one of them.")
    if name not in header:
        raise InvalidJointError(f"there is no column {name!r}; the columns are {', '.join(header) or 'none'}.")
    return header.index(name)


def _number(cell: str, line: int) -> float:
    try:
        return float(cell)
    except ValueError:
        raise InvalidJointError(f"line {line} has {cell!r} where a number is expected.") from None


def _whole_numbers(cells: list[str]) -> list[Any]:
    """The cells as whole numbers if that loses nothing, else as they are."""
    try:
        numbers = {cell: int(cell) for cell in set(cells)}
    except ValueError:
        return cells
    return [numbers[cell] for cell in cells] if all(str(n) == cell for cell, n in numbers.items()) else cells


def require_parquet() -> Any:
    """The Parquet module of pyarrow, or the error that says how to install it."""
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtraError('Parquet files need pyarrow: pip install "infoplane[parquet]".') from error


def _read_parquet(path: Path, columns: list[str]) -> Any:
    parquet = require_parquet()
    header = parquet.read_schema(path).names
    for name in columns:
        _place(header, name)
    return parquet.read_table(path, columns=list(dict.fromkeys(columns)))
