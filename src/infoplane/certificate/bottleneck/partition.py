"""Boxes of the Y-simplex, and what the compiled search (`kernels/bottleneck_proof`) knows of each."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from ...information import Array
from ...kernels.bottleneck_proof import boxes as kernel
from ...kernels.bottleneck_proof.cell_bound import THIN
from ...kernels.common.numerics import UNIT
from ...kernels.common.rows import Integers

A = TypeVar("A", Array, Integers, kernel.Shorts, kernel.Singles)


def bytes_of(letters: int) -> int:
    """What one box takes, for so many letters of Y."""
    return 24 * letters + 42


class Partition:
    """Boxes that hold every Tq whose value may lie below a target, for one lambda; arrays grow as boxes are cut."""

    def __init__(self, T: Array) -> None:
        n_y = T.shape[0]
        off = (
            4.0 * (n_y + 24.0) * UNIT
        )  # entries of T are quotients, right to |Y| units; letters with equal columns were merged
        self.boxes = kernel.Boxes(
            low=(T.min(axis=1) * (1.0 - off))[None].copy(),
            high=np.clip(T.max(axis=1) * (1.0 + off), THIN, 1.0)[None].copy(),
            multipliers=np.zeros((1, 2 * n_y), dtype=np.float32),
            bounds=np.full(1, -np.inf),
            letters=np.zeros(1, dtype=np.int16),
            points=np.zeros(1),
            heap=np.zeros(1, dtype=np.int64),
            spare=np.zeros(1, dtype=np.int64),
            counts=np.zeros(5, dtype=np.int64),
            levels=np.full(2, np.inf),
            lowest=np.full(n_y, 1.0 / n_y),
        )

    @property
    def left(self) -> int:
        """Boxes that are still open."""
        return int(self.boxes.counts[kernel.OPEN])

    @property
    def cuts(self) -> int:
        """Boxes that were ever cut in two."""
        return int(self.boxes.counts[kernel.CUTS])

    @property
    def disputed(self) -> int:
        """Claims of the search that a second computation did not confirm."""
        return int(self.boxes.counts[kernel.DISPUTED])

    @property
    def least(self) -> float:
        """Proven lower bound of f(q) - lambda.q over all q, once the first box has been weighed."""
        lowest = float(self.boxes.levels[kernel.CLOSED])
        return min(lowest, float(self.boxes.bounds[self.boxes.heap[0]])) if self.left else lowest

    @property
    def met(self) -> float:
        """The lowest value of f(q) - lambda.q met."""
        return float(self.boxes.levels[kernel.LOWEST])

    def grow(self, cuts: int) -> None:
        """Room for so many cuts more."""
        old = self.boxes
        places = int(old.counts[kernel.PLACES])
        if len(old.bounds) - places >= cuts:
            return
        self.boxes = old._replace(
            **{
                name: _longer(getattr(old, name), places, cuts)
                for name in ("low", "high", "multipliers", "bounds", "letters", "points", "heap", "spare")
            }
        )


def _longer(array: A, filled: int, more: int) -> A:
    """The rows in use, with half as much room again, and for `more`."""
    filled = max(filled, 1)
    longer = np.empty((filled + filled // 2 + more, *array.shape[1:]), dtype=array.dtype)
    longer[:filled] = array[:filled]
    return longer
