"""Runs in parallel threads, each with one BLAS thread.

Kernels release the GIL, so the cores are busy already; a BLAS that starts threads of its own for the small products inside an
iteration makes them wait for each other, and everything several times slower.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import numpy as np
from threadpoolctl import threadpool_limits

_lock, _limited, _inside = threading.Lock(), ExitStack(), 0


@contextmanager
def all_cores() -> Iterator[ThreadPoolExecutor]:
    """A pool with one thread per core."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        yield pool


def usual_floats() -> np.errstate:
    """numpy's own handling of overflow, underflow and the like, whatever the caller has set with ``np.seterr``."""
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on a single thread until the last caller has left this context: the setting belongs to the whole process."""
    global _inside
    import scipy.linalg.cython_blas  # noqa: F401  the BLAS of compiled code; one that is loaded later would not be limited

    with _lock:
        if _inside == 0:
            _limited.enter_context(threadpool_limits(limits=1, user_api="blas"))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limited.close()
