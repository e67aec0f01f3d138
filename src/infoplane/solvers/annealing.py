"""The bottleneck's frontier upwards in gamma: begin with (almost) every letter in a cluster of its own, and let clusters merge.

At the smallest gamma W = 0.95 I + 0.05/|Z|; each larger gamma begins from the encoder of the one before, whose clusters it
can only merge, move or drop. Going down instead, clusters must split at the right moment, which was measured to be inferior.

Where X has many letters and |Z| no cap, the path begins from the better of its start and a hard partition (`_better`), and at
every tenth gamma the dual is asked for clusters that are missing (`resizing.grown`). Otherwise, where a start has fewer clusters than
letters, the lowest gamma splits them (the split test of the accelerated solver), as many times as the cap on |Z| allows. So |Z| is found,
whatever the path begins with.

An encoder is a straight line gamma I(X;Z) - I(Y;Z) over all gammas, so every encoder of the path, and the trivial one, is a candidate at
every gamma. Where another's line lies below, the path has missed a jump, and that gamma is solved again from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..checks import PYTHON_ONLY, number, whole_number
from ..information import Array, plane_points
from ..posterior.form import gamma_of
from ..problem import MarkovLagrangian, is_bottleneck
from ..runtime.budget import Stopped, own_clock
from ..solution import Run
from .base import PathSolver
from .job import Job
from .shared.partitions import moved, softened
from .shared.resizing import DualClimbs, asks_the_dual, briefly, grown, roughly, settled


@dataclass(frozen=True)
class Annealing(PathSolver):
    """The bottleneck for ascending gamma, each started from the one before (the default of its sweeps).

    Parameters
    ----------
    rungs
        Steps by which the first gamma is approached, from ``depth`` times smaller; none where the path begins from a hard partition.
    depth
        How far below the first gamma the path begins.

    Examples
    --------
    >>> import numpy as np, infoplane as ip
    >>> f = ip.sweep(ip.datasets.heart(), ip.bottleneck, np.geomspace(0.05, 1, 8), ip.Annealing())
    >>> f
    Frontier(8 parameters, 8 runs, 8 converged)
    """

    name = "annealing"
    deterministic = True
    """It begins from the first start only, which is the near-identity one unless the user brings another."""
    segment = 100
    """Longer grids are several paths, each begun below its own first gamma: they run side by side, and a store keeps each that is done."""
    grows = True

    rungs: int = field(default=6, metadata=PYTHON_ONLY)
    depth: float = field(default=8.0, metadata=PYTHON_ONLY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rungs", whole_number("rungs", self.rungs, least=0))
        object.__setattr__(self, "depth", number("depth", self.depth, "above 1", above=1.0))

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """It is for the bottleneck."""
        refused = (
            f"annealing follows the bottleneck in gamma; found rho = {problem.rho}. Use drs, or pooling for the funnel."
        )
        return None if is_bottleneck(problem) else refused

    def follow(self, job: Job, problems: Sequence[MarkovLagrangian]) -> Iterator[Run]:
        """Upwards in gamma, whatever the order asked for; the whole path is looked over before its first run is shown."""
        order = upwards(problems)
        clock = _Clock(len(problems))
        dual = DualClimbs(job.support) if asks_the_dual(job.support, job.most) else None
        lowest = job.but(problem=problems[order[0]])
        W = self._approached(lowest, job.starts[0]) if dual is None else _better(lowest, job.starts[0])
        found: dict[int, Run] = {}
        for index in order:
            at, spent = job.but(problem=problems[index]), 0
            if dual is not None and not found:
                W, spent = grown(at, W, job.most, dual)
            elif job.starts.shape[1] < job.most and not found:  # above the lowest gamma clusters only merge
                W, spent = _split(at, W)
            run = settled(at, W)
            if dual is not None and (len(found) % EFFORT.asked == 0 or len(found) == len(order) - 1):
                run = _completed(at, run, dual)
            found[index] = replace(run, iterations=run.iterations + spent)
            W = run.encoder
            clock.charge(index)
            if job.budget.over:
                break
        if len(found) == len(problems):
            _mend(job, problems, found, clock)
        for index, run in sorted(found.items()):
            yield replace(run, found_by=self.name, died=job.died(run.encoder), seconds=clock.seconds[index])

    def _approached(self, job: Job, W: Array) -> Array:
        """From below the job's gamma up to it."""
        lowest = gamma_of(job.problem)
        for gamma in np.geomspace(lowest / self.depth, lowest, self.rungs, endpoint=False):
            W = settled(briefly(at_gamma(job, gamma), EFFORT.brief, EFFORT.brief_iterations), W).encoder
        return W


