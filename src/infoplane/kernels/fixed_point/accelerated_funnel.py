"""The monotone map on encoders, accelerated: for the funnel, beta > 1,

W'[z, x] prop. to W[z, x]^(b) p(z) exp(-b sum_y p(y|x) log p(z|y)),  b = beta / (beta - 1),

and in general W exp(-g/k), normalised, which cannot raise L (`MarkovLagrangian.width`). Three evaluations a cycle: L1 = T(L0), L2 = T(L1)
for L = log W, and the normalised SQUAREM point L0 + 2 a r + a^2 v, r = L1 - L0, v = (L2 - L1) - r, weighed by p(x) p(z|x). It is kept
if its Lagrangian is not above that of L2; then the step may be four times as long, else a quarter. Far from a
fixed point there are no leaps.
"""

import math
from typing import NamedTuple

from ...information import Array
from ..common.borrow import borrowed, release
from ..common.fast import exp, regrouped
from ..common.jit import entry
from ..common.roots import LOG_TINY
from ..splitting.advance import LOSS, RUNNING, STATIONARITY, STATIONARY, fetch, save
from ..splitting.split import Integers
from .accelerated_bottleneck import GROWTH, SLACK, lagrangian_of
from .blahut_arimoto import MapSetting, keep_rows, mark_dead, move_up
from .extrapolation import LONGEST
from .selfmap import COMPARE, KEEP, Channel, evaluate_dense, evaluate_sparse, weights_of, work_for

FIRST, SECOND, THIRD = 0, 1, 2  # which evaluation of the cycle comes next
NEAR = 0.01
"""Leaps begin once the map moves no entry of W farther than this: before, they decide too early which letters go together, and more runs
end worse than without them (tests/test_accelerated.py, docs/benchmarks/accelerated.md)."""


class CycleState(NamedTuple):
    """Where the runs of a batch stand; every array has one run a row and is updated in place."""

    W: Array  # (R, blocks, |Z|, BLOCK)     the encoder that was evaluated last
    L: Array  # (R, 3, blocks, |Z|, BLOCK)  L0, L1, L2; the extrapolated point takes the place of L0
    q: Array  # (R, |Z|, |Y|)               of the point that is evaluated next; before THIRD, of L2
    stage: Integers  # (R,)                 FIRST, SECOND, THIRD
    base: Integers  # (R,)                  which of the three tables is L0
    armed: Integers  # (R,)                 1: the last residual was small, W is to stay as it is while it is measured
    alive: Integers  # (R,)
    value: Array  # (R,)                    the Lagrangian at L2
    cap: Array  # (R,)                      the longest step
    outcome: Integers  # (R,)
    iterations: Integers  # (R,)
    residuals: Array  # (R, 3)


@regrouped
def leap_ahead(L0: Array, L1: Array, L2: Array, W: Array, p_x: Array, n: int, cap: float) -> float:
    """SQUAREM's point, over L0; returns its step length, at least 1 and at most cap."""
    on_r, on_v = 0.0, 0.0
    for c in range(L0.shape[0]):
        a, b, e, w, p = L0[c], L1[c], L2[c], W[c], p_x[c]
        for z in range(n):
            for i in range(p.size):
                r = b[z, i] - a[z, i]
                v = (e[z, i] - b[z, i]) - r
                weight = p[i] * w[z, i]
                on_r += weight * r * r
                on_v += weight * v * v
    step = min(max(math.sqrt(on_r / on_v), 1.0), cap) if on_v > 0.0 else 1.0
    for c in range(L0.shape[0]):
        a, b, e = L0[c], L1[c], L2[c]
        for z in range(n):
            for i in range(a.shape[1]):
                r = b[z, i] - a[z, i]
                v = (e[z, i] - b[z, i]) - r
                far = min(max(2.0 * step * r + step * step * v, -LONGEST), LONGEST)
                a[z, i] = max(a[z, i] + far, LOG_TINY)
    return step


@regrouped
def encoder_of(L: Array, p_x: Array, n: int, W: Array) -> None:
    """W = exp(L), 0 on padding."""
    for c in range(L.shape[0]):
        l, w, p = L[c], W[c], p_x[c]
        for z in range(n):
            for i in range(p.size):
                w[z, i] = exp(l[z, i]) if p[i] > 0.0 else 0.0


