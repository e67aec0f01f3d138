"""What the cells of a table mean: labels, counts, numbers and dates to be binned, and what is missing.

In a text every value is a label: ``NA`` and ``null`` are labels like any other, and only an empty cell is a missing value, which is an
error unless ``--missing`` says otherwise. A column whose values are all written as whole numbers becomes numbers; any other keeps its
text, so that ``007`` is not 7. Where cells have types a value is a label as it is: ``1``, ``true`` and ``"1"`` are three.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .. import datasets
from ..checks import extra
from ..errors import InvalidJointError
from ..formatting import alternatives, counted, did_you_mean, shortened
from ..joint.binning import as_time
from ..joint.joint import Joint
from ..joint.tables import is_missing
from ..joint.task_joint import TaskJoint
from ..storage.files import read_npy
from .files import ARROW, SQL, TEXTS, TYPED, Location, TableRows, dataset_of, kind_of, located, readable, text_of
from .flags import whole_number_of
from .output import note

if TYPE_CHECKING:
    from .options import Source

WEIGHT = "\0count"
"""The name of the column of weights: no column of a file can have it."""


def read_joint(source: Source) -> Joint:
    """The joint of a file."""
    table = located(source.name)
    what = "a matrix" if source.matrix else f"a built-in joint ({', '.join(datasets.names())}) or a table"
    near = did_you_mean(source.name, () if source.matrix else datasets.names())
    _check_kind(table, f"JOINT must be {what}", f"{source.name!r}{near}", source.matrix)
    if source.matrix:
        return _matrix(source, Path(source.name))
    return _table(source, table) if source.x or source.y else _wide(source, table)


def _check_kind(table: Location, expected: str, found: str, matrix: bool = False) -> None:
    """Refuse a file whose ending does not say how to read it."""
    kinds, sql = (*TEXTS, ".npy") if matrix else (*TEXTS, *TYPED), () if matrix else (SQL,)
    if kind_of(table) not in (*kinds, *sql):
        raise InvalidJointError(
            f"{expected} ending in {', '.join(kinds[:-1])} or {kinds[-1]}, a text also with .gz"
            f"{', a table of a database (sqlite:///file.db?table)' if sql else ''}, or - for standard input; found {found}."
        )


def _refuse(source: Source, flags: tuple[str, ...], why: str) -> None:
    if set(flags) & set(source.given()):
        raise click.UsageError(f"{why}: leave out {', '.join(flags[:-1])} and {flags[-1]}.")


def _matrix(source: Source, path: Path) -> Joint:
    _refuse(source, ("--x", "--y", "--count", "--bin", "--missing", "--wide"), "a --matrix has no columns to name")
    if source.smoothing is not None and not source.counts:
        raise click.UsageError("--smoothing adds to counts: say --counts if the matrix holds counts.")
    with readable(path):
        table = read_npy(path) if kind_of(path) == ".npy" else read_matrix(path)
        if source.counts:
            return Joint.from_counts(table, source.smoothing or 0.0)
        try:
            return Joint.from_matrix(table)
        except InvalidJointError as error:
            advice = " On the command line: --counts." if "from_counts" in str(error) else ""
            raise InvalidJointError(f"{error}{advice}") from None


def read_tasks(source: Source, keep: tuple[str, ...], hide: tuple[str, ...]) -> TaskJoint:
    """What to keep and what to hide, of a table."""
    if source.name in datasets.REGISTRY or source.y or source.matrix or source.wide or not source.x:
        raise click.UsageError("--keep and --hide name columns of a table, as --x does: give a table, --x, and no --y.")
    if source.smoothing is not None or source.prior is not None or source.denoise:
        raise click.UsageError(
            "--keep and --hide take the records as they are: leave out --smoothing, --prior and --denoise."
        )
    for name in (*keep, *hide):
        if name in source.x or (name in keep and name in hide):
            raise click.UsageError(f"a column is part of one of --x, --keep and --hide; found {name!r} in two of them.")
    table = located(source.name)
    _check_kind(table, "--keep and --hide need a table", repr(source.name))
    found: TaskJoint = _table(source, table, keep, hide)
    return found


def _table(source: Source, table: Location, keep: tuple[str, ...] = (), hide: tuple[str, ...] = ()) -> Any:
    """The joint of columns x and y; or of x, what is to be kept, and what to be hidden."""
    others = (*keep, *hide) or source.y
    if not source.x or not others:
        raise click.UsageError(f"{table.name} is a table: name its columns with --x and --y.")
    if source.wide:
        raise click.UsageError("a --wide table has its labels in the first column and row: leave out --x and --y.")
    if source.counts:
        raise click.UsageError("--counts goes with --matrix; the column of counts of a table is named by --count.")
    roles = "--x, --keep or --hide" if keep else "--x or --y"
    if source.count in (*source.x, *others):
        raise click.UsageError(f"the column {source.count!r} of --count cannot be part of {roles}.")
    for name in source.bins:
        if name not in (*source.x, *others):
            raise click.UsageError(f"--bin {name}: the column must be one of {roles}.")
    with readable(table):
        frame, weight = _columns(source, table, others)
        missing = source.missing or "error"
        if keep:
            return TaskJoint.from_frame(frame, source.x, keep, hide, weight, source.bins, missing)
        smoothing = source.smoothing or 0.0
        return Joint.from_frame(frame, list(source.x), list(source.y), weight, smoothing, source.bins, missing)


def _wide(source: Source, table: Location) -> Joint:
    """The wide table that a file without --x and --y must be."""
    _refuse(source, ("--count", "--bin", "--missing"), "they are about the columns that --x and --y name")
    if source.counts and not source.wide:
        raise click.UsageError(
            "--counts goes with --matrix; a table with labels in its first column and row is --wide."
        )
    with readable(table):
        try:
            return read_wide(table, source.smoothing or 0.0, least=1 if source.wide else 2)
        except InvalidJointError as error:
            if source.wide:
                raise
            raise click.UsageError(
                f"{table.name} is a table: name its columns with --x and --y, or say --matrix. It is no table of counts with labels "
                f"in its first column and row (--wide) either: {error}"
            ) from None


def check_columns(header: list[str], names: Iterable[str]) -> None:
    """Refuse a name that is not there, or there more than once."""
    for name in names:
        if header.count(name) > 1:
            raise InvalidJointError(f"the column {name!r} is there {header.count(name)} times; rename one of them.")
        if name not in header:
            # As they are typed: a name with a comma in double quotes.
            known = [f'"{one}"' if "," in one else one for one in header]
            raise InvalidJointError(f"there is no column {name!r}; expected {alternatives(name, known)}.")


def header_of(path: Path) -> list[str]:
    """The names of a table's columns."""
    with readable(path):
        return TableRows(path).header


