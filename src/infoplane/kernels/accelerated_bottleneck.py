"""The bottleneck's self-consistent equations, accelerated: u = log q(z, y), u <- T(u), T the map of `selfmap`.

J(u) = -k sum_x p(x) log sum_z exp(score) bounds the Lagrangian from above: L(W(u)) <= J(u) and J(T(u)) <= L(W(u)), up to the constant
rho_zy H(Y). So plain steps cannot raise J, and a step that leaps ahead is kept only if it does not either; the residual alone
would lead to saddles. A leap that is refused costs one evaluation: the run goes on from T(u), with an empty history.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..information import Array
from .advance import LOSS, RUNNING, STATIONARITY, STATIONARY, load, save
from .blahut_arimoto import MapSetting, kept, mark_dead
from .clusters import reduce
from .extrapolation import anderson, normalise, remember, squarem
from .fast import exp, floored_log, regrouped
from .jit import entry, inlined, part
from .newton import LARGEST, newton
from .selfmap import COMPARE, KEEP, Channel, evaluate_dense, evaluate_sparse, work_for
from .split import Integers

PLAIN, LEAP, NEWTON, FEWER, MORE, DEADENED = 0, 1, 2, 3, 4, 5  # where a point comes from: T, an extrapolation, clusters merged, clusters split
STRIDE = 10  # iterations between two looks for clusters to merge
SLACK = 1e-14  # rounding of J
FIRST_CAP = 4.0
NEWTON_NORM = 0.03


class LeapState(NamedTuple):
    """Where the runs of a batch stand; every array has one run a row and is updated in place."""

    W: Array  # (R, blocks, |Z|, BLOCK)  the encoder, written when it is looked at
    u: Array  # (R, |Z|, |Y|)            the point that is evaluated next
    u_old: Array  # (R, |Z|, |Y|)        the last point that was kept
    f_old: Array  # (R, |Z|, |Y|)        T(u) - u there
    D_F: Array  # (R, memory, |Z|, |Y|)  Anderson's differences
    D_G: Array  # (R, memory, |Z|, |Y|)
    held: Integers  # (R,)               how many; -1 while SQUAREM leads
    kind: Integers  # (R,)               PLAIN, LEAP, FEWER, MORE
    paired: Integers  # (R,)             is u = T(u_old)? then SQUAREM can leap from there
    armed: Integers  # (R,)              0: far from the end; 1: W is to be written; 2: W is to be compared
    alive: Integers  # (R,)              clusters of W
    alive_new: Integers  # (R,)          clusters of u
    alive_old: Integers  # (R,)          clusters of u_old
    due: Integers  # (R,)                iteration of the next look for clusters to merge
    again: Integers  # (R,)              iteration from which Newton may be tried
    J: Array  # (R,)                     at u_old
    cap: Array  # (R,)                   SQUAREM's longest step
    norm: Array  # (R,)                  of f_old
    gate: Array  # (R,)                  share of tol that the cheap residual must reach before W is compared
    outcome: Integers  # (R,)
    iterations: Integers  # (R,)
    residuals: Array  # (R, 3)


@regrouped
def logs(q: Array, u: Array) -> None:
    """u = log q."""
    for z in range(u.shape[0]):
        for y in range(u.shape[1]):
            u[z, y] = floored_log(q[z, y])


@part
def load_history(table: Array, r: int, rows: int) -> Array:
    """A copy of the first rows of every table of run r."""
    out = np.empty((table.shape[1], rows, table.shape[3]))
    for j in range(table.shape[1]):
        for z in range(rows):
            for y in range(table.shape[3]):
                out[j, z, y] = table[r, j, z, y]
    return out


@part
def save_history(table: Array, r: int, rows: Array) -> None:
    """Puts them back."""
    for j in range(rows.shape[0]):
        for z in range(rows.shape[1]):
            for y in range(rows.shape[2]):
                table[r, j, z, y] = rows[j, z, y]


@regrouped
def weights_of_logs(u: Array, rho: Array, width: float, q: Array, A: Array) -> None:
    """q = exp(u) and A = (rho_z log q(z) + rho_zy u) / width."""
    q_flat, u_flat = q.ravel(), u.ravel()
    for i in range(u_flat.size):
        q_flat[i] = exp(u_flat[i])
    on_z, on_zy = rho[0] / width, rho[2] / width
    for z in range(u.shape[0]):
        mass = 0.0
        for y in range(u.shape[1]):
            mass += q[z, y]
        shift = on_z * floored_log(mass)
        for y in range(u.shape[1]):
            A[z, y] = shift + on_zy * u[z, y]


@regrouped
def displacement(q_new: Array, u: Array, q: Array, p_y: Array, f: Array) -> tuple[float, float]:
    """f = log q' - u; returns max |q' - q| / p(y), which is at most max |W' - W|, and the root of sum q f^2."""
    lowest, total = 0.0, 0.0
    for z in range(u.shape[0]):
        for y in range(u.shape[1]):
            f[z, y] = floored_log(q_new[z, y]) - u[z, y]
            lowest = max(lowest, abs(q_new[z, y] - q[z, y]) / p_y[y])
            total += q[z, y] * f[z, y] * f[z, y]
    return lowest, math.sqrt(total)


