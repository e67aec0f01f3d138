"""The bottleneck's frontier upwards in gamma: begin with (almost) every letter in a cluster of its own, and let clusters merge.

At the smallest gamma W = 0.95 I + 0.05/|Z|; each larger gamma begins from the encoder of the one before, whose clusters it can only
merge, move or drop. Going down instead, clusters must split at the right moment, which was measured to be inferior.

Where a start has fewer clusters than letters, the lowest gamma splits them (the split test of the accelerated solver), as many times as
the cap on |Z| allows: so |Z| is found, whatever it begins with.

An encoder is a straight line gamma I(X;Z) - I(Y;Z) over all gammas, so every encoder of the path, and the trivial one, is a candidate at
every gamma. Where another's line lies below, the path has missed a jump, and that gamma is solved again from there.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..certificate.bottleneck.proof import gamma_of
from ..checks import PYTHON_ONLY, number, whole_number
from ..information import Array, plane_points
from ..joint.support import Support
from ..problem import MarkovLagrangian, is_bottleneck
from ..solution import Run
from .base import PathSolver
from .fixed_point.accelerated import Accelerated
from .prediction import Path, predictable
from .stopping import Stopping

STRIDE = 200
"""Iterations between two looks."""


@dataclass(frozen=True)
class Annealing(PathSolver):
    """Upward annealing by the accelerated solver: each gamma warmed by the one below.

    Parameters
    ----------
    rungs
        Steps by which the first gamma is approached, from ``depth`` times smaller.
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
    segment = None
    """The whole grid is one path."""
    grows = True

    rungs: int = field(default=6, metadata=PYTHON_ONLY)
    depth: float = field(default=8.0, metadata=PYTHON_ONLY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rungs", whole_number("rungs", self.rungs, least=0))
        object.__setattr__(self, "depth", number("depth", self.depth, lambda depth: depth > 1.0, "above 1"))

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Why it cannot solve a problem, or None."""
        if not is_bottleneck(problem):
            return f"annealing follows the bottleneck in gamma; found rho = {problem.rho}. Use drs, or pooling for the funnel."
        return Accelerated().refusal(problem)

    def follow(
        self,
        support: Support,
        problems: Sequence[MarkovLagrangian],
        starts: Array,
        stopping: Stopping,
        record: bool = False,
    ) -> Iterator[Run | None]:
        """Upwards in gamma, whatever the order asked for."""
        order = sorted(range(len(problems)), key=lambda place: gamma_of(problems[place]))
        last, clusters, letters = [starts[0]], starts.shape[1], starts.shape[2]
        del starts  # an encoder may be large: none is kept here while the next is found
        lowest = gamma_of(problems[order[0]])
        clock = _Clock(len(problems))
        for gamma in np.geomspace(lowest / self.depth, lowest, self.rungs, endpoint=False):
            run = yield from _climb(support, _at(gamma), last.pop(), BRIEF, False)
            last.append(run.encoder)
            del run
        found: dict[int, Run] = {}
        most = min(stopping.most_clusters(letters), letters)
        path = Path(support)
        for place in order:
            W, spent = last.pop(), 0
            if predictable(support, W):
                W = path.predicted(problems[place], W)
            if clusters < most and not found:  # above the lowest gamma clusters only merge
                W, spent = yield from _grown(support, problems[place], W, most, stopping.max_iter)
            run = yield from _climb(support, problems[place], W, stopping, record)
            del W
            found[place] = replace(run, iterations=run.iterations + spent)
            last.append(run.encoder)
            if predictable(support, run.encoder):
                path.passed(gamma_of(problems[place]), run.encoder)
            del run
            clock.charge(place)
        yield from _mend(support, problems, found, stopping, record, clock)
        for place in range(len(problems)):
            run = found[place]
            died = max(clusters - len(run.encoder), 0)
            yield replace(run, found_by=self.name, died=died, seconds=clock.seconds[place])


class _Clock:
    """The time of each problem of a path, which are yielded only once all are done."""

    def __init__(self, problems: int) -> None:
        self.seconds = [0.0] * problems
        self.began = time.perf_counter()

    def charge(self, place: int) -> None:
        """What has passed since the last charge was spent on this problem; the rungs below the first are part of it."""
        now = time.perf_counter()
        self.seconds[place] += now - self.began
        self.began = now


def _mend(
    support: Support,
    problems: Sequence[MarkovLagrangian],
    found: dict[int, Run],
    stopping: Stopping,
    record: bool,
    clock: _Clock,
) -> Generator[None, None, None]:
    """Solve again, from the encoder with the lowest line, wherever that lies below the path's own."""
    trivial = np.ones((1, len(support.p_x)))
    for _ in range(MENDING_ROUNDS):
        candidates = [trivial, *(found[place].encoder for place in range(len(problems)))]
        ixz, iyz = np.vstack([plane_points(support.joint, some) for some in support.lifted(candidates)]).T
        mended = False
        for place, problem in enumerate(problems):
            losses = -problem.rho_zx * ixz - problem.rho_zy * iyz
            best = int(losses.argmin())
            if losses[best] < losses[place + 1] - MISSED * problem.rho_zy:
                found[place] = yield from _climb(support, problem, candidates[best], stopping, record)
                mended = True
                clock.charge(place)
        if not mended:
            return


MENDING_ROUNDS = 5
"""Most times that the whole path is looked over."""

MISSED = 1e-9
"""Nats, relative to the weight of I(Y;Z), by which another's line must lie below."""

BRIEF = Stopping(tol=1e-4, max_iter=100)
"""What is enough on a rung that nobody will see."""

ROUGH = Stopping(tol=1e-5, max_iter=300)
"""What is enough between two splits."""


def _climb(
    support: Support, problem: MarkovLagrangian, W: Array, stopping: Stopping, record: bool
) -> Generator[None, None, Run]:
    batch = Accelerated().begin(support, [problem], W[None], stopping, record)
    del W
    while batch.advance(STRIDE):
        yield None
    return batch.runs()[0]


def _grown(
    support: Support, problem: MarkovLagrangian, W: Array, most: int, max_iter: int
) -> Generator[None, None, tuple[Array, int]]:
    """Clusters split, up to so many, until no split lowers the loss; roughly stationary. The encoder, and the iterations it took."""
    spent = 0
    while len(W) < most and spent < max_iter:
        room = min(most, 2 * len(W))
        halves = room - len(W)  # equal halves change nothing: the split test joins them, and has room then
        W = np.concatenate([W[:halves] / 2.0, W[halves:], W[:halves] / 2.0])
        run = yield from _climb(support, problem, W, ROUGH, False)
        W, spent = run.encoder, spent + run.iterations
        if len(W) < room:
            break
    return W, spent


def _at(gamma: float) -> MarkovLagrangian:
    return MarkovLagrangian(gamma - 1.0, -gamma, 1.0)
