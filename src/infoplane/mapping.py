"""Runs of a map on encoders, advanced together by a compiled loop: what Blahut-Arimoto and the accelerated solver share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import entr

from .information import Array
from .kernels import advance as kernel
from .kernels.blahut_arimoto import MapSetting
from .kernels.roots import LOG_TINY, TINY
from .kernels.selfmap import BLOCK, Channel
from .problem import MarkovLagrangian
from .solution import Trace
from .solver import Run, Support
from .stopping import Residuals, Status, Stopping

SMALLEST_PRODUCT = 20
"""|Y| from which matrix products go to BLAS; below that, loops are as fast."""


def blocks_of(table: Array, width: int) -> Array:
    """(..., rows, |X|) cut into (..., blocks, rows, width), zeros at the end."""
    *lead, rows, letters = table.shape
    blocks = -(-letters // width)
    out = np.zeros((*lead, blocks, rows, width))
    for c in range(blocks):
        piece = table[..., c * width : (c + 1) * width]
        out[..., c, :, : piece.shape[-1]] = piece
    return out


def channel_of(support: Support) -> Channel:
    """p(y|x) as the kernels want it."""
    letters, n_y = len(support.p_x), len(support.p_y)
    padded = -(-n_y // 4) * 4
    width = min(-(-letters // 4) * 4, BLOCK)
    T = np.zeros((0, padded, width))
    rows, columns, shares = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    if support.sparse:
        rows, columns, masses = support.csr
        shares = masses / np.repeat(support.p_x, np.diff(rows))
    else:
        T = np.zeros((-(-letters // width), padded, width))
        for c in range(len(T)):
            piece = slice(c * width, (c + 1) * width)
            T[c, :n_y, : len(support.p_x[piece])] = (support.P[piece] / support.p_x[piece, None]).T
    return Channel(
        T=T,
        p_x=np.ascontiguousarray(blocks_of(support.p_x[None], width)[:, 0]),
        p_y=np.concatenate([support.p_y, np.ones(padded - n_y)]),
        n_y=n_y,
        rows=rows,
        letters=columns,
        shares=shares,
        blas=n_y >= SMALLEST_PRODUCT and letters >= BLOCK,
    )


def logs_of(p: Array) -> Array:
    """log p, floored as in the kernels."""
    return np.where(p > TINY, np.log(np.maximum(p, TINY)), LOG_TINY)


def needs_encoder(problems: Sequence[MarkovLagrangian]) -> bool:
    """Whether W' depends on W itself, on_W != 0, and not on q(z, y) alone."""
    return any(1.0 + problem.rho_zx / problem.width != 0.0 for problem in problems)


class MapBatch:
    """Runs of one map, each stopping by itself."""

    found_by: str
    kernel: Callable[..., Any]
    """The compiled loop, as a static method."""
    state: Any
    """A named tuple of arrays, which the loop updates in place."""

    def __init__(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> None:
        runs, self.clusters = starts.shape[:2]
        self.support, self.stopping, self.record = support, stopping, record
        self.channel = channel_of(support)
        self.setting = MapSetting(
            rho=np.array([problem.rho for problem in problems], dtype=float),
            width=np.array([problem.width for problem in problems]),
            h_y=float(entr(support.p_y).sum()),
            tol=float(stopping.tol),
            limit=stopping.max_iter,
        )
        self.recorded: list[list[Array]] = [[] for _ in range(runs)]

    def marginals(self, starts: Array) -> Array:
        """q(z, y) = W P of every start, (R, |Z|, |Y| padded)."""
        q, support = np.zeros((*starts.shape[:2], len(self.channel.p_y))), self.support
        shape = len(support.p_x), len(support.p_y)
        P: Any = (
            sparse.csr_array((support.csr.data, support.csr.indices, support.csr.indptr), shape)
            if support.sparse
            else support.P
        )
        for run, W in enumerate(starts):
            q[run, :, : shape[1]] = W @ P
        return q

    def room(self, runs: int) -> Array:
        """For an encoder a run, in blocks."""
        blocks, width = self.channel.p_x.shape
        return np.zeros((runs, blocks, self.clusters, width))

    def outcomes(self, runs: int) -> dict[str, Any]:
        """What every state holds of how its runs stand."""
        return {
            "outcome": np.full(runs, kernel.RUNNING, dtype=np.int64),
            "iterations": np.zeros(runs, dtype=np.int64),
            "residuals": np.tile([0.0, 0.0, np.inf], (runs, 1)),
        }

    def advance(self, iterations: int) -> bool:
        """At most so many iterations of every run; False once all have ended."""
        runs = len(self.state.iterations)
        before = self.state.iterations.copy()
        trace = np.zeros((runs, iterations, kernel.TRACE_COLUMNS if self.record else 0))
        self._call(trace)
        if self.record:
            for run, done in enumerate(self.state.iterations - before):
                self.recorded[run].append(trace[run, :done].copy())
        self.continue_stationary()
        running = (self.state.outcome == kernel.RUNNING) & (self.state.iterations < self.stopping.max_iter)
        return bool(running.any())

    def continue_stationary(self) -> None:
        """Called after every block: a solver that doubts a stationary point may set its run going again."""

    def _call(self, trace: Array) -> None:
        self.kernel(self.channel, self.setting, self.state, trace)

    def runs(self, traces: bool = True) -> list[Run]:
        """Every run as it stands."""
        if (self.state.outcome == kernel.RUNNING).any():
            self._call(np.zeros((len(self.state.iterations), 0, 0)))
        return [self._run(index, traces) for index in range(len(self.state.iterations))]

    def _run(self, index: int, traces: bool) -> Run:
        state = self.state
        alive = int(state.alive[index])
        residuals = Residuals(*(float(r) for r in state.residuals[index]))
        ended = state.iterations[index] >= self.stopping.max_iter
        recorded = self.recorded[index] if traces else []
        return Run(
            encoder=self._encoder(index, alive),
            status=self.stopping.judge(residuals, Status.ITERATION_LIMIT if ended else Status.INTERRUPTED),
            iterations=int(state.iterations[index]),
            residuals=residuals,
            died=self.clusters - alive,
            trace=Trace.from_columns(np.concatenate(recorded)) if recorded else None,
            found_by=self.found_by,
        )

    def _encoder(self, index: int, alive: int) -> Array:
        W = np.empty((alive, len(self.support.p_x)))
        width = self.channel.p_x.shape[1]
        for c, block in enumerate(self.state.W[index]):
            piece = W[:, c * width : (c + 1) * width]
            piece[:] = block[:alive, : piece.shape[1]]
        return W
