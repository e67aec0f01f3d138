"""Tables as text: opened, decoded and split into cells, whatever the separator, the encoding or the compression.

Commas, semicolons or tabs, whichever the first line has most of; UTF-8, UTF-16 with its mark, or else Latin-1, which is said; ``.gz``;
``-`` is standard input.
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

from .printing import note

STDIN = "-"
"""The name of standard input."""

TEXTS = (".csv", ".tsv", ".txt")
"""Endings of tables that are text."""

SEPARATORS = (",", ";", "\t")
"""What may stand between two cells; of equally many the first counts."""

PIECE = 1 << 20
"""Bytes that are decoded at once to see whether a file is UTF-8."""


def kind_of(path: Path) -> str:
    """The ending that says what a file is, in small letters and without ``.gz``; standard input counts as .csv."""
    if str(path) == STDIN:
        return ".csv"
    return (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()


def rows_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row that is not blank."""
    with _bytes(path) as raw:
        encoding = encoding_of(raw)
        raw.seek(0)
        if encoding == "latin-1":
            note(f"{path} is not UTF-8: read as Latin-1. If letters come out wrong, save it as UTF-8.")
        text = io.TextIOWrapper(raw, encoding=encoding, newline="")
        first = text.readline()
        text.seek(0)
        reader = csv.reader(text, strict=True, delimiter=separator_of(first))
        for row in reader:
            if row:
                yield reader.line_num, row


def _bytes(path: Path) -> IO[Any]:
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
            piece = raw.read(PIECE)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def separator_of(line: str) -> str:
    """Comma, semicolon or tab: the one that is there most often outside of quotes, a comma if none is."""
    bare = re.sub(r'"[^"]*"', "", line)
    return max(SEPARATORS, key=bare.count)
