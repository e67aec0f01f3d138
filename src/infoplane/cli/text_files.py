"""Tables as text: opened, decoded and split into cells, whatever the separator, the encoding or the compression.

Commas, semicolons or tabs, whichever the first line has most of; UTF-8, UTF-16 with its mark, or else Latin-1, which is said; ``.gz``;
``-`` is standard input. Where semicolons separate cells, a comma between digits is a decimal one, ``1,5``, which is said.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from .numerals import number_of
from .printing import note

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
