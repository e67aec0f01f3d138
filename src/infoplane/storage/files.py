"""Values as JSON, files that are written whole or not at all, and files that are files."""

from __future__ import annotations

import errno
import glob
import math
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import InvalidOptionError

try:
    import fcntl
except ImportError:  # not a Unix: nothing is locked, and what a killed process left behind stays
    fcntl = None  # type: ignore[assignment]

PART = ".part"
"""How the name of a file ends that is being written."""


def to_json(
    value: Any,
    *,
    nonfinite: Callable[[float], Any] = lambda _: None,
    arrays: Callable[[Any], Any] | None = None,
    others: Callable[[Any], Any] = str,
) -> Any:
    """A value in terms that JSON has: null, booleans, numbers, texts, lists, and objects whose keys are texts.

    numpy's scalars become Python's, tuples lists. NaN and the infinities, for which JSON has no word, become what ``nonfinite`` says; numpy
    arrays the lists of their values, or what ``arrays`` says; everything else, such as a date, what ``others`` says.
    """

    def convert(one: Any) -> Any:
        if isinstance(one, np.generic):
            one = one.item()
        if one is None or isinstance(one, (bool, int, str)):
            return one
        if isinstance(one, float):
            return one if math.isfinite(one) else nonfinite(one)
        if isinstance(one, Mapping):
            return {str(key): convert(inside) for key, inside in one.items()}
        if isinstance(one, (list, tuple)):
            return [convert(inside) for inside in one]
        if isinstance(one, np.ndarray):
            return convert(one.tolist()) if arrays is None else arrays(one)
        return others(one)

    return convert(value)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file beside ``path`` to write to, which is moved there once whole, so that no reader ever sees a part of it.

    The part is locked while it is written. One that nobody has locked was left by a process that was killed, and is removed.
    """
    _remove_left_over(path)
    handle, temporary = _locked_part(path)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp's files are private; a result is as readable as any other file
        os.replace(temporary, path)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None:
            error.filename = os.fspath(path)  # not the part's, and a full disk names none
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _locked_part(path: Path) -> tuple[int, str]:
    """A new file beside ``path``, open and locked. Another process may take it for left over before it is locked: then once more."""
    while True:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=PART)
        if lock(handle) and os.fstat(handle).st_nlink > 0:
            return handle, temporary
        os.close(handle)


def _remove_left_over(path: Path) -> None:
    for part in path.parent.glob(f".{glob.escape(path.name)}.*{PART}") if fcntl is not None else ():
        with suppress(OSError):
            handle = os.open(part, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
            try:
                if lock(handle):
                    part.unlink()
            finally:
                os.close(handle)


def lock(handle: int, *, shared: bool = False) -> bool:
    """Lock an open file for as long as it is open, alone or ``shared``; False if another process, or another part of this one, has."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def path_of(what: str, given: str | os.PathLike[str]) -> Path:
    """A path from what the caller gives as one, or `InvalidOptionError`: a text that is not empty, or an object that stands for one."""
    path = os.fspath(given) if isinstance(given, (str, os.PathLike)) else None
    if not isinstance(path, str) or not path or "\0" in path:
        raise InvalidOptionError(f'{what} must be a path, such as "runs.db"; found {given!r}.')
    return Path(path)


def check_regular(path: str | os.PathLike[str]) -> None:
    """An OSError unless ``path`` is an ordinary file: to open a pipe would wait for somebody to write to it."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory", os.fspath(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, and a file is needed", os.fspath(path))
