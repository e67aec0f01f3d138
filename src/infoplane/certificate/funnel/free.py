"""All posteriors of the simplex, as column generation searches them: descent and growth, then slots or boxes, which prove.

g(q) = H(q) - beta H(Tq) - lambda.q is concave up to a beta that T decides, and then least at a single letter: nothing is searched. Beyond
it, at most r = rank(T) letters of different columns are used at a time (`posterior/channel.py`). `kernels/funnel_proof` searches these, by
slots where r is small and letters are many, by boxes else; here is what makes its answer safe.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...errors import InvalidOptionError
from ...information import Array
from ...kernels.funnel_proof.boxes import PosteriorBoxes, advance_boxes
from ...kernels.funnel_proof.capped_boxes import CappedBoxes
from ...kernels.funnel_proof.search import CELLS, FLOOR, FOUND, LEAST, LOST, MISTAKES, RANK, WAITING
from ...kernels.funnel_proof.slot_bound import Slots
from ...kernels.funnel_proof.slots import advance_slots
from ...posterior.channel import Channel
from ...posterior.programme import Point, Programme
from ...runtime.budget import Budget
from ..challenge import challenge
from .generation import GIVEN


class CellSearch:
    """A compiled search over cells of posteriors, on letters of different columns: what it has proven and met, wherever it stands."""

    def __init__(self, channel: Channel, lam: Array, beta: float, floor: float, budget: float, rank: int) -> None:
        self.channel, self.lam = channel, lam
        self.gathered, self.letter = channel.gather(lam)
        lowest = -2.0 * (1.0 + float(np.abs(lam).max()))
        absolute, relative = channel.error(np.append(lam, lowest), beta)
        self.number = np.array([beta, floor, absolute, relative, lowest, budget, 0.0, math.inf])
        self.tally = np.zeros(8, np.int64)
        self.tally[RANK] = rank

    def begin(self, search: PosteriorBoxes | Slots | CappedBoxes, kernel: Callable[..., bool]) -> None:
        """Bound the first cell; the kernel is what advances the search."""
        self.search, self.kernel = search, kernel
        search.table[:] = 0  # room may be as the search before this one left it
        self.advance(0)

    def advance(self, cells: int) -> bool:
        """Bound at most so many cells, in pairs; False once none waits, or enough violations have been met."""
        return bool(self.kernel(self.search, cells))

    @property
    def cells(self) -> int:
        """Cells bounded."""
        return int(self.tally[CELLS])

    @property
    def left(self) -> int:
        """Cells that wait, or were given up."""
        return int(self.tally[WAITING] + self.tally[LOST])

    @property
    def mistakes(self) -> int:
        """Claims of the search that did not hold when they were computed once more; none of them has closed or shrunk a cell."""
        return int(self.tally[MISTAKES])

    def least(self) -> float:
        """Proven: g(q) >= this for every q that there is, wherever the search stands."""
        low = min(float(self.number[LEAST]), float(self.number[FLOOR]))
        return min(low, float(self.search.key[self.search.heap[0]])) if self.tally[WAITING] else low

    @property
    def prices(self) -> Array:
        """The lambda that `least` is about: lam, lower where the budget was spent."""
        return np.minimum(self.lam, self.gathered[self.channel.group])

    def violating(self) -> Array:
        """Posteriors (|X|, k), local minima of g well on the way to the floor, on different letters."""
        count = int(self.tally[FOUND])
        Q = np.zeros((self.channel.letters, count))
        Q[self.letter] = self.search.found[:count].T
        return Q


class Pricing(CellSearch):
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
        self, channel: Channel, lam: Array, beta: float, floor: float, p_x: Array | None = None, budget: float = 0.0
    ) -> None:
        if not beta > 1.0:
            raise InvalidOptionError(f"pricing is for beta > 1, where g is not concave; found beta = {beta!r}.")
        super().__init__(channel, lam, beta, floor, budget, channel.rank)
        p = np.ones(len(self.gathered)) if p_x is None else np.bincount(channel.group, p_x)
        given = (channel.T, self.gathered, p, self.number, self.tally, *channel.room)
        if channel.by_slots:
            self.begin(Slots(*given), advance_slots)  # type: ignore[arg-type]
        else:
            self.begin(PosteriorBoxes(*given), advance_boxes)  # type: ignore[arg-type]


GROWN = 64
"""Posteriors that are grown between two looks at the caller."""


class FreePosteriors:
    """The whole simplex of X."""

    def __init__(self, programme: Programme) -> None:
        self.programme, self.channel = programme, programme.channel
        # Up to |X| rank(T) = 300 large stages do (docs/benchmarks/slots.md).
        self.few = len(self.channel.T) * self.channel.rank <= 300

    def error(self, aim: Point) -> float:
        """Rounding of a bound."""
        return self.channel.error(aim.lam, aim.beta)[0]

    def columns(self, aim: Point, used: Array, below: float, budget: Budget) -> Array:
        """Local minima of g near the columns in use; where they are few, posteriors grown letter by letter as well."""
        if aim.beta <= self.channel.concave_up_to:
            return used[:, :0]
        used = without_traces(used, self.channel.rank + 1)
        Q, values = self.channel.descend(aim.lam, aim.beta, used)
        new = Q[:, values < below]
        # Where local descent brings fewer than one column for ten letters, posteriors are grown as well.
        if 10 * new.shape[1] < len(self.programme.p_x):
            new = np.hstack([new, self._grown(aim, used, below, budget)])
        return new

    def _grown(self, aim: Point, used: Array, below: float, budget: Budget) -> Array:
        """Posteriors grown from single letters and from the columns in use, those with g < below."""
        grown = [used[:, :0]]
        seeds = self.channel.seeds(aim.lam, used)
        for first in range(0, len(seeds), GROWN):
            Q, values = self.channel.grow(aim.lam, aim.beta, seeds[first : first + GROWN])
            grown.append(Q[:, values < below])
            if budget.spent:
                break
        return np.hstack(grown)

    def without_search(self, aim: Point) -> float | None:
        """The least g of the single letters, where g is concave."""
        if aim.beta > self.channel.concave_up_to:
            return None
        return float(self.programme.reduced(aim.lam, aim.beta)[: len(aim.lam)].min()) - self.error(aim)

    def search(self, aim: Point, floor: float) -> Pricing:
        """By slots or boxes."""
        return Pricing(self.channel, aim.lam, aim.beta, floor, self.programme.p_x, -GIVEN * floor)

    def challenge(self, proof: Point, claim: float) -> tuple[Array, float] | None:
        """By the map of `challenge`, from all columns."""
        if proof.beta <= self.channel.concave_up_to:
            return None
        found = challenge(self.channel, self.programme.p_x, proof.lam, proof.beta, self.programme.Q)
        return (found.posterior, found.value) if found.value < claim - self.error(proof) else None


def without_traces(Q: Array, most: int) -> Array:
    """The columns on their largest letters only, at most so many: an encoder's clusters hold traces of all, and Newton's step is cubic."""
    smallest = np.partition(Q, -most, axis=0)[-most] if len(Q) > most else np.zeros(Q.shape[1])
    # A mass below this does not count as a letter in use.
    kept: Array = np.where((smallest <= Q) & (Q > 1e-9), Q, 0.0)
    kept /= kept.sum(axis=0)
    return kept
