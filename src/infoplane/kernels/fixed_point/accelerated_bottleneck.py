"""The bottleneck's self-consistent equations, accelerated: u = log q(z, y), u <- T(u), T the map of `selfmap`.

J(u) = -k sum_x p(x) log sum_z exp(score) bounds the Lagrangian from above: J(T(u)) <= L(W(u)) + rho_zy H(Y) <= J(u). So plain steps
cannot raise J, and a point that leaps ahead is kept only if it does not either; the residual alone would lead to saddles. A leap
that is refused costs one evaluation: the run goes on from T(u). SQUAREM leads at first and after a refusal, Anderson once the residual
shrinks, Newton where it is cheap and the residual is small. Clusters that have become equal are merged, undone if J rises.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ..common.borrow import borrowed, release
from ..common.fast import exp, floored_log, regrouped
from ..common.jit import entry, part
from ..splitting.advance import LOSS, RUNNING, STATIONARITY, STATIONARY
from ..splitting.split import Flags, Integers
from .blahut_arimoto import MapSetting, mark_dead
from .clusters import CHEAP, EQUAL, reduce
from .extrapolation import anderson, normalise, remember, squarem
from .newton import newton, newton_cost
from .selfmap import COMPARE, KEEP, Channel, conditional_entropy, evaluate_dense, evaluate_sparse, work_for
from .split_test import split_clusters

PLAIN, LEAP, NEWTON, FEWER = (
    0,
    1,
    2,
    3,
)  # where a point comes from: T, an extrapolation, Newton's step, clusters merged or pruned
STRIDE = 10  # iterations between two looks for clusters to merge
PATIENCE = 4  # after a merge or a Newton step that was undone, the next one has to wait so many times longer
SLACK = 1e-14  # rounding of J
FIRST_CAP, GROWTH = 4.0, 4.0  # SQUAREM's longest step, and how it grows on success and shrinks on refusal
SHRINKS = 0.98  # factor of the residual in a leap of SQUAREM from which on Anderson leads
SMALL = 0.03  # norm of T(u) - u below which Newton's step is worth its price
NEARLY = 1e4  # multiple of tol from which the encoder is written down at every evaluation, ready to be compared


class LeapState(NamedTuple):
    """Where the runs of a batch stand; every array has one run a row and is updated in place."""

    W: Array  # (R, blocks, |Z|, BLOCK)  the encoder, written when it is looked at
    u: Array  # (R, |Z| |Y|)             the point that is evaluated next
    u_old: Array  # (R, |Z| |Y|)         the last point that was kept
    f_old: Array  # (R, |Z| |Y|)         T(u) - u there
    D_F: Array  # (R, memory, |Z| |Y|)   Anderson's differences
    D_G: Array  # (R, memory, |Z| |Y|)
    held: Integers  # (R,)               how many; -1 while SQUAREM leads
    kind: Integers  # (R,)               PLAIN, LEAP, NEWTON, FEWER
    paired: Integers  # (R,)             is u = T(u_old)? then SQUAREM can leap from there
    armed: Integers  # (R,)              0: far from the end; 1: W is to be written; 2: W is to be compared
    alive: Integers  # (R,)              clusters of W
    alive_new: Integers  # (R,)          ... of u
    alive_old: Integers  # (R,)          ... of u_old
    due: Integers  # (R,)                iteration of the next look for clusters to merge
    again: Integers  # (R,)              iteration from which Newton may be tried
    wait: Integers  # (R,)               how much longer it has to wait after its last failure
    splits: Integers  # (R,)             how many more times clusters may be split
    J: Array  # (R,)                     what J must not exceed
    cap: Array  # (R,)                   SQUAREM's longest step
    norm: Array  # (R,)                  of f_old
    lowest: Array  # (R,)                max |q' - q| / p(y), a cheap lower bound of the residual
    gate: Array  # (R,)                  share of tol that it must reach before W is compared
    outcome: Integers  # (R,)
    iterations: Integers  # (R,)
    residuals: Array  # (R, 3)


@regrouped
def weights_of_logs(u: Array, rho: Array, width: float, q: Array, q_flat: Array, A: Array, A_flat: Array) -> None:
    """Fills q = exp(u) and A = (rho_z log q(z) + rho_zy u) / width; u is flat, the others come as tables and flat."""
    on_z, on_zy = rho[0] / width, rho[2] / width
    for i in range(u.size):
        q_flat[i] = exp(u[i])
        A_flat[i] = on_zy * u[i]
    for z in range(q.shape[0]):
        mass = 0.0
        for y in range(q.shape[1]):
            mass += q[z, y]
        shift = on_z * floored_log(mass)
        for y in range(q.shape[1]):
            A[z, y] += shift


@regrouped
def displacement(q_new: Array, u: Array, q: Array, f: Array) -> float:
    """Fills f = log q' - u; returns the root of sum q f^2. All flat."""
    total = 0.0
    for i in range(u.size):
        f[i] = floored_log(q_new[i]) - u[i]
    for i in range(u.size):
        total += q[i] * f[i] * f[i]
    return math.sqrt(total)