def _columns(source: Source, table: Location, others: tuple[str, ...]) -> tuple[Any, str | None]:
    """The columns of x and others as a frame that `Joint.from_frame` takes, and the column of it that has the weights.

    Of a text, one row for each combination of values that occurs, and the number of samples that have it, called `WEIGHT`.
    """
    names, count = list(dict.fromkeys((*source.x, *others))), source.count
    needed = (*names, *(() if count is None else (count,)))
    if isinstance(table, Path) and kind_of(table) in ARROW:
        dataset = dataset_of(table)
        check_columns(dataset.schema.names, needed)
        if source.missing == "drop":
            field = extra("pyarrow.compute", "Parquet files need pyarrow", "parquet").field
            without = reduce(or_, (field(name).is_null(nan_is_null=True) for name in names))
            _say_dropped(table, dataset.count_rows(filter=without), dataset.count_rows())
        return dataset, count
    rows = TableRows(table)
    check_columns(rows.header, needed)
    columns = [_Column(rows, name, source.bins.get(name)) for name in names]
    weight = None if count is None else rows.header.index(count)
    amounts: dict[tuple[Any, ...], float] = {}
    seen = incomplete = 0
    for line, row in rows:
        seen += 1
        cells = [column.value(row, line) for column in columns]
        incomplete += None in cells
        if None in cells and source.missing not in ("drop", "category"):
            raise _empty(line, names[cells.index(None)], "Leave the row out (--missing drop), or give")
        amount = 1.0 if weight is None else rows.count(row[weight], line, str(count))
        # 1, True and 1.0 are equal to Python: with their types they are three, which the joint then refuses.
        key = (*cells, *map(type, cells))
        try:
            amounts[key] = amounts.get(key, 0.0) + amount
        except TypeError:
            name, cell = next(pair for pair in zip(names, cells, strict=True) if isinstance(pair[1], (list, dict)))
            raise InvalidJointError(
                f"line {line}, column {name!r}: found {shortened(str(cell), 40)} where one value is expected."
            ) from None
    if source.missing == "drop":
        _say_dropped(table, incomplete, seen)
    frame = _framed(columns, [[key[at] for key in amounts] for at in range(len(columns))])
    return frame.assign(**{WEIGHT: np.fromiter(amounts.values(), float, count=len(amounts))}), WEIGHT


