"""JOINT: a built-in name, a table of samples or counts, a wide table of counts, or a matrix.

In a text table every value is a label: ``NA`` and ``null`` are labels like any other, and only an empty cell is a missing
value, which is an error unless ``--missing`` says otherwise. A column whose values are all written as whole numbers becomes numbers;
any other keeps its text, so that ``007`` is not 7. A wide table has the labels of x in its first column, those of y in its first row,
and counts everywhere else. How files are opened and split into cells is in `text_files`.
"""

from __future__ import annotations

import csv
import importlib
import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np

from .. import datasets
from ..errors import InvalidJointError, MissingExtraError
from ..formatting import alternatives, counted
from ..joint.binning import MISSING
from ..joint.joint import Joint
from ..storage.npz import read_npy
from .numerals import Number, number_of, whole_number_of
from .printing import note
from .text_files import STDIN, TEXTS, kind_of, rows_of

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
    wide: bool = False
    bins: tuple[tuple[str, int], ...] = ()
    missing: str | None = None
    prior: str | None = None

    @property
    def title(self) -> str:
        """The name that tables and pictures show."""
        if self.name in datasets.REGISTRY:
            return self.name
        return "standard input" if self.name == STDIN else Path(self.name).name.split(".")[0] or self.name

    def load(self) -> Joint:
        """The joint; a usage error if options and JOINT do not go together, InvalidJointError if the data is bad.

        If most of I(X;Y) is what independence would show at this sample size, a line on stderr says so.
        """
        joint = self.read()
        if joint.caution is not None:
            numbers = len(self.x) == 1 and all(isinstance(label, Real) for label in joint.x_labels)
            note(f"Warning: {joint.caution}{f', e.g. --bin {self.x[0]}:5' if numbers else ''}.")
        return self._with_prior(joint)

    def _with_prior(self, joint: Joint) -> Joint:
        if self.prior is None:
            return joint
        if self.prior == CAPACITY:
            raise click.UsageError("--prior capacity is that of given systems: it goes with infoplane efficiency.")
        if self.prior == UNIFORM:
            return joint.with_prior("uniform")
        path = Path(self.prior)
        with _readable(path):
            return joint.with_prior(_read_prior(path, len(joint.x_names)))

    def prior_said(self, joint: Joint) -> str:
        """Which p(x) the joint has, in words."""
        if self.prior is not None and self.prior not in (UNIFORM, CAPACITY):
            return f"from {Path(self.prior).name}"
        if self.prior == CAPACITY:
            return "the mean of the systems' capacity-achieving ones"
        return "uniform" if np.ptp(joint.p_x) <= 1e-12 else "that of JOINT"

    def read(self) -> Joint:
        """The same without a word on its sample size."""
        if self.name in datasets.REGISTRY:
            given = [flag for flag, value in self._flags().items() if value]
            if given:
                raise click.UsageError(
                    f"{self.name} is built in and takes no {given[0]}; for a file of that name write ./{self.name}."
                )
            return datasets.load(self.name)
        path = Path(self.name)
        kind = kind_of(path)
        kinds = (*TEXTS, ".npy") if self.matrix else (*TEXTS, ".parquet")
        if kind not in kinds:
            what = "a matrix" if self.matrix else f"a built-in joint ({', '.join(datasets.names())}) or a table"
            raise InvalidJointError(
                f"JOINT must be {what} ending in {', '.join(kinds[:-1])} or {kinds[-1]}, a text also with .gz, or - for standard input; "
                f"found {self.name!r}."
            )
        if self.matrix:
            return self._matrix(path)
        return self._table(path) if self.x or self.y else self._wide(path)

    def _flags(self) -> dict[str, Any]:
        return {
            "--x": self.x,
            "--y": self.y,
            "--count": self.count,
            "--smoothing": self.smoothing is not None,
            "--matrix": self.matrix,
            "--counts": self.counts,
            "--wide": self.wide,
            "--bin": self.bins,
            "--missing": self.missing,
        }

    def _refuse(self, flags: tuple[str, ...], why: str) -> None:
        if any(self._flags()[flag] for flag in flags):
            raise click.UsageError(f"{why}: leave out {', '.join(flags[:-1])} and {flags[-1]}.")

    def _matrix(self, path: Path) -> Joint:
        self._refuse(("--x", "--y", "--count", "--bin", "--missing", "--wide"), "a --matrix has no columns to name")
        if self.smoothing is not None and not self.counts:
            raise click.UsageError("--smoothing adds to counts: say --counts if the matrix holds counts.")
        with _readable(path):
            table = read_npy(path) if kind_of(path) == ".npy" else _read_matrix(path)
            if self.counts:
                return Joint.from_counts(table, self.smoothing or 0.0)
            try:
                return Joint.from_matrix(table)
            except InvalidJointError as error:
                advice = " On the command line: --counts." if "from_counts" in str(error) else ""
                raise InvalidJointError(f"{error}{advice}") from None

    def _table(self, path: Path) -> Joint:
        if not self.x or not self.y:
            raise click.UsageError(f"{path.name} is a table: name its columns with --x and --y.")
        if self.wide:
            raise click.UsageError("a --wide table has its labels in the first column and row: leave out --x and --y.")
        if self.counts:
            raise click.UsageError("--counts goes with --matrix; the column of counts of a table is named by --count.")
        if self.count in (*self.x, *self.y):
            raise click.UsageError(f"the column {self.count!r} of --count cannot be part of --x or --y.")
        bins = dict(self.bins)
        for name in bins:
            if name not in (*self.x, *self.y):
                raise click.UsageError(f"--bin {name}: the column must be one of --x or --y.")
        with _readable(path):
            if kind_of(path) == ".parquet":
                frame, weight = _read_parquet(path, self._columns(), self.missing), self.count
            else:
                frame, weight = _read_table(path, self), _WEIGHT
            return Joint.from_frame(frame, list(self.x), list(self.y), weight, self.smoothing or 0.0, bins)

    def _wide(self, path: Path) -> Joint:
        """The wide table that a file without --x and --y must be."""
        self._refuse(("--count", "--bin", "--missing"), "they are about the columns that --x and --y name")
        if self.counts and not self.wide:
            raise click.UsageError(
                "--counts goes with --matrix; a table with labels in its first column and row is --wide."
            )
        with _readable(path):
            parquet = kind_of(path) == ".parquet"
            rows = _parquet_rows(path) if parquet else rows_of(path)
            try:
                return _read_wide(rows, self.smoothing or 0.0, least=1 if self.wide else 2)
            except InvalidJointError as error:
                if self.wide:
                    raise
                raise click.UsageError(
                    f"{path.name} is a table: name its columns with --x and --y, or say --matrix. It is no table of counts with labels "
                    f"in its first column and row (--wide) either: {error}"
                ) from None

    def _columns(self) -> list[str]:
        return [*self.x, *self.y, *([self.count] if self.count else [])]


