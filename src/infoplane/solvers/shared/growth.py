"""Is a cluster missing? The bottleneck's dual says so: D(u) <= 1 for every decoder u if and only if an encoder is optimal.

D(u) = sum_x p(x) k(x, u) / m(x) is climbed from letters that lie far apart (`certificate/bottleneck/mixture.py`) and from those letters
x where D(p(y|x)) is largest; a peak above 1 is a cluster that lowers the loss, however far it is from those there are. The split test
of the accelerated solver sees only what is near.

Where X has many letters this is how the bottleneck is solved: from a hard partition, found letter by letter (`partitions`), whose
missing clusters are added a hundred at a time, roughly settled in between, until the dual has no more to say.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...joint.support import Support
from ...kernels.common.numerics import TINY
from ...posterior.form import gamma_of
from ...posterior.mixture import Mixture, cover, peaks_above
from ...solution import Run
from ..fixed_point.accelerated import Accelerated
from ..job import Job
from .partitions import MERGING, moved, softened
from .starts import SIZES


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


def from_letters(job: Job) -> Array:
    """Every letter by itself, then moved letter by letter while that lowers the loss: where a path of many letters begins."""
    return softened(moved(job, np.arange(job.letters), job.letters))


class DualClimbs:
    """Where climbs begin, for one joint."""

    def __init__(self, support: Support) -> None:
        self.support = support
        self.apart = cover(support)
        heaviest = np.argsort(-support.p_x, kind="stable")[: max(1, EFFORT.largest_table // len(support.p_x))]
        self.letters: Array = np.unique(support.T.T[heaviest], axis=0)

    @property
    def room(self) -> int:
        """Letters that climbs may begin from beside those that lie apart; negative if no climb is worth its time."""
        fitting = EFFORT.largest_climb // self.support.cells
        return (
            -1 if fitting < min(EFFORT.least_starts, len(self.apart)) else min(EFFORT.needy, fitting - len(self.apart))
        )

    def missing(self, gamma: float, mixture: Mixture) -> Array:
        """Decoders with D > 1, one for each peak that was met."""
        lam = mixture.multipliers(self.support, gamma)
        neediest = np.argsort(-self.heights(gamma, lam), kind="stable")[: self.room]
        return peaks_above(self.support, gamma, lam, np.vstack([self.apart, self.letters[neediest]]), EFFORT.high)[0]

    def heights(self, gamma: float, lam: Array) -> Array:
        """Gamma log D(p(y|x)) for the letters x, in nats."""
        T = self.support.T
        found = []
        few = max(1, EFFORT.entries // T.shape[1])
        for first in range(0, len(self.letters), few):
            score = (lam + np.log(np.maximum(self.letters[first : first + few], TINY)) @ T) / gamma
            top = score.max(axis=1)
            found.append(gamma * (top + np.log(np.exp(score - top[:, None]).sum(axis=1))))
        return np.concatenate(found)


def grown(job: Job, W: Array, most: int, dual: DualClimbs) -> tuple[Array, int]:
    """W with clusters added, up to so many, while the dual says that some are missing; roughly stationary. And the iterations it took.

    W itself, if nothing is missing from it.
    """
    support, gamma, spent, idle = job.support, gamma_of(job.problem), 0, 0
    lowest = job.loss(W)
    for _ in range(EFFORT.rounds if dual.room >= 0 else 0):
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