@entry
def advance_funnel(channel: Channel, setting: MapSetting, state: CycleState, trace: Array) -> None:
    """Advance every running run by at most trace.shape[1] iterations, each one evaluation of the map; stops at max |W - map(W)| <= tol.

    With trace.shape[1] = 0 nothing moves: W becomes the encoder where the run stands, and its residual is measured.
    """
    channel, setting, state, trace = borrowed(channel), borrowed(setting), borrowed(state), borrowed(trace)
    record, peek, sparse = trace.shape[2] > 0, trace.shape[1] == 0, channel.letters.shape[0] > 0
    steps = 1 if peek else trace.shape[1]
    for r in range(state.q.shape[0]):
        if state.outcome[r] != RUNNING:
            continue
        rho, width, W = setting.rho[r], setting.width[r], state.W[r]
        n, stage, base, armed = state.alive[r], state.stage[r], state.base[r], state.armed[r] == 1
        value, cap = state.value[r], state.cap[r]
        room, step = work_for(channel, n), 0
        work = borrowed(room)
        q, q_new, A = work.tables[0], work.tables[1], work.tables[2]
        fetch(state.q, r, q)
        while step < steps and (peek or state.iterations[r] < setting.limit):
            here, there = state.L[r, (base + stage) % 3], state.L[r, (base + stage + 1) % 3]
            on_W = 1.0 + rho[1] / width
            if peek:  # W is up to date, before THIRD as that of L2; it only has to be measured
                here = state.L[r, (base + stage) % 3]
                stage, armed, there = FIRST, True, here.copy()
            if stage == THIRD:  # normalise the point, which is the map of a Lagrangian without rho
                here, there, on_W = state.L[r, base], state.L[r, base], 1.0
                for z in range(n):
                    for y in range(A.shape[1]):
                        A[z, y] = 0.0
            else:
                weights_of(q, rho, width, A, work.mass)
            mode = COMPARE if armed else KEEP if stage == THIRD else KEEP | COMPARE
            if sparse:
                _, inner, far = evaluate_sparse(channel, A, on_W, here, there, W, mode, q_new, work)
            else:
                _, inner, far = evaluate_dense(channel, A, on_W, here, there, W, mode, q_new, work)
            step += 1
            if stage != THIRD:
                state.residuals[r, 2] = far
            if peek:
                break
            state.iterations[r] += 1
            value_new = lagrangian_of(q_new, rho, -inner, setting.h_y)
            kept_point = stage != THIRD or value_new <= value + SLACK * max(1.0, abs(value))
            if record:
                trace[r, step - 1, LOSS] = value_new if kept_point else value
                trace[r, step - 1, STATIONARITY] = state.residuals[r, 2]
            if armed:
                if far <= setting.tol:
                    state.outcome[r] = STATIONARY
                    break
                encoder_of(there, channel.p_x, n, W)
            armed = stage != THIRD and far <= setting.tol
            if kept_point:
                q, q_new, value = q_new, q, value_new
            if stage == FIRST:
                stage = SECOND
            elif stage == SECOND:
                if armed or far > NEAR:
                    base, stage = (base + 2) % 3, FIRST
                else:
                    tables = state.L[r]
                    reached = leap_ahead(tables[base], tables[(base + 1) % 3], there, W, channel.p_x, n, cap)
                    cap = GROWTH * cap if reached == cap else cap
                    stage = THIRD
            else:
                stage = FIRST
                if not kept_point:
                    cap = max(cap / GROWTH, 1.0)
                    base = (base + 2) % 3
                    encoder_of(state.L[r, base], channel.p_x, n, W)
            if stage == FIRST:
                dead = mark_dead(q, work.keep)
                if dead > 0:
                    keep = work.keep[:n]
                    move_up(q, keep)
                    keep_rows(W, keep)
                    keep_rows(state.L[r, base], keep)
                    n, armed = n - dead, False
                    q, q_new, A = q[:n], q_new[:n], A[:n]
        if not peek:
            state.alive[r], state.stage[r], state.base[r], state.armed[r] = n, stage, base, 1 if armed else 0
            state.value[r], state.cap[r] = value, cap
            save(state.q, r, q)
        release(room)
