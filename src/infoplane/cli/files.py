"""Tables in files: opened, split into cells, and what those mean: labels, counts, numbers and dates to be binned, and what is missing.

Texts have commas, semicolons or tabs, whichever the first line has most of; UTF-8, UTF-16 with its mark, or else Latin-1, which is said;
``.gz``; ``-`` is standard input. Where semicolons separate cells, a comma between digits is a decimal one, ``1,5``, which is said. In a
text every value is a label: ``NA`` and ``null`` are labels like any other, and only an empty cell is a missing value, which is an error
unless ``--missing`` says otherwise. A column whose values are all written as whole numbers becomes numbers; any other keeps its text, so
that ``007`` is not 7.

Parquet and Feather are datasets of pyarrow, counted batch by batch. Excel, JSON lines and tables of SQLite databases are read row by row,
with None for what is missing; a value of theirs is a label as it is: ``1``, ``true`` and ``"1"`` are three.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import math
import re
import sqlite3
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import reduce
from operator import or_
from pathlib import Path
from typing import IO, Any, TypeAlias
from urllib.parse import quote

import numpy as np

from .. import datasets
from ..checks import extra
from ..errors import InvalidJointError
from ..formatting import alternatives, counted, shortened
from ..joint.binning import CALENDAR, as_time
from ..joint.joint import Joint
from ..joint.tables import is_missing
from .flags import number_of, whole_number_of
from .output import note

STDIN = "-"
"""The name of standard input."""

TEXTS = (".csv", ".tsv", ".txt")
"""Endings of tables that are text."""

SEPARATORS = (",", ";", "\t")
"""What may stand between two cells; of equally many the first counts."""

DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?\s*", re.ASCII)
"""A number as most of Europe writes it; with points between thousands as well it is none, since that might be read in two ways."""


def kind_of(path: Any) -> str:
    """The ending that says what a file is, in small letters and without ``.gz``; standard input counts as .csv, a database has none."""
    if not isinstance(path, Path):
        return "sqlite"
    if str(path) == STDIN:
        return ".csv"
    return (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()


class TableRows:
    """Line number and cells of every row, the header first; and numbers as they are written there."""

    decimal_comma = False
    said = False

    def __init__(self, cells: Iterator[tuple[int, list[Any]]], name: str) -> None:
        self.cells, self.name = cells, name

    def __iter__(self) -> Iterator[tuple[int, list[Any]]]:
        return self.cells

    def header(self) -> list[str]:
        """The first row; empty if there is none."""
        return next(self.cells, (0, []))[1]

    def number(self, cell: Any) -> float:
        """A number, or a ValueError; the first decimal comma is said."""
        if not isinstance(cell, str):
            return number_of(str(cell))
        if self.decimal_comma and DECIMAL_COMMA.fullmatch(cell):
            if not self.said:
                note(f"{self.name}: {cell} is read as {cell.replace(',', '.')}, since semicolons separate the cells.")
            self.said = True
            cell = cell.replace(",", ".")
        return number_of(cell)


def rows_of(path: Path) -> TableRows:
    """The rows of a text that are not blank."""
    rows = TableRows(iter(()), str(path))
    rows.cells = _split(path, rows)
    return rows


def _split(path: Path, rows: TableRows) -> Iterator[tuple[int, list[Any]]]:
    with opened(path) as raw:
        encoding = encoding_of(raw)
        raw.seek(0)
        if encoding == "latin-1":
            note(f"{path} is not UTF-8: read as Latin-1. If letters come out wrong, save it as UTF-8.")
        text = io.TextIOWrapper(raw, encoding=encoding, newline="")
        separator = separator_of(text.readline())
        text.seek(0)
        rows.decimal_comma = separator == ";"
        reader = csv.reader(text, strict=True, delimiter=separator)
        for row in reader:
            if row:
                yield reader.line_num, row


def opened(path: Path) -> IO[Any]:
    """The bytes of a file, unpacked, or of standard input."""
    if str(path) == STDIN:
        return io.BytesIO(sys.stdin.buffer.read())
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def encoding_of(raw: IO[Any]) -> str:
    """UTF-8 if it can be read as that, UTF-16 if it begins with its mark, else Latin-1, as which everything can be read."""
    start = raw.read(2)
    if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        piece = start
        while piece:
            decoder.decode(piece)
            piece = raw.read(1 << 20)  # a megabyte at a time
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def separator_of(line: str) -> str:
    """Comma, semicolon or tab: the one that is there most often outside of quotes, a comma if none is; beside semicolons, decimal commas
    do not count.
    """
    bare = re.sub(r'"[^"]*"', "", line)
    if ";" in bare:
        bare = re.sub(r"(?<=\d),(?=\d)", "", bare)
    return max(SEPARATORS, key=bare.count)


ARROW = {".parquet": "parquet", ".feather": "feather", ".arrow": "feather"}
"""Endings of datasets, and what pyarrow calls their format."""

JSON_LINES = (".jsonl", ".ndjson")
"""Endings of files with a JSON object in every line."""

TYPED = (*ARROW, ".xlsx", *JSON_LINES)
"""Endings of files whose cells have types."""

SQL = "sqlite"
"""The kind of a table in a database."""

_SQL_START = "sqlite:///"


@dataclass(frozen=True)
class SqlTable:
    """``sqlite:///file.db?table``; an absolute path has four slashes."""

    file: Path
    name: str

    def __str__(self) -> str:
        return f"{_SQL_START}{self.file}?{self.name}"