@regrouped
def lowest_residual(q_new: Array, q: Array, p_y: Array) -> float:
    """Max |q' - q| / p(y), which is at most max |W' - W|, since q = W P."""
    far = 0.0
    for z in range(q.shape[0]):
        for y in range(q.shape[1]):
            far = max(far, abs(q_new[z, y] - q[z, y]) / p_y[y])
    return far


@part
def lagrangian_of(q: Array, rho: Array, h_zx: float, h_y: float) -> float:
    """rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y) from q(z, y), H(Z|X) and H(Y)."""
    value: float = rho[1] * h_zx - rho[2] * h_y
    for z in range(q.shape[0]):
        mass = 0.0
        for y in range(q.shape[1]):
            mass += q[z, y]
            value -= rho[2] * q[z, y] * floored_log(q[z, y])
        value -= rho[0] * mass * floored_log(mass)
    return value


@part
def add(u: Array, f: Array, size: int, out: Array) -> None:
    """Fills out = u + f, so many entries."""
    for i in range(size):
        out[i] = u[i] + f[i]


@part
def copy(u: Array, size: int, out: Array) -> None:
    """Fills out with so many entries of u."""
    for i in range(size):
        out[i] = u[i]


@part
def logs_of_kept(q: Array, keep: Flags, out: Array) -> int:
    """Log q of the marked rows, with total mass 1, at the front of out, which is flat; returns how many."""
    row, total = 0, 0.0
    for z in range(q.shape[0]):
        for y in range(q.shape[1]):
            total += q[z, y] if keep[z] else 0.0
    for z in range(q.shape[0]):
        if keep[z]:
            for y in range(q.shape[1]):
                out[row * q.shape[1] + y] = floored_log(q[z, y] / total)
            row += 1
    return row