def upwards(problems: Sequence[MarkovLagrangian]) -> list[int]:
    """The indices of bottlenecks, by their gamma."""
    return sorted(range(len(problems)), key=lambda index: gamma_of(problems[index]))


def at_gamma(job: Job, gamma: float) -> Job:
    """The job at the bottleneck of any gamma > 0, also one above 1."""
    return job.but(problem=MarkovLagrangian(gamma - 1.0, -gamma, 1.0))


class _Clock:
    """The time of each problem of a path, which are yielded only once all are done."""

    def __init__(self, problems: int) -> None:
        self.seconds = [0.0] * problems
        self.began = own_clock()

    def charge(self, index: int) -> None:
        """What has passed since the last charge was spent on this problem; the rungs below the first are part of it."""
        now = own_clock()
        self.seconds[index] += now - self.began
        self.began = now


def _mend(job: Job, problems: Sequence[MarkovLagrangian], found: dict[int, Run], clock: _Clock) -> None:
    """Solve again, from the encoder with the lowest line, wherever that lies below the path's own."""
    support = job.support
    trivial = np.ones((1, len(support.p_x)))
    for _ in range(EFFORT.mending_rounds):
        candidates = [trivial, *(found[index].encoder for index in range(len(problems)))]
        ixz, iyz = np.vstack([plane_points(support.joint, some) for some in support.lifted(candidates)]).T
        mended = False
        for index, problem in enumerate(problems):
            losses = -problem.rho_zx * ixz - problem.rho_zy * iyz
            best = int(losses.argmin())
            if losses[best] < losses[index + 1] - EFFORT.missed * problem.rho_zy:
                found[index] = settled(job.but(problem=problem), candidates[best])
                mended = True
                clock.charge(index)
        if not mended or job.budget.over:
            return


class AnnealingEffort(NamedTuple):
    """How a path is followed, set by `benchmarks/bench_annealing.py`."""

    asked: int = 10
    """Gammas of a path, of which the dual is asked at one; what is missing at those between is found by mending."""
    mending_rounds: int = 5
    """Most times that the whole path is looked over."""
    missed: float = 1e-9
    """Nats, relative to the weight of I(Y;Z), by which another's line must lie below."""
    brief: float = 1e-4
    brief_iterations: int = 100
    """The tolerance, and the iterations, that are enough on a rung that nobody will see."""
    between_splits: float = 1e-5
    split_iterations: int = 300
    """The tolerance, and the iterations, that are enough between two splits."""


EFFORT = AnnealingEffort()


def _better(job: Job, start: Array) -> Array:
    """Of a start and every letter by itself, moved while that lowers the loss, each roughly settled, the one of lower loss."""
    found = [settled(roughly(job), start).encoder]
    with suppress(Stopped):
        hard = softened(moved(job, np.arange(job.letters), job.letters))
        found.append(settled(roughly(job), hard).encoder)
    return found[job.best(found)]


def _completed(job: Job, run: Run, dual: DualClimbs) -> Run:
    """The run, or one from its encoder with the clusters that are missing."""
    W, spent = grown(job, run.encoder, job.letters, dual)
    if W is run.encoder:
        return run
    better = settled(job, W)
    before, after = job.losses([run.encoder, better.encoder])
    return replace(better, iterations=run.iterations + spent + better.iterations) if after < before else run


def _split(job: Job, W: Array) -> tuple[Array, int]:
    """Clusters split, up to the cap, until no split lowers the loss; roughly stationary. The encoder, and the iterations it took."""
    spent = 0
    while len(W) < job.most and spent < job.budget.iterations and not job.budget.over:
        rows = min(job.most, 2 * len(W))
        # Equal halves change nothing: the split test joins them, and may split as many clusters then.
        halves = rows - len(W)
        W = np.concatenate([W[:halves] / 2.0, W[halves:], W[:halves] / 2.0])
        run = settled(briefly(job, EFFORT.between_splits, EFFORT.split_iterations), W)
        W, spent = run.encoder, spent + run.iterations
        if len(W) < rows:
            break
    return W, spent
