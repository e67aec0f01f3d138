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

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..checks import PYTHON_ONLY, whole_number
from ..information import Array, IntArray
from ..joint.support import Support
from ..problem import MarkovLagrangian
from ..solution import Run, Trace
from ..status import Residuals, Status
from .base import Solver
from .stopping import Stopping

TINY = 1e-300
DEAD = 1e-12
"""A cluster with less mass is dropped when its run is shown."""

STILL = 100
"""Iterations without movement after which a run counts as stalled."""


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
        """It needs a convex H(Z|Y) term."""
        if problem.rho_zy >= 0.0:
            return f"dc-pf cannot solve rho = {problem.rho}: f = rho_zy H(Z|Y) must be convex, that is rho_zy < 0."
        return None

    def begin(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> DifferenceOfConvexBatch:
        """All runs side by side, as one stack of tables."""
        return DifferenceOfConvexBatch(self, support, problems, starts, stopping, record)


class DifferenceOfConvexBatch:
    """Runs as one stack W[r, z, x], each iterated until it is stationary or at its limit."""

    def __init__(
        self,
        options: DifferenceOfConvex,
        support: Support,
        problems: Sequence[MarkovLagrangian],
        starts: Array,
        stopping: Stopping,
        record: bool,
    ) -> None:
        self.options, self.support, self.stopping = options, support, stopping
        self.p_x, self.p_y, self.P, self.T, self.K = support.p_x, support.p_y, support.P, support.T, support.K
        self.T_inverse, self.K_inverse = np.linalg.pinv(self.T), np.linalg.pinv(self.K)
        rho = np.array([problem.rho for problem in problems], dtype=float)
        self.rho = rho[:, :, None, None]
        self.convex, self.concave = np.minimum(self.rho, 0.0), np.maximum(self.rho, 0.0)
        self.width = -self.convex.sum(axis=1)
        self.own_width = np.array([problem.width for problem in problems])[:, None, None]
        runs = len(starts)
        self.W = np.maximum(starts, TINY)
        self.W /= self.W.sum(axis=1, keepdims=True)
        self.going = np.ones(runs, dtype=bool)
        self.iterations, self.still = np.zeros(runs, dtype=np.int64), np.zeros(runs, dtype=np.int64)
        self.stationarity = np.full(runs, np.inf)
        self.losses: list[list[float]] | None = [[] for _ in range(runs)] if record else None
        self.measures: list[list[float]] = [[] for _ in range(runs)]

    def advance(self, iterations: int) -> bool:
        """Do at most ``iterations`` iterations of every run; False once all have ended."""
        for _ in range(iterations):
            some = np.flatnonzero(self.going)
            if not some.size:
                break
            old = self.W[some]
            new = self._iterate(old, some)
            self.W[some] = new
            self.iterations[some] += 1
            self.stationarity[some] = self._stationarity(new, some)
            self.still[some] = np.where(np.abs(new - old).max(axis=(1, 2)) > 1e-16, 0, self.still[some] + 1)
            if self.losses is not None:
                for run, loss in zip(some, self._loss(new, self.rho[some]), strict=True):
                    self.losses[run].append(float(loss))
                    self.measures[run].append(float(self.stationarity[run]))
            ended = self.stationarity[some] <= self.stopping.tol
            ended |= (self.iterations[some] >= self.stopping.max_iter) | (self.still[some] >= STILL)
            self.going[some[ended]] = False
        return bool(self.going.any())

    def _logs(self, W: Array) -> tuple[Array, Array, Array]:
        """log p(z), log p(z|x) and sum_y p(y|x) log p(z|y), which are minus the slopes of the entropies over p(x), up to constants."""
        log_z = np.log(np.maximum(W @ self.p_x, TINY))[:, :, None]
        return log_z, np.log(np.maximum(W, TINY)), np.log(np.maximum(W @ self.K, TINY)) @ self.T

    def _loss(self, W: Array, rho: Array) -> Array:
        """rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y) of every run; with some of the rho set to 0, of a part of L."""
        tables = ((W @ self.p_x)[:, :, None], W, W @ self.K)
        weights = (np.ones(1), self.p_x, self.p_y)
        terms = [
            -(weight * v * np.log(np.maximum(v, TINY))).sum(axis=(1, 2))
            for weight, v in zip(weights, tables, strict=True)
        ]
        return np.asarray((rho[:, :, 0, 0] * np.array(terms).T).sum(axis=1))

    def _iterate(self, W: Array, some: IntArray) -> Array:
        convex, concave, width = self.convex[some], self.concave[some], self.width[some]
        logs = self._logs(W)
        # Minus grad g over p(x): what the tangent of the concave entropies adds to the score.
        tangent = sum(concave[:, i] * logs[i] for i in range(3))

        def objective(U: Array) -> Array:
            return np.asarray(self._loss(U, convex) - (tangent * self.p_x * U).sum(axis=(1, 2)))

        if self.options.closed_form:
            proposed = self._closed_form(W, logs, self.rho[some])
            lower = objective(proposed) < objective(W)
            W = np.where(lower[:, None, None], proposed, W)
        for step in range(self.options.inner):
            if step or self.options.closed_form:
                logs = self._logs(W)
            score = logs[1] + (tangent + sum(convex[:, i] * logs[i] for i in range(3))) / width
            W = _softmax(score)
        return W

    def _closed_form(self, W: Array, logs: tuple[Array, Array, Array], rho: Array) -> Array:
        """The table nearest to W with p(z|y) = softmax(C T^+), cut off at 0."""
        C = (rho[:, 0] * logs[0] + rho[:, 1] * np.maximum(logs[1], np.log(DEAD))) / -rho[:, 2]
        wanted = _softmax(C @ self.T_inverse)
        moved = np.maximum(W + (wanted - W @ self.K) @ self.K_inverse, TINY)
        return np.asarray(moved / moved.sum(axis=1, keepdims=True))

    def _stationarity(self, W: Array, some: IntArray) -> Array:
        """max |W - W exp(-g/k) / normaliser| of every run, as `MarkovLagrangian.stationarity`."""
        logs, rho = self._logs(W), self.rho[some]
        g = sum(rho[:, i] * logs[i] for i in range(3))
        return np.asarray(np.abs(W - _softmax(logs[1] + g / self.own_width[some])).max(axis=(1, 2)))

    def runs(self, traces: bool = True) -> list[Run]:
        """Every run in its present state, without the clusters that have died."""
        return [self._run(index, traces) for index in range(len(self.W))]

    def _run(self, index: int, traces: bool) -> Run:
        W = self.W[index]
        alive = W @ self.p_x > DEAD
        kept = W[alive] / W[alive].sum(axis=0)
        residuals = Residuals(0.0, 0.0, float(self.stationarity[index]))
        if self.going[index]:
            otherwise = Status.INTERRUPTED
        else:
            at_limit = self.iterations[index] >= self.stopping.max_iter
            otherwise = Status.ITERATION_LIMIT if at_limit else Status.STALLED
        trace = None
        if traces and self.losses is not None:
            losses, measures = np.array(self.losses[index]), np.array(self.measures[index])
            zeros, nothing = np.zeros_like(losses), np.full_like(losses, np.nan)
            trace = Trace(losses, nothing, zeros, zeros, measures, nothing)
        return Run(
            encoder=kept,
            status=self.stopping.judge(residuals, otherwise),
            iterations=int(self.iterations[index]),
            residuals=residuals,
            died=int((~alive).sum()),
            trace=trace,
            found_by=self.options.name,
        )


def _softmax(score: Array) -> Array:
    """Softmax over z of a stack of tables, never below `TINY`."""
    weights = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(np.maximum(weights / weights.sum(axis=1, keepdims=True), TINY))
