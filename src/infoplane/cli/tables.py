"""What the cells of a table mean: labels, counts, numbers and dates to be binned, and what is missing.

In a text every value is a label: ``NA`` and ``null`` are labels like any other, and only an empty cell is a missing value, which is an
error unless ``--missing`` says otherwise. A column whose values are all written as whole numbers becomes numbers; any other keeps its
text, so that ``007`` is not 7. A wide table has the labels of x in its first column, those of y in its first row, and counts
everywhere else.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np

from .. import datasets
from ..errors import InvalidJointError
from ..formatting import counted, shortened
from ..joint.binning import CALENDAR, as_time
from ..joint.joint import Joint
from ..joint.tables import is_missing
from .numerals import whole_number_of
from .text_files import TEXTS, TableRows, kind_of, rows_of
from .typed_files import Place, check_column, said_dropped, typed_rows

WEIGHT = "\0count"
"""The name of the column of weights: no column of a file can have it."""


@contextmanager
def readable(place: Place) -> Iterator[None]:
    """Whatever is wrong with a file is an InvalidJointError that begins with its name."""
    try:
        yield
    except InvalidJointError as error:
        raise InvalidJointError(f"{place}: {error}") from error
    except FileNotFoundError:
        raise InvalidJointError(
            f"there is no file {place}, nor a built-in joint of that name; built in: {', '.join(datasets.names())}."
        ) from None
    except OSError as error:
        raise InvalidJointError(f"{place} cannot be read: {error.strerror or error}.") from error
    except (UnicodeDecodeError, csv.Error, ValueError, EOFError) as error:
        raise InvalidJointError(f"{place} cannot be read as {kind_of(place).lstrip('.')}: {error}.") from error


def any_rows(place: Place) -> TableRows:
    """The rows of a table of any kind."""
    return (
        rows_of(place)
        if isinstance(place, Path) and kind_of(place) in TEXTS
        else TableRows(typed_rows(place), str(place))
    )


def header_of(path: Path) -> list[str]:
    """The names of a table's columns."""
    with readable(path):
        return any_rows(path).header()


def read_matrix(rows: TableRows) -> list[list[float]]:
    """Numbers only, in rows of one length."""
    matrix: list[list[float]] = []
    for line, row in rows:
        if matrix and len(row) != len(matrix[0]):
            raise InvalidJointError(f"line {line} has {len(row)} numbers, the first has {len(matrix[0])}.")
        matrix.append([_number(rows, cell, line, f"column {at}") for at, cell in enumerate(row, 1)])
    return matrix


def read_table(
    place: Place, names: Sequence[str], count: str | None, bins: Mapping[str, int | str], missing: str | None
) -> Any:
    """A frame with one row for each combination of values that occurs, and the number of samples that have it, called `WEIGHT`."""
    rows = any_rows(place)
    header = rows.header()
    for name in (*names, *(() if count is None else (count,))):
        check_column(header, name)
    names = list(dict.fromkeys(names))
    places = [header.index(name) for name in names]
    weight = None if count is None else header.index(count)
    parsers = {at: _Parser(rows, name, bins[name]) for at, name in enumerate(names) if name in bins}
    amounts: dict[tuple[Any, ...], float] = {}
    seen = incomplete = 0
    for line, row in rows:
        seen += 1
        _check_length(line, row, header)
        cells = _values([row[at] for at in places], names, parsers, line)
        if None in cells:
            incomplete += 1
            if missing not in ("drop", "category"):
                raise InvalidJointError(
                    f"line {line} has an empty cell in column {names[cells.index(None)]!r}. Leave the row out (--missing drop), or give "
                    "what is missing a label (--missing category)."
                )
        amount = 1.0 if weight is None else _count(rows, row[weight], line, str(count))
        # 1, True and 1.0 are equal to Python: with their types they are three, which the joint then refuses.
        key = (*cells, *map(type, cells))
        amounts[key] = amounts.get(key, 0.0) + amount
    if missing == "drop":
        said_dropped(place, incomplete, seen)
    columns = {name: [key[at] for key in amounts] for at, name in enumerate(names)}
    kinds = {names[at]: None if parser.dates else float for at, parser in parsers.items()}
    return _framed(place, columns, kinds).assign(**{WEIGHT: np.fromiter(amounts.values(), float, count=len(amounts))})


def _framed(place: Place, columns: Mapping[str, list[Any]], kinds: Mapping[str, Any]) -> Any:
    """A frame: columns of a known type, and others of labels, which in a text may all be whole numbers."""
    import pandas as pd

    is_text = isinstance(place, Path) and kind_of(place) in TEXTS
    labels = {name: _whole_numbers(cells) if is_text else cells for name, cells in columns.items() if name not in kinds}
    return pd.DataFrame(
        {name: pd.Series(labels.get(name, cells), dtype=kinds.get(name, object)) for name, cells in columns.items()}
    )


def _values(cells: list[Any], names: Sequence[str], parsers: Mapping[int, _Parser], line: int) -> list[Any]:
    """The values of a row's cells: None where one is empty, numbers and dates in the columns that are to be binned."""
    found: list[Any] = []
    for at, cell in enumerate(cells):
        if isinstance(cell, (list, dict)):
            raise InvalidJointError(
                f"line {line}, column {names[at]!r}: found {shortened(str(cell), 40)} where one value is expected."
            )
        if _is_empty(cell):
            found.append(None)
        else:
            found.append(parsers[at].value(cell, line) if at in parsers else cell)
    return found