@part
def lagrangian_of(q: Array, rho: Array, h_zx: float, h_y: float) -> float:
    """rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y) from q(z, y) and H(Z|X)."""
    value = rho[1] * h_zx - rho[2] * h_y
    for z in range(q.shape[0]):
        mass = 0.0
        for y in range(q.shape[1]):
            mass += q[z, y]
            value -= rho[2] * q[z, y] * floored_log(q[z, y])
        value -= rho[0] * mass * floored_log(mass)
    return value


@part
def room(n: int, n_y: int) -> tuple[Array, Array, Array, Array, Array]:
    """Five tables over (z, y)."""
    return np.empty((n, n_y)), np.empty((n, n_y)), np.empty((n, n_y)), np.empty((n, n_y)), np.empty((n, n_y))


@part
def newton_cost(channel: Channel, n: int) -> int:
    """What Newton's step costs, in evaluations of the map; very much beyond its largest size."""
    d, n_x = n * channel.n_y, channel.p_x.size
    if d > LARGEST:
        return 1 << 40
    return 1 + int((n_x * d * d + d * d * d / 3.0) / (n_x * n * (2.0 * channel.n_y + 20.0)))


def _advancing(evaluate: Callable[..., tuple[float, float, float]], dense: bool) -> Callable[..., None]:
    """The loop, for one way to evaluate the map."""

    def advance(channel: Channel, setting: MapSetting, state: LeapState, trace: Array) -> None:
        record, peek = trace.shape[2] > 0, trace.shape[1] == 0
        steps, nothing = 2 if peek else trace.shape[1], np.empty((0, 0, 0))
        n_y, one_block = state.u.shape[2], channel.p_x.shape[0] == 1
        for r in range(state.u.shape[0]):
            if state.outcome[r] != RUNNING:
                continue
            rho, width = setting.rho[r], setting.width[r]
            n, n_old, W = state.alive_new[r], state.alive_old[r], state.W[r]
            u, u_old, f_old = load(state.u, r, n), load(state.u_old, r, n_old), load(state.f_old, r, n_old)
            D_F, D_G = load_history(state.D_F, r, n), load_history(state.D_G, r, n)
            held, kind, paired, armed = state.held[r], state.kind[r], state.paired[r] == 1, state.armed[r]
            J_old, cap, norm_old, gate = state.J[r], state.cap[r], state.norm[r], state.gate[r]
            due, again = state.due[r], state.again[r]
            if peek:
                u, kind, armed = u_old + f_old, PLAIN, 1
                n = n_old
            A, q, q_new, f, new = room(n, n_y)
            work, step, near, keep, cost = work_for(channel, n), 0, False, np.empty(n, dtype=np.bool_), newton_cost(channel, n)
            while step < steps and (peek or state.iterations[r] < setting.limit):
                if n != u.shape[0]:
                    n = u.shape[0]
                    A, q, q_new, f, new = room(n, n_y)
                    D_F, D_G = np.empty((D_F.shape[0], n, n_y)), np.empty((D_F.shape[0], n, n_y))
                    work, keep, cost = work_for(channel, n), np.empty(n, dtype=np.bool_), newton_cost(channel, n)
                weights_of_logs(u, rho, width, q, A)
                mode = COMPARE if armed == 2 else KEEP if armed == 1 or near or one_block else 0
                value, h_zx, far = evaluate(channel, A, 0.0, nothing, nothing, W, mode, q_new, work)
                J = -width * value
                step += 1
                if mode & KEEP:
                    state.alive[r] = n
                lowest, norm = displacement(q_new, u, q, channel.p_y, f)
                if armed == 2:
                    state.residuals[r, 2] = far
                    if peek:
                        break
                if not peek:
                    state.iterations[r] += 1
                if record:
                    trace[r, step - 1, LOSS] = lagrangian_of(q_new, rho, h_zx, setting.h_y)
                    trace[r, step - 1, STATIONARITY] = far if armed == 2 else lowest
                if armed == 2:
                    if far <= setting.tol:
                        state.outcome[r] = STATIONARY
                        break
                    gate, armed = min(gate, 0.7 * lowest / far), 0
                slack = SLACK * max(1.0, abs(J_old))
                if kind != PLAIN and not (J <= J_old - slack or (J <= J_old + slack and norm <= 2.0 * norm_old)):
                    u = u_old + f_old
                    if kind == LEAP:
                        held, paired, cap = -1, True, max(0.25 * cap, 1.0)
                    elif kind == FEWER:
                        due = state.iterations[r] + 4 * STRIDE
                    else:
                        again = state.iterations[r] + 4 * cost
                    kind = PLAIN
                    continue
                # The point is kept. Where next?
                near = lowest <= 1e4 * gate * setting.tol
                iteration, follow, next_paired = state.iterations[r], PLAIN, False
                if held < 0 and kind == LEAP and norm < norm_old:
                    held, due = 0, min(due, iteration)
                if armed == 1 or lowest <= gate * setting.tol:
                    armed, held, next_paired = 2 if mode & KEEP else 1, -1, True
                elif mark_dead(q_new, keep) > 0:
                    held, follow = -1, DEADENED
                elif iteration >= due and n > 1 and reduce(q_new, q, keep) < n:
                    held, follow = -1, FEWER
                elif held < 0:
                    next_paired = not paired
                    if paired:
                        a = squarem(u_old, f_old, f, q, cap, new)
                        cap = 4.0 * cap if a == cap else cap
                        follow = LEAP
                else:
                    if held > 0 or kind == PLAIN:
                        held = remember(D_F, D_G, held, f, f_old, u, u_old)
                    if dense and mode & KEEP and norm < NEWTON_NORM and iteration >= again and held >= cost // 2:
                        if newton(channel, rho, width, W, u, f, q, q_new, new):
                            follow, again = NEWTON, iteration + cost // 2
                    if follow == PLAIN and held > 0:
                        anderson(u, f, q, D_F, D_G, held, new)
                        follow = LEAP
                if iteration >= due:
                    due = iteration + STRIDE
                if n != u_old.shape[0]:
                    u_old, f_old = np.empty((n, n_y)), np.empty((n, n_y))
                u, u_old, f, f_old = u_old, u, f_old, f
                J_old, norm_old, kind, paired = J, norm, follow, next_paired
                if kind == LEAP or kind == NEWTON:
                    u, new = new, u
                    normalise(u)
                elif kind == PLAIN:
                    logs(q_new, u)
                else:
                    stay = 0
                    for z in range(n):
                        stay += keep[z]
                    u = np.empty((stay, n_y))
                    logs(kept(q_new, keep, stay), u)
                    normalise(u)
                    if kind == DEADENED:
                        kind, u_old, f_old = PLAIN, u.copy(), np.zeros_like(u)
            if peek:
                continue
            state.alive_new[r], state.alive_old[r] = u.shape[0], u_old.shape[0]
            save(state.u, r, u)
            save(state.u_old, r, u_old)
            save(state.f_old, r, f_old)
            save_history(state.D_F, r, D_F)
            save_history(state.D_G, r, D_G)
            state.held[r], state.kind[r], state.paired[r], state.armed[r] = held, kind, 1 if paired else 0, armed
            state.J[r], state.cap[r], state.norm[r], state.gate[r] = J_old, cap, norm_old, gate
            state.due[r], state.again[r] = due, again

    return inlined(advance)


_advance_dense, _advance_sparse = _advancing(evaluate_dense, True), _advancing(evaluate_sparse, False)


@entry
def advance_bottleneck(channel: Channel, setting: MapSetting, state: LeapState, trace: Array) -> None:
    """Advance every running run by at most trace.shape[1] iterations, each one evaluation of the map; stops at max |W - map(W)| <= tol.

    With trace.shape[1] = 0 nothing moves: W becomes the map of where the run stands, and its residual is measured.
    """
    _advance_dense(channel, setting, state, trace)


@entry
def advance_bottleneck_sparse(channel: Channel, setting: MapSetting, state: LeapState, trace: Array) -> None:
    """The same for a sparse joint."""
    _advance_sparse(channel, setting, state, trace)
