"""`Accelerated`: a map whose fixed points are the stationary encoders, accelerated without ever raising the objective."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...checks import PYTHON_ONLY, whole_number
from ...errors import InvalidOptionError
from ...kernels.common.rows import STATIONARY, Flags
from ...kernels.fixed_point.accelerated_bottleneck import LeapState, advance_bottleneck, split_stationary
from ...kernels.fixed_point.accelerated_funnel import CycleState, advance_funnel
from ...kernels.fixed_point.extrapolation import FIRST_CAP
from ...kernels.fixed_point.phases import beginning
from ...kernels.fixed_point.stopping import COMPARING, FAR, WRITING
from ...problem import MarkovLagrangian, has_posterior_form
from ..base import Solver
from ..job import Job
from .maps import MapIteration, blocks_of, logs_of, needs_encoder


@dataclass(frozen=True)
class Accelerated(Solver):
    """The self-consistent map with SQUAREM, Anderson and Newton under a safeguard, split test at the end.

    Where the map depends on q(z, y) alone (the bottleneck; in general rho_zx < 0 <= rho_zy, rho_z + rho_zy >= 0) it is iterated on
    u = log q(z, y) with SQUAREM, Anderson and Newton steps; clusters that have become equal are merged. Elsewhere (the funnel, beta > 1,
    and any other Lagrangian) it is iterated on log p(z|x) with SQUAREM. A step is kept only if the objective does not rise. An iteration is
    one evaluation of the map, kept or not. Between two comparisons of encoders the trace's stationarity is max |p'(z|y) - p(z|y)|, a
    lower bound of max |W - map(W)|; the one that is reported for the returned encoder is the latter. For the funnel at beta <= 1, Z = X is
    optimal: with as many clusters as letters a run begins there.

    Parameters
    ----------
    memory
        How many differences of earlier iterates Anderson's step uses.
    split
        Whether a stationary bottleneck is tested for splits: a cluster inside which X and Y are correlated by more than gamma gains by
        splitting, so it is split, if fewer clusters are alive than the start had, and the run goes on. Applies where the rho sum to 0.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), ip.Accelerated(), starts=4, rng=0)
    >>> s.solver, round(s.loss, 6)
    ('accelerated', -0.24076)
    """

    name = "accelerated"

    memory: int = field(default=5, metadata=PYTHON_ONLY)
    split: bool = field(default=True, metadata=PYTHON_ONLY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory", whole_number("memory", self.memory))
        if not isinstance(self.split, bool):
            raise InvalidOptionError(f"split must be True or False, found {self.split!r}.")

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Why it cannot solve a problem, or None."""
        if min(problem.rho) >= 0.0:
            return (
                f"with rho = {problem.rho} every term is a non-negative multiple of an entropy: the minimum is 0 and any constant Z "
                "attains it, so there is nothing to solve. Give at least one coefficient a negative sign."
            )
        return None

    def begin(self, job: Job) -> MapIteration:
        """One evaluation of the map per step, kept or not."""
        return EncoderIteration(job) if needs_encoder(job.problem) else MarginalIteration(job, self)


class MarginalIteration(MapIteration):
    """Runs whose map depends on q(z, y) alone, the bottleneck's among them."""

    found_by = "accelerated"
    kernel = staticmethod(advance_bottleneck)

    def __init__(self, job: Job, options: Accelerated) -> None:
        super().__init__(job)
        runs, clusters = job.starts.shape[:2]
        u = logs_of(self.marginals(job.starts)).reshape(runs, -1)
        # With a posterior form equal halves of a cluster change nothing, and an unequal split is of second order.
        # A run may go on 20 times after a split test; each one has lowered the loss.
        splits = 20 if options.split and has_posterior_form(job.problem) else 0
        self.state = LeapState(
            W=self.room(runs),
            u=u,
            u_old=u.copy(),
            f_old=np.zeros_like(u),
            D_F=np.zeros((runs, options.memory, u.shape[1])),
            D_G=np.zeros((runs, options.memory, u.shape[1])),
            control=beginning(clusters, np.full(runs, splits)),
            alive=np.full(runs, clusters, dtype=np.int64),
            **self.outcomes(runs),
        )

    def resume(self) -> None:
        """The split test."""
        state = self.state
        stationary = (state.outcome == STATIONARY) & (state.control["splits"] > 0) & (state.iterations < self.limit)
        if stationary.any():
            split_stationary(self.channel, self.setting, state, stationary)

    def measure(self, going: Flags) -> None:
        """W becomes the map of the last point that was kept, unless it is there to be compared: the next one may be refused."""
        state = self.state
        written = state.control["check"] == COMPARING
        u = np.where(written[:, None], state.u, state.u_old + state.f_old)
        state.alive[going] = state.control["clusters_old"][going]
        self.measured(np.where(going, np.where(written, COMPARING, WRITING), FAR), u=u)


class EncoderIteration(MapIteration):
    """Runs of the monotone map on encoders, the funnel's among them."""

    found_by = "accelerated"
    kernel = staticmethod(advance_funnel)

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        starts = job.starts
        runs, clusters, letters = starts.shape
        if clusters >= letters and _releases_everything(job.problem):
            starts = np.tile(np.eye(clusters, letters), (runs, 1, 1))
        W = blocks_of(starts, self.channel.p_x.shape[1])
        L = np.empty((runs, 3, *W.shape[1:]))
        L[:, 0] = logs_of(W)
        none = np.zeros(runs, dtype=np.int64)
        self.state = CycleState(
            W=W,
            L=L,
            q=self.marginals(starts),
            stage=none.copy(),
            base=none.copy(),
            check=none.copy(),
            alive=np.full(runs, clusters, dtype=np.int64),
            value=np.full(runs, np.inf),
            cap=np.full(runs, FIRST_CAP),
            **self.outcomes(runs),
        )

    def measure(self, going: Flags) -> None:
        """W is up to date."""
        state = self.state
        L = state.L[np.arange(len(going)), (state.base + state.stage) % 3]
        self.measured(np.where(going, COMPARING, FAR), q=state.q, L=L)


def _releases_everything(problem: MarkovLagrangian) -> bool:
    """The funnel, beta <= 1: beta I(Y;Z) - I(X;Z) = -beta I(X;Z|Y) - (1 - beta) I(X;Z) is least at Z = X."""
    return has_posterior_form(problem) and problem.rho_z <= 0.0 and problem.rho_zy <= 0.0
