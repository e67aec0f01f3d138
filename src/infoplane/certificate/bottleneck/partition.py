"""Cells of the Y-simplex, and what the compiled search (`kernels/envelope.py`) knows of each."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from ...information import Array, entropy
from ...kernels.bottleneck_proof import leaves as kernel
from ...kernels.common.arrays import Integers

A = TypeVar("A", Array, Integers, kernel.Indices, kernel.Edges)

GRAIN = 2.0**-10
"""The first simplex has corners at multiples of this: 43 halvings later they are still exact."""


class Partition:
    """Cells that cover every Tq, kept from one lambda to the next; arrays grow as cells are cut."""

    def __init__(self, T: Array) -> None:
        n_y = T.shape[0]
        # Strictly below every p(y|x), also after rounding; zero where some p(y|x) is.
        low = np.maximum(np.ceil(T.min(axis=1) * (1.0 - 1e-12) / GRAIN) - 1.0, 0.0) * GRAIN
        vertices = low + (1.0 - low.sum()) * np.eye(n_y)
        self.cells = kernel.Cells(
            vertices=vertices,
            heights=np.array([entropy(v) for v in vertices]),
            corners=np.arange(n_y, dtype=np.int32)[None].copy(),
            slopes=np.zeros((1, n_y)),
            bounds=np.full(1, -np.inf),
            edges=np.zeros((1, 2), dtype=np.int8),
            heap=np.zeros(1, dtype=np.int64),
            counts=np.array([n_y, 1, 0, 0], dtype=np.int64),
            levels=np.full(2, np.inf),
            lowest=np.full(n_y, 1.0 / n_y),
        )

    @property
    def leaves(self) -> int:
        """Cells of the partition."""
        return int(self.cells.counts[kernel.LEAVES])

    @property
    def left(self) -> int:
        """Leaves that are still open."""
        return int(self.cells.counts[kernel.OPEN])

    @property
    def cuts(self) -> int:
        """Cells that were ever cut in two."""
        return int(self.cells.counts[kernel.CUTS])

    @property
    def least(self) -> float:
        """Proven lower bound of f(q) - lambda.q over all q, once every leaf has been weighed."""
        lowest = float(self.cells.levels[kernel.CLOSED])
        return min(lowest, float(self.cells.bounds[self.cells.heap[0]])) if self.left else lowest

    @property
    def met(self) -> float:
        """The lowest value of f(q) - lambda.q met."""
        return float(self.cells.levels[kernel.LOWEST])

    def forget(self) -> None:
        """Another lambda: all leaves are to be weighed anew."""
        self.cells.counts[kernel.OPEN] = 0
        self.cells.levels[:] = np.inf

    def grow(self, cuts: int) -> None:
        """Room for so many cuts more."""
        vertices, leaves = (int(n) for n in self.cells.counts[:2])
        if min(len(self.cells.heights) - vertices, len(self.cells.bounds) - leaves) >= cuts:
            return
        old = self.cells
        self.cells = old._replace(
            vertices=_longer(old.vertices, vertices, cuts),
            heights=_longer(old.heights, vertices, cuts),
            corners=_longer(old.corners, leaves, cuts),
            slopes=_longer(old.slopes, leaves, cuts),
            bounds=_longer(old.bounds, leaves, cuts),
            edges=_longer(old.edges, leaves, cuts),
            heap=_longer(old.heap, leaves, cuts),
        )


def _longer(array: A, filled: int, more: int) -> A:
    """The rows in use, with half as much room again, and for `more`."""
    longer = np.empty((filled + filled // 2 + more, *array.shape[1:]), dtype=array.dtype)
    longer[:filled] = array[:filled]
    return longer
