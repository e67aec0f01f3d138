"""Tables in files: where they are, whether they can be read, and their rows of cells.

Texts have commas, semicolons or tabs, whichever the first line has most of; UTF-8, UTF-16 with its mark, or else Latin-1, which is said;
``.gz``; ``-`` is standard input. Where semicolons separate cells, a comma between digits is a decimal one, ``1,5``, which is said.

Parquet and Feather are datasets of pyarrow, counted batch by batch. Excel, JSON lines and tables of SQLite databases are read row by row,
with None for what is missing.
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
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeAlias
from urllib.parse import quote

from .. import datasets
from ..checks import extra
from ..errors import InvalidJointError
from ..formatting import alternatives, counted
from .flags import number_of
from .output import note

STDIN = "-"  # the name of standard input

# Endings: of texts; of datasets, with what pyarrow calls their format; of files with a JSON object in every line; of all with typed cells.
TEXTS = (".csv", ".tsv", ".txt")
ARROW = {".parquet": "parquet", ".feather": "feather", ".arrow": "feather"}
JSON_LINES = (".jsonl", ".ndjson")
TYPED = (*ARROW, ".xlsx", *JSON_LINES)

SQL = "sqlite"  # the kind of a table in a database
_SQL_START = "sqlite:///"

SEPARATORS = (",", ";", "\t")  # between two cells; of equally many the first counts

DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?\s*", re.ASCII)
"""A number as most of Europe writes it; with points between thousands as well it is none, since that might be read in two ways."""


# -- where a table is, and whether it can be read ----------------------------------------------------------------------


@dataclass(frozen=True)
class SqlTable:
    """``sqlite:///file.db?table``; an absolute path has four slashes."""

    file: Path
    name: str

    def __str__(self) -> str:
        return f"{_SQL_START}{self.file}?{self.name}"


Location: TypeAlias = Path | SqlTable


def located(name: str) -> Location:
    """Where a table is."""
    if not name.startswith(_SQL_START):
        return Path(name)
    file, _, inside = name.removeprefix(_SQL_START).rpartition("?")
    if not file or not inside:
        raise InvalidJointError(f"a table of a database is written sqlite:///file.db?table; found {name!r}.")
    return SqlTable(Path(file), inside)


def title_of(name: str) -> str:
    """What tables and pictures call it: its name without endings."""
    return "standard input" if name == STDIN else located(name).name.split(".")[0] or name


def kind_of(table: Location) -> str:
    """The ending that says what a file is, in small letters and without ``.gz``; standard input counts as .csv, a database is `SQL`."""
    if isinstance(table, SqlTable):
        return SQL
    if str(table) == STDIN:
        return ".csv"
    return (Path(table.stem) if table.suffix.lower() == ".gz" else table).suffix.lower()


def text_of(cell: Any) -> str:
    """A cell as it is written; an empty one has no text."""
    return "" if cell is None else str(cell)


@contextmanager
def readable(table: Location) -> Iterator[None]:
    """Whatever is wrong with a file is an InvalidJointError that begins with its name."""
    try:
        yield
    except InvalidJointError as error:
        raise InvalidJointError(f"{table}: {error}") from error
    except FileNotFoundError:
        raise InvalidJointError(
            f"there is no file {table}, nor a built-in joint of that name; built in: {', '.join(datasets.names())}."
        ) from None
    except OSError as error:
        raise InvalidJointError(f"{table} cannot be read: {error.strerror or error}.") from error
    except (UnicodeDecodeError, csv.Error, ValueError, EOFError) as error:
        raise InvalidJointError(f"{table} cannot be read as {kind_of(table).lstrip('.')}: {error}.") from error


# -- rows of cells -----------------------------------------------------------------------------------------------------

Rows: TypeAlias = Iterator[tuple[int, list[Any]]]
"""Number and cells of every row that is not blank, the header first: that of the line or the sheet, or counted from 1."""


