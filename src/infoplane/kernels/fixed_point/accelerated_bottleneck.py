"""The bottleneck's self-consistent equations, accelerated: u = log q(z, y), u <- T(u), T the map of `selfmap`.

J(u) = -k sum_x p(x) log sum_z exp(score) bounds the Lagrangian from above: J(T(u)) <= L(W(u)) + rho_zy H(Y) <= J(u). So plain steps
cannot raise J, and an extrapolated point, a leap, is kept only if it does not raise J either; the residual alone would lead to saddles.
A leap that is refused costs one evaluation: the run goes on from T(u). Leaps are SQUAREM's at first and after a refusal, Anderson's once
the residual shrinks, Newton's where that is cheap and the residual is small. Clusters that have become equal are merged, which is undone if
J rises.

`phases` decides which point is tried next, and when; `stopping` when a run has ended. This module is the loop around them.
"""

from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, inlined
from ..common.arrays import Flags, Integers
from ..common.fast import exp
from ..common.outcomes import LOSS, RUNNING, STATIONARITY, STATIONARY
from ..common.rows import copy_rows, mark_dead
from .clusters import CHEAP, EQUAL, reduce
from .extrapolation import GROWTH, anderson, normalise, remember, squarem
from .newton import newton, newton_cost
from .phases import (
    BASE,
    FEWER,
    LEAP,
    NEWTON,
    PAIR,
    PLAIN,
    STRIDE,
    accepts,
    begin_again,
    may_be_stationary,
    mode_of,
    newton_is_due,
    not_stationary,
    promote,
    refuse,
)
from .points import add, copy, displacement, logs_of_kept, weights_of_logs
from .selfmap import (
    COMPARE,
    KEEP,
    ChannelBlocks,
    MapSetting,
    conditional_entropy,
    evaluate_dense,
    evaluate_sparse,
    lagrangian_of,
    work_for,
)
from .split_test import split_clusters
from .stopping import COMPARING, WRITING, lowest_residual


class LeapState(NamedTuple):
    """Where the runs of a batch stand; every array has one row per run and is updated in place."""

    W: Array  # (R, blocks, |Z|, BLOCK)  the encoder, written as `stopping` says
    u: Array  # (R, |Z| |Y|)             the point that is evaluated next
    u_old: Array  # (R, |Z| |Y|)         the last point that was kept
    f_old: Array  # (R, |Z| |Y|)         T(u) - u there
    D_F: Array  # (R, memory, |Z| |Y|)   Anderson's differences
    D_G: Array  # (R, memory, |Z| |Y|)
    control: np.recarray  # (R,)         `phases.CONTROL`
    alive: Integers  # (R,)              clusters of W
    outcome: Integers  # (R,)            RUNNING, STATIONARY
    iterations: Integers  # (R,)
    residuals: Array  # (R, 3)           primal and dual are 0


