"""Arrays of .npz and .npy files, read without trusting them: sizes and kinds are known, and can be refused, before anything is unpacked.

A .npz file is a zip file with one .npy file per array: a header that says dtype and shape, then the numbers. Nothing is executed, no
more is unpacked than what a header says, and that only when it is asked for.
"""

from __future__ import annotations

import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.lib import format as npy

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How numpy packs."""

KINDS = "biufU"
"""Booleans, whole numbers, numbers and text: no objects, which would be pickles."""

ENCRYPTED = 1
"""A zip member's flag."""

LONGEST_HEADER = 10_000

DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, LookupError),
    *(TypeError, SyntaxError, tokenize.TokenError, OverflowError, struct.error),
)


class Member(NamedTuple):
    """What the header of an array says of it."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    by_columns: bool = False

    @property
    def bytes(self) -> int:
        """Room that its numbers take."""
        return math.prod(self.shape) * self.dtype.itemsize

    def of(self, data: Any) -> Any:
        """The array with these numbers, row by row and in this machine's byte order."""
        values = np.frombuffer(data, dtype=self.dtype).reshape(self.shape, order="F" if self.by_columns else "C")
        return values.astype(self.dtype.newbyteorder("="), order="C")


class NumberArchive:
    """A .npz file, open; a ValueError, here and in all that it does, if it is none or was damaged.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> np.savez(file, numbers=np.arange(3.0))
    >>> with NumberArchive(file) as archive:
    ...     archive.members["numbers"].shape, archive.read("numbers").tolist()
    ((3,), [0.0, 1.0, 2.0])
    """

    def __init__(self, file: str | os.PathLike[str] | Any) -> None:
        with damage_said():
            self._zip = zipfile.ZipFile(file)
        self.members: dict[str, Member] = {}
        try:
            for info in self._zip.infolist():
                name = info.filename.removesuffix(".npy")
                if name in self.members or name == info.filename:
                    raise ValueError(f"{info.filename!r} is there twice, or is no array")
                self.members[name] = self._header(info)
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def read(self, name: str) -> Any:
        """The array of that name."""
        member = self.members[name]
        with damage_said(), self._zip.open(f"{name}.npy") as file:
            _skip_header(file)
            data = file.read()  # no more than the directory says, and that was compared with the header
        return member.of(data)

    def _header(self, info: zipfile.ZipInfo) -> Member:
        if info.compress_type not in METHODS or info.flag_bits & ENCRYPTED:
            raise ValueError(f"{info.filename!r} is packed or encrypted in a way that numpy does not use")
        with damage_said(), self._zip.open(info) as file:
            shape, by_columns, dtype = _skip_header(file)
            start = file.tell()
        return _checked(info.filename, Member(dtype, shape, by_columns), info.file_size - start)


def read_npy(path: str | os.PathLike[str]) -> Any:
    """The array of a .npy file; a ValueError, before any room is made for it, unless it is one, whole, and holds numbers or text."""
    with open(path, "rb") as file, damage_said():
        shape, by_columns, dtype = _skip_header(file)
        size = os.fstat(file.fileno()).st_size - file.tell()
        member = _checked(os.fspath(path), Member(dtype, shape, by_columns), size)
        return member.of(file.read())


def _checked(name: str, member: Member, size: int) -> Member:
    """The member, if it is of a known kind and as large as it says."""
    if member.dtype.kind not in KINDS or min(member.shape, default=0) < 0:
        raise ValueError(f"{name!r} holds {member.dtype} of shape {member.shape}, which is not expected")
    if size != member.bytes:
        raise ValueError(f"{name!r} does not have the size that its shape {member.shape} needs")
    return member


@contextmanager
def damage_said() -> Iterator[None]:
    """Whatever zip, zlib and numpy raise for damaged files, as a ValueError."""
    try:
        yield
    except DAMAGE as error:
        raise ValueError(f"it is damaged, or no file of arrays: {error}") from error


def _skip_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether column by column, and dtype; the file is then where the numbers begin."""
    version = npy.read_magic(file)
    if version == (1, 0):
        return npy.read_array_header_1_0(file, max_header_size=LONGEST_HEADER)
    if version == (2, 0):
        return npy.read_array_header_2_0(file, max_header_size=LONGEST_HEADER)
    raise ValueError(f"an array is of version {version}, which is not expected")
