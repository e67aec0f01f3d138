"""How kernels are compiled: one place for the flags, on plain `numba.njit`.

`part` marks a function that other kernels call; `inlined` one whose text is pasted into its callers; `entry` one that Python calls, whose
machine code (with all its parts) is kept on disk. Division follows IEEE rules instead of raising, and the GIL is
released, so that threads run side by side. A call that finds nothing on disk says so, once per process, through the logger "infoplane".

The process that compiles a kernel and those that load it give the same bits; `kernels.common.regrouped` says what that asks of
a sum.

Machine code is kept in a folder whose name has a digest of the sources that the code can come from.
numba considers code on disk valid until the file of the function itself changes, so an edited helper in another file would go unnoticed. A
folder for each state of the sources needs no such judgement: after an edit it is another folder. Sources are those beside the function and
those that all kernels share (`SHARED`), as kernels import from nowhere else (tests/test_layout.py). Contents count, not dates.

The folder lies in NUMBA_CACHE_DIR, if that is set, else beside the sources, in `__pycache__`, else in the user's cache: the first of them
that can be written to. Several versions may share one: the `KEPT` that were used last stay.
"""

import functools
import gc
import hashlib
import logging
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, TypeVar

import numba
from numba.extending import register_jitable

try:
    import fcntl
except ImportError:  # not a Unix: two processes that need a kernel at the same time both compile it
    fcntl = None  # type: ignore[assignment]

PACKAGE = Path(__file__).parent.parent
SHARED = (PACKAGE / "kernels" / "common.py", PACKAGE / "runtime" / "compiling.py")
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
    for path in dict.fromkeys((folder, *SHARED)):
        for source in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(f"{path.name}/{source.name}\0".encode() + source.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def folder_for(sources: Path, base: str) -> Path | None:
    """A folder that can be written to, for the machine code of what is in a folder of sources; None if there is none.

    ``base`` is where the user wants machine code to be, "" if nothing was said.
    """
    name = f"infoplane-{sources.name}-{digest_of_sources(sources)}"
    for parent in [*([Path(base)] if base else []), sources / "__pycache__", user_cache() / "infoplane"]:
        with suppress(OSError):
            folder = parent / name
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return None


def user_cache() -> Path:
    """The folder that the system has for what programs can make again."""
    usual = {"win32": os.environ.get("LOCALAPPDATA") or "~/AppData/Local", "darwin": "~/Library/Caches"}
    return Path(usual.get(sys.platform, os.environ.get("XDG_CACHE_HOME") or "~/.cache")).expanduser()


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
def one_process(mark: Path) -> Iterator[None]:
    """Of the processes that come here with the same mark, one at a time, until one has been through; where files can be locked.

    The others wait for the first and then find on disk what it has made.
    """
    with ExitStack() as left:
        file: IO[bytes] | None = None
        with suppress(OSError):
            if not is_made(mark):
                file = left.enter_context(mark.open("ab", buffering=0))
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX)
                    # Closing is not enough if the process was forked meanwhile.
                    left.callback(fcntl.flock, file, fcntl.LOCK_UN)
        yield
        with suppress(OSError):
            if file is not None:
                file.write(b"done\n")


def is_made(mark: Path) -> bool:
    """Whether a process has been through."""
    return mark.exists() and mark.stat().st_size > 0


def remove_unused(folder: Path) -> None:
    """Of the machine code made from other states of the same sources, leave that which was used last."""
    with suppress(OSError):  # another process may be doing the same
        digest = folder.name.rpartition("-")[2]
        states = folder.parent.glob(folder.name.removesuffix(digest) + "[0-9a-f]" * len(digest))
        for old in sorted(states, key=lambda one: one.stat().st_mtime, reverse=True)[KEPT:]:
            shutil.rmtree(old, ignore_errors=True)


F = TypeVar("F", bound=Callable[..., Any])

FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""What all kernels are compiled with. Nobody calls them from C: a wrapper of every helper for that takes a tenth of the compile time."""

COMPILING = "compiling kernels, once per machine (about half a minute)"

_told = threading.Lock()
"""Taken by who says `COMPILING`, and never given back."""

compiled_for: dict[int, float] = {}
"""Seconds for which each thread had entries compiled or read from disk, or waited for them."""


def part(function: F, **flags: Any) -> F:
    """Compile a helper when a kernel that uses it is compiled; if Python calls it, as tests do, it is plain Python.

    To compile it for Python too would take a seventh of the time that kernels take.
    """
    return register_jitable(**FLAGS, **flags)(function)


def inlined(function: F) -> F:
    """Paste a helper into the kernel that uses it: every further layer of calls costs seconds of compile time."""
    return numba.njit(inline="always", **FLAGS)(function)  # type: ignore[no-any-return]


def entry(function: F) -> F:
    """Compile on the first call, once per machine: the result is kept on disk, where there is a folder that can be written to.

    With NUMBA_DISABLE_JIT=1 it stays plain Python, to be stepped through in a debugger; so do `part` and `inlined`.
    """
    if configuration.DISABLE_JIT:
        return function
    compiled, folder = _with_its_folder(function)
    known = False  # asking numba for its signatures at every call would take longer than a small kernel

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        nonlocal known
        if not known:
            _make_ready(compiled, folder, arguments)
            known = True
        return compiled(*arguments)

    call.compiled = compiled  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def _with_its_folder(function: Callable[..., Any]) -> tuple[Any, Path | None]:
    """A function for numba to compile, and the folder in which the result is kept; None if there is no such folder, or no file."""
    source = Path(function.__code__.co_filename)
    folder = folder_for(source.parent, configuration.CACHE_DIR) if source.is_file() else None
    if folder is None:
        return numba.njit(**FLAGS)(function), None
    with kept_in(folder):
        return numba.njit(cache=True, **FLAGS)(function), folder


def _make_ready(compiled: Any, folder: Path | None, arguments: tuple[Any, ...]) -> None:
    """Read an entry from disk, or compile it for these arguments and save it: one process does, others that need it wait."""
    began = time.perf_counter()
    types = tuple(numba.typeof(one) for one in arguments)
    mark = None if folder is None else folder / _name(compiled, types)
    if (mark is None or not is_made(mark)) and _told.acquire(blocking=False):
        logging.getLogger("infoplane").warning(COMPILING)
    alone = nullcontext() if mark is None else one_process(mark)
    # OSError: a disk that is full; what was compiled is there, if not on disk.
    with alone, collector_at_rest(), suppress(OSError):
        compiled.compile(types)
    if folder is not None:
        with suppress(OSError):
            os.utime(folder)  # it is the last to be removed
        if compiled.stats.cache_misses:
            remove_unused(folder)
    mine = threading.get_ident()
    compiled_for[mine] = compiled_for.get(mine, 0.0) + time.perf_counter() - began


def _name(compiled: Any, types: tuple[Any, ...]) -> str:
    """The name of a file that says of an entry with these types of arguments whether there is machine code for this Python."""
    what = f"{compiled.__qualname__}{types}{sys.implementation.cache_tag}{numba.__version__}"
    return f"{Path(compiled.__code__.co_filename).stem}-{hashlib.sha256(what.encode()).hexdigest()[:8]}.lock"


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Python's collector of cycles switched off, and then as it was: it takes a twelfth of the compiler's time.

    Of several threads the first to leave may switch it on for all: they are only slower then.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
