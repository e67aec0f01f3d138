"""How kernels are compiled: one place for the flags.

`part` marks a function that other kernels call, see `linked`; `inlined` one whose text is pasted into its callers; `entry` one that Python
calls, whose machine code (with all its parts) is kept on disk, see `cache`. Division follows IEEE rules instead of raising, and the GIL is
released, so that threads run side by side. A call that finds nothing on disk says so, once per process, through the logger "infoplane".
"""

import functools
import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from numba import jit, njit
from numba.core import config
from numba.core.registry import CPUDispatcher

from .cache import KernelCache
from .linked import COMPILER

F = TypeVar("F", bound=Callable[..., Any])

INTERPRETED = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]
"""Whether kernels run as plain Python (NUMBA_DISABLE_JIT=1), to be stepped through in a debugger."""

FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

COMPILING = "compiling kernels, once per machine (about half a minute)"

_told = threading.Event()

_first_calls: list[float] = []
"""Seconds of the first call of every entry: the machine code is made, or read from disk, and used once."""


UNCALLED: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""For numba: leave out the code by which Python would call a function. It takes a seventh of the time that kernels take to compile."""


class Part(CPUDispatcher):
    """A function that kernels call. If Python calls it all the same, as tests do, it is compiled once more, with the code for that."""

    @functools.cached_property
    def from_python(self) -> Callable[..., Any]:
        """The same function as Python can call it."""
        return jit(**{name: value for name, value in self.targetoptions.items() if name not in UNCALLED})(self.py_func)  # type: ignore[no-any-return]

    def __call__(self, *arguments: Any) -> Any:  # noqa: D102
        return self.from_python(*arguments)


def part(function: F, **flags: Any) -> F:
    """Compile a helper when the kernel that uses it is compiled."""
    if INTERPRETED:
        return function
    options = {"nopython": True, **UNCALLED, **FLAGS, **flags}
    return Part(function, targetoptions=options, pipeline_class=COMPILER)  # type: ignore[return-value]


def inlined(function: F) -> F:
    """Paste a helper into the kernel that uses it: every further layer of calls costs seconds of compile time."""
    return njit(inline="always", **FLAGS)(function)  # type: ignore[no-any-return]


def entry(function: F) -> F:
    """Compile on the first call, once per machine: the result is kept on disk, where there is a place to write to."""
    if INTERPRETED:
        return function
    compiled: Any = njit(**FLAGS)(function)
    with suppress(RuntimeError):  # numba found no writable folder, neither beside the source nor in the user's cache
        compiled._cache = KernelCache(function)  # what `cache=True` does, with a cache that knows of the parts

    known = False  # asking numba for its signatures at every call would take longer than a small kernel

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        nonlocal known
        if known:
            return compiled(*arguments)
        began = time.perf_counter()
        with telling_of_compilation(lambda: bool(compiled.stats.cache_misses)), collector_at_rest():
            result = compiled(*arguments)
        known = True
        _first_calls.append(time.perf_counter() - began)
        return result

    call.compiled = compiled  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Python's collector of cycles switched off, and then as it was: it takes an eighth of the compiler's time.

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
    """Seconds, as by `time.perf_counter`, less those of first calls: by this clock a proof is not cut short by the compiler."""
    return time.perf_counter() - sum(_first_calls)


@contextmanager
def telling_of_compilation(missed: Callable[[], bool]) -> Iterator[None]:
    """Say `COMPILING` as soon as something was missed in the cache, and only then."""
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