FIELDS = ("x", "y", "count", "smoothing", "matrix", "counts", "wide", "bins", "missing", "prior")

UNIFORM, CAPACITY = "uniform", "capacity"
"""Words that ``--prior`` takes, besides files."""


def joint_options(command: F) -> F:
    """JOINT and its options, handed to the command as one `Source` named ``source``."""

    def collect(**values: Any) -> Any:
        source = Source(values.pop("joint"), *(values.pop(key) for key in FIELDS))
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
                "--bin",
                "bins",
                callback=_bins,
                multiple=True,
                metavar="COL:N",
                help="Put the numbers of a column into N bins of about equal mass, such as age:5; may be repeated.",
            ),
            click.option(
                "--missing",
                type=click.Choice(["error", "drop", "label"]),
                help="What to do with an empty cell: refuse it, leave its row out, or call it 'missing'.  [default: error]",
            ),
            click.option(
                "--smoothing", type=Number(), metavar="S", help="Add S to every count, also to those that are 0."
            ),
            click.option(
                "--wide",
                is_flag=True,
                help="JOINT is a table of counts with the labels of x in its first column and those of y in its first row; found out "
                "if --x and --y are left out.",
            ),
            click.option(
                "--matrix",
                is_flag=True,
                help="JOINT is the matrix p(x,y), one row per x: .csv without a header, or .npy.",
            ),
            click.option(
                "--prior",
                metavar="uniform|capacity|FILE",
                help="Another p(x), with the same p(y|x): uniform; that of a table with the labels of x and their probabilities, one row "
                "each; or, for efficiency, the mean of the systems' capacity-achieving ones.  [default: that of JOINT]",
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


def _bins(_context: click.Context, parameter: click.Parameter, values: Any) -> tuple[tuple[str, int], ...]:
    """Each COLUMN:N; a column's name may contain colons."""
    found: dict[str, int] = {}
    for value in values:
        name, _, count = value.rpartition(":")
        name = name.strip().strip('"')
        if not name or not (count.strip().isdecimal() and count.isascii()) or int(count) < 1:
            raise click.BadParameter(f"expected COLUMN:N such as age:5, found {value!r}.", param=parameter)
        if name in found:
            raise click.BadParameter(f"the column {name!r} is binned twice.", param=parameter)
        found[name] = int(count)
    return tuple(found.items())


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
        raise InvalidJointError(f"{path} cannot be read as {kind_of(path).lstrip('.')}: {error}.") from error


def header_of(path: Path) -> list[str]:
    """The names of a table's columns."""
    with _readable(path):
        if kind_of(path) == ".parquet":
            return list(require_parquet().read_schema(path).names)
        return next(rows_of(path), (0, []))[1]


def _read_matrix(path: Path) -> list[list[float]]:
    matrix: list[list[float]] = []
    for line, row in rows_of(path):
        if matrix and len(row) != len(matrix[0]):
            raise InvalidJointError(f"line {line} has {len(row)} numbers, the first has {len(matrix[0])}.")
        matrix.append([_number(cell, line, f"column {at}") for at, cell in enumerate(row, 1)])
    return matrix


def _read_table(path: Path, source: Source) -> Any:
    """A frame with one row for each combination of values that occurs, and the number of samples that have it."""
    import pandas as pd

    rows = rows_of(path)
    _, header = next(rows, (0, []))
    names, binned = list(dict.fromkeys([*source.x, *source.y])), dict(source.bins)
    places = [_place(header, name) for name in names]
    weight = None if source.count is None else _place(header, source.count)
    numbers = [at for at, name in enumerate(names) if name in binned]
    amounts: dict[tuple[Any, ...], float] = {}
    seen = dropped = 0
    for line, row in rows:
        seen += 1
        _check_length(line, row, header)
        cells: tuple[Any, ...] = tuple(row[place] for place in places)
        if "" in cells:
            if source.missing == "drop":
                dropped += 1
                continue
            if source.missing != "label":
                raise InvalidJointError(
                    f"line {line} has an empty cell in column {names[cells.index('')]!r}. Leave the row out (--missing drop), or give "
                    "what is missing a name (--missing label)."
                )
            cells = tuple(cell or MISSING for cell in cells)
        if numbers:
            cells = tuple(
                _number(cell, line, f"column {names[at]!r}") if at in numbers and cell != MISSING else cell
                for at, cell in enumerate(cells)
            )
        amount = 1.0 if weight is None else _number(row[weight], line, f"column {source.count!r}")
        if not 0.0 <= amount < math.inf:
            raise InvalidJointError(
                f"line {line} has the count {amount:g} in column {source.count!r}; counts are finite and not negative."
            )
        amounts[cells] = amounts.get(cells, 0.0) + amount
    if dropped:
        note(f"{path}: {dropped:,} of {counted(seen, 'row')} left out, since a cell is empty.")
    columns = [[cells[at] for cells in amounts] for at in range(len(names))]
    frame = {
        name: column if at in numbers else _whole_numbers(column)
        for at, (name, column) in enumerate(zip(names, columns, strict=True))
    }
    return pd.DataFrame({**frame, _WEIGHT: np.fromiter(amounts.values(), dtype=float, count=len(amounts))})


def _read_wide(rows: Iterator[tuple[int, list[str]]], smoothing: float, least: int) -> Joint:
    """A joint from a table with labels in its first column and row, and at least so many columns of counts."""
    _, header = next(rows, (0, []))
    if len(header) < 1 + least:
        raise InvalidJointError(f"it needs a column of labels and at least {counted(least, 'column')} of counts.")
    labels, counts = [], []
    for line, row in rows:
        _check_length(line, row, header)
        labels.append(row[0])
        counts.append([_count(cell, line, name) for cell, name in zip(row[1:], header[1:], strict=True)])
    if not counts:
        raise InvalidJointError("it has no row below the first.")
    return Joint.from_counts(
        np.array(counts), smoothing, _whole_numbers(labels), _whole_numbers(header[1:]), header[0] or "x", "y"
    )


def _read_prior(path: Path, names: int) -> dict[Any, float]:
    """p(x) by label, from a table whose last column has the probabilities, below a header."""
    rows = _parquet_rows(path) if kind_of(path) == ".parquet" else rows_of(path)
    _, header = next(rows, (0, []))
    if len(header) != names + 1:
        raise InvalidJointError(
            f"a prior has {counted(names, 'column')} of labels, then one of probabilities; found {counted(len(header), 'column')}."
        )
    cells, masses = [], []
    for line, row in rows:
        _check_length(line, row, header)
        cells.append(row[:-1])
        masses.append(_number(row[-1], line, f"column {header[-1]!r}"))
    columns = [_whole_numbers([row[at] for row in cells]) for at in range(names)]
    labels = columns[0] if names == 1 else list(zip(*columns, strict=True))
    label, often = Counter(labels).most_common(1)[0] if labels else (None, 0)
    if often > 1:
        raise InvalidJointError(f"a prior has each x once; found {label!r} {often} times.")
    return dict(zip(labels, masses, strict=True))


def read_encoder(path: Path, joint: Joint) -> Any:
    """p(z|x) as a frame, a row per x, from a table with the labels of the joint's x in its first columns and a column for each z.

    Labels are told by how they are written, so that dates, truth values and bins come back as what they were.
    """
    import pandas as pd

    names = len(joint.x_names)
    written = {
        tuple(map(str, label if isinstance(label, tuple) and names > 1 else (label,))): label
        for label in joint.x_labels
    }
    with _readable(path):
        rows = _parquet_rows(path) if kind_of(path) == ".parquet" else rows_of(path)
        _, header = next(rows, (0, []))
        labels, table = [], []
        for line, row in rows:
            _check_length(line, row, header)
            cells = tuple(row[:names])
            labels.append(written.get(cells, cells if names > 1 else cells[0]))
            table.append(
                [
                    _number(cell, line, f"column {name!r}")
                    for cell, name in zip(row[names:], header[names:], strict=True)
                ]
            )
    return pd.DataFrame(table, index=pd.Index(labels, tupleize_cols=names > 1), columns=header[names:])


def _count(cell: str, line: int, column: str) -> float:
    amount = _number(cell, line, f"column {column!r}")
    if not 0.0 <= amount < math.inf:
        raise InvalidJointError(
            f"line {line} has the count {amount:g} in column {column!r}; counts are finite and not negative."
        )
    return amount


def _check_length(line: int, row: list[str], header: list[str]) -> None:
    if len(row) != len(header):
        raise InvalidJointError(f"line {line} has {counted(len(row), 'cell')}, the header has {len(header)}.")


def _place(header: list[str], name: str) -> int:
    if header.count(name) > 1:
        raise InvalidJointError(f"the column {name!r} is there {header.count(name)} times; rename one of them.")
    if name not in header:
        # As they are typed: a name with a comma in double quotes.
        names = [f'"{one}"' if "," in one else one for one in header]
        raise InvalidJointError(f"there is no column {name!r}; expected {alternatives(name, names)}.")
    return header.index(name)


def _number(cell: str, line: int, where: str) -> float:
    try:
        return number_of(cell)
    except ValueError:
        raise InvalidJointError(f"line {line}, {where}: found {cell!r} where a number is expected.") from None


def _whole_numbers(cells: list[str]) -> list[Any]:
    """The cells as whole numbers if that loses nothing, else as they are."""
    try:
        numbers = {cell: whole_number_of(cell) for cell in set(cells)}
    except ValueError:
        return cells
    return [numbers[cell] for cell in cells] if all(str(n) == cell for cell, n in numbers.items()) else cells


def require_parquet() -> Any:
    """The Parquet module of pyarrow, or the error that says how to install it."""
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtraError('Parquet files need pyarrow: pip install "infoplane[parquet]".') from error


def _read_parquet(path: Path, columns: list[str], missing: str | None) -> Any:
    parquet = require_parquet()
    header = parquet.read_schema(path).names
    for name in columns:
        _place(header, name)
    table = parquet.read_table(path, columns=list(dict.fromkeys(columns)))
    if missing not in ("drop", "label"):
        return table
    frame = table.to_pandas()
    if missing == "label":
        return frame.astype(object).where(frame.notna(), MISSING)
    kept = frame.dropna()
    if len(kept) < len(frame):
        note(f"{path}: {len(frame) - len(kept):,} of {counted(len(frame), 'row')} left out, since a value is missing.")
    return kept


def _parquet_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The header and the rows of a wide table, as text."""
    table = require_parquet().read_table(path)
    yield 0, list(table.column_names)
    for number, row in enumerate(zip(*(column.to_pylist() for column in table.columns), strict=True), 1):
        yield number, ["" if cell is None else str(cell) for cell in row]
