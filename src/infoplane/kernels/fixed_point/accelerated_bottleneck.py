"""The bottleneck's self-consistent equations, accelerated: u = log q(z, y), u <- T(u), T the map of `selfmap`.

J(u) = -k sum_x p(x) log sum_z exp(score) bounds the Lagrangian from above: J(T(u)) <= L(W(u)) + rho_zy H(Y) <= J(u). So plain steps
cannot raise J, and an extrapolated point, a leap, is kept only if it does not raise J either; the residual alone would lead to saddles.
A leap that is refused costs one evaluation: the run goes on from T(u). Leaps are SQUAREM's at first and after a refusal, Anderson's once
the residual shrinks, Newton's where that is cheap and the residual is small. Clusters that have become equal are merged, which is undone if
J rises.

`phases` decides which point is tried next, and when; `stopping` when a run has ended. This module is the loop around them. One iteration
of a run is

1. `weights_of_logs`, `evaluate`, `displacement`   T(u), and J
2. `_record`, `_is_over`                           a row of the trace; whether the run has ended
3. `accepts`, or else `_restore`, `refuse`         is u kept?
4. `_leave_out`                                    fewer clusters: those that have lost their mass, or are all but equal, are left out
5. `_leap`                                         or the next point that the phase asks for
"""

from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, inlined
from ..common.numerics import exp
from ..common.rows import RUNNING, Flags, Integers, copy_rows, mark_dead
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
    Control,
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
    KEEP,
    ChannelBlocks,
    MapSetting,
    conditional_entropy,
    evaluate,
    lagrangian_of,
    work_for,
)
from .split_test import split_clusters
from .stopping import COMPARING, WRITING, ended, lowest_residual, record_iteration


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
def _loss(q_new: Array, A: Array, value: float, rho: Array, h_y: float) -> float:
    """The Lagrangian of the encoder that was just evaluated; with h_y = 0 what J bounds. ``value`` is what `evaluate` returned."""
    return lagrangian_of(q_new, rho, conditional_entropy(A, q_new, 0.0, value, 0.0), h_y)


@inlined
def _record(row: Array, loss: float, far: float, run: Control) -> None:
    """Fill one row of the trace; unless W was compared, with the lower bound of its residual."""
    record_iteration(row, loss, far if run.check == COMPARING else run.lowest)


@inlined
def _is_over(run: Control, outcome: Integers, residuals: Array, r: int, far: float, tol: float) -> bool:
    """Whether run r has ended, if W was compared; if it has not, W is compared again only at a smaller lower bound."""
    if run.check != COMPARING:
        return False
    if ended(outcome, residuals, r, far, tol):
        return True
    not_stationary(run, far)
    return False


@inlined
def _restore(state: LeapState, r: int, n_y: int) -> None:
    """Undo a merge: the next point is T(u_old), with the clusters of u_old."""
    run = state.control[r]
    run.clusters = run.clusters_old
    add(state.u_old[r], state.f_old[r], run.clusters * n_y, state.u[r])


@inlined
def _leave_out(run: Control, q_new: Array, q: Array, looking: bool, keep: Flags, u: Array, r: int) -> int:
    """Go on without clusters that have lost their mass; if there are none, and the run is ``looking``, merge those that are all but equal.

    Returns the origin of the next point, which is then in u[r], with fewer clusters: PLAIN or FEWER; or -1 if all clusters stay.
    """
    n, dead = q_new.shape[0], mark_dead(q_new, keep)
    if dead == 0 and not (looking and n > 1 and reduce(q_new, q, CHEAP, keep) < n):
        return -1
    run.clusters, run.clusters_old, run.phase = logs_of_kept(q_new, keep, u[r]), n, BASE
    return PLAIN if dead > 0 else FEWER


@inlined
def _leap(
    run: Control, iteration: int, norm: float, u: Array, u_old: Array, f: Array, f_old: Array, q_flat: Array, D_F: Array, D_G: Array,
    r: int, price: int, written: bool, channel: ChannelBlocks, rho: Array, width: float, W: Array, q: Array, q_new: Array, new: Array,
) -> int:  # fmt: skip
    """Fill new with the next point that the phase of run r asks for; returns its origin: if that is PLAIN, the point is T(u) instead.

    ``written``: W is that of T(u), which Newton's step, of ``price`` evaluations, needs. Arrays are passed one by one: each one of a tuple
    would be counted at every iteration, needed or not.
    """
    if run.phase == BASE:
        run.phase = PAIR
        return PLAIN
    if run.phase == PAIR:
        reached = squarem(u_old, f_old, f, q_flat, run.cap, new)
        run.phase, run.cap = BASE, GROWTH * run.cap if reached == run.cap else run.cap
        return LEAP
    if run.held > 0 or run.origin == PLAIN:
        run.held = remember(D_F[r], D_G[r], run.held, f, f_old, u, u_old)
    can_try = written and newton_is_due(run, norm, iteration, price)
    if can_try and newton(channel, rho, width, W, u, f, q, q_new, new):
        run.newton_at = iteration + price // 2
        return NEWTON
    if run.held == 0:
        return PLAIN
    anderson(u, f, q_flat, D_F[r], D_G[r], run.held, new)
    return LEAP


