"""Iterations of other papers for a constrained problem, each with a multiplier lam of its own: held at the problem's, which makes it an
iteration for the Lagrangian; or found in every iteration, so that the bound is met: the root of an increasing function of it.

bottleneck   lam = 1/gamma        funnel   lam = 1/beta        (the slope of the frontier, either way)

**Alternating Bregman projection** (ABP): Chen, Wu, Ye, Wu, Zhang, Wu (2024), "Efficient and provably convergent computation of information
bottleneck: a semi-relaxed approach", arXiv:2404.04862.

    max I(Y;Z)  over  I(X;Z) <= R:     W[z, x] prop. to p(z) exp(-lam d[z, x]),     d = -sum_y p(y|x) log p(y|z)

with lam > 0 the root of sum p(x) W log(W / p(z)) = R, and then p(z), p(y|z) of the new W. That is Blahut-Arimoto with a multiplier of every
iteration's own; held at lam = 1/gamma it is Blahut-Arimoto, entry by entry. Written from its authors' published script (CBA_IB_IR.m) and
the abstract; the paper's other direction, min I(X;Z) over I(Y;Z) >= I, has the same fixed points.

**The EM-relaxed funnel**: Chen, Ye, Wu, Wu, Wu, Zhang (2024), "An expectation-maximization relaxed method for privacy funnel",
arXiv:2405.00616.

    min I(Y;Z)  over  I(X;Z) >= R:     W'[z, x] prop. to W^(1 + lam) p(z)^(1 - lam) exp(-sum_y p(y|x) log p(z|y))

The log of a sum in I(Y;Z) is bounded from above by Jensen's inequality with q(x|y,z) = p(x,y|z) (the E-step); I(X;Z) is bounded from below
by sum p(x) W' log(W / p(z)), and lam is the multiplier at which that bound is R. Held at lam = 1/beta the iteration is the mirror step of
the funnel's Lagrangian with width beta, where `accelerated` takes the monotone one with beta - 1. Derived from the problem as the abstract
and a published summary of the paper state it (relaxation by Jensen, alternating closed forms); we have not seen its text or code.

**The bottleneck as entropic optimal transport**: Chen, Wu, Ye, Wu, Wu, Zhang, Bai, Sun (2023), "Information bottleneck revisited: posterior
probability perspective with optimal transport", arXiv:2308.11296; a generalised alternating Sinkhorn iteration (GAS).

    min I(X;Z)  over  I(Y;Z) >= I,   unknowns w = p(x|z), r = p(z), t = p(y, z):      cost C[x, z] = sum_y p(y|x) log t[y, z]

    g[z] = -log sum_x exp(lam C + f)                    columns of w = exp(lam C + f + g) sum to one
    f[x] = log p(x) - log sum_z r exp(lam C + g)        rows of w r sum to p(x)
    lam    the root of sum_yz p(y|x) w r log t - sum r log r + H(Y) = I
    t    = sum_x p(y|x) w r,     log r[z] = sum_y p(y|z) log t - (1/lam) sum_x w (log w - f) + constant

A fixed point has lam log r + g constant, and so W = w r / p(x) solves the self-consistent equations at gamma = 1/lam. Written from its
authors' published script (IB_OT_main.m) and the abstract. No proof that it converges is known to us; where it does not, the status says so.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..checks import PYTHON_ONLY, number
from ..information import Array, IntArray
from ..kernels.common import STALLED, STATIONARY, TINY
from ..posterior.form import gamma_of, scaled
from ..problem import Family, MarkovLagrangian, bottleneck, funnel, is_bottleneck, is_funnel
from .base import Solver
from .job import Job, PlainIteration, softmax


def root(function: Callable[[Array], tuple[Array, Array]], first: Array, most: float) -> Array:
    """The lam > 0 at which each entry of an increasing function, given with its slope, is 0; by Newton inside a bracket.

    0 where it is positive from the beginning on, ``most`` where it is not up to there.
    """
    low, high, lam = np.zeros_like(first), np.full_like(first, most), np.clip(first, 1e-3, most / 2.0)
    # Newton takes a few rounds; to halve a bracket of 1e6 down to rounding takes 70.
    for _ in range(100):
        value, slope = function(lam)
        low, high = np.where(value <= 0.0, lam, low), np.where(value > 0.0, lam, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = lam - value / slope
        inside = (newton > low) & (newton < np.minimum(high, 4.0 * lam))
        halved = np.where(high < most, 0.5 * (low + high), 2.0 * lam)
        new = np.minimum(np.where(inside, newton, halved), most)
        done = (np.abs(new - lam) <= 1e-13 * lam) | (low >= most) | (high <= 1e-12)
        lam = np.where(done, lam, new)
        if done.all():
            break
    return np.asarray(lam)


class MultiplierIteration(PlainIteration):
    """A subclass writes `tilted`: its step at a multiplier, and the constraint with its slope there."""

    family: Family
    most: float
    """The largest multiplier: where even it does not meet the constraint, the next iterations come nearer."""

    def __init__(self, job: Job, found_by: str, target: float | None, parameter: float) -> None:
        super().__init__(job)
        self.found_by, self.target = found_by, target
        self.lam = np.full(len(job.starts), 1.0 / parameter)

    @abstractmethod
    def tilted(self, W: Array, lam: Array) -> tuple[Array, Array, Array]:
        """The next encoders of the runs `some`, the constrained information and its slope in lam."""

    def step(self, W: Array) -> Array:
        """One iteration, with the multiplier held or found."""
        target = self.target
        if target is not None:

            def excess(lam: Array) -> tuple[Array, Array]:
                _, value, slope = self.tilted(W, lam)
                return value - target, slope

            self.lam[self.some] = root(excess, self.lam[self.some], self.most)
        return self.tilted(W, self.lam[self.some])[0]

    def stationarity(self, W: Array) -> Array:
        """With a constraint: of the Lagrangian whose multiplier was found, which is what the iteration can end at."""
        if self.target is None:
            return super().stationarity(W)
        held, found = (self.rho, self.width), np.empty(len(W))
        for run, lam in enumerate(self.lam[self.some]):
            problem = self.family(min(1.0 / max(lam, 1e-9), self.family.most))
            self.rho, self.width = np.array(problem.rho), problem.width
            found[run] = super().stationarity(W[run : run + 1])[0]
        self.rho, self.width = held
        return found

    def advance(self, steps: IntArray, trace: Array) -> None:
        """As for any; a run under a constraint ends where it is stationary for its own multiplier, not for the problem's."""
        super().advance(steps, trace)
        if self.target is not None:
            self.state.outcome[self.state.outcome == STATIONARY] = STALLED

    def encoders(self) -> list[Array]:
        """Without dead clusters; the residual that is reported is that of the problem asked for, whatever the constraint."""
        if self.target is not None:
            self.state.residuals[:, 2] = super().stationarity(self.state.W)
            found = ", ".join(f"{1.0 / max(lam, 1e-9):.6g}" for lam in self.lam[:8])
            self.advice = (
                f"under a constraint a run ends at a multiplier of its own; here {self.family.parameter} = {found}"
            )
        return super().encoders()


