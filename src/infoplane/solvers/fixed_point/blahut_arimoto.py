"""Blahut-Arimoto for the bottleneck (Tishby, Pereira, Bialek 1999), the paper's baseline.

p(z|x) prop. to p(z) exp(-(1/gamma) KL[p(y|x) || p(y|z)])

In general, for rho_zx < 0, stationarity of L in p(z|x) reads log W = (rho_z log p(z) + rho_zy sum_y p(y|x) log p(z|y)) / (-rho_zx) +
const(x); iterating it is the same map, and it cannot raise L where H(Z) and H(Z|Y) enter as a concave sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...information import entr
from ...kernels.common.rows import Flags
from ...kernels.fixed_point.blahut_arimoto import MapState, advance_blahut_arimoto
from ...kernels.fixed_point.stopping import COMPARING, FAR, WRITING
from ...problem import MarkovLagrangian
from ..base import Solver
from ..job import Job
from .maps import MapIteration, blocks_of, logs_of, needs_encoder


@dataclass(frozen=True)
class BlahutArimoto(Solver):
    """The self-consistent equations of the bottleneck (Tishby et al. 1999), iterated.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), ip.BlahutArimoto(), starts=4, rng=0)
    >>> s.solver, round(s.loss, 6)
    ('blahut-arimoto', -0.24076)
    """

    name = "blahut-arimoto"

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Why it cannot solve a problem, or None."""
        if problem.rho_zx >= 0:
            return (
                f"blahut-arimoto solves for p(z|x) in closed form, which needs a convex H(Z|X) term, rho_zx < 0; found {problem.rho_zx:g}. "
                "Use drs."
            )
        return None

    def begin(self, job: Job) -> BlahutArimotoIteration:
        """One evaluation of the map per step."""
        return BlahutArimotoIteration(job)


class BlahutArimotoIteration(MapIteration):
    """One evaluation of the map per step; nothing is split, so primal and dual residual are zero."""

    found_by = "blahut-arimoto"
    kernel = staticmethod(advance_blahut_arimoto)

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        starts, record = job.starts, job.record
        runs, clusters = starts.shape[:2]
        on_encoders = needs_encoder(job.problem)
        W = blocks_of(starts, self.channel.p_x.shape[1]) if record or on_encoders else self.room(runs)
        self.state = MapState(
            W=W,
            L=logs_of(W) if on_encoders else np.zeros((runs, 0, 0, 0)),
            q=self.marginals(starts),
            h_zx=np.array([sum(float(entr(row) @ job.support.p_x) for row in W) if record else 0.0 for W in starts]),
            check=np.zeros(runs, dtype=np.int64),
            alive=np.full(runs, clusters, dtype=np.int64),
            **self.outcomes(runs),
        )

    def measure(self, going: Flags) -> None:
        """W becomes the map of the present point, if it is not there already; a trace that goes on needs W as it is."""
        state = self.state
        written = (state.check == COMPARING) | (self.job.record & (state.iterations < self.limit))
        check = np.where(going, np.where(written, COMPARING, WRITING), FAR)
        self.measured(check, q=state.q, L=state.L)