@entry
def advance_bottleneck(channel: Channel, setting: MapSetting, state: LeapState, trace: Array) -> None:
    """Advance every running run by at most trace.shape[1] iterations, each one evaluation of the map; stops at max |W - map(W)| <= tol.

    With trace.shape[1] = 0 nothing moves: W becomes the map of where the run stands, and its residual is measured.
    """
    channel, setting, state, trace = borrowed(channel), borrowed(setting), borrowed(state), borrowed(trace)
    record, peek, sparse = trace.shape[2] > 0, trace.shape[1] == 0, channel.letters.shape[0] > 0
    steps, n_y, one_block = 2 if peek else trace.shape[1], channel.p_y.size, channel.p_x.shape[0] == 1
    for r in range(state.u.shape[0]):
        step, changed = 0, True
        rho, width, W, D_F, D_G = setting.rho[r], setting.width[r], state.W[r], state.D_F[r], state.D_G[r]
        while (  # one pass for every set of clusters
            changed and step < steps and state.outcome[r] == RUNNING and (peek or state.iterations[r] < setting.limit)
        ):
            n = state.alive_old[r] if peek else state.alive_new[r]
            size, room, points = n * n_y, work_for(channel, n), np.empty((5, n * n_y))
            work, flat = borrowed(room), borrowed(points)
            q, q_new, A = work.tables[0], work.tables[1], work.tables[2]
            q_flat, q_new_flat, A_flat = q.reshape(size), q_new.reshape(size), A.reshape(size)
            u, u_old, f, f_old, new = flat[0], flat[1], flat[2], flat[3], flat[4]
            copy(state.u[r], size, u)
            copy(state.u_old[r], size, u_old)
            copy(state.f_old[r], size, f_old)
            held, kind, paired, armed = state.held[r], state.kind[r], state.paired[r], state.armed[r]
            due, again, wait, iteration = state.due[r], state.again[r], state.wait[r], state.iterations[r]
            J_old, cap, norm_old, gate = state.J[r], state.cap[r], state.norm[r], state.gate[r]
            if (
                peek and armed < 2
            ):  # the point that waits may be a leap too far: look at the map of the last that was kept
                add(u_old, f_old, size, u)
                kind, armed = PLAIN, 1
            keep, nothing = work.keep, W[:0]
            price, lowest, changed, restored = newton_cost(channel, n), state.lowest[r], False, False
            while not changed and step < steps and (peek or iteration < setting.limit):
                weights_of_logs(u, rho, width, q, q_flat, A, A_flat)
                near = one_block or lowest <= NEARLY * gate * setting.tol
                mode = COMPARE if armed == 2 else KEEP if armed == 1 or near else 0
                if sparse:
                    value, _, far = evaluate_sparse(channel, A, 0.0, nothing, nothing, W, mode, q_new, work)
                else:
                    value, _, far = evaluate_dense(channel, A, 0.0, nothing, nothing, W, mode, q_new, work)
                J = -width * value
                lowest, norm = lowest_residual(q_new, q, channel.p_y), displacement(q_new_flat, u, q_flat, f)
                step += 1
                if mode & KEEP:
                    state.alive[r] = n
                if armed == 2:
                    state.residuals[r, 2] = far
                if peek:
                    if armed == 2:
                        break
                    armed = 2
                    add(u, f, size, u)
                    continue
                iteration += 1
                if record:
                    h_zx = conditional_entropy(A, q_new, 0.0, value, 0.0)
                    trace[r, step - 1, LOSS] = lagrangian_of(q_new, rho, h_zx, setting.h_y)
                    trace[r, step - 1, STATIONARITY] = far if armed == 2 else lowest
                if armed == 2:
                    if far <= setting.tol:
                        state.outcome[r] = STATIONARY
                        break
                    gate, armed = min(gate, 0.7 * lowest / far), 0
                slack = SLACK * max(1.0, abs(J))
                if kind != PLAIN and not (J_old - J > slack or (J - J_old <= slack and norm <= 2.0 * norm_old)):
                    paired = 1
                    if kind == LEAP:
                        cap = max(cap / GROWTH, 1.0) if held < 0 else cap
                        held = -1
                    elif kind == NEWTON:
                        wait *= 2
                        again = iteration + wait * price
                    else:
                        due, held, changed, restored = iteration + PATIENCE * STRIDE, -1, True, True
                        add(state.u_old[r], state.f_old[r], state.alive_old[r] * n_y, state.u[r])
                        state.alive_new[r] = state.alive_old[r]
                    kind = PLAIN
                    if not changed:
                        add(u_old, f_old, size, u)
                    continue
                # The point is kept. Where next?
                if held < 0 and kind == LEAP and norm < SHRINKS * norm_old:
                    held, due = 0, min(due, iteration)
                looking, then, dead = iteration >= due, PLAIN, mark_dead(q_new, keep)
                if looking:  # what a merge must not exceed is the tighter bound, of the step that is made anyway
                    h_zx = conditional_entropy(A, q_new, 0.0, value, 0.0)
                    due, J = iteration + STRIDE, lagrangian_of(q_new, rho, h_zx, 0.0)
                if armed == 1 or lowest <= gate * setting.tol:
                    armed, held, paired = 2 if mode & KEEP else 1, -1, 1
                elif dead > 0 or (looking and n > 1 and reduce(q_new, q, CHEAP, keep) < n):
                    then, held, paired, changed = PLAIN if dead > 0 else FEWER, -1, 0, True
                    state.alive_new[r] = logs_of_kept(q_new, keep, state.u[r])
                elif held < 0:
                    if paired == 1:
                        reached = squarem(u_old, f_old, f, q_flat, cap, new)
                        cap, then = GROWTH * cap if reached == cap else cap, LEAP
                    paired = 1 - paired
                else:
                    if held > 0 or kind == PLAIN:
                        held = remember(D_F, D_G, held, f, f_old, u, u_old)
                    try_newton = (
                        not sparse and mode & KEEP and norm < SMALL and iteration >= again and held >= price // 2
                    )
                    if try_newton and newton(channel, rho, width, W, u, f, q, q_new, new):
                        then, again = NEWTON, iteration + price // 2
                    if then == PLAIN and held > 0:
                        anderson(u, f, q_flat, D_F, D_G, held, new)
                        then = LEAP
                u, u_old, f, f_old = u_old, u, f_old, f
                J_old, norm_old, kind = J, norm, then
                if then == PLAIN:
                    add(u_old, f_old, size, u)
                elif then != FEWER:
                    u, new = new, u
                    normalise(u)
                if changed:
                    state.alive_old[r] = n
            if not changed and not peek:
                state.alive_old[r] = n
                copy(u, size, state.u[r])
            if not restored and not peek:
                copy(u_old, size, state.u_old[r])
                copy(f_old, size, state.f_old[r])
            release((room, points))
            if peek:
                continue
            state.held[r], state.kind[r], state.paired[r], state.armed[r] = held, kind, paired, armed
            state.due[r], state.again[r], state.wait[r], state.iterations[r] = due, again, wait, iteration
            state.J[r], state.cap[r], state.norm[r] = J_old, cap, norm_old
            state.lowest[r], state.gate[r] = lowest, gate


