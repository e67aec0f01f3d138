"""Pricing a posterior: the least g(q) = H(q) - beta H(Tq) - lambda.q over the X-simplex, with a proof.

Some minimiser lies on letters whose columns of T are linearly independent: for a fixed u = Tq only H(q) - lambda.q is left, which is
concave and so least at a vertex of {q >= 0, Tq = u}. So letters with equal columns count as one, that with the largest lambda, and at
most r = rank(T) <= |Y| of them are used at a time. `kernels/funnel_proof` searches these, by slots where r is small and letters are
many, by boxes else; here is what makes its answer safe.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ...errors import InvalidOptionError
from ...information import Array
from ...kernels.common.arrays import Integers
from ...kernels.funnel_proof.box_cells import PosteriorBoxes
from ...kernels.funnel_proof.boxes import advance_boxes
from ...kernels.funnel_proof.descent import descend_all
from ...kernels.funnel_proof.growth import grow_all
from ...kernels.funnel_proof.search import CELLS, FLOOR, FOUND, LEAST, LOST, MISTAKES, RANK, WAITING
from ...kernels.funnel_proof.slot_cells import KEPT, Slots
from ...kernels.funnel_proof.slots import advance_slots
from ..bottleneck.bounds import dobrushin

EPS = float(np.finfo(float).eps)

EQUAL = 1e-13
"""Columns of T that differ by less, and singular values below it, are taken for rounding; the bound pays for the difference."""

SLOTS_RANK, SLOTS_LETTERS = 4, 20
"""Slots are used up to this rank, from so many letters on (measured, docs/exact_funnel.md)."""

MEMORY = 2**29
"""Bytes that the waiting cells of one search may take; a cell that finds no room is given up, with the bound that it has."""

MOST_CELLS = 1_000_000

MOST_FOUND = 256
"""Violating posteriors that one search may hand over."""


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
        """Rounding of a bound: absolute, and relative to beta T.log v (derived in docs/exact_funnel.md, "Floating point").

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
        cells = max(min(MEMORY // each, MOST_CELLS), 2)
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
        found, table = np.empty((MOST_FOUND, n)), np.zeros(2**14, whole)
        return (np.arange(cells), np.empty(cells), *ranges, np.empty((cells, 2)), found, table)

    def descend(self, lam: Array, beta: float, Q: Array) -> tuple[Array, Array]:
        """Local minima of g from the columns of Q (|X|, k), and their values."""
        moved = np.ascontiguousarray(Q.T)
        values = descend_all(self.full, lam, beta, moved)
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
        values = grow_all(self.T, gathered, beta, self.rank, grown)
        _, distinct = np.unique(grown > 0.0, axis=0, return_index=True)
        Q = np.zeros((self.letters, len(distinct)))
        Q[letter] = grown[distinct].T
        return Q, values[distinct]


class Pricing:
    """One search for posteriors with g(q) < floor, or a proof that there are none; beta > 1.

    Parameters
    ----------
    channel, lam, beta
        g(q) = H(q) - beta H(Tq) - lam.q.
    floor
        How low g may go; negative, as g is 0 at the posteriors in use.
    p_x, budget
        Letters' masses, and how much of lam.p_x the search may give away: a posterior that is met below the floor then costs it a lower
        price of one letter, and it goes on. What it proves is about `prices`, not about lam.
    """

    def __init__(
        self,
        channel: Channel,
        lam: Array,
        beta: float,
        floor: float,
        p_x: Array | None = None,
        budget: float = 0.0,
    ) -> None:
        if not beta > 1.0:
            raise InvalidOptionError(f"pricing is for beta > 1, where g is not concave; found beta = {beta!r}.")
        self.channel = channel
        gathered, self.letter = channel.gather(lam)
        self.lam = lam
        lowest = -2.0 * (1.0 + float(np.abs(lam).max()))
        absolute, relative = channel.error(np.append(lam, lowest), beta)
        number = np.array([beta, floor, absolute, relative, lowest, budget, 0.0, math.inf])
        tally = np.zeros(8, np.int64)
        tally[RANK] = channel.rank
        p = np.ones(len(gathered)) if p_x is None else np.bincount(channel.group, p_x)
        self.search: Slots | PosteriorBoxes
        if channel.by_slots:
            self.search = Slots(channel.T, gathered, p, number, tally, *channel.room)  # type: ignore[arg-type]
        else:
            self.search = PosteriorBoxes(channel.T, gathered, p, number, tally, *channel.room)  # type: ignore[arg-type]
        self.search.table[:] = 0  # the channel's room, as the search before this one left it
        self.advance(0)

    def advance(self, cells: int) -> bool:
        """Bound at most so many cells, in pairs; False once none waits, or enough violations have been met."""
        if isinstance(self.search, Slots):
            return bool(advance_slots(self.search, cells))
        return bool(advance_boxes(self.search, cells))

    @property
    def cells(self) -> int:
        """Cells bounded."""
        return int(self.search.tally[CELLS])

    @property
    def left(self) -> int:
        """Cells that wait, or were given up."""
        return int(self.search.tally[WAITING] + self.search.tally[LOST])

    @property
    def mistakes(self) -> int:
        """Claims of the search that did not hold when they were computed once more; none of them has closed or shrunk a cell."""
        return int(self.search.tally[MISTAKES])

    def least(self) -> float:
        """Proven: g(q) >= this for every q, wherever the search stands."""
        low = min(float(self.search.number[LEAST]), float(self.search.number[FLOOR]))
        if self.search.tally[WAITING]:
            low = min(low, float(self.search.key[self.search.heap[0]]))
        return low

    @property
    def prices(self) -> Array:
        """The lambda that `least` is about: lam, lower where the budget was spent."""
        return np.minimum(self.lam, self.search.lam[self.channel.group])

    def violating(self) -> Array:
        """Posteriors (|X|, k), local minima of g well on the way to the floor, on different letters."""
        count = int(self.search.tally[FOUND])
        Q = np.zeros((self.channel.letters, count))
        Q[self.letter] = self.search.found[:count].T
        return Q
