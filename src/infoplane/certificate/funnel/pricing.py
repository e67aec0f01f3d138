"""Pricing a posterior: the least g(q) = H(q) - beta H(Tq) - lambda.q over the X-simplex, with a proof.

Some minimiser lies on letters whose columns of T are linearly independent: for a fixed u = Tq only H(q) - lambda.q is left, which is
concave and so least at a vertex of {q >= 0, Tq = u}. So letters with equal columns count as one, that with the largest lambda, and at
most r = rank(T) <= |Y| of them are used at a time. `kernels/supports.py` searches these; here is what makes its answer safe.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ...errors import InvalidOptionError
from ...information import Array
from ...kernels.common.arrays import Integers
from ...kernels.funnel_proof.cells import CELLS, FOUND, LEAST, LOST, TOP, Search
from ...kernels.funnel_proof.descent import descend_all
from ...kernels.funnel_proof.supports import advance, begin, least
from ..bottleneck.bounds import dobrushin

EPS = float(np.finfo(float).eps)

EQUAL = 1e-13
"""Columns of T that differ by less, and singular values below it, are taken for rounding; the bound pays for the difference."""

STACK_BYTES = 2**29


class Channel:
    """T = p(y|x) as the search sees it: a row a letter, equal rows once, and how many letters a posterior needs."""

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
    def supports(self) -> int:
        """How many sets of `rank` letters there are."""
        return math.comb(len(self.T), self.rank)

    def gather(self, lam: Array) -> tuple[Array, Integers]:
        """The largest lambda among letters of equal columns, and whose it is."""
        order = np.lexsort((lam, self.group))
        last = order[np.searchsorted(self.group[order], np.arange(len(self.T)), side="right") - 1]
        return lam[last], last

    def error(self, lam: Array, beta: float) -> tuple[float, float]:
        """Rounding of a bound, absolute and relative (derived in docs/exact_funnel.md, "Floating point").

        Every sum of the kernel has at most |Y| + r + a few terms of one sign, each within (terms + 3) units of rounding; T itself is within
        |Y| + 1. Where nearly equal columns, or a nearly singular T, are taken for exactly so, H(Tq) moves by at most |Y| eta(d), twice,
        with d the largest entry of the difference and eta(d) = -d log d.
        """
        m = self.T.shape[1]
        relative = (4 * (m + self.rank) + 16) * EPS
        size = 1.0 + math.log(self.rank) + float(np.abs(lam).max()) + beta * (1.0 + math.log(m))
        moved = -self.apart * math.log(self.apart) if self.apart > 0.0 else 0.0
        return relative * size + 2.0 * beta * m * moved, relative

    @cached_property
    def room(self) -> tuple[Array, ...]:
        """The stack, and what else a search works on; one search at a time."""
        n, m = self.T.shape
        r = self.rank
        each = 8 * (r * r + r * m + 3 * r + 4)
        slots = min(n * r * (r + 1) // 2 + 120 * r * r + 2, STACK_BYTES // each)
        whole = np.int64
        return (
            np.zeros(slots, whole),
            np.zeros((slots, r), whole),
            np.zeros(slots, np.bool_),
            np.zeros(slots, whole),
            np.zeros((slots, r, r)),
            np.zeros((slots, r, m)),
            np.zeros((slots, r)),
            np.zeros((slots, r)),
            np.zeros((n, n)),
        )

    def descend(self, lam: Array, beta: float, Q: Array) -> tuple[Array, Array]:
        """Local minima of g from the columns of Q (|X|, k), and their values."""
        moved = np.ascontiguousarray(Q.T)
        values = descend_all(self.full, lam, beta, moved)
        return moved.T, values


class Pricing:
    """One search for posteriors with g(q) < floor, or a proof that there are none; beta > 1.

    Parameters
    ----------
    channel, lam, beta
        g(q) = H(q) - beta H(Tq) - lam.q.
    floor
        How low g may go; negative, as g is 0 at the posteriors in use.
    """

    def __init__(self, channel: Channel, lam: Array, beta: float, floor: float) -> None:
        if not beta > 1.0:
            raise InvalidOptionError(f"pricing is for beta > 1, where g is not concave; found beta = {beta!r}.")
        self.channel = channel
        gathered, self.letter = channel.gather(lam)
        absolute, relative = channel.error(lam, beta)
        number = np.array([beta, floor, absolute, 1.0 + relative, math.inf])
        self.search = Search(channel.T, gathered, number, np.zeros(4, np.int64), *channel.room)  # type: ignore[arg-type]
        begin(self.search)

    def advance(self, cells: int) -> bool:
        """Bound at most so many nodes; False once none waits."""
        return bool(advance(self.search, cells))

    @property
    def cells(self) -> int:
        """Nodes bounded."""
        return int(self.search.tally[CELLS])

    @property
    def left(self) -> int:
        """Nodes that wait, or were too small to halve."""
        return int(self.search.tally[TOP] + self.search.tally[LOST])

    def least(self) -> float:
        """Proven: g(q) >= this for every q, wherever the search stands."""
        return float(least(self.search) if self.search.tally[TOP] else self.search.number[LEAST])

    def violating(self) -> Array:
        """Posteriors (|X|, k) well on the way to the floor, one at most for each largest letter."""
        count = int(self.search.tally[FOUND])
        Q = np.zeros((self.channel.letters, count))
        Q[self.letter] = self.search.found[:count].T
        return Q
