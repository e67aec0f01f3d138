"""Another number of clusters: those that are too many joined, those that are missing added; the accelerated solver settles what is left.

**Too many.** Joining clusters i and j adds their rows of p(z|x), and changes the Lagrangian by g(i + j) - g(i) - g(j), for a row w = p(z|.)

    g(w) = rho_z h(p(z)) + rho_zx sum_x p(x) h(w_x) + rho_zy sum_y p(y) h(p(z|y)),     h(t) = -t log t.

**Missing.** The bottleneck's dual says so: D(u) <= 1 for every decoder u if and only if an encoder is optimal.
D(u) = sum_x p(x) k(x, u) / m(x) is climbed from letters that lie far apart (`posterior/form.py`) and from those letters x where
D(p(y|x)) is largest; a peak above 1 is a cluster that lowers the loss, however far it is from those there are. The split test of the
accelerated solver sees only what is near.

Where X has many letters this is how the bottleneck is solved: from a hard partition, found letter by letter (`partitions`), whose
missing clusters are added a hundred at a time, roughly settled in between, until the dual has no more to say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...information import Array, IntArray, entr
from ...joint.joint import Support
from ...kernels.common import TINY
from ...posterior.form import Mixture, cover, gamma_of, peaks_above
from ...problem import MarkovLagrangian
from ...solution import Run
from ..base import SIZES
from ..fixed_point import Accelerated
from ..job import Job
from .partitions import MERGING

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
        """g of each row."""
        support, problem = self.support, self.problem
        of_y = entr(q / support.p_y) @ (support.p_y * problem.weights(support.joint)[support.y])
        found = problem.rho_z * entr(q.sum(axis=1)) + of_y
        if problem.rho_zx != 0.0:
            found = found + problem.rho_zx * (entr(W) @ support.p_x)
        return np.asarray(found)

    def costs(self, i: int, others: IntArray) -> Array:
        """What joining cluster i with each of the others adds to the Lagrangian."""
        # 100,000 entries of an encoder are added up at a time.
        few = max(1, 100_000 // self.W.shape[1])
        parts = np.array_split(others, range(few, len(others), few))
        joined = [self.values(self.W[i] + self.W[part], self.q[i] + self.q[part]) for part in parts]
        return np.asarray(np.concatenate(joined) - self.g[i] - self.g[others])


def merged(
    support: Support, problem: MarkovLagrangian, W: Array, rise: float = math.inf, most: int | None = None
) -> Array:
    """The encoder with clusters joined, cheapest pair first, while the loss rises by no more than so many nats in all.

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
            if costs[i, j] > rise:
                break
            rise -= max(float(costs[i, j]), 0.0)
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
        # A letter whose clusters are all gone goes everywhere, in the proportions that rounding leaves.
        W = W[heaviest] + 1e-300
        W = W / W.sum(axis=0)
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


class GrowthEffort(NamedTuple):
    """When the dual is asked, and how long, set by `benchmarks/bench_growth.py`."""

    rounds: int = 12
    """Most times that clusters are added."""
    high: float = 1e-7
    """Nats, gamma log D, that a peak must rise above 0; and that a round must gain."""
    idle: int = 2
    """Rounds in a row without that gain, after which no other follows: a cluster of little mass takes a while to grow."""
    needy: int = 256
    """Letters with the largest D that climbs begin from, beside those that lie far apart."""
    largest_climb: int = 20_000_000
    """Letters x outcomes y x starts of a climb, above which there are fewer starts; and none, if not even `least_starts` fit."""
    least_starts: int = 65
    largest_table: int = 100_000_000
    """Letters x letters whose D is looked at; of more letters, the heaviest are."""
    entries: int = 2_000_000
    """... of which so many at a time."""
    rough: float = 1e-5
    rough_iterations: int = 60
    """The tolerance, and the iterations, that are enough between two rounds."""


EFFORT = GrowthEffort()


def asks_the_dual(support: Support, most: int) -> bool:
    """Whether a bottleneck with so many clusters at most is solved this way.

    With many letters, a dense table, no cap on |Z|, and few enough cells to move every letter from a cluster of its own.
    """
    letters = len(support.p_x)
    if letters <= SIZES.first_clusters or support.sparse or most < letters:
        return False
    return letters * (int(np.count_nonzero(support.P)) + letters) <= MERGING.move_work


class DualClimbs:
    """Where climbs begin, for one joint."""

    def __init__(self, support: Support) -> None:
        self.support = support
        self.apart = cover(support)
        heaviest = np.argsort(-support.p_x, kind="stable")[: max(1, EFFORT.largest_table // len(support.p_x))]
        self.letters: Array = np.unique(support.T.T[heaviest], axis=0)

    @property
    def needy(self) -> int:
        """Letters that climbs may begin from beside those that lie apart; negative if no climb is worth its time."""
        fitting = EFFORT.largest_climb // self.support.cells
        if fitting < min(EFFORT.least_starts, len(self.apart)):
            return -1
        return min(EFFORT.needy, fitting - len(self.apart))

    def missing(self, gamma: float, mixture: Mixture) -> Array:
        """Decoders with D > 1, one for each peak that was met."""
        lam = mixture.multipliers(self.support, gamma)
        neediest = np.argsort(-self.heights(gamma, lam), kind="stable")[: self.needy]
        return peaks_above(self.support, gamma, lam, np.vstack([self.apart, self.letters[neediest]]), EFFORT.high)[0]

    def heights(self, gamma: float, lam: Array) -> Array:
        """gamma log D(p(y|x)) for the letters x, in nats."""
        T, found = self.support.T, []
        few = max(1, EFFORT.entries // T.shape[1])
        for part in np.array_split(self.letters, range(few, len(self.letters), few)):
            score = (lam + np.log(np.maximum(part, TINY)) @ T) / gamma
            top = score.max(axis=1)
            found.append(gamma * (top + np.log(np.exp(score - top[:, None]).sum(axis=1))))
        return np.concatenate(found)


def grown(job: Job, W: Array, most: int, dual: DualClimbs) -> tuple[Array, int]:
    """W with clusters added, up to so many, while the dual says that some are missing; roughly stationary. And the iterations it took.

    W itself, if nothing is missing from it.
    """
    support, gamma, spent, idle = job.support, gamma_of(job.problem), 0, 0
    lowest = job.loss(W)
    for _ in range(EFFORT.rounds if dual.needy >= 0 else 0):
        if len(W) >= most or job.budget.over:
            break
        mixture = Mixture.of(support, W)
        missing = dual.missing(gamma, mixture)[: most - len(W)]
        if not len(missing):
            break
        W = np.ascontiguousarray(mixture.joined(missing).encoder(support, gamma))
        run = settled(roughly(job), W)
        W, spent = run.encoder, spent + run.iterations
        loss = job.loss(W)
        idle = idle + 1 if loss > lowest - EFFORT.high else 0
        lowest = min(loss, lowest)
        if idle == EFFORT.idle:
            break
    return W, spent


def briefly(job: Job, tol: float, iterations: int) -> Job:
    """The job to another tolerance, within so many iterations, whose trace nobody needs."""
    return job.but(tol=tol, record=False, budget=job.budget.part(iterations=iterations, work=math.inf))


def roughly(job: Job) -> Job:
    """What is enough between two rounds."""
    return briefly(job, EFFORT.rough, EFFORT.rough_iterations)


def settled(job: Job, W: Array) -> Run:
    """The run of the accelerated solver from one encoder."""
    return Accelerated().run(job.but(starts=W[None]))[0]
