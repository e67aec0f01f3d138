"""Blahut-Arimoto for many runs: the map of `selfmap`, iterated. For the bottleneck these are the self-consistent equations

p(z|x) prop. to p(z) exp(-(1/gamma) KL[p(y|x) || p(y|z)]),  p(z) = sum p(z|x) p(x),  p(y|z) = p(z,y) / p(z).
"""

from typing import NamedTuple

from ...information import Array
from ..common.borrow import borrowed, release
from ..common.jit import entry, part
from ..splitting.advance import DEAD, LOSS, RUNNING, STATIONARITY, STATIONARY, fetch, save
from ..splitting.split import Flags, Integers
from .selfmap import COMPARE, KEEP, Channel, conditional_entropy, evaluate_dense, evaluate_sparse, weights_of, work_for


class MapSetting(NamedTuple):
    """What a batch is to do; runs may differ in rho."""

    rho: Array  # (R, 3)
    width: Array  # (R,)
    h_y: float  # H(Y)
    tol: float  # max |W - map(W)| must be at most this
    limit: int  # iterations in all


class MapState(NamedTuple):
    """Where the runs of a batch stand; every array has one run a row and is updated in place."""

    W: Array  # (R, blocks, |Z|, BLOCK)  the encoder, written when it is looked at
    L: Array  # (R, blocks, |Z|, BLOCK)  its logarithm, if the map needs it; else (R, 0, 0, 0)
    q: Array  # (R, |Z|, |Y|)            q(z, y)
    h_zx: Array  # (R,)                  H(Z|X)
    armed: Integers  # (R,)              0: far from the end; 1: W is to be written; 2: W is to be compared
    alive: Integers  # (R,)              clusters left; they come first
    outcome: Integers  # (R,)            RUNNING, STATIONARY
    iterations: Integers  # (R,)
    residuals: Array  # (R, 3)           primal and dual are 0


@part
def mark_dead(q: Array, keep: Flags) -> int:
    """Marks the clusters with mass; returns how many have none."""
    dead = 0
    for z in range(q.shape[0]):
        mass = 0.0
        for y in range(q.shape[1]):
            mass += q[z, y]
        keep[z] = mass >= DEAD
        dead += not keep[z]
    return dead


@part
def move_up(table: Array, keep: Flags) -> None:
    """Moves the marked rows to the front, in place."""
    row = 0
    for z in range(keep.shape[0]):
        if keep[z]:
            for i in range(table.shape[1]):
                table[row, i] = table[z, i]
            row += 1


@part
def keep_rows(blocks: Array, keep: Flags) -> None:
    """The same in every block."""
    for c in range(blocks.shape[0]):
        move_up(blocks[c], keep)


@part
def settled(q_new: Array, q: Array, p_y: Array, tol: float) -> bool:
    """Is max |q' - q| / p(y), which is at most max |W' - W| since q = W P, within tol? A cheap sign that the end may be near."""
    for z in range(q.shape[0]):
        for y in range(q.shape[1]):
            if abs(q_new[z, y] - q[z, y]) > tol * p_y[y]:
                return False
    return True


@entry
def advance_blahut_arimoto(channel: Channel, setting: MapSetting, state: MapState, trace: Array) -> None:
    """Advance every running run by at most trace.shape[1] iterations; stops at W with max |W - BA(W)| <= tol.

    With trace.shape[1] = 0 nothing moves: W becomes the map of where the run stands, and its residual is measured.
    """
    channel, setting, state, trace = borrowed(channel), borrowed(setting), borrowed(state), borrowed(trace)
    record, peek, sparse = trace.shape[2] > 0, trace.shape[1] == 0, channel.letters.shape[0] > 0
    steps = 2 if peek else trace.shape[1]
    for r in range(state.q.shape[0]):
        if state.outcome[r] != RUNNING:
            continue
        rho, width = setting.rho[r], setting.width[r]
        on_W = 1.0 + rho[1] / width
        n, armed, h_zx = state.alive[r], state.armed[r], state.h_zx[r]
        room = work_for(channel, n)
        work = borrowed(room)
        W, L, q, q_new, A = state.W[r], state.L[r], work.tables[0], work.tables[1], work.tables[2]
        fetch(state.q, r, q)
        if peek:  # W is not touched if a comparison with it is still to come
            going = record and state.iterations[r] < setting.limit
            armed, L = 2 if going or armed == 2 else 1, L.copy()
        step, again, L_now = 0, False, L
        while step < steps and (peek or state.iterations[r] < setting.limit):
            looking = armed == 2
            h_z, h_zy = weights_of(q, rho, width, A, work.mass)
            mode = KEEP if again or armed == 1 else 0
            if looking and not again:
                mode = COMPARE
            elif record:
                mode = KEEP | COMPARE
            if looking and record and not again:
                L_now = L.copy()
            if sparse:
                value, inner, far = evaluate_sparse(channel, A, on_W, L_now, L, W, mode, q_new, work)
            else:
                value, inner, far = evaluate_dense(channel, A, on_W, L_now, L, W, mode, q_new, work)
            if not again:
                step += 1
                if not peek:
                    state.iterations[r] += 1
                if record and not peek:
                    trace[r, step - 1, LOSS] = rho[0] * h_z + rho[1] * h_zx + rho[2] * (h_zy - setting.h_y)
                    trace[r, step - 1, STATIONARITY] = far
                if looking:
                    state.residuals[r, 2] = far
                    if peek:
                        break
                    if far <= setting.tol:
                        state.outcome[r] = STATIONARY
                        break
                    again = record  # the next comparison is to be with this encoder
                    if again:
                        continue
            again, L_now = False, L
            armed = 2 if armed == 1 else 1 if settled(q_new, q, channel.p_y, setting.tol) else 0
            if record:
                h_zx = conditional_entropy(A, q_new, on_W, value, inner)
            q, q_new = q_new, q
            dead = mark_dead(q, work.keep)
            if dead > 0 and not peek:
                keep = work.keep[:n]
                move_up(q, keep)
                keep_rows(W, keep)
                keep_rows(L, keep)
                n, armed = n - dead, 0
                q, q_new, A = q[:n], q_new[:n], A[:n]
        if not peek:
            state.alive[r], state.armed[r], state.h_zx[r] = n, armed, h_zx
            save(state.q, r, q)
        release(room)
