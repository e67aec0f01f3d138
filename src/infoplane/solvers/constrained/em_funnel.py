"""The EM-relaxed funnel: Chen, Ye, Wu, Wu, Wu, Zhang (2024), "An expectation-maximization relaxed method for privacy funnel",
arXiv:2405.00616.

    min I(Y;Z)  over  I(X;Z) >= R:     W'[z, x] prop. to W^(1 + lam) p(z)^(1 - lam) exp(-sum_y p(y|x) log p(z|y))

The log of a sum in I(Y;Z) is bounded from above by Jensen's inequality with q(x|y,z) = p(x,y|z) (the E-step); I(X;Z) is bounded from below
by sum p(x) W' log(W / p(z)), and lam is the multiplier at which that bound is R: it increases in lam. Held at lam = 1/beta the
iteration is the mirror step of the funnel's Lagrangian with width beta, where `accelerated` takes the monotone one with beta - 1.
Derived from the problem as the abstract and a published summary of the paper state it (relaxation by Jensen, alternating closed forms); we
have not seen its text or code.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...checks import PYTHON_ONLY
from ...information import Array
from ...problem import MarkovLagrangian, funnel
from ..base import Solver
from ..job import Job
from ..plain import softmax
from .multiplier import MultiplierIteration, checked, ratio


@dataclass(frozen=True)
class EMFunnel(Solver):
    """The EM-relaxed privacy funnel, after the abstract of Chen et al. (2024).

    Parameters
    ----------
    rate
        The least I(X;Z), nats: the multiplier is found in every iteration, the problem's beta plays no part, and ``advice`` of the solution
        has the beta that was found. None holds the multiplier at 1/beta.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.funnel(2.5), ip.EMFunnel(), starts=8, rng=0, init="random")
    >>> s.converged, round(s.loss, 6)
    (True, -0.255154)
    """

    name = "em-pf"

    rate: float | None = field(default=None, metadata=PYTHON_ONLY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", checked("rate", self.rate))

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """It is for funnels."""
        if ratio(problem, -1.0) is None:
            return f"em-pf is for the funnel, rho = (beta - 1, 1, -beta) times a number; found rho = {problem.rho}."
        return None

    def begin(self, job: Job) -> EMIteration:
        """All runs side by side."""
        return EMIteration(job, self.name, self.rate, ratio(job.problem, -1.0) or 1.0)


class EMIteration(MultiplierIteration):
    """W^(1 + lam) p(z)^(1 - lam) exp(-sum_y p(y|x) log p(z|y)), normalised."""

    family, most = funnel, 1.0  # beta >= 1: below, to tell everything is optimal

    def tilted(self, W: Array, lam: Array) -> tuple[Array, Array, Array]:
        """The step at lam; the bound on I(X;Z) of it, and its slope, a variance."""
        log_z, log_W, log_zy = self.logs(W)
        told = log_W - log_z  # log p(x|z) / p(x)
        new = softmax(log_W + log_z - log_zy + lam[:, None, None] * told)
        mean = (new * told).sum(axis=1, keepdims=True)
        rate = (self.p_x * new * told).sum(axis=(1, 2))
        return new, rate, (self.p_x * new * (told - mean) ** 2).sum(axis=(1, 2))
