"""Runs of a map on encoders, advanced together by a compiled loop: what Blahut-Arimoto and the accelerated solver share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import entr

from .information import Array
from .kernels import advance as kernel
from .kernels.blahut_arimoto import MapSetting, MapState
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


def marginals_of(support: Support, starts: Array, padded: int) -> Array:
    """q(z, y) = W P of every start, (R, |Z|, padded |Y|)."""
    q = np.zeros((*starts.shape[:2], padded))
    shape = len(support.p_x), len(support.p_y)
    P: Any = (
        sparse.csr_array((support.csr.data, support.csr.indices, support.csr.indptr), shape)
        if support.sparse
        else support.P
    )
    for run, W in enumerate(starts):
        q[run, :, : shape[1]] = W @ P
    return q


class MapBatch:
    """Runs of one map, each stopping by itself."""

    found_by: str
    kernels: tuple[Callable[..., Any], Callable[..., Any]]
    """The compiled loop for dense and for sparse joints."""

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
        blocks, width = self.channel.p_x.shape
        with_logs = bool(np.any(1.0 + self.setting.rho[:, 1] / self.setting.width != 0.0))
        self.state = MapState(
            W=blocks_of(starts, width) if record else np.zeros((runs, blocks, self.clusters, width)),
            L=_logs(blocks_of(starts, width)) if with_logs else np.zeros((runs, 0, 0, 0)),
            q=marginals_of(support, starts, len(self.channel.p_y)),
            h_zx=np.array([float((entr(W).sum(axis=0) * support.p_x).sum()) for W in starts]),
            armed=np.zeros(runs, dtype=np.int64),
            alive=np.full(runs, self.clusters, dtype=np.int64),
            outcome=np.full(runs, kernel.RUNNING, dtype=np.int64),
            iterations=np.zeros(runs, dtype=np.int64),
            residuals=np.tile([0.0, 0.0, np.inf], (runs, 1)),
        )
        self.recorded: list[list[Array]] = [[] for _ in range(runs)]

    def advance(self, iterations: int) -> bool:
        """At most so many iterations of every run; False once all have ended."""
        runs = len(self.state.iterations)
        before = self.state.iterations.copy()
        trace = np.zeros((runs, iterations, kernel.TRACE_COLUMNS if self.record else 0))
        self._call(trace)
        if self.record:
            for run, done in enumerate(self.state.iterations - before):
                self.recorded[run].append(trace[run, :done].copy())
        running = (self.state.outcome == kernel.RUNNING) & (self.state.iterations < self.stopping.max_iter)
        return bool(running.any())

    def _call(self, trace: Array) -> None:
        self.kernels[self.support.sparse](self.channel, self.setting, self.state, trace)

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


def _logs(W: Array) -> Array:
    """log W, floored as in the kernels."""
    from .kernels.roots import LOG_TINY, TINY

    return np.where(W > TINY, np.log(np.maximum(W, TINY)), LOG_TINY)
