"""Fewer clusters than the best encoder has: join the pairs that cost least, and let the accelerated solver settle what is left.

Joining clusters i and j adds their rows of p(z|x), and changes the Lagrangian by g(i + j) - g(i) - g(j), where for a row w = p(z|.)

    g(w) = rho_z h(p(z)) + rho_zx sum_x p(x) h(w_x) + rho_zy sum_y p(y) h(p(z|y)),     h(t) = -t log t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...information import Array, IntArray, entr
from ...joint.joint import Support
from ...problem import MarkovLagrangian
from ...results import Run
from ..fixed_point.accelerated import Accelerated
from ..job import Job

PAIR_WORK = 100_000_000
"""Logarithms that the first table of costs may take; the lightest of more clusters are dissolved before."""


class _Rows:
    """Clusters as rows of p(z|x) and of p(z, y), with g of each."""

    def __init__(self, support: Support, problem: MarkovLagrangian, W: Array) -> None:
        self.support, self.problem = support, problem
        self.W = W
        self.q: Array = W @ support.rows if support.sparse else W @ support.P
        self.g = self.values(W, self.q)

    def values(self, W: Array, q: Array) -> Array:
        """G of each row."""
        support, problem = self.support, self.problem
        of_y = problem.over_outcomes(support.joint, entr(q / support.p_y), support.y)
        found = problem.rho_z * entr(q.sum(axis=1)) + of_y
        if problem.rho_zx != 0.0:
            found = found + problem.rho_zx * (entr(W) @ support.p_x)
        return np.asarray(found)

    def costs(self, i: int, others: IntArray) -> Array:
        """What joining cluster i with each of the others adds to the Lagrangian."""
        # 100,000 entries of an encoder are added up at a time.
        few = max(1, 100_000 // self.W.shape[1])
        parts = [others[first : first + few] for first in range(0, len(others), few)]
        joined = [self.values(self.W[i] + self.W[part], self.q[i] + self.q[part]) for part in parts]
        return np.asarray(np.concatenate([*joined, np.empty(0)]) - self.g[i] - self.g[others])


def merged(
    support: Support, problem: MarkovLagrangian, W: Array, price: float = math.inf, most: int | None = None
) -> Array:
    """The encoder with clusters joined, cheapest pair first, while the loss rises by no more than `price` in all.

    With ``most``, pairs are joined until so few clusters are left, whatever they cost, and no further.
    """
    if len(W) < 2 or (most is not None and len(W) <= most):
        return W
    rows = _Rows(support, problem, W.copy())
    n = len(W)
    costs = np.full((n, n), np.inf)
    for i in range(n - 1):
        costs[i, i + 1 :] = rows.costs(i, np.arange(i + 1, n))
    alive = np.ones(n, dtype=bool)
    while alive.sum() > (1 if most is None else most):
        i, j = divmod(int(np.argmin(costs)), n)
        if most is None:
            if costs[i, j] > price:
                break
            price -= max(float(costs[i, j]), 0.0)
        rows.W[i] += rows.W[j]
        rows.q[i] += rows.q[j]
        rows.g[i] = rows.values(rows.W[i : i + 1], rows.q[i : i + 1])[0]
        alive[j] = False
        costs[j], costs[:, j] = np.inf, np.inf
        before, after = np.flatnonzero(alive[:i]), i + 1 + np.flatnonzero(alive[i + 1 :])
        costs[before, i], costs[i, after] = rows.costs(i, before), rows.costs(i, after)
    return rows.W[alive]


def within(job: Job, W: Array) -> Array:
    """An encoder of at most as many clusters as the job allows, from one that may have more."""
    support, most = job.support, job.most
    affordable = int(math.sqrt(2.0 * PAIR_WORK / (W.shape[1] + len(support.p_y))))
    if len(W) > max(affordable, most):
        heaviest = np.sort(np.argsort(-(W @ support.p_x), kind="stable")[: max(affordable, most)])
        kept = (
            W[heaviest] + 1e-300
        )  # a letter whose clusters are all gone goes everywhere, in the proportions that rounding leaves
        W = kept / kept.sum(axis=0)
    return merged(support, job.problem, W, most=most)


def fitted(job: Job, encoders: Sequence[Array]) -> Run:
    """The best run of the accelerated solver from each of the encoders, once it has no more clusters than allowed.

    If the budget is stopped the best by then, encoders that had few enough clusters from the beginning included.
    """
    found: list[Run] = []
    for W in encoders:
        if not (found and job.budget.over):
            found += Accelerated().run(job.but(starts=within(job, W)[None], record=False))
    if job.budget.over:
        found += [job.standing(W, "") for W in encoders if len(W) <= job.most]
    return job.best_run(found)
