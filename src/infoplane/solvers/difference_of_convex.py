"""The funnel as a difference of convex functions: Huang and El Gamal (2024), "An efficient difference-of-convex solver for privacy funnel".

L = f - g with f the entropies of negative weight (for beta > 1: f = -beta H(Z|Y)), which are convex in W, and -g those of positive weight
((beta - 1) H(Z) + H(Z|X)), which are concave. One iteration replaces g by its tangent at W and minimises what is left,

    W' = argmin f(W') - <grad g(W), W'>        so that  L(W') <= f(W') - g(W) - <grad g(W), W' - W> <= L(W).

The paper's closed form: without the bounds 0 <= W, stationarity reads sum_y p(y|x) log p'(z|y) = C[z, x] + const(x) with
C = (rho_z log p(z) + rho_zx log W)/|rho_zy|, whose least-squares solution is log p'(z|y) = C T^+; W' then solves W' K = p'(z|y). In the
authors' published code a ridge regression on the simplex finds W'; here it is the nearest such table, W + (p' - W K) K^+, cut off at 0 and
normalised.
That is a proposal and not the minimiser, since the bounds matter at every good funnel. So it is taken where it lowers the convex
objective, and followed by mirror steps on that objective, W <- W exp(-(grad f - grad g)/(p(x) width)), which lower it further: f is
width-smooth relative to the divergence. The fall of L is thereby kept, and fixed points are stationary. With one mirror step and no
proposal an iteration is the funnel's map of `kernels/fixed_point` with another width.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..checks import PYTHON_ONLY, whole_number
from ..information import Array
from ..kernels.common import DEAD, TINY
from ..problem import MarkovLagrangian
from .base import Solver
from .job import Job, PlainIteration, softmax


@dataclass(frozen=True)
class DifferenceOfConvex(Solver):
    """Difference-of-convex iteration for the privacy funnel (Huang, El Gamal 2024).

    Parameters
    ----------
    inner
        Mirror steps on the convex objective in every iteration.
    closed_form
        Whether the closed form of the paper is proposed first.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.funnel(2.5), ip.DifferenceOfConvex(), starts=8, rng=0)
    >>> s.converged, round(s.loss, 6)
    (True, -0.255154)
    """

    name = "dc-pf"

    inner: int = field(default=5, metadata=PYTHON_ONLY)
    closed_form: bool = field(default=True, metadata=PYTHON_ONLY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inner", whole_number("inner", self.inner))

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Where f is not convex."""
        refused = f"dc-pf cannot solve rho = {problem.rho}: f = rho_zy H(Z|Y) must be convex, that is rho_zy < 0."
        return None if problem.rho_zy < 0.0 else refused

    def begin(self, job: Job) -> DifferenceOfConvexIteration:
        """All runs side by side, as one stack of tables."""
        return DifferenceOfConvexIteration(self, job)


class DifferenceOfConvexIteration(PlainIteration):
    """One tangent of g, and what lowers the convex objective that it leaves, per step."""

    def __init__(self, options: DifferenceOfConvex, job: Job) -> None:
        super().__init__(job)
        self.options, self.found_by = options, options.name
        self.T_inverse, self.K_inverse = np.linalg.pinv(self.T), np.linalg.pinv(self.K)
        self.convex, self.concave = np.minimum(self.rho, 0.0), np.maximum(self.rho, 0.0)
        self.own_width = -float(self.convex.sum())

    def step(self, W: Array) -> Array:
        """W' as above, for a stack of tables."""
        logs = self.logs(W)
        # Minus grad g over p(x): what the tangent of the concave entropies adds to the score.
        tangent = sum(self.concave[i] * logs[i] for i in range(3))

        def objective(U: Array) -> Array:
            return np.asarray(self.convex @ self.entropies(U) - (tangent * self.p_x * U).sum(axis=(1, 2)))

        if self.options.closed_form:
            proposed = self._closed_form(W, logs)
            lower = objective(proposed) < objective(W)
            W = np.where(lower[:, None, None], proposed, W)
        for step in range(self.options.inner):
            if step or self.options.closed_form:
                logs = self.logs(W)
            score = logs[1] + (tangent + sum(self.convex[i] * logs[i] for i in range(3))) / self.own_width
            W = softmax(score)
        return W

    def _closed_form(self, W: Array, logs: tuple[Array, Array, Array]) -> Array:
        """The table nearest to W with p(z|y) = softmax(C T^+), cut off at 0."""
        C = (self.rho[0] * logs[0] + self.rho[1] * np.maximum(logs[1], np.log(DEAD))) / -self.rho[2]
        wanted = softmax(C @ self.T_inverse)
        moved = np.maximum(W + (wanted - W @ self.K) @ self.K_inverse, TINY)
        return np.asarray(moved / moved.sum(axis=1, keepdims=True))
