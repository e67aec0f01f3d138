"""Runs go side by side in threads, each with one BLAS thread.

Kernels release the GIL, so the cores are busy already; a BLAS that starts threads of its own for the small products inside an
iteration makes them wait for each other, and everything several times slower.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def all_cores() -> Iterator[ThreadPoolExecutor]:
    """A pool with a thread a core."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        yield pool


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on a single thread until the end of the block; enter it once, in the caller's thread: the setting is the process's."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield
