"""Pricing a posterior: the least g(q) = H(q) - beta H(Tq) - lambda.q over the X-simplex, with a proof.

At most r = rank(T) letters of different columns are used at a time (`posterior/channel.py`). `kernels/funnel_proof` searches these, by
slots where r is small and letters are many, by boxes else; here is what makes its answer safe.
"""

from __future__ import annotations

import math

import numpy as np

from ...errors import InvalidOptionError
from ...information import Array
from ...kernels.funnel_proof.box_cells import PosteriorBoxes
from ...kernels.funnel_proof.boxes import advance_boxes
from ...kernels.funnel_proof.search import CELLS, FLOOR, FOUND, LEAST, LOST, MISTAKES, RANK, WAITING
from ...kernels.funnel_proof.slot_cells import Slots
from ...kernels.funnel_proof.slots import advance_slots
from ...posterior.channel import Channel


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
