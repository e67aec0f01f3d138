"""`Accelerated`: the fast path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .errors import InvalidOptionError
from .information import Array
from .kernels import advance as kernel
from .kernels.accelerated_bottleneck import FIRST_CAP, LeapState, advance_bottleneck, advance_bottleneck_sparse
from .kernels.roots import LOG_TINY, TINY
from .mapping import MapBatch, marginals_of
from .problem import MarkovLagrangian
from .solver import Support
from .stopping import Stopping


@dataclass(frozen=True)
class Accelerated:
    """Accelerated."""

    memory: int = 5

    def __post_init__(self) -> None:
        if isinstance(self.memory, bool) or not isinstance(self.memory, int) or self.memory < 1:
            raise InvalidOptionError(f"memory must be a positive whole number, found {self.memory!r}.")

    @property
    def name(self) -> str:
        """The registered name."""
        return "accelerated"

    @property
    def deterministic(self) -> bool:
        """Runs depend on their starts."""
        return False

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Why it cannot solve a problem, or None."""
        if 1.0 + problem.rho_zx / problem.width != 0.0:
            return (
                f"accelerated needs a map that depends on p(z,y) alone: rho_zx < 0 <= rho_zy and rho_z + rho_zy >= 0; found rho = {problem.rho}. "
                "Use drs."
            )
        return None

    def caution(self, _support: Support, _problem: MarkovLagrangian, _start: Array) -> str | None:
        """There is nothing to tune."""
        return None

    def begin(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> LeapBatch:
        """A batch of runs."""
        return LeapBatch(support, problems, starts, stopping, record, self.memory)


class LeapBatch(MapBatch):
    """Runs of the accelerated bottleneck iteration."""

    found_by = "accelerated"
    kernels = (advance_bottleneck, advance_bottleneck_sparse)

    def __init__(
        self,
        support: Support,
        problems: Sequence[MarkovLagrangian],
        starts: Array,
        stopping: Stopping,
        record: bool,
        memory: int,
    ) -> None:
        super().__init__(support, problems, starts, stopping, False)
        self.record = record
        s = self.state
        runs, clusters = starts.shape[:2]
        q = marginals_of(support, starts, len(self.channel.p_y))
        u = np.where(q > TINY, np.log(np.maximum(q, TINY)), LOG_TINY)
        self.state = LeapState(
            W=s.W, u=u, u_old=u.copy(), f_old=np.zeros_like(u),
            D_F=np.zeros((runs, memory, *u.shape[1:])), D_G=np.zeros((runs, memory, *u.shape[1:])),
            held=np.full(runs, -1), kind=np.zeros(runs, dtype=np.int64), paired=np.zeros(runs, dtype=np.int64),
            armed=np.zeros(runs, dtype=np.int64), alive=np.full(runs, clusters), alive_new=np.full(runs, clusters), alive_old=np.full(runs, clusters),
            due=np.full(runs, 5), again=np.zeros(runs, dtype=np.int64),
            J=np.full(runs, np.inf), cap=np.full(runs, FIRST_CAP), norm=np.full(runs, np.inf), gate=np.ones(runs),
            outcome=s.outcome, iterations=s.iterations, residuals=s.residuals,
        )