def read_frame(place: Place, numbers: Sequence[str] = ()) -> Any:
    """Every row of a table with all its columns, as a pandas frame; None where a cell is empty. ``numbers`` are read as such."""
    with readable(place):
        rows = any_rows(place)
        header = rows.header()
        for name in (*header, *numbers):
            check_column(header, name)
        cells: list[list[Any]] = [[] for _ in header]
        for line, row in rows:
            _check_length(line, row, header)
            for name, column, cell in zip(header, cells, row, strict=True):
                value = None if _is_empty(cell) else cell
                column.append(
                    _number(rows, value, line, f"column {name!r}") if name in numbers and value is not None else value
                )
        if not cells or not cells[0]:
            raise InvalidJointError("a table must have at least one row beside its header; found none.")
    return _framed(place, dict(zip(header, cells, strict=True)), dict.fromkeys(numbers, float))


class _Parser:
    """The cells of a column that is to be binned: dates if its rule or its first cell says so, else numbers."""

    def __init__(self, rows: TableRows, name: str, rule: int | str) -> None:
        self.rows, self.name = rows, name
        self.dates = True if rule in CALENDAR else None

    def value(self, cell: Any, line: int) -> Any:
        if self.dates is None:
            self.dates = _date_of(cell) is not None
        if not self.dates:
            return _number(self.rows, cell, line, f"column {self.name!r}")
        found = _date_of(cell)
        if found is None:
            raise InvalidJointError(
                f"line {line}, column {self.name!r}: found {cell!r} where a date such as 2024-03-31 is expected."
            )
        return found


def _date_of(cell: Any) -> datetime | None:
    """A date, or one written as ISO 8601 has it, with or without the time; not the digits of a number."""
    try:
        if isinstance(cell, str):
            return datetime.fromisoformat(cell.strip()) if "-" in cell[1:] else None
        return as_time(cell) if isinstance(cell, date) else None
    except ValueError:
        return None


def read_wide(rows: TableRows, smoothing: float, least: int) -> Joint:
    """A joint from a table with labels in its first column and row, and at least so many columns of counts."""
    header = rows.header()
    if len(header) < 1 + least:
        raise InvalidJointError(f"it needs a column of labels and at least {counted(least, 'column')} of counts.")
    labels, counts = [], []
    for line, row in rows:
        _check_length(line, row, header)
        labels.append(_text(row[0]))
        counts.append([_count(rows, cell, line, name) for cell, name in zip(row[1:], header[1:], strict=True)])
    if not counts:
        raise InvalidJointError("it has no row below the first.")
    return Joint.from_counts(
        np.array(counts), smoothing, _whole_numbers(labels), _whole_numbers(header[1:]), header[0] or "x", "y"
    )


def read_prior(path: Path, names: int) -> dict[Any, float]:
    """p(x) by label, from a table whose last column has the probabilities, below a header."""
    rows = any_rows(path)
    header = rows.header()
    if len(header) != names + 1:
        raise InvalidJointError(
            f"a prior has {counted(names, 'column')} of labels, then one of probabilities; found {counted(len(header), 'column')}."
        )
    cells, masses = [], []
    for line, row in rows:
        _check_length(line, row, header)
        cells.append([_text(cell) for cell in row[:-1]])
        masses.append(_number(rows, row[-1], line, f"column {header[-1]!r}"))
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
    with readable(path):
        rows = any_rows(path)
        header = rows.header()
        labels, table = [], []
        for line, row in rows:
            _check_length(line, row, header)
            cells = tuple(_text(cell) for cell in row[:names])
            labels.append(written.get(cells, cells if names > 1 else cells[0]))
            shares = zip(row[names:], header[names:], strict=True)
            table.append([_number(rows, cell, line, f"column {name!r}") for cell, name in shares])
    return pd.DataFrame(table, index=pd.Index(labels, tupleize_cols=names > 1), columns=header[names:])


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _is_empty(cell: Any) -> bool:
    return bool(cell == "") or is_missing(cell)


def _check_length(line: int, row: list[Any], header: list[str]) -> None:
    if len(row) != len(header):
        raise InvalidJointError(f"line {line} has {counted(len(row), 'cell')}, the header has {len(header)}.")


def _count(rows: TableRows, cell: Any, line: int, column: str) -> float:
    amount = _number(rows, cell, line, f"column {column!r}")
    if not 0.0 <= amount < math.inf:
        raise InvalidJointError(
            f"line {line} has the count {amount:g} in column {column!r}; counts are finite and not negative."
        )
    return amount


def _number(rows: TableRows, cell: Any, line: int, where: str) -> float:
    try:
        return rows.number(cell)
    except ValueError:
        said, text = f"line {line}, {where}: found {_text(cell)!r} where a number is expected", _text(cell)
        plain = re.sub(r"(?<=\d)[., '](?=\d{3}(?!\d))", "", text)
        if plain != text and plain.replace(",", ".", 1).replace(".", "", 1).isdecimal():
            said += f": write {plain!r}, without what parts the thousands"
        raise InvalidJointError(f"{said}.") from None


def _whole_numbers(cells: list[Any]) -> list[Any]:
    """The cells as whole numbers if that loses nothing, else as they are; None stays."""
    try:
        numbers = {cell: whole_number_of(cell) for cell in set(cells) - {None}}
    except ValueError:
        return cells
    is_exact = all(str(number) == cell for cell, number in numbers.items())
    return [None if cell is None else numbers[cell] for cell in cells] if is_exact else cells
