"""Arrays of .npz and .npy files, read by NumPy once their headers are known to be harmless.

``numpy.load(allow_pickle=False)`` executes nothing, but believes what it reads: it makes room for whatever shape a header says, takes the
last of two members of one name, and ends in a dozen kinds of errors. Here every header is compared with the size of its data, and with
what the caller expects, before anything is unpacked; whatever is wrong is a ValueError.
"""

from __future__ import annotations

import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from ..formatting import shown
from .files import check_regular

KINDS = "biufU"
"""Kinds of arrays that are read at all: booleans, whole numbers, numbers and text; no objects, which would be pickles."""

MOST_BYTES = 2**33
"""Of all arrays of a file together, unpacked: a file of 8 MB cannot be packed from more."""

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How NumPy packs; the others fail in ways of their own."""

DAMAGE = (
    *(OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, LookupError),
    *(TypeError, SyntaxError, tokenize.TokenError, OverflowError, struct.error),
)
"""What zipfile, zlib and NumPy raise for damaged files, beside ValueError."""


class Expected(NamedTuple):
    """The kind of an array's values, as in ``numpy.dtype.kind``, of 8 bytes if they are numbers; and its shape, None for any length."""

    kind: str
    shape: tuple[int | None, ...]

    def fits(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
        """Whether an array of that shape and type is meant; without values any type will do."""
        alike = dtype.kind == self.kind and (dtype.kind not in "if" or dtype.itemsize == 8)
        return (
            (alike or 0 in shape)
            and len(shape) == len(self.shape)
            and all(want in (None, length) for want, length in zip(self.shape, shape, strict=True))
        )


def read_npz(path: str | os.PathLike[str], expected: Mapping[str, Expected]) -> dict[str, Any]:
    """The arrays of a file, in this machine's byte order; a ValueError, before anything is unpacked, unless all are as expected.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/f.npz", numbers=np.arange(3.0))
    ...     read_npz(f"{folder}/f.npz", {"numbers": Expected("f", (None,))})
    {'numbers': array([0., 1., 2.])}
    """
    check_regular(path)
    with open(path, "rb") as file, damage_said():
        with zipfile.ZipFile(file) as packed:
            members = {one.filename.removesuffix(".npy"): one for one in packed.infolist()}
            if len(members) < len(packed.infolist()) or any(
                one.compress_type not in METHODS for one in members.values()
            ):
                raise ValueError("an array is there twice, or packed in a way that NumPy does not use")
            if sum(one.file_size for one in members.values()) > MOST_BYTES:
                raise ValueError(f"its arrays would take more than {MOST_BYTES:,} bytes")
            for name, one in members.items():
                if name not in expected:
                    raise ValueError(f"it has a member {shown(name)} that is not expected")
                with packed.open(one) as member:
                    shape, dtype = _checked_header(member, one.file_size)
                if not expected[name].fits(shape, dtype):
                    raise ValueError(f"its {name} have type {dtype} and shape {shape}")
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            return {name: _here(arrays[name]) for name in members}


def read_npy(path: str | os.PathLike[str]) -> Any:
    """The array of a .npy file; a ValueError, before any room is made for it, unless it is one, whole, and holds numbers or text."""
    with open(path, "rb") as file, damage_said():
        _checked_header(file, os.fstat(file.fileno()).st_size)
        file.seek(0)
        return _here(np.load(file, allow_pickle=False))


def _checked_header(file: Any, size: int) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type that the header of an array says; a ValueError unless the rest of so many bytes is what they need."""
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"an array is of version {version}, which is not expected")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.kind not in KINDS or min(shape, default=0) < 0:
        raise ValueError(f"an array holds {dtype} of shape {shape}, which is not expected")
    if size - file.tell() != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"an array does not have the size that its shape {shape} needs")
    return shape, dtype


def _here(array: Any) -> Any:
    """Row by row, and in this machine's byte order."""
    return array.astype(array.dtype.newbyteorder("="), order="C", copy=False)


@contextmanager
def damage_said() -> Iterator[None]:
    """Whatever zip, zlib and NumPy raise for damaged files, as a ValueError."""
    try:
        yield
    except DAMAGE as error:
        raise ValueError(f"it is damaged, or no file of arrays: {error}") from error
