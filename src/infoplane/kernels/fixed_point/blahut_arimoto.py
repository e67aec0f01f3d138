"""Blahut-Arimoto for many runs: the map of `selfmap`, iterated. For the bottleneck these are the self-consistent equations

p(z|x) prop. to p(z) exp(-(1/gamma) KL[p(y|x) || p(y|z)]),  p(z) = sum p(z|x) p(x),  p(y|z) = p(z,y) / p(z).
"""

from typing import NamedTuple

from ...information import Array
from ..common.arrays import Integers
from ..common.borrow import borrowed, release
from ..common.jit import entry, inlined
from ..common.outcomes import LOSS, RUNNING, STATIONARITY, STATIONARY
from ..common.rows import fetch, mark_dead, move_up, move_up_blocks, save
from .selfmap import (
    COMPARE,
    KEEP,
    Channel,
    MapSetting,
    conditional_entropy,
    evaluate,
    evaluate_apart,
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


@inlined
def _iterate(channel: Channel, setting: MapSetting, state: MapState, r: int, trace: Array) -> None:
    """Iterate run r until the trace is full, the limit is reached, or it is stationary."""
    record, rho, width = trace.shape[2] > 0, setting.rho[r], setting.width[r]
    on_W = 1.0 + rho[1] / width
    n, check, h_zx = state.alive[r], state.check[r], state.h_zx[r]
    room = work_for(channel, n)
    work = borrowed(room)
    W, L, q, q_new, A = state.W[r], state.L[r], work.tables[0], work.tables[1], work.tables[2]
    fetch(state.q, r, q)
    for step in range(trace.shape[1]):
        if state.iterations[r] >= setting.limit:
            break
        h_z, h_zy = weights_of(q, rho, width, A, work.mass)
        mode = COMPARE if check == COMPARING else KEEP | COMPARE if record else KEEP if check == WRITING else 0
        L_now = L.copy() if record and check == COMPARING else L
        value, inner, far = evaluate(channel, A, on_W, L_now, L, W, mode, q_new, work)
        state.iterations[r] += 1
        if record:
            trace[r, step, LOSS] = rho[0] * h_z + rho[1] * h_zx + rho[2] * (h_zy - setting.h_y)
            trace[r, step, STATIONARITY] = far
        if check == COMPARING:
            state.residuals[r, 2] = far
            if far <= setting.tol:
                state.outcome[r] = STATIONARY
                break
            if record:  # the trace's next comparison is to be with this encoder, which was not written down
                value, inner, _ = evaluate_apart(channel, A, on_W, L_now, L, W, KEEP, q_new, work)
        check = COMPARING if check == WRITING else WRITING if settled(q_new, q, channel.p_y, setting.tol) else FAR
        if record:
            h_zx = conditional_entropy(A, q_new, on_W, value, inner)
        q, q_new = q_new, q
        dead = mark_dead(q, work.keep)
        if dead > 0:
            keep = work.keep[:n]
            move_up(q, keep)
            move_up_blocks(W, keep)
            move_up_blocks(L, keep)
            n, check = n - dead, FAR
            q, q_new, A = q[:n], q_new[:n], A[:n]
    state.alive[r], state.check[r], state.h_zx[r] = n, check, h_zx
    save(state.q, r, q)
    release(room)


@inlined
def _write_down(channel: Channel, setting: MapSetting, state: MapState, r: int, written: bool) -> None:
    """W becomes the map of where run r stands, unless it is ``written`` already, and its residual is measured."""
    rho, width = setting.rho[r], setting.width[r]
    on_W = 1.0 + rho[1] / width
    room, L = work_for(channel, state.alive[r]), state.L[r].copy()
    work = borrowed(room)
    W, q, q_new, A = state.W[r], work.tables[0], work.tables[1], work.tables[2]
    fetch(state.q, r, q)
    if not written:
        weights_of(q, rho, width, A, work.mass)
        evaluate_apart(channel, A, on_W, L, L, W, KEEP, q_new, work)
        q, q_new = q_new, q
    weights_of(q, rho, width, A, work.mass)
    _, _, far = evaluate_apart(channel, A, on_W, L, L, W, COMPARE, q_new, work)
    state.residuals[r, 2] = far
    release(room)


@entry
def advance_blahut_arimoto(channel: Channel, setting: MapSetting, state: MapState, trace: Array) -> None:
    """Advance every running run by at most trace.shape[1] iterations; a run ends at a W with max |W - BA(W)| <= tol.

    With trace.shape[2] = TRACE_COLUMNS every iteration is recorded, with 0 none is. With trace.shape[1] = 0 nothing moves: W becomes the
    map of where the run stands, and its residual is measured.
    """
    channel, setting, state, trace = borrowed(channel), borrowed(setting), borrowed(state), borrowed(trace)
    for r in range(state.q.shape[0]):
        if state.outcome[r] != RUNNING:
            continue
        if trace.shape[1] > 0:
            _iterate(channel, setting, state, r, trace)
        else:
            recording = trace.shape[2] > 0 and state.iterations[r] < setting.limit
            _write_down(channel, setting, state, r, recording or state.check[r] == COMPARING)
