"""How kernels are compiled: one place for the flags, on plain `numba.njit`.

`part` marks a function that other kernels call; `inlined` one whose text is pasted into its callers; `entry` one that Python calls, whose
machine code (with all its parts) is kept on disk, see `machine_code`. Division follows IEEE rules instead of raising, and the GIL is
released, so that threads run side by side. A call that finds nothing on disk says so, once per process, through the logger "infoplane".

The process that compiles a kernel and those that load it give the same bits; `kernels.common.numerics.regrouped` says what that asks of
a sum.
"""

import functools
import gc
import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.extending import register_jitable

from .machine_code import configuration, folder_for, kept_in, mark_as_used, one_process, remove_unused

F = TypeVar("F", bound=Callable[..., Any])

FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""What all kernels are compiled with."""

COMPILING = "compiling kernels, once per machine (about half a minute)"

_told = threading.Event()

_compiling: dict[int, float] = {}
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
    """Compile on the first call, once per machine: the result is kept on disk, where there is a place to write to.

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
    """A function for numba to compile, and the folder in which the result is kept; None if there is no place for it, or no file."""
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
    turn, alone = threading.Event(), nullcontext() if folder is None else one_process(folder, _name(compiled, types))
    with telling_of_compilation(lambda: bool(compiled.stats.cache_misses) or not turn.is_set()), alone:
        turn.set()
        with collector_at_rest(), suppress(OSError):  # a disk that is full: what was compiled is there, if not on disk
            compiled.compile(types)
    if folder is not None:
        mark_as_used(folder)
        if compiled.stats.cache_misses:
            remove_unused(folder)
    mine = threading.get_ident()
    _compiling[mine] = _compiling.get(mine, 0.0) + time.perf_counter() - began


def _name(compiled: Any, types: tuple[Any, ...]) -> str:
    """A name of an entry with these types of arguments, for a file."""
    return f"{Path(compiled.__code__.co_filename).stem}-{hashlib.sha256(f'{compiled.__qualname__}{types}'.encode()).hexdigest()[:8]}"


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


def clock() -> float:
    """Seconds, as by `time.perf_counter`, less those of the compiler: by this clock a proof is not cut short by it."""
    return time.perf_counter() - sum(list(_compiling.values()))


def own_clock() -> float:
    """The same for work in this thread alone, less what it had compiled itself: by this clock no run pays for those that come after it."""
    return time.perf_counter() - _compiling.get(threading.get_ident(), 0.0)


@contextmanager
def telling_of_compilation(missed: Callable[[], bool]) -> Iterator[None]:
    """Say `COMPILING` as soon as something was missed in the cache, or another process is seen to compile it, and only then."""
    if _told.is_set():
        yield
        return
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            if missed() and not _told.is_set():
                _told.set()
                logging.getLogger("infoplane").warning(COMPILING)
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
