"""Arrays of .npz and .npy files, read by NumPy, and what it does not look at.

``numpy.load(allow_pickle=False)`` executes nothing, but it unpacks whatever a file says it holds, takes the last of two members of one
name, and ends in a dozen kinds of errors. Here the names and sizes of a file's members are looked at before anything is unpacked, kinds and
shapes of the arrays before anybody uses them; whatever is wrong is a ValueError.
"""

from __future__ import annotations

import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..formatting import shown
from .files import check_regular

MOST_BYTES = 2**33
"""Of all arrays of a file together, unpacked: a file of 8 MB cannot be packed from more."""

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How NumPy packs; the others fail in ways of their own."""

DAMAGE = (
    *(OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, LookupError, MemoryError),
    *(TypeError, SyntaxError, tokenize.TokenError, OverflowError, struct.error),
)
"""What zipfile, zlib and NumPy raise for damaged files, beside ValueError; of a shape that no file can fill MemoryError."""


class Expected(NamedTuple):
    """The kind of an array's values, as in ``numpy.dtype.kind``, of 8 bytes if they are numbers; and its shape, None for any length."""

    kind: str
    shape: tuple[int | None, ...]

    def fits(self, array: Any) -> bool:
        """Whether such an array is meant; without values any type will do."""
        if not isinstance(array, np.ndarray) or array.ndim != len(self.shape):
            return False
        alike = array.dtype.kind == self.kind and (array.dtype.kind not in "if" or array.dtype.itemsize == 8)
        lengths = zip(self.shape, array.shape, strict=True)
        return (alike or 0 in array.shape) and all(want in (None, length) for want, length in lengths)


def read_npz(path: str | os.PathLike[str], expected: Mapping[str, Expected]) -> dict[str, Any]:
    """The arrays of a file, in this machine's byte order; a ValueError unless all are as expected.

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
            members = packed.infolist()
            names = [one.filename.removesuffix(".npy") for one in members]
        if len(set(names)) < len(names) or any(one.compress_type not in METHODS for one in members):
            raise ValueError("an array is there twice, or packed in a way that NumPy does not use")
        if sum(one.file_size for one in members) > MOST_BYTES:
            raise ValueError(f"its arrays would take more than {MOST_BYTES:,} bytes")
        for name in names:
            if name not in expected:
                raise ValueError(f"it has a member {shown(name)} that is not expected")
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in names}
    for name, array in found.items():
        if not expected[name].fits(array):
            raise ValueError(f"its {name} have type {getattr(array, 'dtype', None)} and shape {np.shape(array)}")
    return {name: _here(array) for name, array in found.items()}


def read_npy(path: str | os.PathLike[str]) -> Any:
    """The array of a .npy file; a ValueError unless it is one, whole, and holds numbers or text."""
    with open(path, "rb") as file, damage_said():
        array = np.load(file, allow_pickle=False)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufU":
        raise ValueError("it holds no array of numbers")
    return _here(array)


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
