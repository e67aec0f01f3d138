"""T = p(y|x) as searches over posteriors see it, and local searches for a posterior of small g(q) = H(q) - beta H(Tq) - lambda.q.

Some minimiser lies on letters whose columns of T are linearly independent: for a fixed u = Tq only H(q) - lambda.q is left, which is
concave and so least at a vertex of {q >= 0, Tq = u}. So letters with equal columns count as one, that with the largest lambda, and at
most r = rank(T) <= |Y| of them are used at a time.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..information import Array
from ..kernels.common.rows import Integers
from ..kernels.funnel_proof.descent import descend_all
from ..kernels.funnel_proof.slot_bound import KEPT
from .form import dobrushin

EPS = float(np.finfo(float).eps)
"""The distance of 1 to the next number."""

EQUAL = 1e-13
"""Columns of T that differ by less, and singular values below it, are taken for rounding; the bound pays for the difference."""

SLOTS_RANK, SLOTS_LETTERS = 4, 20
"""Slots are used up to this rank, from so many letters on (measured, docs/benchmarks/slots.md)."""

MEMORY = 2**29
"""Bytes that the waiting cells of one search may take; a cell that finds no room is given up, with the bound that it has."""


class ChannelLimits(NamedTuple):
    """What one search may hold."""

    most_cells: int = 1_000_000
    """Cells that may wait, whatever memory holds."""
    most_found: int = 256
    """Violating posteriors that one search may hand over."""


LIMITS = ChannelLimits()


class Channel:
    """T = p(y|x) as the search sees it: one row per letter, equal rows once, and how many letters a posterior needs."""

    def __init__(self, T: Array) -> None:
        rows = np.ascontiguousarray(T.T)
        self.letters = rows.shape[0]
        _, first, member = np.unique(np.round(rows, 13), axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        self.first: Integers = first[order]
        self.group: Integers = np.argsort(order)[member.ravel()]
        self.T: Array = np.ascontiguousarray(rows[self.first])
        self.full: Array = rows
        apart = float(np.abs(rows - self.T[self.group]).max())
        sigma = np.linalg.svd(self.T, compute_uv=False)
        self.rank = max(int((sigma > EQUAL).sum()), 1)
        if self.rank < len(sigma):
            apart += float(sigma[self.rank] + 16.0 * EPS * sigma[0])
        self.apart = apart

    @cached_property
    def concave_up_to(self) -> float:
        """A beta, at least 1, up to which g is concave and so least at a single letter: 1 over Dobrushin's coefficient."""
        return 1.0 / min(dobrushin(self.T.T) + 4.0 * (self.T.shape[1] + 4) * EPS, 1.0)

    @property
    def by_slots(self) -> bool:
        """Whether a search goes by slots, not by boxes."""
        return self.rank <= SLOTS_RANK and len(self.T) >= SLOTS_LETTERS

    def gather(self, lam: Array) -> tuple[Array, Integers]:
        """The largest lambda among letters of equal columns, and whose it is."""
        order = np.lexsort((lam, self.group))
        last = order[np.searchsorted(self.group[order], np.arange(len(self.T)), side="right") - 1]
        return lam[last], last

    def error(self, lam: Array, beta: float) -> tuple[float, float]:
        """Rounding of a bound: absolute, and relative to beta T.log v (derived in docs/explanation/exact_funnel.md, "Floating point").

        T is within |Y| + 1 roundings of p(x,y)/p(x), a sum over y adds |Y| + 2, and v sums to 1 within |Y| + 2 + log |Y|. Where nearly
        equal columns, or a nearly singular T, are taken for exactly so, H(Tq) moves by at most |Y| eta(d), twice, with d the largest entry
        of the difference and eta(d) = -d log d.
        """
        m = self.T.shape[1]
        relative = (4 * m + 32) * EPS
        size = 1.0 + float(np.abs(lam).max()) + beta * (1.0 + math.log(m))
        moved = -self.apart * math.log(self.apart) if self.apart > 0.0 else 0.0
        return relative * size + 2.0 * beta * m * moved, relative

    @cached_property
    def room(self) -> tuple[Array, ...]:
        """Where the cells of a search wait, and what it finds; one search at a time."""
        n, r = len(self.T), self.rank
        each = n * r + 16 * r * (1 + KEPT) + 64 if self.by_slots else 24 * n + 40
        cells = max(min(MEMORY // each, LIMITS.most_cells), 2)
        # np.empty: pages that no cell ever reaches are never touched.
        whole = np.int64
        ranges: tuple[Array, ...]
        if self.by_slots:
            ranges = (
                np.empty((cells, r)),
                np.empty((cells, r)),
                np.empty((cells, r, n), np.uint8),
                np.empty((cells, r, KEPT), whole),
                np.empty((cells, r, KEPT)),
                np.empty(cells, whole),
                np.empty((cells, 2), whole),
            )
        else:
            ranges = (np.empty((cells, n)), np.empty((cells, n)), np.empty((cells, n)), np.empty(cells, whole))
        found, table = np.empty((LIMITS.most_found, n)), np.zeros(2**14, whole)
        return (np.arange(cells), np.empty(cells), *ranges, np.empty((cells, 2)), found, table)

    def descend(self, lam: Array, beta: float, Q: Array) -> tuple[Array, Array]:
        """Local minima of g from the columns of Q (|X|, k), and their values."""
        moved = np.ascontiguousarray(Q.T)
        values = descend_all(self.full, lam, beta, 0, moved)
        return moved.T, values

    def seeds(self, lam: Array, Q: Array) -> Array:
        """Where growth begins, a row each: every single letter, and the columns of Q less their rarest letter."""
        _, letter = self.gather(lam)
        rows = Q[letter].T
        rows = rows[(rows > 0.0).sum(axis=1) > 1]
        rarest = np.where(rows > 0.0, rows, np.inf).argmin(axis=1)
        rows[np.arange(len(rows)), rarest] = 0.0
        return np.vstack([np.eye(len(self.T)), rows / rows.sum(axis=1, keepdims=True)])

    def grow(self, lam: Array, beta: float, seeds: Array) -> tuple[Array, Array]:
        """Posteriors grown from seeds, each set of letters once, and their values."""
        gathered, letter = self.gather(lam)
        grown = np.ascontiguousarray(seeds)
        values = descend_all(self.T, gathered, beta, self.rank, grown)
        _, distinct = np.unique(grown > 0.0, axis=0, return_index=True)
        Q = np.zeros((self.letters, len(distinct)))
        Q[letter] = grown[distinct].T
        return Q, values[distinct]
