"""Blahut-Arimoto for many runs: the map of `selfmap`, iterated. For the bottleneck these are the self-consistent equations

p(z|x) prop. to p(z) exp(-(1/gamma) KL[p(y|x) || p(y|z)]),  p(z) = sum p(z|x) p(x),  p(y|z) = p(z,y) / p(z).
"""

from typing import NamedTuple

from ...information import Array
from ...runtime.compiling import entry
from ..common.arrays import Integers
from ..common.outcomes import LOSS, RUNNING, STATIONARITY, STATIONARY
from ..common.rows import copy_blocks, fetch, mark_dead, move_up, move_up_blocks, save
from .selfmap import (
    COMPARE,
    KEEP,
    ChannelBlocks,
    MapSetting,
    conditional_entropy,
    evaluate_dense,
    evaluate_sparse,
    weights_of,
    work_for,
)
from .stopping import COMPARING, FAR, WRITING, settled


class MapState(NamedTuple):
    """Where the runs of a batch stand; every array has one row per run and is updated in place."""

    W: Array  # (R, blocks, |Z|, BLOCK)  the encoder, written as `check` says; when recording, at every iteration
    L: Array  # (R, blocks, |Z|, BLOCK)  its logarithm, if the map needs it; else (R, 0, 0, 0)
    q: Array  # (R, |Z|, |Y|)            q(z, y)
    h_zx: Array  # (R,)                  H(Z|X), if recording
    check: Integers  # (R,)              FAR, WRITING, COMPARING: see `stopping`
    alive: Integers  # (R,)              clusters left; they come first
    outcome: Integers  # (R,)            RUNNING, STATIONARY
    iterations: Integers  # (R,)
    residuals: Array  # (R, 3)           primal and dual are 0


@entry
def advance_blahut_arimoto(channel: ChannelBlocks, setting: MapSetting, state: MapState, trace: Array) -> None:
    """Advance every running run by at most trace.shape[1] iterations; a run ends at a W with max |W - BA(W)| <= tol.

    With trace.shape[2] = TRACE_COLUMNS every iteration is recorded, with 0 none is. With trace.shape[1] = 0 nothing moves: W becomes the
    map of the run's present point, unless it is there to be compared already, and its residual is measured.
    """
    moving, record, sparse = trace.shape[1] > 0, trace.shape[2] > 0, channel.letters.shape[0] > 0
    for r in range(state.q.shape[0]):
        if setting.stop[0] != 0:
            break
        if state.outcome[r] != RUNNING:
            continue
        rho, width = setting.rho[r], setting.width[r]
        on_W = 1.0 + rho[1] / width
        n, check, h_zx = state.alive[r], state.check[r], state.h_zx[r]
        work = work_for(channel, n)
        W, L, q, q_new, A = state.W[r], state.L[r], work.tables[0], work.tables[1], work.tables[2]
        fetch(state.q, r, q)
        if not moving:
            written = check == COMPARING or (record and state.iterations[r] < setting.limit)
            check, L = COMPARING if written else WRITING, L.copy()
        for step in range(trace.shape[1] if moving else 2):
            if moving and state.iterations[r] >= setting.limit:
                break
            # One evaluation of the map. A trace compares W at every iteration; at the last one W is to stay as it is.
            h_z, h_zy = weights_of(q, rho, width, A, work.mass)
            tracing = record and moving
            mode = KEEP | COMPARE if tracing else COMPARE if check == COMPARING else KEEP if check == WRITING else 0
            W_before = W.copy() if tracing and check == COMPARING else W
            if sparse:
                value, inner, far = evaluate_sparse(channel, A, on_W, L, L, W, mode, q_new, work)
            else:
                value, inner, far = evaluate_dense(channel, A, on_W, L, L, W, mode, q_new, work)
            # Record, and stop.
            if moving:
                state.iterations[r] += 1
            if tracing:
                trace[r, step, LOSS] = rho[0] * h_z + rho[1] * h_zx + rho[2] * (h_zy - setting.h_y)
                trace[r, step, STATIONARITY] = far
                h_zx = conditional_entropy(A, q_new, on_W, value, inner)
            if check == COMPARING:
                state.residuals[r, 2] = far
                if moving and far <= setting.tol:
                    state.outcome[r] = STATIONARY
                    if tracing:
                        copy_blocks(W_before, W)
                if not moving or far <= setting.tol:
                    break
            # Go on, without clusters that have lost their mass.
            check = COMPARING if check == WRITING else WRITING if settled(q_new, q, channel.p_y, setting.tol) else FAR
            q, q_new = q_new, q
            dead = mark_dead(q, work.keep)
            if dead > 0 and moving:
                keep = work.keep[:n]
                move_up(q, keep)
                move_up_blocks(W, keep)
                move_up_blocks(L, keep)
                n, check = n - dead, FAR
                q, q_new, A = q[:n], q_new[:n], A[:n]
        if moving:
            state.alive[r], state.check[r], state.h_zx[r] = n, check, h_zx
            save(state.q, r, q)
