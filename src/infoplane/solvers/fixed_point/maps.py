"""Runs of a map on encoders, in the layout of the compiled loops: what Blahut-Arimoto and the accelerated solver share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...information import Array, IntArray
from ...joint.support import Support
from ...kernels.common.numerics import LOG_TINY, TINY
from ...kernels.common.rows import RUNNING, Flags, Integers
from ...kernels.fixed_point.measuring import measure_encoders
from ...kernels.fixed_point.selfmap import BLAS_BLOCK, BLOCK, ChannelBlocks, MapSetting
from ...problem import MarkovLagrangian
from ..driver import Iteration
from ..job import Job

_channels: WeakKeyDictionary[Support, ChannelBlocks] = WeakKeyDictionary()


def blocks_of(table: Array, width: int) -> Array:
    """(..., rows, |X|) cut into (..., blocks, rows, width), zeros at the end."""
    *lead, rows, letters = table.shape
    out = np.zeros((*lead, -(-letters // width), rows, width))
    for c in range(out.shape[-3]):
        piece = table[..., c * width : (c + 1) * width]
        out[..., c, :, : piece.shape[-1]] = piece
    return out


def logs_of(p: Array) -> Array:
    """log p, floored as in the kernels."""
    return np.where(p > TINY, np.log(np.maximum(p, TINY)), LOG_TINY)


def needs_encoder(problem: MarkovLagrangian) -> bool:
    """Whether W' depends on W itself, on_W != 0, and not on q(z, y) alone."""
    return 1.0 + problem.rho_zx / problem.width != 0.0


def channel_of(support: Support) -> ChannelBlocks:
    """p(y|x) in the layout of the kernels, made once per support."""
    if support not in _channels:
        _channels[support] = _channel(support)
    return _channels[support]


def _channel(support: Support) -> ChannelBlocks:
    letters, n_y = len(support.p_x), len(support.p_y)
    padded = -(-n_y // 4) * 4
    # |Y| from which matrix products go to BLAS; below that, loops are at least as fast.
    blas = n_y >= 64 and letters >= BLOCK
    blocks = -(-letters // (BLAS_BLOCK if blas else BLOCK))
    width = -(-letters // (8 * blocks)) * 8 if letters > 8 else -(-letters // 4) * 4
    p_x = np.ascontiguousarray(blocks_of(support.p_x[None], width)[:, 0])
    T = np.zeros((0 if support.sparse else len(p_x), padded, width))
    for c in range(len(T)):
        piece = slice(c * width, (c + 1) * width)
        T[c, :n_y, : len(support.p_x[piece])] = (support.P[piece] / support.p_x[piece, None]).T
    rows: Integers = np.zeros(1, dtype=np.int64)
    columns: Integers = np.zeros(0, dtype=np.int64)
    shares: Array = np.zeros(0)
    if support.sparse:
        rows, columns, masses = support.csr
        shares = masses / np.repeat(support.p_x, np.diff(rows))
    return ChannelBlocks(
        T=T,
        p_x=p_x,
        p_y=np.concatenate([support.p_y, np.ones(padded - n_y)]),
        n_y=n_y,
        rows=rows,
        letters=columns,
        shares=shares,
        blas=blas,
    )


class MapIteration(Iteration):
    """Runs of one map; a subclass has the compiled loop and its state."""

    kernel: Callable[..., Any]
    """The compiled loop."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        runs, self.clusters = job.starts.shape[:2]
        self.channel = channel_of(job.support)
        self.setting = MapSetting(
            rho=np.full((runs, 3), job.problem.rho),
            width=np.full(runs, job.problem.width),
            h_y=job.support.h_y,
            tol=float(job.tol),
            stop=job.budget.flag,
        )
        self.written: list[Array] = []

    def marginals(self, starts: Array) -> Array:
        """q(z, y) = W P of every start, (R, |Z|, |Y| padded)."""
        q, n_y = np.zeros((*starts.shape[:2], len(self.channel.p_y))), self.channel.n_y
        if self.job.support.sparse:
            for run, W in enumerate(starts):
                q[run, :, :n_y] = W @ self.job.support.rows
        else:
            q[:, :, :n_y] = starts @ self.job.support.P
        return q

    def room(self, runs: int) -> Array:
        """Zeros for one encoder per run, in blocks."""
        blocks, width = self.channel.p_x.shape
        return np.zeros((runs, blocks, self.clusters, width))

    def outcomes(self, runs: int) -> dict[str, Any]:
        """The fields of a state that all kernels have: outcome, iterations, residuals; one row per run."""
        residuals = np.zeros((runs, 3))
        residuals[:, 2] = np.inf
        outcome, iterations = np.full(runs, RUNNING, dtype=np.int64), np.zeros(runs, dtype=np.int64)
        return {"outcome": outcome, "iterations": iterations, "residuals": residuals}

    def advance(self, steps: IntArray, trace: Array) -> None:
        """One evaluation of the map per step."""
        self.kernel(self.channel, self.setting, self.state, steps, trace)

    @abstractmethod
    def measure(self, going: Flags) -> None:
        """Bring W and its residual up to date, for these runs."""

    def measured(self, check: IntArray, **points: Array) -> None:
        """The same, by the entry for it, from the points that the check of each run asks for: q or u, and L if the map needs it."""
        runs, state = len(check), self.state
        q, u, L = (points.get(name, np.zeros((runs, *[0] * axes))) for name, axes in (("q", 2), ("u", 1), ("L", 3)))
        measure_encoders(self.channel, self.setting, check, state.alive, q, u, L, state.W, state.residuals)

    def encoders(self) -> list[Array]:
        """The encoders as (|Z|, |X|); once all runs have ended these are kept instead of the blocks."""
        if self.written:
            return self.written
        going = self.state.outcome == RUNNING
        if going.any():
            self.measure(going)
        encoders: list[Array] = []
        width = self.channel.p_x.shape[1]
        for blocks, alive in zip(self.state.W, self.state.alive, strict=True):
            W = np.empty((int(alive), self.job.letters))
            for c, block in enumerate(blocks):
                piece = W[:, c * width : (c + 1) * width]
                piece[:] = block[:alive, : piece.shape[1]]
            encoders.append(W)
        if not (going & (self.state.iterations < self.limit)).any():
            self.written, self.state = encoders, self.state._replace(W=np.zeros((len(encoders), 0, 0, 0)))
        return encoders