@entry
def split_stationary(channel: Channel, setting: MapSetting, state: LeapState) -> None:
    """Every run that has just become stationary goes on if splitting some of its clusters lowers L, see `split_test`."""
    channel, setting, state = borrowed(channel), borrowed(setting), borrowed(state)
    for r in range(state.u.shape[0]):
        if state.outcome[r] != STATIONARY or state.splits[r] == 0:
            continue
        n, most, n_y = state.alive[r], state.W.shape[2], channel.p_y.size
        q, q_new, keep = np.empty((n, n_y)), np.empty((most, n_y)), np.empty(most, dtype=np.bool_)
        for z in range(n):
            for y in range(n_y):
                q[z, y] = exp(state.u[r, z * n_y + y])
                q_new[z, y] = q[z, y]
        if n < most:
            rows = split_clusters(channel, state.W[r], q, setting.rho[r], q_new)
            for z in range(most):
                keep[z] = z < rows
        else:  # no room for a split, unless some clusters are equal
            rows = reduce(q_new, q, EQUAL, keep)
        if rows == n or state.iterations[r] >= setting.limit:
            state.splits[r] = 0
            continue
        logs_of_kept(q_new, keep, state.u[r])
        for i in range(rows * n_y):
            state.u_old[r, i] = state.u[r, i]
            state.f_old[r, i] = 0.0
        state.alive_new[r], state.alive_old[r] = rows, rows
        state.held[r], state.kind[r], state.paired[r], state.armed[r] = -1, PLAIN, 0, 0
        state.due[r], state.again[r] = state.iterations[r] + STRIDE, state.iterations[r]
        state.J[r], state.norm[r], state.gate[r] = np.inf, np.inf, 1.0
        state.outcome[r], state.splits[r] = RUNNING, state.splits[r] - 1