def _empty(line: int, name: str, advice: str) -> InvalidJointError:
    return InvalidJointError(
        f"line {line} has an empty cell in column {name!r}. {advice} what is missing a label (--missing category)."
    )


def _say_dropped(table: Location, dropped: int, rows: int) -> None:
    if dropped:
        note(f"{table}: {dropped:,} of {counted(rows, 'row')} left out, since a value is missing.")


class _Column:
    """The values of a column: labels; if there is a rule for bins, numbers, or dates if it is of the calendar. How many bins are asked for
    fits both, and the first cell says which.
    """

    def __init__(self, rows: TableRows, name: str, rule: Any) -> None:
        self.rows, self.name, self.at, self.rule = rows, name, rows.header.index(name), rule
        self.dates = None if isinstance(rule, int) else isinstance(rule, str)

    def value(self, row: list[Any], line: int) -> Any:
        """That of a row, None if its cell is empty."""
        cell = row[self.at]
        if cell == "" or is_missing(cell):
            return None
        if self.rule is None:
            return cell
        if self.dates is None:
            self.dates = _date_of(cell) is not None
        if not self.dates:
            return self.rows.number(cell, line, self.name)
        found = _date_of(cell)
        if found is None:
            raise InvalidJointError(
                f"line {line}, column {self.name!r}: found {cell!r} where a date such as 2024-03-31 is expected."
            )
        return found

    def series(self, cells: list[Any]) -> Any:
        """Values as pandas has them; of a text, labels that may all be whole numbers."""
        import pandas as pd

        if self.rule is not None:
            return pd.Series(cells, dtype=None if self.dates else float)
        return pd.Series(_whole_numbers(cells) if self.rows.is_text else cells, dtype=object)


def _framed(columns: list[_Column], values: list[list[Any]]) -> Any:
    """A frame of the values of each column."""
    import pandas as pd

    return pd.DataFrame({one.name: one.series(cells) for one, cells in zip(columns, values, strict=True)})


def read_frame(
    name: str, needed: Sequence[str] = (), bins: Mapping[str, Any] | None = None, missing: str = "category"
) -> Any:
    """Every row of a table with all its columns, those ``needed`` among them, as a pandas frame; None where a cell is empty.

    Columns with a rule in ``bins`` are read as `_Column` says; ``missing`` may refuse empty cells of those that are needed.
    """
    table, bins = located(name), bins or {}
    built_in = (
        f", which infoplane datasets {name} --out {name}.csv writes as a table" if name in datasets.names() else ""
    )
    _check_kind(table, "expected a table", f"{name!r}{built_in}")
    with readable(table):
        rows = TableRows(table)
        check_columns(rows.header, (*rows.header, *bins))
        columns = [_Column(rows, name, bins.get(name)) for name in rows.header]
        values: list[list[Any]] = [[] for _ in columns]
        for line, row in rows:
            for column, cells in zip(columns, values, strict=True):
                cells.append(column.value(row, line))
                if missing == "error" and cells[-1] is None and column.name in needed:
                    raise _empty(line, column.name, "Give")
        if not any(values):
            raise InvalidJointError("a table must have at least one row beside its header; found none.")
    check_columns(rows.header, needed)
    return _framed(columns, values)


def full_column(frame: Any, name: str, file: str) -> Any:
    """A column of a frame that was read from a file, with a value in every row."""
    check_columns([*frame.columns], (name,))
    absent = frame[name].isna().to_numpy()
    if absent.any():
        raise InvalidJointError(
            f"{file}: column {name!r} must have a value in every row; found none in row {absent.argmax() + 1} after the header."
        )
    return frame[name]


