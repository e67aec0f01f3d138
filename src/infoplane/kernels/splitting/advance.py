"""Many runs of one formulation, each of which ends on its own: the loop around Solver I and Solver II.

The recursions are those of `douglas_rachford`, compiled (`blocks`). State lives in arrays with one row per run and is updated in
place, so that a caller may advance a few hundred iterations at a time, show progress, be interrupted, and go on. One iteration of a run is

1. `_tune`                   the automatic penalty follows the masses
2. `iterate`                 one step of the recursion
3. `stopping`                residuals, the trace, and whether the run has ended
4. `_dead`, `_without_dead`  clusters that have lost their mass are dropped; or else
5. `_looked_ahead`           every STRIDE iterations, a leap along a slow tail (`acceleration`)
"""

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, inlined, part
from ..common.numerics import safe_log
from ..common.rows import FAILED, RUNNING, Flags, Integers, copy_rows, kept_rows, load, mark_dead_in_both, matmul, save
from .acceleration import STRIDE, leap
from .blocks import step_one, step_two
from .measure import augmented_lagrangian, lagrangian, loss_and_stationarity
from .penalty import FLOOR, remember_raises, retune
from .stopping import is_finite, judge, measure, record_iteration
from .tables import Iterate, Setting, Split, State, Tables, Tail, Weights


@part
def split_of(tables: Tables, setting: Setting, state: State, r: int, scale: float) -> Split:
    """The data that the steps of run r need."""
    return Split(
        tables.p_x,
        tables.p_y,
        tables.P,
        tables.T,
        tables.M,
        tables.features,
        setting.h[r],
        (setting.a[r, 0], setting.a[r, 1], setting.a[r, 2]),
        (setting.d[r, 0], setting.d[r, 1]),
        setting.inner,
        setting.inner_tol,
        setting.kappa > 0.0,
        max(setting.kappa, 1.0) * scale,
        setting.proximal,
        setting.first_step,
        setting.gradient,
        setting.encoder_first,
        setting.stop,
        state.m[r],
    )


@inlined
def _fetched(tables: Tables, state: State, r: int) -> tuple[Iterate, Tail]:
    """Copies of run r, with as many rows as it has clusters."""
    n = state.alive[r]
    W = load(state.W, r, n)
    now = Iterate(
        W, load(state.v, r, n), load(state.nu, r, n), load(state.c, r, n), load(state.boost, r, n), matmul(W, tables.M)
    )
    return now, Tail(load(state.W_1, r, n), load(state.W_0, r, n), load(state.nu_1, r, n), state.looks[r])


@inlined
def _put_back(state: State, r: int, now: Iterate, tail: Tail) -> None:
    state.alive[r], state.looks[r] = now.W.shape[0], tail.looks
    save(state.W, r, now.W)
    save(state.v, r, now.v)
    save(state.nu, r, now.nu)
    save(state.c, r, now.c)
    save(state.boost, r, now.boost)
    save(state.W_1, r, tail.W_1)
    save(state.W_0, r, tail.W_0)
    save(state.nu_1, r, tail.nu_1)


@part
def _keep_last_holders(W: Array, keep: Flags) -> int:
    """Mark also the cluster that holds the larger part of some letter, of less mass than `DEAD` or not; returns how many were added.

    Without it the letter's column would have nothing left to be rescaled.
    """
    added = 0
    for x in range(W.shape[1]):
        held, largest, at = 0.0, 0.0, 0
        for z in range(W.shape[0]):
            if keep[z]:
                held += W[z, x]
            elif W[z, x] > largest:
                largest, at = W[z, x], z
        if largest > held:
            keep[at] = True
            added += 1
    return added


@inlined
def _without_dead(split: Split, now: Iterate, keep: Flags, kept: int) -> tuple[Iterate, Tail]:
    """Only the marked clusters; the tail begins anew, since earlier iterates have other rows."""
    W, v = kept_rows(now.W, keep, kept, True), kept_rows(now.v, keep, kept, True)
    nu, c = kept_rows(now.nu, keep, kept, False), kept_rows(now.c, keep, kept, False)
    boost = kept_rows(now.boost, keep, kept, False)
    split.m[0, 0] = np.nan
    return Iterate(W, v, nu, c, boost, matmul(W, split.M)), Tail(W, W, nu, 0)


