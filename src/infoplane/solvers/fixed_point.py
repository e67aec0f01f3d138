"""Solvers that iterate a map on encoders whose fixed points are the stationary ones: Blahut-Arimoto, and its acceleration.

Blahut-Arimoto for the bottleneck (Tishby, Pereira, Bialek 1999) is the paper's baseline:

p(z|x) prop. to p(z) exp(-(1/gamma) KL[p(y|x) || p(y|z)])

In general, for rho_zx < 0, stationarity of L in p(z|x) reads log W = (rho_z log p(z) + rho_zy sum_y p(y|x) log p(z|y)) / (-rho_zx) +
const(x); iterating it is the same map, and it cannot raise L where H(Z) and H(Z|Y) enter as a concave sum. Elsewhere the map is that of
`kernels/fixed_point/accelerated_funnel.py`. `Accelerated` extrapolates either without ever raising the objective.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..checks import PYTHON_ONLY, check_flag
from ..information import Array, IntArray, entr
from ..joint.joint import Support
from ..kernels.common import LOG_TINY, RUNNING, STATIONARY, TINY, Flags
from ..kernels.fixed_point.accelerated_bottleneck import LeapState, advance_bottleneck, beginning, split_stationary
from ..kernels.fixed_point.accelerated_funnel import CycleState, advance_funnel
from ..kernels.fixed_point.blahut_arimoto import MapState, advance_blahut_arimoto
from ..kernels.fixed_point.extrapolation import FIRST_CAP
from ..kernels.fixed_point.selfmap import (
    BLAS_BLOCK,
    BLOCK,
    COMPARING,
    FAR,
    WRITING,
    ChannelBlocks,
    MapSetting,
    measure_encoders,
)
from ..problem import MarkovLagrangian, has_posterior_form
from .base import Solver
from .job import Iteration, Job, begun, nothing_to_solve


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
    """p(y|x) in the layout of the kernels."""
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
    none = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    rows, columns, masses = support.csr if support.sparse else none
    return ChannelBlocks(
        T=T,
        p_x=p_x,
        p_y=np.concatenate([support.p_y, np.ones(padded - n_y)]),
        n_y=n_y,
        rows=rows,
        letters=columns,
        shares=masses / np.repeat(support.p_x, np.diff(rows)) if support.sparse else masses,
        blas=blas,
    )


class MapIteration(Iteration):
    """Runs of one map; a subclass has the compiled loop and its state."""

    kernel: Callable[..., Any]
    """The compiled loop."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        runs = len(job.starts)
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

    def workspace(self) -> Array:
        """Zeros for one encoder per run, in blocks."""
        runs, clusters = self.job.starts.shape[:2]
        blocks, width = self.channel.p_x.shape
        return np.zeros((runs, blocks, clusters, width))

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


@dataclass(frozen=True)
class BlahutArimoto(Solver):
    """The self-consistent equations of the bottleneck (Tishby et al. 1999), iterated.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), ip.BlahutArimoto(), starts=4, rng=0)
    >>> s.solver, round(s.loss, 6)
    ('blahut-arimoto', -0.24076)
    """

    name = "blahut-arimoto"

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Where the map is none."""
        if problem.rho_zx < 0.0:
            return None
        return (
            "blahut-arimoto solves for p(z|x) in closed form, which needs a convex H(Z|X) term, rho_zx < 0; found "
            f"{problem.rho_zx:g}. Use drs."
        )

    def begin(self, job: Job) -> BlahutArimotoIteration:
        """One evaluation of the map per step."""
        return BlahutArimotoIteration(job)


class BlahutArimotoIteration(MapIteration):
    """One evaluation of the map per step; nothing is split, so primal and dual residual are zero."""

    found_by = "blahut-arimoto"
    kernel = staticmethod(advance_blahut_arimoto)

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        starts, record, p_x = job.starts, job.record, job.support.p_x
        runs, clusters = starts.shape[:2]
        on_encoders = needs_encoder(job.problem)
        W = blocks_of(starts, self.channel.p_x.shape[1]) if record or on_encoders else self.workspace()
        self.state = MapState(
            W=W,
            L=logs_of(W) if on_encoders else np.zeros((runs, 0, 0, 0)),
            q=self.marginals(starts),
            h_zx=np.array([sum(float(entr(row) @ p_x) for row in W) if record else 0.0 for W in starts]),
            check=np.zeros(runs, dtype=np.int64),
            alive=np.full(runs, clusters, dtype=np.int64),
            **begun(runs),
        )

    def measure(self, going: Flags) -> None:
        """W becomes the map of the present point, if it is not there already; a trace that goes on needs W as it is."""
        state = self.state
        written = (state.check == COMPARING) | (self.job.record & (state.iterations < self.limit))
        check = np.where(going, np.where(written, COMPARING, WRITING), FAR)
        self.measured(check, q=state.q, L=state.L)


@dataclass(frozen=True)
class Accelerated(Solver):
    """The self-consistent map with SQUAREM and Newton under a safeguard, split test at the end.

    Where the map depends on q(z, y) alone (the bottleneck; in general rho_zx < 0 <= rho_zy, rho_z + rho_zy >= 0) it is iterated on
    u = log q(z, y) with SQUAREM and Newton steps; clusters that have become equal are merged. Elsewhere (the funnel, beta > 1,
    and any other Lagrangian) it is iterated on log p(z|x) with SQUAREM. A step is kept only if the objective does not rise. An iteration is
    one evaluation of the map, kept or not; what a Newton step takes, products with the map's slope, is not counted. Between two
    comparisons of encoders the trace's stationarity is max |p'(z|y) - p(z|y)|, a lower bound of max |W - map(W)|; the one that is reported
    for the returned encoder is the latter. For the funnel at beta <= 1, Z = X is optimal: with as many clusters as letters a run begins
    there.

    Parameters
    ----------
    split
        Whether a stationary bottleneck is tested for splits: a cluster inside which X and Y are correlated by more than gamma gains by
        splitting, so it is split, if fewer clusters are alive than the start had, and the run goes on. Applies where the rho sum to 0.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), ip.Accelerated(), starts=4, rng=0)
    >>> s.solver, round(s.loss, 6)
    ('accelerated', -0.24076)
    """

    name = "accelerated"

    split: bool = field(default=True, metadata=PYTHON_ONLY)

    def __post_init__(self) -> None:
        check_flag("split", self.split)

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Where a constant Z is optimal whatever the joint."""
        return None if min(problem.rho) < 0.0 else nothing_to_solve(problem)

    def begin(self, job: Job) -> MapIteration:
        """One evaluation of the map per step, kept or not."""
        return EncoderIteration(job) if needs_encoder(job.problem) else MarginalIteration(job, self)


