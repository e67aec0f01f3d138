"""Runs in parallel threads, each with one BLAS thread, and how they hear that they are to end.

Kernels release the GIL, so the cores are busy already; a BLAS that starts threads of its own for the small products inside an
iteration makes them wait for each other, and everything several times slower.

Python hands Ctrl-C to the main thread only, and only between two of its own instructions. So what takes long runs in other threads, which
have a `StopFlag` each, looked at between pieces of work and inside long kernels; and what cannot look, such as HiGHS, is `awaited`. A
signal that arrives just as the main thread goes to sleep does not wake it: it never sleeps for long.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from typing import TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

_lock, _limited, _inside = threading.Lock(), ExitStack(), 0


def cores() -> int:
    """Cores that this process may use: a batch system, a container or `taskset` may leave it fewer than the machine has."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def all_cores() -> Iterator[ThreadPoolExecutor]:
    """A pool with one thread per core."""
    with ThreadPoolExecutor(cores()) as pool:
        yield pool


def usual_floats() -> np.errstate:
    """numpy's own handling of overflow, underflow and the like, whatever the caller has set with ``np.seterr``."""
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")


@functools.cache
def _libraries() -> ThreadpoolController:
    """The libraries of NumPy and of compiled code that have threads. To look for them takes longer than to solve a small problem."""
    import scipy.linalg.cython_blas  # noqa: F401  the BLAS of compiled code; one that is loaded later would not be limited

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on a single thread until the last caller has left this context: the setting belongs to the whole process."""
    global _inside
    with _lock:
        if _inside == 0:
            _limited.enter_context(_libraries().limit(limits=1, user_api="blas"))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limited.close()


# -- being stopped -------------------------------------------------------------------------------------------------------

Result = TypeVar("Result")

LOOK = 0.05
"""Seconds for which a thread sleeps that waits: then it looks at its flag, and hears of signals."""


class StopFlag:
    """Whether work is to end with what there is: set by the thread that hears Ctrl-C, looked at by those that work."""

    def __init__(self) -> None:
        self.array = np.zeros(1, dtype=np.int64)
        """What kernels look at: not 0 once it is set."""

    def set(self) -> None:
        """Work is to end."""
        self.array[0] = 1

    def is_set(self) -> bool:
        """Whether it is."""
        return bool(self.array[0])

    def obey(self) -> None:
        """KeyboardInterrupt, once it is set."""
        if self.is_set():
            raise KeyboardInterrupt


_here, _never = threading.local(), StopFlag()


@contextmanager
def stopped_by(flag: StopFlag) -> Iterator[None]:
    """What this thread does in this context ends, with a KeyboardInterrupt, once the flag is set."""
    before = stop_flag()
    _here.flag = flag
    try:
        yield
    finally:
        _here.flag = before


def stop_flag() -> StopFlag:
    """The flag that this thread is stopped by; one that is never set, if there is none."""
    flag: StopFlag = getattr(_here, "flag", _never)
    return flag


def results(futures: Sequence[Future[Result]]) -> list[Result]:
    """What they end with, in their order. Ctrl-C ends the waiting, whenever it is pressed."""
    while wait(futures, LOOK).not_done:
        pass
    return [future.result() for future in futures]


def awaited(work: Callable[[], Result]) -> Result:
    """The result of work that cannot be interrupted, done in a thread of its own: Ctrl-C, and this thread's flag, end the waiting for it.

    The work itself goes on to its end, and its result is thrown away; a process that ends does not wait for it.
    """
    flag, ended = stop_flag(), Future[Result]()

    def run() -> None:
        try:
            ended.set_result(work())
        except BaseException as error:
            ended.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    while not wait([ended], LOOK).done:
        flag.obey()
    return ended.result()