class TableRows:
    """The rows of a table of any kind, each as long as its header, if it is to have one; and numbers as they are written there."""

    def __init__(self, table: Location, *, headed: bool = True) -> None:
        self.table, self.is_text, self.headed = table, kind_of(table) in TEXTS, headed
        self.decimal_comma = self._said = False
        self._cells = self._split(table) if self.is_text else _typed_rows(table)
        first = next(self._cells, (0, []))[1] if headed else []
        self.header: list[str] = [name.strip() for name in first] if self.is_text else first
        """The first row, without the spaces around names in a text; empty if there is none."""

    def __iter__(self) -> Rows:
        for line, row in self._cells:
            if self.headed and len(row) != len(self.header):
                raise InvalidJointError(
                    f"line {line} has {counted(len(row), 'cell')}, the header has {len(self.header)}."
                )
            yield line, row

    def number(self, cell: Any, line: int, column: str | int) -> float:
        """A number; the first decimal comma is said."""
        text = text_of(cell)
        if isinstance(cell, str) and self.decimal_comma and DECIMAL_COMMA.fullmatch(cell):
            cell = cell.replace(",", ".")
            if not self._said:
                note(f"{self.table}: {text} is read as {cell}, since semicolons separate the cells.")
            self._said = True
        try:
            return number_of(str(cell))
        except ValueError:
            said = f"line {line}, column {column!r}: found {text!r} where a number is expected"
            plain = re.sub(r"(?<=\d)[., '](?=\d{3}(?!\d))", "", text)
            if plain != text and plain.replace(",", ".", 1).replace(".", "", 1).isdecimal():
                said += f": write {plain!r}, without what parts the thousands"
            raise InvalidJointError(f"{said}.") from None

    def count(self, cell: Any, line: int, column: str | int) -> float:
        """A number that is a count."""
        amount = self.number(cell, line, column)
        if not 0.0 <= amount < math.inf:
            raise InvalidJointError(
                f"line {line} has the count {amount:g} in column {column!r}; counts are finite and not negative."
            )
        return amount

    def _split(self, path: Any) -> Rows:
        with _opened(path) as raw:
            encoding = _encoding_of(raw)
            raw.seek(0)
            if encoding == "latin-1":
                note(f"{path} is not UTF-8: read as Latin-1. If letters come out wrong, save it as UTF-8.")
            text = io.TextIOWrapper(raw, encoding=encoding, newline="")
            separator = _separator_of(text.readline())
            text.seek(0)
            self.decimal_comma = separator == ";"
            reader = csv.reader(text, strict=True, delimiter=separator)
            for row in reader:
                if row:
                    yield reader.line_num, row


def _opened(path: Path) -> IO[Any]:
    """The bytes of a file, unpacked, or of standard input."""
    if str(path) == STDIN:
        return io.BytesIO(sys.stdin.buffer.read())
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _encoding_of(raw: IO[Any]) -> str:
    """UTF-8 if it can be read as that, UTF-16 if it begins with its mark, else Latin-1, as which everything can be read."""
    if raw.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    raw.seek(0)
    try:
        for _ in codecs.iterdecode(iter(lambda: raw.read(1 << 20), b""), "utf-8"):  # a megabyte at a time
            pass
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _separator_of(line: str) -> str:
    """The separator that is there most often outside of quotes; beside semicolons, decimal commas do not count."""
    bare = re.sub(r'"[^"]*"', "", line)
    if ";" in bare:
        bare = re.sub(r"(?<=\d),(?=\d)", "", bare)
    return max(SEPARATORS, key=bare.count)


def _typed_rows(table: Any) -> Rows:
    readers: dict[str, Callable[[Any], Rows]] = {SQL: _sql_rows, ".xlsx": _excel_rows}
    readers |= dict.fromkeys(JSON_LINES, _json_rows) | dict.fromkeys(ARROW, _arrow_rows)
    if kind_of(table) not in readers:
        raise InvalidJointError(f"a table ends in one of {', '.join((*TEXTS, *TYPED))}.")
    return readers[kind_of(table)](table)


def dataset_of(path: Path) -> Any:
    """A Parquet or Feather file, of which nothing is read yet."""
    kind = ARROW[kind_of(path)]
    if not path.is_file():
        raise FileNotFoundError(path)
    return extra("pyarrow.dataset", f"{kind.capitalize()} files need pyarrow", "parquet").dataset(path, format=kind)


def _arrow_rows(path: Path) -> Rows:
    dataset = dataset_of(path)
    yield 0, list(dataset.schema.names)
    batches = (zip(*(column.to_pylist() for column in batch.columns), strict=True) for batch in dataset.to_batches())
    yield from enumerate(map(list, chain.from_iterable(batches)), 1)


def _excel_rows(path: Path) -> Rows:
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
            if all(cell is None for cell in cells):
                continue
            if not width:
                width, cells = len(cells), [text_of(cell) for cell in cells]
            yield number, cells + [None] * (width - len(cells))


def _json_rows(path: Path) -> Rows:
    """A name that a line does not have is missing there."""
    found: list[tuple[int, dict[str, Any]]] = []
    with _opened(path) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig") as text:
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
    yield 0, names
    for number, one in found:
        yield number, [one.get(name) for name in names]


def _sql_rows(table: SqlTable) -> Rows:
    if not table.file.is_file():
        raise FileNotFoundError(table.file)
    address = f"file:{quote(str(table.file))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            found = database.execute("select name from sqlite_master where type in ('table', 'view') order by name")
            names = [name for (name,) in found]
            if table.name not in names:
                raise InvalidJointError(
                    f"there is no table {table.name!r}; expected {alternatives(table.name, names)}."
                )
            quoted = table.name.replace('"', '""')
            rows = database.execute(f'select * from "{quoted}"')
            yield 0, [name for name, *_ in rows.description]
            yield from enumerate(map(list, rows), 1)
    except sqlite3.Error as error:
        raise InvalidJointError(f"the database cannot be read: {error}.") from error
