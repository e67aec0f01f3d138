"""All posteriors of the simplex, as column generation searches them: descent and growth, then slots or boxes.

g(q) = H(q) - beta H(Tq) - lambda.q is concave up to a beta that T decides, and then least at a single letter: nothing is searched.
"""

from __future__ import annotations

import numpy as np

from ...information import Array
from ...posterior.programme import Point, Programme
from ...runtime.work import Budget
from .challenge import challenge
from .generation import GIVEN
from .pricing import Pricing

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
