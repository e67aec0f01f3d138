"""The monotone map on encoders, accelerated: for the funnel, beta > 1,

W'[z, x] prop. to W[z, x]^(b) p(z) exp(-b sum_y p(y|x) log p(z|y)),  b = beta / (beta - 1),

and in general W exp(-g/k), normalised, which cannot raise L (`MarkovLagrangian.width`). With L = log W and T the map, a cycle has three
evaluations, and its stage says which comes next:

======  ====================================================  ==========================================================================
stage   the evaluation                                        what follows
======  ====================================================  ==========================================================================
FIRST   L1 = T(L0)                                            SECOND
SECOND  L2 = T(L1)                                            FIRST from L2, if T moves some entry by more than NEAR, or if W is to be
                                                              compared next; else SQUAREM's point is put over L0, and LEAPED
LEAPED  the point is normalised, and its Lagrangian measured  FIRST from the point if its Lagrangian is not above that at L2 (and the
                                                              next leap may be STRETCH times as long); else FIRST from L2 (and shorter)
======  ====================================================  ==========================================================================

SQUAREM's point is L0 + 2 a r + a^2 v, r = L1 - L0, v = (L2 - L1) - r, a = |r| / |v|, norms weighted by p(x) p(z|x). The tables of L0, L1
and L2 take turns: ``base`` says which one is L0. The map needs W, so W is written at every evaluation, except while it is compared: of the
states of `selfmap` only FAR and COMPARING occur. One iteration of a run is `_evaluate`, `ended`, `_what_follows` and,
between two cycles, `without_dead`.
"""

import math
from typing import NamedTuple

from ...information import Array
from ...runtime.compiling import entry, inlined
from ..common import LOG_TINY, LOSS, STATIONARITY, Integers, exp, fetch, regrouped, save
from .clusters import without_dead
from .extrapolation import LONGEST, SLACK, STRETCH
from .selfmap import (
    COMPARE,
    COMPARING,
    FAR,
    KEEP,
    ChannelBlocks,
    MapSetting,
    Scratch,
    clear,
    ended,
    evaluate,
    lagrangian_of,
    weights_of,
    work_for,
)

FIRST, SECOND, LEAPED = range(3)


class CycleState(NamedTuple):
    """Where the runs of a batch stand; every array has one row per run and is updated in place."""

    W: Array  # (R, blocks, |Z|, BLOCK)     the encoder that was evaluated last
    L: Array  # (R, 3, blocks, |Z|, BLOCK)  L0, L1, L2; the extrapolated point takes the place of L0
    q: Array  # (R, |Z|, |Y|)               q(z, y) of the point that is evaluated next; before LEAPED, of L2
    stage: Integers  # (R,)                 FIRST, SECOND, LEAPED
    base: Integers  # (R,)                  which of the three tables is L0
    check: Integers  # (R,)                 FAR, COMPARING: see the table in `selfmap`
    alive: Integers  # (R,)                 clusters left; they come first
    value: Array  # (R,)                    the Lagrangian at L2
    cap: Array  # (R,)                      the longest step of a leap
    outcome: Integers  # (R,)               RUNNING, STATIONARY
    iterations: Integers  # (R,)
    residuals: Array  # (R, 3)              primal and dual are 0


@regrouped
def leap_ahead(L0: Array, L1: Array, L2: Array, W: Array, p_x: Array, n: int, cap: float) -> float:
    """Put SQUAREM's point over L0; returns its step length a, at least 1 and at most cap."""
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
    """Fill W = exp(L), 0 on padding."""
    for c in range(L.shape[0]):
        l, w, p = L[c], W[c], p_x[c]
        for z in range(n):
            for i in range(p.size):
                w[z, i] = exp(l[z, i]) if p[i] > 0.0 else 0.0


