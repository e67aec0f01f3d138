"""A run watched iteration by iteration: what the descent theorem promises of each, kappa d^2 row by row (`descent`).

It reads the state that the compiled loop leaves after every iteration, so that what is watched is the run itself and not a copy of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...information import Array
from ..driver import advanced
from .descent import curvatures, descent
from .solver import SplittingIteration


class Standing(NamedTuple):
    """Where a run stands: the encoder, the marginals, the dual variable, and one penalty per row."""

    W: Array
    v: Array
    nu: Array
    c: Array


class Step(NamedTuple):
    """One iteration, and the kappa of each of its rows: L_c, with the later penalty, falls by at least ``promised``."""

    before: Standing
    after: Standing
    kappa: Array

    @property
    def covered(self) -> bool:
        """Whether every row has kappa > 0, so that L_c must fall unless nothing moves."""
        return bool((self.kappa > 0.0).all())

    @property
    def promised(self) -> float:
        """Sum of kappa d^2, d the change of v."""
        return float((self.kappa * (self.after.v - self.before.v) ** 2).sum())


def watched(iteration: SplittingIteration) -> Iterator[Step | None]:
    """The iterations of a single run; None where the theorem has nothing to say.

    That is in the first one, before nu is a gradient; where a cluster was dropped; where the argmin had to raise a row's penalty; and
    after leaps, so that ``acceleration=False`` is what to watch.
    """
    state, alpha, h = iteration.state, iteration.setting.alpha, iteration.setting.h[0]

    def now() -> tuple[Standing, Array]:
        alive = int(state.alive[0])
        W, v, nu, c, boost = (table[0, :alive].copy() for table in (state.W, state.v, state.nu, state.c, state.boost))
        return Standing(W, v, nu, c), boost

    (before, boost), going, first = now(), True, True
    while going:
        going = advanced(iteration, 1)
        after, boost_after = now()
        alike = before.v.shape == after.v.shape and np.array_equal(boost, boost_after)
        if first or not alike:
            yield None
        else:
            yield Step(before, after, descent(alpha, after.c, *curvatures(h, before.v, after.v)))
        before, boost, first = after, boost_after, False
