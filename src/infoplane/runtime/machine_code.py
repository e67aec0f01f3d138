"""Where machine code is kept: a folder whose name has a digest of the sources that the code can come from.

numba considers code on disk valid until the file of the function itself changes, so an edited helper in another file would go unnoticed. A
folder for each state of the sources needs no such judgement: after an edit it is another folder. Sources are those beside the function and
those that all kernels share (`SHARED`), as kernels import from nowhere else (tests/test_layout.py). Contents count, not dates.

The folder lies in NUMBA_CACHE_DIR, if that is set, else beside the sources, in `__pycache__`, else in the user's cache: the first of them
that can be written to. Several versions may share a place: the `KEPT` that were used last stay.
"""

import functools
import hashlib
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba

try:
    import fcntl
except ImportError:  # not a Unix: two processes that need a kernel at the same time both compile it
    fcntl = None  # type: ignore[assignment]

PACKAGE = Path(__file__).parent.parent
SHARED = (PACKAGE / "kernels" / "common", PACKAGE / "runtime" / "compiling.py")
"""What every kernel may be made from, besides the sources in its own folder: helpers, and the flags."""

KEPT = 6
"""How many states of a folder's sources have their machine code kept: two or three versions side by side, and some edits; each takes 1 to
4 MB."""

configuration: Any = numba.config
"""numba's, which the NUMBA_... variables of the environment are read into."""

_setting = threading.Lock()


@functools.cache
def digest_of_sources(folder: Path) -> str:
    """A digest of the names and contents of a folder's sources and of the shared ones: read once per process in about a millisecond."""
    digest = hashlib.sha256()
    for place in dict.fromkeys((folder, *SHARED)):
        for source in sorted(place.glob("*.py")) if place.is_dir() else [place]:
            digest.update(f"{place.name}/{source.name}\0".encode() + source.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def folder_for(sources: Path, base: str) -> Path | None:
    """A folder that can be written to, for the machine code of what is in a folder of sources; None if there is no place for one.

    ``base`` is where the user wants machine code to be, "" if nothing was said.
    """
    name = f"infoplane-{sources.name}-{digest_of_sources(sources)}"
    for place in [*([Path(base)] if base else []), sources / "__pycache__", user_cache() / "infoplane"]:
        with suppress(OSError):
            folder = place / name
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return None


def user_cache() -> Path:
    """The folder that the system has for what programs can make again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local")).expanduser()
    if sys.platform == "darwin":
        return Path("~/Library/Caches").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """What is decorated meanwhile has its machine code in this folder; what anyone else decorates, where it was to be."""
    with _setting:
        before, configuration.CACHE_DIR = configuration.CACHE_DIR, str(folder)
        try:
            yield
        finally:
            configuration.CACHE_DIR = before


@contextmanager
def one_process(folder: Path, name: str) -> Iterator[None]:
    """Of the processes that come here with the same name, one at a time, until one has been through; where files can be locked.

    The others wait for the first and then find on disk what it has made.
    """
    lock = _locked(folder / f"{name}.lock")
    try:
        yield
        if lock is not None:
            with suppress(OSError):
                os.write(lock, b"done\n")
    finally:
        if lock is not None:
            fcntl.flock(lock, fcntl.LOCK_UN)  # closing is not enough if the process was forked meanwhile
            os.close(lock)


def _locked(path: Path) -> int | None:
    """An open file that this process has locked; None if nobody has to wait any more, or files cannot be locked."""
    if fcntl is None or (path.exists() and path.stat().st_size > 0):
        return None
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
    except BaseException as error:
        os.close(lock)
        if isinstance(error, OSError):
            return None
        raise
    return lock


def mark_as_used(folder: Path) -> None:
    """Let this folder be the last to be removed."""
    with suppress(OSError):
        os.utime(folder)


def remove_unused(folder: Path) -> None:
    """Of the machine code made from other states of the same sources, leave that which was used last."""
    with suppress(OSError):  # another process may be doing the same
        digest = folder.name.rpartition("-")[2]
        states = folder.parent.glob(folder.name.removesuffix(digest) + "[0-9a-f]" * len(digest))
        for old in sorted(states, key=lambda one: one.stat().st_mtime, reverse=True)[KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