@inlined
def _evaluate(
    channel: ChannelBlocks, rho: Array, width: float, stage: int, base: int, check: int, L: Array, W: Array, q: Array,
    q_new: Array, A: Array, work: Scratch,
) -> tuple[float, float]:  # fmt: skip
    """The evaluation of a stage, as in the module's table: sum p(x) W' log W', and max |W' - W|."""
    here, there, on_W = L[(base + stage) % 3], L[(base + stage + 1) % 3], 1.0 + rho[1] / width
    if stage == LEAPED:  # to normalise is to apply the map of a Lagrangian without rho
        here, there, on_W = L[base], L[base], 1.0
        clear(A)
    else:
        weights_of(q, rho, width, A, work.mass)
    mode = COMPARE if check == COMPARING else KEEP if stage == LEAPED else KEEP | COMPARE
    _, inner, far = evaluate(channel, A, on_W, here, there, W, mode, q_new, work)
    return inner, far


@inlined
def _what_follows(
    stage: int, base: int, cap: float, check: int, far: float, kept: bool, L: Array, W: Array, p_x: Array, n: int
) -> tuple[int, int, float]:
    """The next stage, as in the module's table, with its base and cap."""
    last = (base + 2) % 3
    if stage == FIRST:
        return SECOND, base, cap
    # Leaps begin once the map moves no entry of W farther than 0.01: before, they decide too early which letters share a cluster, and more
    # runs end worse than without them (tests/kernels/fixed_point/test_accelerated_funnel.py, docs/benchmarks/accelerated.md).
    if stage == SECOND and (check == COMPARING or far > 0.01):
        return FIRST, last, cap
    if stage == SECOND:
        reached = leap_ahead(L[base], L[(base + 1) % 3], L[last], W, p_x, n, cap)
        return LEAPED, base, STRETCH * cap if reached == cap else cap
    if kept:
        return FIRST, base, cap
    encoder_of(L[last], p_x, n, W)
    return FIRST, last, max(cap / STRETCH, 1.0)


@entry
def advance_funnel(
    channel: ChannelBlocks, setting: MapSetting, state: CycleState, steps: Integers, trace: Array
) -> None:
    """Do steps[r] iterations of run r, each one evaluation of the map, fewer if it ends: at max |W - map(W)| <= tol.

    With trace.shape[2] = TRACE_COLUMNS every iteration is recorded, with 0 none is.
    """
    record, tol, p_x = trace.shape[2] > 0, setting.tol, channel.p_x
    for r in range(steps.size):
        if setting.stop[0] != 0:
            break
        if steps[r] == 0:
            continue
        rho, width, W, L = setting.rho[r], setting.width[r], state.W[r], state.L[r]
        stage, base, check = state.stage[r], state.base[r], state.check[r]
        value, cap, work = state.value[r], state.cap[r], work_for(channel, state.alive[r])
        q, q_new, A = work.tables[0], work.tables[1], work.tables[2]
        fetch(state.q, r, q)
        for step in range(steps[r]):
            inner, far = _evaluate(channel, rho, width, stage, base, check, L, W, q, q_new, A, work)
            state.iterations[r] += 1
            value_new, kept = lagrangian_of(q_new, rho, -inner, setting.h_y), True
            if stage == LEAPED:
                kept = value_new <= value + SLACK * max(1.0, abs(value))
            else:
                state.residuals[r, 2] = far
            if record:
                trace[r, step, LOSS] = value_new if kept else value
                trace[r, step, STATIONARITY] = state.residuals[r, 2]
            if check == COMPARING:
                if ended(state.outcome, state.residuals, r, far, tol):
                    break
                encoder_of(L[(base + stage + 1) % 3], p_x, q.shape[0], W)
            check = COMPARING if stage != LEAPED and far <= tol else FAR
            if kept:
                q, q_new, value = q_new, q, value_new
            stage, base, cap = _what_follows(stage, base, cap, check, far, kept, L, W, p_x, q.shape[0])
            n = without_dead(q, W, L[base], work.keep) if stage == FIRST else q.shape[0]  # between two cycles
            if n < q.shape[0]:
                q, q_new, A, check = q[:n], q_new[:n], A[:n], FAR
        state.alive[r], state.stage[r], state.base[r], state.check[r] = q.shape[0], stage, base, check
        state.value[r], state.cap[r] = value, cap
        save(state.q, r, q)