@inlined
def _iterate(
    channel: ChannelBlocks, setting: MapSetting, state: LeapState, r: int, trace: Array, step: int
) -> tuple[int, bool]:
    """Iterate run r, with the clusters that it has, from row ``step`` of the trace on.

    Returns the row reached, and whether the clusters have changed: then there is more to do, with tables of another size.
    """
    moving, record, sparse = trace.shape[1] > 0, trace.shape[2] > 0, channel.letters.shape[0] > 0
    run, rho, width, W = state.control[r], setting.rho[r], setting.width[r], state.W[r]
    n, n_y, one_block = run.clusters if moving else run.clusters_old, channel.p_y.size, channel.p_x.shape[0] == 1
    size, price = n * n_y, newton_cost(channel, n)
    work, flat = work_for(channel, n), np.empty((5, n * n_y))
    q, q_new, A, nothing = work.tables[0], work.tables[1], work.tables[2], W[:0]
    q_flat, q_new_flat, A_flat = q.reshape(size), q_new.reshape(size), A.reshape(size)
    u, u_old, f, f_old, new = flat[0], flat[1], flat[2], flat[3], flat[4]
    copy(state.u[r], size, u)
    copy(state.u_old[r], size, u_old)
    copy(state.f_old[r], size, f_old)
    changed, restored, written = False, False, run.check == COMPARING
    if not moving and not written:
        # The next point may be a leap that is to be refused: evaluate the map of the last point that was kept.
        add(u_old, f_old, size, u)
    while not changed and (not moving or (step < trace.shape[1] and state.iterations[r] < setting.limit)):
        # Evaluate T at u.
        weights_of_logs(u, rho, width, q, q_flat, A, A_flat)
        mode = mode_of(run, one_block, setting.tol) if moving else COMPARE if written else KEEP
        if sparse:
            value, _, far = evaluate_sparse(channel, A, 0.0, nothing, nothing, W, mode, q_new, work)
        else:
            value, _, far = evaluate_dense(channel, A, 0.0, nothing, nothing, W, mode, q_new, work)
        J, norm = -width * value, displacement(q_new_flat, u, q_flat, f)
        if mode & KEEP:
            state.alive[r] = n
        # If nothing is to move, W is written, then compared, and that is all.
        if not moving and written:
            state.residuals[r, 2] = far
            break
        if not moving:
            written = True
            add(u, f, size, u)
            continue
        # Record, and stop.
        state.iterations[r] += 1
        iteration, run.lowest = state.iterations[r], lowest_residual(q_new, q, channel.p_y)
        if record:
            h_zx = conditional_entropy(A, q_new, 0.0, value, 0.0)
            trace[r, step, LOSS] = lagrangian_of(q_new, rho, h_zx, setting.h_y)
            trace[r, step, STATIONARITY] = far if run.check == COMPARING else run.lowest
        step += 1
        if run.check == COMPARING:
            state.residuals[r, 2] = far
            if far <= setting.tol:
                state.outcome[r] = STATIONARY
                break
            not_stationary(run, far)
        # Back to T(u_old), if u is refused.
        if not accepts(run, J, norm):
            if run.origin == FEWER:
                changed, restored, run.clusters = True, True, run.clusters_old
                add(state.u_old[r], state.f_old[r], run.clusters * n_y, state.u[r])
            else:
                add(u_old, f_old, size, u)
            refuse(run, iteration, price)
            continue
        # Else choose the next point.
        promote(run, norm, iteration)
        origin, looking, dead = PLAIN, iteration >= run.merge_at, mark_dead(q_new, work.keep)
        if looking:  # what a merge must not exceed is the tighter bound, of the step that is made anyway
            run.merge_at = iteration + STRIDE
            J = lagrangian_of(q_new, rho, conditional_entropy(A, q_new, 0.0, value, 0.0), 0.0)
        if may_be_stationary(run, setting.tol):
            run.check, run.phase = COMPARING if mode & KEEP else WRITING, PAIR
        elif dead > 0 or (looking and n > 1 and reduce(q_new, q, CHEAP, work.keep) < n):
            run.clusters, run.phase, changed = logs_of_kept(q_new, work.keep, state.u[r]), BASE, True
            origin = PLAIN if dead > 0 else FEWER
        elif run.phase == BASE:
            run.phase = PAIR
        elif run.phase == PAIR:
            reached = squarem(u_old, f_old, f, q_flat, run.cap, new)
            run.cap = GROWTH * run.cap if reached == run.cap else run.cap
            run.phase, origin = BASE, LEAP
        else:
            if run.held > 0 or run.origin == PLAIN:
                run.held = remember(state.D_F[r], state.D_G[r], run.held, f, f_old, u, u_old)
            can_try = not sparse and mode & KEEP and newton_is_due(run, norm, iteration, price)
            if can_try and newton(channel, rho, width, W, u, f, q, q_new, new):
                run.newton_at, origin = iteration + price // 2, NEWTON
            elif run.held > 0:
                anderson(u, f, q_flat, state.D_F[r], state.D_G[r], run.held, new)
                origin = LEAP
        # Go there; u is the last point that was kept.
        run.J, run.norm, run.origin = J, norm, origin
        u, u_old, f, f_old = u_old, u, f_old, f
        if changed:
            run.clusters_old = n
        elif origin == PLAIN:
            add(u_old, f_old, size, u)
        else:
            u, new = new, u
            normalise(u)
    if moving and not changed:
        run.clusters_old = n
        copy(u, size, state.u[r])
    if moving and not restored:
        copy(u_old, size, state.u_old[r])
        copy(f_old, size, state.f_old[r])
    return step, changed


@entry
def advance_bottleneck(channel: ChannelBlocks, setting: MapSetting, state: LeapState, trace: Array) -> None:
    """Advance every running run by at most trace.shape[1] iterations, each one evaluation of the map; ends at max |W - map(W)| <= tol.

    With trace.shape[2] = TRACE_COLUMNS every iteration is recorded, with 0 none is. With trace.shape[1] = 0 nothing moves: W becomes the
    map of the last point that was kept, unless it is there to be compared already, and its residual is measured.
    """
    moving = trace.shape[1] > 0
    for r in range(state.u.shape[0]):
        if setting.stop[0] != 0:
            break
        step, changed = 0, True
        while (
            changed
            and state.outcome[r] == RUNNING
            and (not moving or (step < trace.shape[1] and state.iterations[r] < setting.limit))
        ):
            step, changed = _iterate(channel, setting, state, r, trace, step)


@inlined
def _split(channel: ChannelBlocks, W: Array, rho: Array, q: Array, q_new: Array, keep: Flags) -> int:
    """Fill q_new with the clusters of q, split where that lowers L and there is room; marks its rows and returns how many there are.

    Where there is no room for a split, clusters that are equal are merged instead.
    """
    n, most = q.shape[0], q_new.shape[0]
    if n == most:
        copy_rows(q, q_new)
        return reduce(q_new, q, EQUAL, keep)
    rows = split_clusters(channel, W, q, rho, q_new)
    for z in range(most):
        keep[z] = z < rows
    return rows


@entry
def split_stationary(channel: ChannelBlocks, setting: MapSetting, state: LeapState) -> None:
    """Every run that has just become stationary goes on if splitting some of its clusters lowers L, see `split_test`."""
    for r in range(state.u.shape[0]):
        if setting.stop[0] != 0:
            break
        run = state.control[r]
        if state.outcome[r] != STATIONARY or run.splits == 0:
            continue
        n, most, n_y = state.alive[r], state.W.shape[2], channel.p_y.size
        q, q_new, keep = np.empty((n, n_y)), np.empty((most, n_y)), np.empty(most, dtype=np.bool_)
        for z in range(n):
            for y in range(n_y):
                q[z, y] = exp(state.u[r, z * n_y + y])
        rows = _split(channel, state.W[r], setting.rho[r], q, q_new, keep)
        if rows == n or state.iterations[r] >= setting.limit:
            run.splits = 0
            continue
        logs_of_kept(q_new, keep, state.u[r])
        for i in range(rows * n_y):
            state.u_old[r, i] = state.u[r, i]
            state.f_old[r, i] = 0.0
        begin_again(run, rows, state.iterations[r])
        state.outcome[r], run.splits = RUNNING, run.splits - 1
