"""Alternating Bregman projection (ABP): Chen, Wu, Ye, Wu, Zhang, Wu (2024), "Efficient and provably convergent computation of information
bottleneck: a semi-relaxed approach", arXiv:2404.04862.

    max I(Y;Z)  over  I(X;Z) <= R:     W[z, x] prop. to p(z) exp(-lam d[z, x]),     d = -sum_y p(y|x) log p(y|z)

with lam > 0 the root of sum p(x) W log(W / p(z)) = R, which increases in it, and then p(z), p(y|z) of the new W. That is Blahut-Arimoto
with a multiplier of every iteration's own; held at lam = 1/gamma it is Blahut-Arimoto, entry by entry. Written from its authors' published
script (CBA_IB_IR.m) and the abstract; the paper's other direction, min I(X;Z) over I(Y;Z) >= I, has the same fixed points.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...checks import PYTHON_ONLY
from ...information import Array
from ...problem import MarkovLagrangian, bottleneck
from ..base import Solver
from ..job import Job
from ..plain import softmax
from .multiplier import MultiplierIteration, checked, ratio


@dataclass(frozen=True)
class BregmanProjection(Solver):
    """Alternating Bregman projection for the bottleneck (Chen et al. 2024).

    Parameters
    ----------
    rate
        The bound on I(X;Z), nats: the multiplier is found in every iteration, the problem's gamma plays no part, and ``advice`` of the
        solution has the gamma that was found. None holds the multiplier at 1/gamma.

    Examples
    --------
    >>> import infoplane as ip
    >>> joint = ip.datasets.paper_uniform()
    >>> s = ip.solve(joint, ip.bottleneck(0.5), ip.BregmanProjection(rate=0.4), starts=8, rng=0)
    >>> round(s.ixz, 6), round(s.iyz, 4)
    (0.4, 0.2466)
    """

    name = "abp"

    rate: float | None = field(default=None, metadata=PYTHON_ONLY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", checked("rate", self.rate))

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """It is for bottlenecks."""
        if ratio(problem, 1.0) is None:
            return f"abp is for the bottleneck, rho = (gamma - 1, -gamma, 1) times a number; found rho = {problem.rho}."
        return None

    def begin(self, job: Job) -> ProjectionIteration:
        """All runs side by side."""
        return ProjectionIteration(job, self.name, self.rate, ratio(job.problem, 1.0) or 1.0)


class ProjectionIteration(MultiplierIteration):
    """W prop. to p(z) exp(-lam d)."""

    family, most = bottleneck, 1e6

    def tilted(self, W: Array, lam: Array) -> tuple[Array, Array, Array]:
        """The projection at lam; its rate against the p(z) before, and the slope lam Var(d)."""
        log_z, _, log_zy = self.logs(W)
        d = log_z - log_zy  # -sum_y p(y|x) log p(y|z), up to what is the same for every z
        new = softmax(log_z - lam[:, None, None] * d)
        mean = (new * d).sum(axis=1, keepdims=True)
        rate = (self.p_x * new * (np.log(new) - log_z)).sum(axis=(1, 2))
        return new, rate, lam * (self.p_x * new * (d - mean) ** 2).sum(axis=(1, 2))
