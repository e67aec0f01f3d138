"""Arrays of a .npz file that nobody vouches for: sizes and kinds are known, and can be refused, before anything is unpacked.

A .npz file is a zip file with one .npy file per array: a header that says dtype and shape, then the numbers. Nothing is executed, no
array is unpacked that was not asked for, and nothing waits: what is no ordinary file (a pipe, a device, a folder) is not read at all.
"""

from __future__ import annotations

import math
import os
import stat
import struct
import tokenize
import zipfile
import zlib
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
from numpy.lib import format as npy

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How numpy packs."""

KINDS = {"f": "float64", "i": "int64", "b": "bool", "U": "text"}
"""The kinds of numpy's dtypes that are read, numbers only as these: objects would be pickles, shorter numbers are not what was computed."""

ENCRYPTED = 1
"""A zip member's flag."""

LONGEST_HEADER = 10_000
"""Characters of an array's header, numpy's own limit."""

LARGEST_FILE = 2**32
"""Bytes of a file that is looked at, 4 GB: the largest that zip files without extensions have."""

MOST_BYTES = 2**33
"""Bytes of all arrays together, unpacked: a file of 8 MB can be packed from as much."""

MOST_MEMBERS = 100
"""Arrays of a file; an answer has fifteen or so."""

DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, LookupError, NotImplementedError),
    *(ValueError, TypeError, SyntaxError, tokenize.TokenError, ArithmeticError, struct.error, MemoryError),
)
"""Whatever zip, zlib and numpy raise for damaged files."""


class UnreadableAnswerError(ValueError):
    """The file is no file of answers, was damaged, or contradicts itself: a sentence that says what was expected and what was found."""


class Member(NamedTuple):
    """What the header of an array says of it."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    by_columns: bool

    @property
    def bytes(self) -> int:
        """Room that its numbers take."""
        return math.prod(self.shape) * self.dtype.itemsize


class NumberArchive:
    """A .npz file, open; an `UnreadableAnswerError`, here and in all that it does, if it is none or was damaged."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = _opened(path)
        self.members: dict[str, Member] = {}
        try:
            self._zip = zipfile.ZipFile(self._file)
            infos = self._zip.infolist()
            if len(infos) > MOST_MEMBERS:
                raise ValueError(f"it has {len(infos):,} members, expected at most {MOST_MEMBERS}")
            for info in infos:
                name = info.filename.removesuffix(".npy")
                if name in self.members or name == info.filename:
                    raise ValueError(f"{info.filename!r} is there twice, or is no array")
                self.members[name] = self._header(info)
            if sum(member.bytes for member in self.members.values()) > MOST_BYTES:
                raise ValueError(f"its arrays would take more than {MOST_BYTES:,} bytes")
        except DAMAGE as error:
            self._file.close()
            raise UnreadableAnswerError(f"it is damaged, or no file of arrays: {error}") from error
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def read(self, name: str, kind: str, shape: tuple[int, ...]) -> Any:
        """The array of that name, which must be of that kind (a key of `KINDS`) and shape; row by row, in this machine's byte order."""
        member = self.members.get(name)
        if member is None:
            raise UnreadableAnswerError(f"it has no {name}")
        if member.dtype.kind != kind or member.shape != shape:
            raise UnreadableAnswerError(
                f"its {name} are {member.dtype} of shape {member.shape}, expected {KINDS[kind]} of shape {shape}"
            )
        try:
            with self._zip.open(f"{name}.npy") as file:
                _header(file)
                data = file.read()  # no more than the directory says, and that was compared with the header
            values = np.frombuffer(data, member.dtype).reshape(shape, order="F" if member.by_columns else "C")
            array = values.astype(member.dtype.newbyteorder("="), order="C")
        except DAMAGE as error:
            raise UnreadableAnswerError(f"its {name} are damaged: {error}") from error
        if kind == "b" and (array.view(np.uint8) > 1).any():
            raise UnreadableAnswerError(f"its {name} hold bytes that are neither true nor false")
        return array

    def _header(self, info: zipfile.ZipInfo) -> Member:
        if info.compress_type not in METHODS or info.flag_bits & ENCRYPTED:
            raise ValueError(f"{info.filename!r} is packed or encrypted in a way that numpy does not use")
        with self._zip.open(info) as file:
            shape, by_columns, dtype = _header(file)
            start = file.tell()
        member = Member(dtype, shape, by_columns)
        known = dtype.kind == "U" or (dtype.kind in KINDS and dtype.newbyteorder("=") == np.dtype(KINDS[dtype.kind]))
        if not known or min(shape, default=0) < 0:
            raise ValueError(f"{info.filename!r} holds {dtype} of shape {shape}, which is not expected")
        if info.file_size - start != member.bytes:
            raise ValueError(f"{info.filename!r} does not have the size that its shape {shape} needs")
        return member


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    """The file, unless it is none: opened without waiting for a writer, and looked at before a byte is read."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    file = None
    try:
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableAnswerError("it is a folder, a pipe or a device, expected an ordinary file")
        if found.st_size > LARGEST_FILE:
            raise UnreadableAnswerError(f"it has {found.st_size:,} bytes, expected at most {LARGEST_FILE:,}")
        file = os.fdopen(number, "rb")
    finally:
        if file is None:
            os.close(number)
    return file


def _header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether column by column, and dtype; the file is then where the numbers begin."""
    version = npy.read_magic(file)
    if version == (1, 0):
        return npy.read_array_header_1_0(file, max_header_size=LONGEST_HEADER)
    if version == (2, 0):
        return npy.read_array_header_2_0(file, max_header_size=LONGEST_HEADER)
    raise ValueError(f"an array is of version {version}, which is not expected")
