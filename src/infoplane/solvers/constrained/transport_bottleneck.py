"""The bottleneck as entropic optimal transport: Chen, Wu, Ye, Wu, Wu, Zhang, Bai, Sun (2023), "Information bottleneck revisited: posterior
probability perspective with optimal transport", arXiv:2308.11296; a generalised alternating Sinkhorn iteration (GAS).

    min I(X;Z)  over  I(Y;Z) >= I,   unknowns w = p(x|z), r = p(z), t = p(y, z):      cost C[x, z] = sum_y p(y|x) log t[y, z]

    g[z] = -log sum_x exp(lam C + f)                    columns of w = exp(lam C + f + g) sum to one
    f[x] = log p(x) - log sum_z r exp(lam C + g)        rows of w r sum to p(x)
    lam    the root of sum_yz p(y|x) w r log t - sum r log r + H(Y) = I, which increases in it
    t    = sum_x p(y|x) w r,     log r[z] = sum_y p(y|z) log t - (1/lam) sum_x w (log w - f) + constant

A fixed point has lam log r + g constant, and so W = w r / p(x) solves the self-consistent equations at gamma = 1/lam. Held at that lam it
is an iteration for the Lagrangian. Written from its authors' published script (IB_OT_main.m) and the abstract. No proof that it converges
is known to us; where it does not, the status says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...checks import PYTHON_ONLY
from ...information import Array
from ...kernels.common.numerics import TINY
from ...problem import MarkovLagrangian, bottleneck
from ..base import Solver
from ..job import Job
from .multiplier import MultiplierIteration, checked, ratio


@dataclass(frozen=True)
class TransportBottleneck(Solver):
    """The bottleneck by a generalised Sinkhorn iteration (Chen et al. 2023).

    Parameters
    ----------
    relevance
        The least I(Y;Z), nats: the multiplier is found in every iteration, the problem's gamma plays no part, and ``advice`` of the
        solution has the gamma that was found. None holds the multiplier at 1/gamma.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.4), ip.TransportBottleneck(), starts=8, rng=0, init="random")
    >>> s.converged, round(s.loss, 6)
    (True, -0.10187)
    """

    name = "ot-ib"

    relevance: float | None = field(default=None, metadata=PYTHON_ONLY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "relevance", checked("relevance", self.relevance))

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """It is for bottlenecks."""
        if ratio(problem, 1.0) is None:
            return (
                f"ot-ib is for the bottleneck, rho = (gamma - 1, -gamma, 1) times a number; found rho = {problem.rho}."
            )
        return None

    def begin(self, job: Job) -> SinkhornIteration:
        """All runs side by side."""
        return SinkhornIteration(job, self.name, self.relevance, ratio(job.problem, 1.0) or 1.0)


def _log_sum(score: Array, axis: int) -> Array:
    top = score.max(axis=axis, keepdims=True)
    return np.asarray(top + np.log(np.exp(score - top).sum(axis=axis, keepdims=True)))


class SinkhornIteration(MultiplierIteration):
    """Potentials f, g, masses r and the table t, each in turn; arrays (R, |Z|, |X|), as everywhere here."""

    family, most = bottleneck, 100.0

    def __init__(self, job: Job, found_by: str, target: float | None, parameter: float) -> None:
        super().__init__(job, found_by, target, parameter)
        W = self.state.W
        self.log_r = np.log(np.maximum(W @ self.p_x, TINY))[:, :, None]
        self.log_t = np.log(np.maximum(W @ self.P, TINY))
        self.f = np.zeros((len(W), 1, len(self.p_x)))
        self.potentials = self.f, self.f
        self.h_y = float(-(self.p_y * np.log(self.p_y)).sum())

    def tilted(self, W: Array, lam: Array) -> tuple[Array, Array, Array]:  # noqa: ARG002
        """The plan w r at lam; its relevance against the table before, and the slope of that."""
        score, both = self.potentials
        log_r, cost = self.log_r[self.some], self.log_t[self.some] @ self.T
        plan = np.exp(lam[:, None, None] * score + both + log_r)
        relevance = (plan * cost).sum(axis=(1, 2)) - (np.exp(log_r) * log_r).sum(axis=(1, 2)) + self.h_y
        return plan, relevance, (plan * score * cost).sum(axis=(1, 2))

    def step(self, W: Array) -> Array:
        """One round of all updates."""
        some, log_r = self.some, self.log_r[self.some]
        cost = self.log_t[some] @ self.T
        score, lam = cost - cost.max(axis=2, keepdims=True), self.lam[some, None, None]
        g = -_log_sum(lam * score + self.f[some], 2)
        f = np.log(self.p_x) - _log_sum(lam * score + g + log_r, 1)
        self.potentials = score, f + g
        plan, lam = super().step(W), self.lam[some, None, None]
        t, w = np.maximum(plan @ self.T.T, TINY), plan / np.exp(log_r)
        new = ((w @ self.T.T) * np.log(t)).sum(axis=2, keepdims=True)
        new -= (w * (lam * score + g)).sum(axis=2, keepdims=True) / lam
        self.f[some], self.log_t[some] = f, np.log(t)
        self.log_r[some] = np.maximum(new - _log_sum(new, 1), np.log(TINY))
        plan = np.maximum(plan, TINY)
        return np.asarray(plan / plan.sum(axis=1, keepdims=True))
