"""Blahut-Arimoto for many runs: the map of `selfmap`, iterated. For the bottleneck these are the self-consistent equations

p(z|x) prop. to p(z) exp(-(1/gamma) KL[p(y|x) || p(y|z)]),  p(z) = sum p(z|x) p(x),  p(y|z) = p(z,y) / p(z).

One iteration of a run is

1. `weights_of`, `evaluate`   q' from q; with W what the run's check asks for (`_mode`)
2. `ended`                    a row of the trace; if W was compared, whether the run has ended; else the next check
3. `without_dead`             clusters that have lost their mass are left out
"""

from typing import NamedTuple

from ...information import Array
from ...runtime.compiling import entry, inlined
from ..common import LOSS, STATIONARITY, Integers, copy_blocks, fetch, save
from .clusters import without_dead
from .selfmap import (
    COMPARE,
    COMPARING,
    FAR,
    KEEP,
    WRITING,
    ChannelBlocks,
    MapSetting,
    conditional_entropy,
    ended,
    evaluate,
    lowest_residual,
    weights_of,
    work_for,
)


class MapState(NamedTuple):
    """Where the runs of a batch stand; every array has one row per run and is updated in place."""

    W: Array  # (R, blocks, |Z|, BLOCK)  the encoder, written as `check` says; when recording, at every iteration
    L: Array  # (R, blocks, |Z|, BLOCK)  its logarithm, if the map needs it; else (R, 0, 0, 0)
    q: Array  # (R, |Z|, |Y|)            q(z, y)
    h_zx: Array  # (R,)                  H(Z|X), if recording
    check: Integers  # (R,)              FAR, WRITING, COMPARING: see the table in `selfmap`
    alive: Integers  # (R,)              clusters left; they come first
    outcome: Integers  # (R,)            RUNNING, STATIONARY
    iterations: Integers  # (R,)
    residuals: Array  # (R, 3)           primal and dual are 0


@inlined
def _mode(check: int, record: bool) -> int:
    """What the next evaluation does with W: what the check says; a trace compares W at every iteration."""
    if record:
        return KEEP | COMPARE
    return COMPARE if check == COMPARING else KEEP if check == WRITING else 0


@entry
def advance_blahut_arimoto(
    channel: ChannelBlocks, setting: MapSetting, state: MapState, steps: Integers, trace: Array
) -> None:
    """Do steps[r] iterations of run r, fewer if it ends: at a W with max |W - BA(W)| <= tol.

    With trace.shape[2] = TRACE_COLUMNS every iteration is recorded, with 0 none is.
    """
    record = trace.shape[2] > 0
    for r in range(steps.size):
        if setting.stop[0] != 0:
            break
        if steps[r] == 0:
            continue
        rho, width, W, L = setting.rho[r], setting.width[r], state.W[r], state.L[r]
        on_W, work = 1.0 + rho[1] / width, work_for(channel, state.alive[r])
        q, q_new, A = work.tables[0], work.tables[1], work.tables[2]
        check, h_zx = state.check[r], state.h_zx[r]
        fetch(state.q, r, q)
        for step in range(steps[r]):
            W_before = W.copy() if record and check == COMPARING else W
            h_z, h_zy = weights_of(q, rho, width, A, work.mass)
            value, inner, far = evaluate(channel, A, on_W, L, L, W, _mode(check, record), q_new, work)
            state.iterations[r] += 1
            if record:
                loss = rho[0] * h_z + rho[1] * h_zx + rho[2] * (h_zy - setting.h_y)
                trace[r, step, LOSS], trace[r, step, STATIONARITY] = loss, far
                h_zx = conditional_entropy(A, q_new, on_W, value, inner)
            if check == COMPARING and ended(state.outcome, state.residuals, r, far, setting.tol):
                if record:  # W stays the one that was compared
                    copy_blocks(W_before, W)
                break
            near = check != WRITING and lowest_residual(q_new, q, channel.p_y) <= setting.tol
            check = COMPARING if check == WRITING else WRITING if near else FAR
            q, q_new = q_new, q
            n = without_dead(q, W, L, work.keep)
            if n < q.shape[0]:
                q, q_new, A, check = q[:n], q_new[:n], A[:n], FAR
        state.alive[r], state.check[r], state.h_zx[r] = q.shape[0], check, h_zx
        save(state.q, r, q)