class MarginalIteration(MapIteration):
    """Runs whose map depends on q(z, y) alone, the bottleneck's among them."""

    found_by = "accelerated"
    kernel = staticmethod(advance_bottleneck)

    def __init__(self, job: Job, options: Accelerated) -> None:
        super().__init__(job)
        runs, clusters = job.starts.shape[:2]
        u = logs_of(self.marginals(job.starts)).reshape(runs, -1)
        # With a posterior form equal halves of a cluster change nothing, and an unequal split is of second order.
        # A run may go on 20 times after a split test; each one has lowered the loss.
        splits = 20 if options.split and has_posterior_form(job.problem) else 0
        self.state = LeapState(
            W=self.workspace(),
            u=u,
            u_old=u.copy(),
            f_old=np.zeros_like(u),
            control=beginning(clusters, self.channel.n_y, np.full(runs, splits)),
            alive=np.full(runs, clusters, dtype=np.int64),
            **begun(runs),
        )

    def resume(self) -> None:
        """The split test."""
        state = self.state
        stationary = (state.outcome == STATIONARY) & (state.control["splits"] > 0) & (state.iterations < self.limit)
        if stationary.any():
            split_stationary(self.channel, self.setting, state, stationary)

    def measure(self, going: Flags) -> None:
        """W becomes the map of the last point that was kept, unless it is there to be compared: the next one may be refused."""
        state = self.state
        written = state.control["check"] == COMPARING
        u = np.where(written[:, None], state.u, state.u_old + state.f_old)
        state.alive[going] = state.control["clusters_old"][going]
        self.measured(np.where(going, np.where(written, COMPARING, WRITING), FAR), u=u)


class EncoderIteration(MapIteration):
    """Runs of the monotone map on encoders, the funnel's among them."""

    found_by = "accelerated"
    kernel = staticmethod(advance_funnel)

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        starts = job.starts
        runs, clusters, letters = starts.shape
        problem = job.problem
        # The funnel, beta <= 1: beta I(Y;Z) - I(X;Z) = -beta I(X;Z|Y) - (1 - beta) I(X;Z) is least at Z = X.
        if clusters >= letters and has_posterior_form(problem) and max(problem.rho_z, problem.rho_zy) <= 0.0:
            starts = np.tile(np.eye(clusters, letters), (runs, 1, 1))
        W = blocks_of(starts, self.channel.p_x.shape[1])
        L = np.empty((runs, 3, *W.shape[1:]))
        L[:, 0] = logs_of(W)
        none = np.zeros(runs, dtype=np.int64)
        self.state = CycleState(
            W=W,
            L=L,
            q=self.marginals(starts),
            stage=none.copy(),
            base=none.copy(),
            check=none.copy(),
            alive=np.full(runs, clusters, dtype=np.int64),
            value=np.full(runs, np.inf),
            cap=np.full(runs, FIRST_CAP),
            **begun(runs),
        )

    def measure(self, going: Flags) -> None:
        """W is up to date."""
        state = self.state
        L = state.L[np.arange(len(going)), (state.base + state.stage) % 3]
        self.measured(np.where(going, COMPARING, FAR), q=state.q, L=L)