@inlined
def _iterate(
    channel: ChannelBlocks, setting: MapSetting, state: LeapState, r: int, steps: int, trace: Array, step: int
) -> tuple[int, bool]:
    """Iterate run r, with the clusters that it has, from row ``step`` of its trace on to row ``steps`` at most.

    Returns the row reached, and whether the clusters have changed: then the run goes on with tables of another size.
    """
    dense, one_block = channel.letters.shape[0] == 0, channel.p_x.shape[0] == 1
    run, rho, width, W, tol = state.control[r], setting.rho[r], setting.width[r], state.W[r], setting.tol
    n, size, changed = run.clusters, run.clusters * channel.p_y.size, False
    work, flat, nothing, price = work_for(channel, n), np.empty((5, size)), W[:0], newton_cost(channel, n)
    q, q_new, A = work.tables[0], work.tables[1], work.tables[2]
    q_flat, q_new_flat, A_flat = q.reshape(size), q_new.reshape(size), A.reshape(size)
    u, u_old, f, f_old, new = flat[0], flat[1], flat[2], flat[3], flat[4]
    copy(state.u[r], size, u)
    copy(state.u_old[r], size, u_old)
    copy(state.f_old[r], size, f_old)
    while step < steps and not changed:
        # Evaluate T at u.
        weights_of_logs(u, rho, width, q, q_flat, A, A_flat)
        mode = mode_of(run, one_block, tol)
        value, _, far = evaluate(channel, A, 0.0, nothing, nothing, W, mode, q_new, work)
        J, norm = -width * value, displacement(q_new_flat, u, q_flat, f)
        if mode & KEEP:
            state.alive[r] = n
        state.iterations[r] += 1
        iteration, run.lowest = state.iterations[r], lowest_residual(q_new, q, channel.p_y)
        # Record, and stop.
        if trace.shape[2] > 0:
            _record(trace[r, step], _loss(q_new, A, value, rho, setting.h_y), far, run)
        step += 1
        if _is_over(run, state.outcome, state.residuals, r, far, tol):
            break
        # Back to T(u_old), if u is refused.
        if not accepts(run, J, norm):
            changed = run.origin == FEWER
            if changed:
                _restore(state, r, channel.p_y.size)
            add(u_old, f_old, size, u)
            refuse(run, iteration, price)
            continue
        # Else choose the next point.
        promote(run, norm, iteration)
        looking, origin = iteration >= run.merge_at, PLAIN
        if looking:  # what a merge must not exceed is the tighter bound, of the step that is made anyway
            run.merge_at, J = iteration + STRIDE, _loss(q_new, A, value, rho, 0.0)
        if may_be_stationary(run, tol):
            run.check, run.phase = COMPARING if mode & KEEP else WRITING, PAIR
        else:
            origin = _leave_out(run, q_new, q, looking, work.keep, state.u, r)
            changed = origin >= 0
            if not changed:
                origin = _leap(
                    run, iteration, norm, u, u_old, f, f_old, q_flat, state.D_F, state.D_G, r,
                    price, dense and mode & KEEP > 0, channel, rho, width, W, q, q_new, new,
                )  # fmt: skip
        # Go there; u is the last point that was kept.
        run.J, run.norm, run.origin = J, norm, origin
        u, u_old, f, f_old = u_old, u, f_old, f
        if origin in (LEAP, NEWTON):
            u, new = new, u
            normalise(u)
        else:
            add(u_old, f_old, size, u)
    if not changed:
        run.clusters_old = n
        copy(u, size, state.u[r])
    copy(u_old, size, state.u_old[r])
    copy(f_old, size, state.f_old[r])
    return step, changed


@entry
def advance_bottleneck(
    channel: ChannelBlocks, setting: MapSetting, state: LeapState, steps: Integers, trace: Array
) -> None:
    """Do steps[r] iterations of run r, each one evaluation of the map, fewer if it ends: at max |W - map(W)| <= tol.

    With trace.shape[2] = TRACE_COLUMNS every iteration is recorded, with 0 none is.
    """
    for r in range(steps.size):
        if setting.stop[0] != 0:
            break
        step, changed = 0, True
        while changed and step < steps[r]:
            step, changed = _iterate(channel, setting, state, r, steps[r], trace, step)


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
def split_stationary(channel: ChannelBlocks, setting: MapSetting, state: LeapState, stationary: Flags) -> None:
    """Of the runs that have become ``stationary``, those go on for which splitting some clusters lowers L, see `split_test`."""
    for r in range(stationary.size):
        if setting.stop[0] != 0:
            break
        if not stationary[r]:
            continue
        run = state.control[r]
        n, most, n_y = state.alive[r], state.W.shape[2], channel.p_y.size
        q, q_new, keep = np.empty((n, n_y)), np.empty((most, n_y)), np.empty(most, dtype=np.bool_)
        for z in range(n):
            for y in range(n_y):
                q[z, y] = exp(state.u[r, z * n_y + y])
        rows = _split(channel, state.W[r], setting.rho[r], q, q_new, keep)
        if rows == n:
            run.splits = 0
            continue
        logs_of_kept(q_new, keep, state.u[r])
        for i in range(rows * n_y):
            state.u_old[r, i] = state.u[r, i]
            state.f_old[r, i] = 0.0
        begin_again(run, rows, state.iterations[r])
        state.outcome[r], run.splits = RUNNING, run.splits - 1
