"""Would it pay to share the columns of one argmin between two threads?

    python benchmarks/splitting_columns.py --page docs/benchmarks/splitting.md

The work of one evaluation of the encoder's block, W_x = softmax((S_x + m features_x)/k) and W M, for 16 clusters: whole; and its columns in
two halves, by numba's own parallel loop and by a pool of two threads. Microseconds of the clock: the least, the median and the mean of
3,000 calls.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np

from infoplane.kernels.common import matmul
from infoplane.kernels.splitting.measure import softmax_columns
from infoplane.runtime.budget import one_blas_thread
from page import write_block

SIZES = ((226, 10), (500, 20), (2000, 20))
CLUSTERS, REPEATS = 16, 3000


@numba.njit(nogil=True, error_model="numpy")
def some_columns(m, features, S, M, out):
    """W M of some letters."""
    score = matmul(m, features)
    out[:] = matmul(softmax_columns(score + S, np.empty(S.shape[1])), M)


@numba.njit(parallel=True, error_model="numpy")
def in_a_parallel_loop(m, features, S, M, out):
    """The halves, each by a thread of numba's."""
    for half in numba.prange(2):
        some_columns(m, features[half], S[half], M[half], out[half])


def clocked(call: Callable[[], object]) -> str:
    """Microseconds of the clock: the least, the median and the mean of many calls."""
    call()
    found = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        call()
        found.append(1e6 * (time.perf_counter() - began))
    return f"{min(found):.0f}; {np.median(found):.0f}; {np.mean(found):.0f}"


def row(n_x: int, n_y: int) -> str:
    """The three ways, at one size."""
    rng = np.random.default_rng(0)
    m, features, M = rng.random((CLUSTERS, n_y)), rng.random((n_y, n_x)), rng.random((n_x, n_y))
    S, out = rng.random((CLUSTERS, n_x)), np.empty((2, CLUSTERS, n_y))
    halves = np.stack(np.split(features, 2, axis=1)), np.stack(np.split(S, 2, axis=1)), np.stack(np.split(M, 2))
    with one_blas_thread(), ThreadPoolExecutor(2) as pool:

        def in_the_pool() -> None:
            both = [pool.submit(some_columns, m, *(one[half] for one in halves), out[half]) for half in (0, 1)]
            for one in both:
                one.result()

        cells = [
            clocked(lambda: some_columns(m, features, S, M, out[0])),
            clocked(lambda: in_a_parallel_loop(m, *halves, out)),
            clocked(in_the_pool),
        ]
    return f"| {n_x} x {n_y} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    lines = ["| joint | whole | halves, parallel loop | halves, pool of threads |", "|---|---|---|---|"]
    for size in SIZES:
        lines.append(row(*size))
        print(lines[-1], flush=True)
    if options.page:
        write_block(options.page, "columns", lines)


if __name__ == "__main__":
    main()
