"""`Accelerated`: the fast path. Self-consistent maps with SQUAREM, Anderson and Newton, under the safeguard of the objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .errors import InvalidOptionError
from .information import Array
from .kernels.accelerated_bottleneck import (
    FIRST_CAP,
    LeapState,
    advance_bottleneck,
    split_stationary,
)
from .kernels import advance as kernel
from .kernels.accelerated_funnel import CycleState, advance_funnel
from .mapping import MapBatch, blocks_of, logs_of, needs_encoder
from .problem import MarkovLagrangian
from .solver import Support
from .stopping import Stopping


SPLITS = 20


def sum_is_zero(problem: MarkovLagrangian) -> bool:
    """Whether rho sums to 0."""
    return abs(sum(problem.rho)) <= 1e-12 * max(abs(rho) for rho in problem.rho)


@dataclass(frozen=True)
class Accelerated:
    """Accelerated."""

    memory: int = 5
    split: bool = True

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
        if min(problem.rho) >= 0.0:
            return (
                f"with rho = {problem.rho} every term is a non-negative multiple of an entropy: the minimum is 0 and any constant Z "
                "attains it, so there is nothing to solve. Give at least one coefficient a negative sign."
            )
        return None

    def caution(self, _support: Support, _problem: MarkovLagrangian, _start: Array) -> str | None:
        """There is nothing to tune."""
        return None

    def begin(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> MapBatch:
        """A batch of runs."""
        if needs_encoder(problems):
            return CycleBatch(support, problems, starts, stopping, record)
        return LeapBatch(support, problems, starts, stopping, record, self.memory, self.split)


class LeapBatch(MapBatch):
    """Runs whose map depends on q(z, y) alone, the bottleneck's among them."""

    found_by = "accelerated"
    kernel = staticmethod(advance_bottleneck)

    def __init__(
        self,
        support: Support,
        problems: Sequence[MarkovLagrangian],
        starts: Array,
        stopping: Stopping,
        record: bool,
        memory: int,
        split: bool,
    ) -> None:
        super().__init__(support, problems, starts, stopping, record)
        runs, clusters = starts.shape[:2]
        u = logs_of(self.marginals(starts))
        nothing = np.zeros(runs, dtype=np.int64)
        self.state = LeapState(
            W=self.room(runs),
            u=u,
            u_old=u.copy(),
            f_old=np.zeros_like(u),
            D_F=np.zeros((runs, memory, u[0].size)),
            D_G=np.zeros((runs, memory, u[0].size)),
            held=np.full(runs, -1),
            kind=nothing.copy(),
            paired=nothing.copy(),
            armed=nothing.copy(),
            alive=np.full(runs, clusters),
            alive_new=np.full(runs, clusters),
            alive_old=np.full(runs, clusters),
            due=np.full(runs, 5),
            again=nothing.copy(),
            wait=np.ones(runs, dtype=np.int64),
            splits=np.array([SPLITS if split and sum_is_zero(problem) else 0 for problem in problems]),
            J=np.full(runs, np.inf),
            cap=np.full(runs, FIRST_CAP),
            norm=np.full(runs, np.inf),
            gate=np.ones(runs),
            **self.outcomes(runs),
        )

    def continue_stationary(self) -> None:
        """The split test."""
        if ((self.state.outcome == kernel.STATIONARY) & (self.state.splits > 0)).any():
            split_stationary(self.channel, self.setting, self.state)


class CycleBatch(MapBatch):
    """Runs of the monotone map on encoders, the funnel's among them."""

    found_by = "accelerated"
    kernel = staticmethod(advance_funnel)

    def __init__(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> None:
        super().__init__(support, problems, starts, stopping, record)
        runs, clusters = starts.shape[:2]
        W = blocks_of(starts, self.channel.p_x.shape[1])
        L = np.empty((runs, 3, *W.shape[1:]))
        L[:, 0] = logs_of(W)
        nothing = np.zeros(runs, dtype=np.int64)
        self.state = CycleState(
            W=W,
            L=L,
            q=self.marginals(starts),
            stage=nothing.copy(),
            base=nothing.copy(),
            armed=nothing.copy(),
            alive=np.full(runs, clusters),
            value=np.full(runs, np.inf),
            cap=np.full(runs, FIRST_CAP),
            **self.outcomes(runs),
        )
