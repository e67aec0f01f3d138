"""Runs of a map on encoders, advanced together by a compiled loop: what Blahut-Arimoto and the accelerated solver share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...information import Array
from ...joint.support import Support
from ...kernels.common.arrays import Integers
from ...kernels.common.outcomes import RUNNING, TRACE_COLUMNS
from ...kernels.common.roots import LOG_TINY, TINY
from ...kernels.fixed_point.selfmap import BLAS_BLOCK, BLOCK, ChannelBlocks, MapSetting
from ...problem import MarkovLagrangian
from ...solution import Run, Trace
from ...status import Residuals, Status
from ...threads import StopFlag, stop_flag
from ..stopping import Stopping

SMALLEST_PRODUCT = 64
"""|Y| from which matrix products go to BLAS; below that, loops are at least as fast."""

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
    blas = n_y >= SMALLEST_PRODUCT and letters >= BLOCK
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


class MapBatch:
    """Runs of one map, each of which stops on its own."""

    found_by: str
    kernel: Callable[..., Any]
    """The compiled loop."""
    state: Any
    """A named tuple of arrays, one row per run, that the loop updates in place."""

    def __init__(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> None:
        runs, self.clusters = starts.shape[:2]
        self.support, self.stopping, self.record = support, stopping, record
        self.channel = channel_of(support)
        self.setting = MapSetting(
            rho=np.array([problem.rho for problem in problems], dtype=float),
            width=np.array([problem.width for problem in problems]),
            h_y=support.h_y,
            tol=float(stopping.tol),
            limit=stopping.max_iter,
            stop=StopFlag().array,
        )
        self.recorded: list[list[Array]] = [[] for _ in range(runs)]
        self.encoders: list[Array] = []

    def marginals(self, starts: Array) -> Array:
        """q(z, y) = W P of every start, (R, |Z|, |Y| padded)."""
        q, n_y = np.zeros((*starts.shape[:2], len(self.channel.p_y))), self.channel.n_y
        if self.support.sparse:
            for run, W in enumerate(starts):
                q[run, :, :n_y] = W @ self.support.rows
        else:
            q[:, :, :n_y] = starts @ self.support.P
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

    @property
    def running(self) -> bool:
        """Whether any run has iterations left to do."""
        waiting = (self.state.outcome == RUNNING) & (self.state.iterations < self.stopping.max_iter)
        return bool(np.count_nonzero(waiting))  # quicker than any() on few runs

    def advance(self, iterations: int) -> bool:
        """Advance every run by at most this number of iterations; False once all have ended."""
        before = self.state.iterations.copy()
        trace = np.zeros((len(before), iterations, TRACE_COLUMNS if self.record else 0))
        flag = stop_flag()
        if self.running:
            setting = self.setting._replace(stop=flag.array)
            self.kernel(self.channel, setting, self.state, trace)
            self.continue_stationary(setting)
        if self.record:
            for run, done in enumerate(self.state.iterations - before):
                self.recorded[run].append(trace[run, :done].copy())
        flag.obey()
        return self.running

    def continue_stationary(self, setting: MapSetting) -> None:
        """Called after every block: a solver that tests stationary points further may let their runs go on."""

    def runs(self, traces: bool = True) -> list[Run]:
        """Every run in its present state."""
        return [self._run(index, W, traces) for index, W in enumerate(self.encoders or self._written_down())]

    def _written_down(self) -> list[Array]:
        """The encoders of all runs as (|Z|, |X|); once all runs have ended these are kept instead of the blocks."""
        if (self.state.outcome == RUNNING).any():  # W and its residual are not up to date, see the kernels
            columns = TRACE_COLUMNS if self.record else 0
            self.kernel(self.channel, self.setting, self.state, np.zeros((len(self.state.iterations), 0, columns)))
        encoders: list[Array] = []
        width = self.channel.p_x.shape[1]
        for blocks, alive in zip(self.state.W, self.state.alive, strict=True):
            W = np.empty((int(alive), len(self.support.p_x)))
            for c, block in enumerate(blocks):
                piece = W[:, c * width : (c + 1) * width]
                piece[:] = block[:alive, : piece.shape[1]]
            encoders.append(W)
        if not self.running:
            self.encoders, self.state = encoders, self.state._replace(W=np.zeros((len(encoders), 0, 0, 0)))
        return encoders

    def _run(self, index: int, W: Array, traces: bool) -> Run:
        residuals = Residuals(*self.state.residuals[index].tolist())
        iterations = int(self.state.iterations[index])
        ended = iterations >= self.stopping.max_iter
        recorded = self.recorded[index] if traces else []
        return Run(
            encoder=W,
            status=self.stopping.judge(residuals, Status.ITERATION_LIMIT if ended else Status.INTERRUPTED),
            iterations=iterations,
            residuals=residuals,
            died=self.clusters - len(W),
            trace=Trace.from_columns(np.concatenate(recorded)) if recorded else None,
            found_by=self.found_by,
        )
