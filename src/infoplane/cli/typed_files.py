"""Tables whose cells have types: Parquet and Feather, Excel, JSON lines, and tables of SQLite databases.

Parquet and Feather are datasets of pyarrow, counted batch by batch. The others are read row by row, with None for what is missing; a value
of theirs is a label as it is: ``1``, ``true`` and ``"1"`` are three.
"""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from ..checks import extra
from ..errors import InvalidJointError
from ..formatting import alternatives, counted
from .printing import note
from .text_files import kind_of, opened

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