class MultiplierSolver(Solver):
    """What the three have in common: their one option is the bound."""

    iteration: ClassVar[type[MultiplierIteration]]
    """What runs, and for which family."""

    def __post_init__(self) -> None:
        option, bound = next(iter(vars(self).items()))
        if bound is not None:
            bound = number(option, bound, "a positive number of nats, or None", above=0.0)
            object.__setattr__(self, option, bound)

    @property
    def bound(self) -> float | None:
        """On the constrained information, in nats; None holds the multiplier."""
        bound: float | None = next(iter(vars(self).values()))
        return bound

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """It is for one family."""
        family = self.iteration.family
        if family is bottleneck:
            fits, rho = is_bottleneck(problem), "(gamma - 1, -gamma, 1)"
        else:
            fits, rho = is_funnel(problem) and scaled(problem).beta > 0.0, "(beta - 1, 1, -beta)"
        refused = f"{self.name} is for the {family.name}, rho = {rho} times a number; found rho = {problem.rho}."
        return None if fits else refused

    def begin(self, job: Job) -> MultiplierIteration:
        """All runs side by side."""
        of_bottleneck = self.iteration.family is bottleneck
        parameter = gamma_of(job.problem) if of_bottleneck else scaled(job.problem).beta
        return self.iteration(job, self.name, self.bound, parameter)


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


@dataclass(frozen=True)
class BregmanProjection(MultiplierSolver):
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
    iteration = ProjectionIteration

    rate: float | None = field(default=None, metadata=PYTHON_ONLY)


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


@dataclass(frozen=True)
class EMFunnel(MultiplierSolver):
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
    iteration = EMIteration

    rate: float | None = field(default=None, metadata=PYTHON_ONLY)


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

    def tilted(self, W: Array, lam: Array) -> tuple[Array, Array, Array]:  # noqa: ARG002
        """The plan w r at lam; its relevance against the table before, and the slope of that."""
        score, both = self.potentials
        log_r, cost = self.log_r[self.some], self.log_t[self.some] @ self.T
        plan = np.exp(lam[:, None, None] * score + both + log_r)
        relevance = (plan * cost).sum(axis=(1, 2)) - (np.exp(log_r) * log_r).sum(axis=(1, 2)) + self.job.support.h_y
        return plan, relevance, (plan * score * cost).sum(axis=(1, 2))

    def step(self, W: Array) -> Array:
        """One round of all updates."""
        from scipy.special import logsumexp  # slow to import

        some, log_r = self.some, self.log_r[self.some]
        cost = self.log_t[some] @ self.T
        score, lam = cost - cost.max(axis=2, keepdims=True), self.lam[some, None, None]
        g = -logsumexp(lam * score + self.f[some], axis=2, keepdims=True)
        f = np.log(self.p_x) - logsumexp(lam * score + g + log_r, axis=1, keepdims=True)
        self.potentials = score, f + g
        plan, lam = super().step(W), self.lam[some, None, None]
        t, w = np.maximum(plan @ self.T.T, TINY), plan / np.exp(log_r)
        new = ((w @ self.T.T) * np.log(t)).sum(axis=2, keepdims=True)
        new -= (w * (lam * score + g)).sum(axis=2, keepdims=True) / lam
        self.f[some], self.log_t[some] = f, np.log(t)
        self.log_r[some] = np.maximum(new - logsumexp(new, axis=1, keepdims=True), np.log(TINY))
        plan = np.maximum(plan, TINY)
        return np.asarray(plan / plan.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class TransportBottleneck(MultiplierSolver):
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
    iteration = SinkhornIteration

    relevance: float | None = field(default=None, metadata=PYTHON_ONLY)