def read_matrix(path: Path) -> list[list[float]]:
    """Numbers only, in rows of one length."""
    rows = TableRows(path, headed=False)
    matrix: list[list[float]] = []
    for line, row in rows:
        if matrix and len(row) != len(matrix[0]):
            raise InvalidJointError(f"line {line} has {len(row)} numbers, the first has {len(matrix[0])}.")
        matrix.append([rows.number(cell, line, at) for at, cell in enumerate(row, 1)])
    return matrix


def read_wide(table: Location, smoothing: float, least: int) -> Joint:
    """A joint from a table with labels in its first column and row, and at least so many columns of counts."""
    rows = TableRows(table)
    if len(rows.header) < 1 + least:
        raise InvalidJointError(f"it needs a column of labels and at least {counted(least, 'column')} of counts.")
    labels, counts = _labels_and_numbers(rows, 1, rows.count)
    if not counts:
        raise InvalidJointError("it has no row below the first.")
    x_labels, y_labels = _whole_numbers([label for (label,) in labels]), _whole_numbers(rows.header[1:])
    return Joint.from_counts(np.array(counts), smoothing, x_labels, y_labels, rows.header[0] or "x", "y")


def with_prior_of(joint: Joint, path: Path) -> Joint:
    """The joint with the p(x) of a table, whose last column has the probabilities, below a header."""
    names = len(joint.x_names)
    with readable(path):
        rows = TableRows(path)
        if (found := len(rows.header)) != names + 1:
            raise InvalidJointError(
                f"a prior has {counted(names, 'column')} of labels, then one of probabilities; found {counted(found, 'column')}."
            )
        labels, masses = _by_label(rows, joint)
        for label, often in Counter(labels).most_common(1):
            if often > 1:
                raise InvalidJointError(f"a prior has each x once; found {label!r} {often} times.")
        return joint.with_prior({label: mass for label, (mass,) in zip(labels, masses, strict=True)})


def read_encoder(path: Path, joint: Joint) -> Any:
    """p(z|x) as a frame, a row per x, from a table with the labels of the joint's x in its first columns and a column for each z."""
    import pandas as pd

    names = len(joint.x_names)
    with readable(path):
        rows = TableRows(path)
        labels, table = _by_label(rows, joint)
    return pd.DataFrame(table, index=pd.Index(labels, tupleize_cols=names > 1), columns=rows.header[names:])


def _by_label(rows: TableRows, joint: Joint) -> tuple[list[Any], list[list[float]]]:
    """Row by row the label of x in the first columns, and the numbers of the others.

    Labels are told by how they are written, so that numbers, dates, truth values and bins come back as what they were.
    """
    names = len(joint.x_names)
    written = {
        tuple(map(str, label if isinstance(label, tuple) and names > 1 else (label,))): label
        for label in joint.x_labels
    }
    cells, numbers = _labels_and_numbers(rows, names, rows.number)
    return [written.get(row, row if names > 1 else row[0]) for row in cells], numbers


def _labels_and_numbers(
    rows: TableRows, names: int, read: Callable[[Any, int, str], float]
) -> tuple[list[tuple[str, ...]], list[list[float]]]:
    """Row by row the texts of the first columns, and the numbers of the others."""
    labels, numbers = [], []
    for line, row in rows:
        labels.append(tuple(map(text_of, row[:names])))
        numbers.append([read(cell, line, name) for cell, name in zip(row[names:], rows.header[names:], strict=True)])
    return labels, numbers


def _date_of(cell: Any) -> datetime | None:
    """A date, or one written as ISO 8601 has it, with or without the time; not the digits of a number."""
    try:
        if isinstance(cell, str):
            return datetime.fromisoformat(cell.strip()) if "-" in cell[1:] else None
        return as_time(cell) if isinstance(cell, date) else None
    except ValueError:
        return None


def _whole_numbers(cells: list[Any]) -> list[Any]:
    """The cells as whole numbers if that loses nothing, else as they are; None stays."""
    try:
        numbers = {cell: whole_number_of(cell) for cell in set(cells) - {None}}
    except ValueError:
        return cells
    is_exact = all(str(number) == cell for cell, number in numbers.items())
    return [numbers.get(cell) for cell in cells] if is_exact else cells