Place: TypeAlias = Path | SqlTable


def located(name: str) -> Place:
    """Where a table is."""
    if not name.startswith(_SQL_START):
        return Path(name)
    file, _, table = name.removeprefix(_SQL_START).rpartition("?")
    if not file or not table:
        raise InvalidJointError(f"a table of a database is written sqlite:///file.db?table; found {name!r}.")
    return SqlTable(Path(file), table)


def dataset_of(path: Path) -> Any:
    """A Parquet or Feather file, of which nothing is read yet."""
    kind = ARROW[kind_of(path)]
    if not path.is_file():
        raise FileNotFoundError(path)
    return extra("pyarrow.dataset", f"{kind.capitalize()} files need pyarrow", "parquet").dataset(path, format=kind)


def read_dataset(path: Path, names: Sequence[str], count: str | None, missing: str | None) -> Any:
    """The same, with the columns that are named; rows that will be left out are said."""
    dataset = dataset_of(path)
    for name in (*names, *(() if count is None else (count,))):
        check_column(dataset.schema.names, name)
    if missing == "drop":
        field = extra("pyarrow.compute", "Parquet files need pyarrow", "parquet").field
        incomplete = reduce(or_, (field(name).is_null(nan_is_null=True) for name in names))
        said_dropped(path, dataset.count_rows(filter=incomplete), dataset.count_rows())
    return dataset


def typed_rows(place: Place) -> Iterator[tuple[int, list[Any]]]:
    """The header, then number and cells of every row: that of the sheet or the line, or counted from 1."""
    if isinstance(place, SqlTable):
        return _sql_rows(place)
    kind = kind_of(place)
    return _excel_rows(place) if kind == ".xlsx" else _json_rows(place) if kind in JSON_LINES else _arrow_rows(place)


def check_column(header: list[str], name: str) -> None:
    """Refuse a name that is not there, or there more than once."""
    if header.count(name) > 1:
        raise InvalidJointError(f"the column {name!r} is there {header.count(name)} times; rename one of them.")
    if name not in header:
        # As they are typed: a name with a comma in double quotes.
        names = [f'"{one}"' if "," in one else one for one in header]
        raise InvalidJointError(f"there is no column {name!r}; expected {alternatives(name, names)}.")


def said_dropped(place: Place, dropped: int, rows: int) -> None:
    """A line on stderr, if rows were left out."""
    if dropped:
        note(f"{place}: {dropped:,} of {counted(rows, 'row')} left out, since a value is missing.")


def _arrow_rows(path: Path) -> Iterator[tuple[int, list[Any]]]:
    dataset = dataset_of(path)
    yield 0, list(dataset.schema.names)
    number = 0
    for batch in dataset.to_batches():
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            number += 1
            yield number, list(row)


def _excel_rows(path: Path) -> Iterator[tuple[int, list[Any]]]:
    """The first sheet; a formula is what it was when the file was saved."""
    openpyxl = extra("openpyxl", "Excel files need openpyxl", "excel")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError) as error:
        raise InvalidJointError(f"it is no Excel workbook ({error}).") from error
    with closing(book):
        sheet, *others = book.worksheets
        if others:
            note(f"{path}: the first sheet is read, {sheet.title!r}, of {len(others) + 1}.")
        width = 0
        for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
            cells = list(row)
            while cells and cells[-1] is None and len(cells) > width:
                cells.pop()
            if not any(cell is not None for cell in cells):
                continue
            if not width:
                width, cells = len(cells), ["" if cell is None else str(cell) for cell in cells]
            yield number, cells + [None] * (width - len(cells))


def _json_rows(path: Path) -> Iterator[tuple[int, list[Any]]]:
    """A name that a line does not have is missing there."""
    found: list[tuple[int, dict[str, Any]]] = []
    with opened(path) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig") as text:
        for number, line in enumerate(text, 1):
            if not line.strip():
                continue
            try:
                one = json.loads(line)
            except json.JSONDecodeError as error:
                raise InvalidJointError(f"line {number} is no JSON: {error}.") from error
            if not isinstance(one, dict):
                raise InvalidJointError(
                    f'line {number} must be an object, such as {{"x": 1}}; found {line.strip()[:40]}.'
                )
            found.append((number, one))
    names = list(dict.fromkeys(name for _, one in found for name in one))
    yield 0, list(names)
    for number, one in found:
        yield number, [one.get(name) for name in names]


def _sql_rows(place: SqlTable) -> Iterator[tuple[int, list[Any]]]:
    if not place.file.is_file():
        raise FileNotFoundError(place.file)
    address = f"file:{quote(str(place.file))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            found = database.execute("select name from sqlite_master where type in ('table', 'view') order by name")
            names = [name for (name,) in found]
            if place.name not in names:
                raise InvalidJointError(
                    f"there is no table {place.name!r}; expected {alternatives(place.name, names)}."
                )
            quoted = place.name.replace('"', '""')
            rows = database.execute(f'select * from "{quoted}"')
            yield 0, [name for name, *_ in rows.description]
            for number, row in enumerate(rows, 1):
                yield number, list(row)
    except sqlite3.Error as error:
        raise InvalidJointError(f"the database cannot be read: {error}.") from error


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