@inlined
def _looked_ahead(split: Split, setting: Setting, rho: Weights, now: Iterate, tail: Tail) -> tuple[Iterate, Tail]:
    """The iterate to go on from: the extrapolated one, if two displacements of the tail are known and allow it; else the present one.

    A leap is taken only if the augmented Lagrangian, which is the loss where v = W M, does not rise by it either.
    """
    looks = tail.looks
    if looks >= 2:
        leaped, W, nu = leap(split, rho, now.W, tail.W_1, tail.W_0, now.nu, tail.nu_1)
        loss = lagrangian(split, now.W, rho)
        level = augmented_lagrangian(split.h, loss, now.u, now.v, now.nu, now.c, setting.encoder_first)
        if leaped and lagrangian(split, W, rho) <= level:
            u = matmul(W, split.M)
            split.m[0, 0] = np.nan
            _follow(split, setting, u, nu)
            now, looks = Iterate(W, u.copy(), nu, now.c, now.boost, u), -1
    return now, Tail(now.W, tail.W_1, now.nu, looks + 1)


@inlined
def _follow(split: Split, setting: Setting, v: Array, nu: Array) -> None:
    """Make nu the gradient that it is after every iteration, -grad F(v) or grad G(v), where it follows the marginal block.

    With that the descent theorem holds from the leap on (docs/explanation/theory.md). Where nu follows the encoder (pf-2) it is kept.
    """
    if (setting.order == 1) == setting.encoder_first or setting.proximal > 0.0:
        return
    sign = 1.0 if setting.order == 1 else -1.0
    for z in range(v.shape[0]):
        for j in range(v.shape[1]):
            nu[z, j] = sign * split.h[j] * (safe_log(v[z, j]) + 1.0)


@inlined
def iterate(split: Split, setting: Setting, now: Iterate) -> Iterate:
    """One step of the formulation's recursion; c may be raised in place, see `marginal.concave_prox`."""
    p, q = (now.W, now.v) if setting.encoder_first else (now.v, now.W)
    if setting.order == 1:
        p, q, nu = step_one(split, p, q, now.nu, now.c, setting.alpha)
    else:
        p, q, nu = step_two(split, p, q, now.nu, now.c, setting.alpha)
    W, v = (p, q) if setting.encoder_first else (q, p)
    return Iterate(W, v, nu, now.c, now.boost, matmul(W, split.M))


@inlined
def _tune(split: Split, setting: Setting, now: Iterate, iteration: int, scale: float, c_before: Array) -> None:
    """Reset the automatic penalty, and keep a copy of it: the step may raise it."""
    mass = now.u if setting.tune_on_encoder else now.v
    retune(split.h, mass, now.c, now.boost, setting.kappa, FLOOR * scale, iteration < setting.settled)
    copy_rows(now.c, c_before)


@inlined
def _dead(now: Iterate, keep: Flags) -> int:
    """Mark the clusters to go on with; returns how many have lost their mass in both blocks, and hold no letter."""
    dead = mark_dead_in_both(now.u, now.v, keep)
    return dead - _keep_last_holders(now.W, keep) if dead > 0 else 0


@entry
def advance(tables: Tables, setting: Setting, state: State, steps: Integers, trace: Array) -> None:
    """Do steps[r] iterations of run r, fewer if it ends.

    Once setting.stop is set, an iteration under way is given up, and the run stays where it was before it. With
    trace.shape[2] = TRACE_COLUMNS every iteration is recorded; with 0 none is, and stationarity is evaluated only once
    the other two residuals are small, and at the end.
    """
    record, automatic = trace.shape[2] > 0, setting.kappa > 0.0
    for r in range(steps.size):
        if steps[r] == 0:
            continue
        if setting.stop[0] != 0:
            break
        rho = (setting.rho[r, 0], setting.rho[r, 1], setting.rho[r, 2])
        scale = max(abs(rho[0]), abs(rho[1]), abs(rho[2]))
        split = split_of(tables, setting, state, r, scale)
        now, tail = _fetched(tables, state, r)
        c_before, keep = np.empty_like(now.c), np.empty(now.W.shape[0], dtype=np.bool_)
        for step in range(steps[r]):
            before = now
            if automatic:
                _tune(split, setting, before, state.iterations[r], scale, c_before)
            now = iterate(split, setting, before)
            if setting.stop[0] != 0:  # the step may have been cut short
                now = before
                break
            state.iterations[r] += 1
            if not is_finite(now):
                state.outcome[r], now = FAILED, before
                break
            if automatic:
                remember_raises(now.boost, now.c, c_before)
            loss = measure(split, setting, state, r, now, before, rho, record)
            if record:
                record_iteration(split, setting, now, loss, state.residuals[r], trace[r, step])
            state.outcome[r] = judge(setting, state, r, now, before)
            if state.outcome[r] != RUNNING:
                break
            dead = _dead(now, keep)
            if dead > 0:
                now, tail = _without_dead(split, now, keep, now.W.shape[0] - dead)
            elif setting.accelerate and state.iterations[r] % STRIDE == 0:
                now, tail = _looked_ahead(split, setting, rho, now, tail)
        if not record:
            state.residuals[r, 2] = loss_and_stationarity(split, now.W, rho, setting.width[r])[1]
        _put_back(state, r, now, tail)
