"""A run watched iteration by iteration: its iterates, and what the descent theorem promises of each, kappa d^2 row by row (`descent`).

It reads the state that the compiled loop leaves after every iteration, so that what is watched is the run itself and not a copy of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...joint.joint import Joint, Support, check_joint
from ...kernels.common import AUGMENTED
from ...kernels.splitting.tables import State
from ...problem import MarkovLagrangian, check_problem
from ...runtime.budget import Budget
from ..base import advanced, make_starts, seed_sequence
from ..job import Job, RunOptions
from .solver import DouglasRachford, SplittingIteration
from .thresholds import curvatures, descent


class Standing(NamedTuple):
    """Where a run stands: the encoder W, the marginals v = W M, the dual variable nu of that constraint, and a penalty c per row of it.

    Examples
    --------
    >>> import infoplane as ip, numpy as np
    >>> joint, start = ip.datasets.paper_uniform(), np.eye(3)
    >>> first = next(ip.iterates(joint, ip.bottleneck(0.2), ip.DouglasRachford("ib-1"), start))
    >>> first.W.shape, first.v.shape, first.nu.shape
    ((3, 3), (3, 1), (3, 1))
    """

    W: Array
    """p(z|x)."""
    v: Array
    """W M, a row per cluster."""
    nu: Array
    """The dual variable of v = W M."""
    c: Array
    """The penalty of each row."""
    augmented: float = np.nan
    """L_c, in nats, after an iteration; NaN where it was not recorded."""


def iterates(
    joint: Joint,
    problem: MarkovLagrangian,
    solver: DouglasRachford,
    start: Array,
    *,
    max_iter: int = 20_000,
    tol: float = 1e-8,
) -> Iterator[Standing]:
    """Every iterate of one run of a splitting solver: the start, and the standing after each iteration until `solve` would end.

    Parameters
    ----------
    joint, problem
        p(x, y), and what to minimise.
    solver
        A formulation with its penalty and relaxation. ``acceleration=False`` keeps to the recursion that the theorems speak of.
    start
        The encoder where the run begins, (|Z|, |X|).
    max_iter, tol
        As in `solve`.

    Yields
    ------
    Standing
        W, v, nu and c are copies, over the letters of positive mass; a cluster that has died has rows of zeros, at the end.

    Examples
    --------
    >>> import infoplane as ip
    >>> import numpy as np
    >>> start = np.array([[0.6, 0.5, 0.2], [0.4, 0.5, 0.8]])
    >>> run = list(ip.iterates(ip.datasets.paper_uniform(), ip.bottleneck(0.2), ip.DouglasRachford("ib-1"), start))
    >>> bool((run[0].W == start).all()), run[-1].v.shape, round(run[-1].augmented, 4)
    (True, (2, 1), -0.2246)
    """
    check_joint(joint)
    check_problem(problem)
    options, given = RunOptions(tol=tol, max_iter=max_iter), make_starts(joint, None, 1, seed_sequence(0), start)
    budget = Budget(iterations=options.max_iter)
    iteration = solver.begin(Job(Support(joint), problem, given, options.tol, record=True, budget=budget))

    yield _standing(iteration.state)
    going = True
    while going:
        going = advanced(iteration, 1)
        trace = iteration.recorded[0].pop()
        if len(trace):
            yield _standing(iteration.state)._replace(augmented=float(trace[-1, AUGMENTED]))


def _standing(state: State, rows: int | None = None) -> Standing:
    """Copies of the first rows of the only run."""
    W, v, nu, c = (table[0, :rows].copy() for table in (state.W, state.v, state.nu, state.c))
    return Standing(W, v, nu, c)


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
    state, alpha, h = iteration.state, iteration.split.alpha, iteration.split.h

    def now() -> tuple[Standing, Array]:
        alive = int(state.alive[0])
        return _standing(state, alive), state.boost[0, :alive].copy()

    (before, boost), going, first = now(), True, True
    while going:
        going = advanced(iteration, 1)
        after, boost_after = now()
        if first or not np.array_equal(boost, boost_after):  # arrays of different shapes are not equal
            yield None
        else:
            yield Step(before, after, descent(alpha, after.c, *curvatures(h, before.v, after.v)))
        before, boost, first = after, boost_after, False
