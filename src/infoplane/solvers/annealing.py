"""The bottleneck's frontier upwards in gamma: begin with (almost) every letter in a cluster of its own, and let clusters merge.

At the smallest gamma W = 0.95 I + 0.05/|Z|; each larger gamma begins from the encoder of the one before, whose clusters it can only
merge, move or drop. Going down instead, clusters must split at the right moment, which was measured to be inferior.

An encoder is a straight line gamma I(X;Z) - I(Y;Z) over all gammas, so every encoder of the path, and the trivial one, is a candidate at
every gamma. Where another's line lies below, the path has missed a jump, and that gamma is solved again from there.
"""

from __future__ import annotations

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
        last, clusters = [starts[0]], starts.shape[1]
        del starts  # an encoder may be large: none is kept here while the next is found
        lowest = gamma_of(problems[order[0]])
        for gamma in np.geomspace(lowest / self.depth, lowest, self.rungs, endpoint=False):
            run = yield from _climb(support, _at(gamma), last.pop(), BRIEF, False)
            last.append(run.encoder)
            del run
        found: dict[int, Run] = {}
        for place in order:
            found[place] = yield from _climb(support, problems[place], last.pop(), stopping, record)
            last.append(found[place].encoder)
        yield from _mend(support, problems, found, stopping, record)
        for place in range(len(problems)):
            run = found[place]
            yield replace(run, found_by=self.name, died=clusters - len(run.encoder))


def _mend(
    support: Support, problems: Sequence[MarkovLagrangian], found: dict[int, Run], stopping: Stopping, record: bool
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
        if not mended:
            return


MENDING_ROUNDS = 5
"""Most times that the whole path is looked over."""

MISSED = 1e-9
"""Nats, relative to the weight of I(Y;Z), by which another's line must lie below."""

BRIEF = Stopping(tol=1e-4, max_iter=100)
"""What is enough on a rung that nobody will see."""


def _climb(
    support: Support, problem: MarkovLagrangian, W: Array, stopping: Stopping, record: bool
) -> Generator[None, None, Run]:
    batch = Accelerated().begin(support, [problem], W[None], stopping, record)
    del W
    while batch.advance(STRIDE):
        yield None
    return batch.runs()[0]


def _at(gamma: float) -> MarkovLagrangian:
    return MarkovLagrangian(gamma - 1.0, -gamma, 1.0)
