"""Iterations in plain NumPy: runs as one stack of encoders W[r, z, x], a step of which is all that a solver has to write.

It measures what the driver and the trace need from the definitions: the Lagrangian, and max |W - W exp(-g/k) / normaliser|.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from ..information import Array, IntArray
from ..kernels.common.numerics import TINY
from ..kernels.common.rows import AUGMENTED, DEAD, LOSS, PENALTY, RUNNING, STALLED, STATIONARITY, STATIONARY
from .job import Iteration, Job

STILL = 100
"""Iterations without movement after which a run counts as stalled."""


class PlainState(NamedTuple):
    """Where the runs stand; arrays with one row per run, updated in place."""

    W: Array
    outcome: IntArray
    iterations: IntArray
    residuals: Array
    still: IntArray
    """Iterations since W last moved."""


class PlainIteration(Iteration):
    """Runs as one stack of tables; a subclass writes `step`. Nothing is split, so primal and dual residual are zero.

    Examples
    --------
    >>> import infoplane as ip, numpy as np
    >>> from infoplane.joint.joint import Support
    >>> support = Support(ip.datasets.paper_uniform())
    >>> job = ip.Job(support, ip.bottleneck(0.2), starts=np.eye(3)[None])
    >>> class Stay(ip.PlainIteration):
    ...     def step(self, W): return W
    >>> len(Stay(job).encoders())
    1
    """

    some: IntArray
    """The runs that are asked for a step."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        support, runs = job.support, len(job.starts)
        self.p_x, self.p_y, self.P, self.T, self.K = support.p_x, support.p_y, support.P, support.T, support.K
        self.rho, self.width = np.array(job.problem.rho, dtype=float), job.problem.width
        W = np.maximum(job.starts, TINY)
        none = np.zeros(runs, dtype=np.int64)
        residuals = np.zeros((runs, 3))
        residuals[:, 2] = np.inf
        self.state = PlainState(W / W.sum(axis=1, keepdims=True), np.full(runs, RUNNING), none, residuals, none.copy())

    @abstractmethod
    def step(self, W: Array) -> Array:
        """The next encoders of some runs, (R, |Z|, |X|)."""

    def advance(self, steps: IntArray, trace: Array) -> None:
        """So many steps of every run; a run ends once it is stationary, or has not moved for long."""
        state = self.state
        for number in range(trace.shape[1]):
            some = self.some = np.flatnonzero((state.outcome == RUNNING) & (number < steps))
            if not some.size or self.job.budget.stopped:
                return
            old = state.W[some]
            new = self.step(old)
            state.W[some] = new
            state.iterations[some] += 1
            far = self.stationarity(new)
            state.residuals[some, 2] = far
            state.still[some] = np.where(np.abs(new - old).max(axis=(1, 2)) > 1e-16, 0, state.still[some] + 1)
            if trace.shape[2]:
                trace[some, number, LOSS], trace[some, number, STATIONARITY] = self.losses(new, self.rho), far
                trace[some, number, AUGMENTED] = trace[some, number, PENALTY] = np.nan
            state.outcome[some[state.still[some] >= STILL]] = STALLED
            state.outcome[some[far <= self.job.tol]] = STATIONARY

    def encoders(self) -> list[Array]:
        """Without the clusters that have died."""
        found = []
        for W in self.state.W:
            alive = W @ self.p_x > DEAD
            found.append(W[alive] / W[alive].sum(axis=0))
        return found

    def logs(self, W: Array) -> tuple[Array, Array, Array]:
        """log p(z), log p(z|x) and sum_y p(y|x) log p(z|y), which are minus the slopes of the entropies over p(x), up to constants."""
        log_z = np.log(np.maximum(W @ self.p_x, TINY))[:, :, None]
        return log_z, np.log(np.maximum(W, TINY)), np.log(np.maximum(W @ self.K, TINY)) @ self.T

    def losses(self, W: Array, rho: Array) -> Array:
        """rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y) of every run; with some of the rho set to 0, of a part of L."""
        tables = ((W @ self.p_x)[:, :, None], W, W @ self.K)
        weights = (np.ones(1), self.p_x, self.p_y)
        terms = [
            -(weight * v * np.log(np.maximum(v, TINY))).sum(axis=(1, 2))
            for weight, v in zip(weights, tables, strict=True)
        ]
        return np.asarray(rho @ np.array(terms))

    def stationarity(self, W: Array) -> Array:
        """max |W - W exp(-g/k) / normaliser| of every run, as `MarkovLagrangian.stationarity`."""
        logs = self.logs(W)
        g = sum(self.rho[i] * logs[i] for i in range(3))
        return np.asarray(np.abs(W - softmax(logs[1] + g / self.width)).max(axis=(1, 2)))


def softmax(score: Array) -> Array:
    """Softmax over z of a stack of tables, never below `TINY`."""
    weights = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(np.maximum(weights / weights.sum(axis=1, keepdims=True), TINY))
