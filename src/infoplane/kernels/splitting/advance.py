"""Solver I and Solver II, and the loop that runs them: many runs of one formulation, each of which ends on its own.

minimise F(p) + G(q) subject to A p = B q, through the augmented Lagrangian (paper, eq. ib_alm)

    L_c(p, q, nu) = F(p) + G(q) + <nu, Ap - Bq> + (c/2) ||Ap - Bq||^2

with relaxation 0 < alpha <= 2: alpha = 1 is ADMM, alpha = 2 is Peaceman-Rachford splitting. ``c`` is a number, or an array of
one penalty per row of the constraint, in which case c ||.||^2 reads as the norm weighted by it.

`solver_one` and `solver_two` are the only places where the two recursions are written, for any pair (F, A), (G, B). Python runs what they
return as it is for a user's own pair (`pair.douglas_rachford`); here the same text is compiled for the paper's formulations. They know
nothing of tolerances, iteration limits, bottlenecks or funnels. The blocks arrive as functions of some ``data`` of theirs,

    argmin_p(data, x, s, c, p) = argmin_p  F(p) - <s, Ap> + (c/2) ||Ap - x||^2        started at the present p
    argmin_q(data, x, s, c, q) = argmin_q  G(q) - <s, Bq> + (c/2) ||Bq - x||^2        started at the present q

called with x = Bq, s = -nu for p, and with x = Ap, s = +nu for q. `ascent`, the step of the dual variable, has a name of its own so that
it can be compiled as a loop: numba takes three seconds for its array expressions.

*The loop.* State lives in arrays with one row per run and is updated in place, so that a caller may advance a few hundred iterations at a
time, show progress, be interrupted, and go on. One iteration of a run is

1. `_tune`                   the automatic penalty follows the masses
2. `iterate`                 one step of the recursion, for p, q = W, v or v, W and A p, B q = W M, v or v, W M
3. `measure`                 residuals, the trace, and whether the run has ended
4. `_mark_dead`              clusters that have lost their mass are dropped; or else
5. `_looked_ahead`           every STRIDE iterations, a leap along a slow tail

*The automatic penalty.* Each row of the constraint gets kappa times the curvature of its own entropy,

    c_zj = kappa boost_zj max(|h_j|, floor) / mass_zj,   the curvature of h_j H(v_j) in v_zj being |h_j| / v_zj.

From some iteration on it may no longer be lowered (`Split.settled`). Then it changes finitely often while masses stay above some eps:
each reset multiplies it by 1/LOW at least, and it never exceeds kappa |h| / eps. After the last reset it is constant, as theorems want it.

*Leaps.* Near a limit the iterates move along one slow mode, W_k - W* ~ r^k. Two successive displacements over a stride of iterations, D0
and D1, give its factor r = <D1, D0> / <D0, D0> over that stride, and D1 r / (1 - r) is the displacement that is left (Aitken). Where the
mode grows, r >= 1, the run is leaving a saddle, and a short leap in the same direction leaves it sooner. nu is extrapolated with W, and
v = W M. A leap is kept if neither the loss nor the augmented Lagrangian rises: residuals, which are small at saddles too, do not decide.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, inlined, part
from ..common import (
    DEAD,
    FAILED,
    RUNNING,
    Flags,
    Integers,
    kept_rows,
    load,
    matmul,
    normalise_columns,
    safe_log,
    save,
)
from .blocks import argmin_encoder, argmin_marginal
from .gradient import gradient_step
from .measure import augmented_lagrangian, is_finite, judge, loss_and_stationarity, measure_run, record_iteration
from .tables import Iterate, Split, State, Tail

Argmin = Callable[..., Any]
Map = Callable[[Any, Any], Any]


def ascent(nu: Any, t: Any, c: Any, Ap: Any, Bq: Any) -> Any:
    """nu + t c (Ap - Bq), up the slope of L_c."""
    return nu + t * c * (Ap - Bq)


def solver_one(
    argmin_p: Argmin, argmin_q: Argmin, A: Map, B: Map, ascent: Callable[..., Any] = ascent
) -> Callable[..., tuple[Any, Any, Any]]:
    """Solver I (paper, eq. main_gen_alg), one iteration per call: the dual variable follows the gradient of F."""

    def iterate(data: Any, p: Any, q: Any, nu: Any, c: Any, alpha: Any) -> tuple[Any, Any, Any]:
        Bq = B(data, q)
        nu = ascent(nu, alpha - 1.0, c, A(data, p), Bq)
        p = argmin_p(data, Bq, -nu, c, p)
        Ap = A(data, p)
        nu = ascent(nu, 1.0, c, Ap, Bq)
        q = argmin_q(data, Ap, nu, c, q)
        return p, q, nu

    return iterate


def solver_two(
    argmin_p: Argmin, argmin_q: Argmin, A: Map, B: Map, ascent: Callable[..., Any] = ascent
) -> Callable[..., tuple[Any, Any, Any]]:
    """Solver II (paper, eq. alg_alt), one iteration per call: the dual variable follows the gradient of G."""

    def iterate(data: Any, p: Any, q: Any, nu: Any, c: Any, alpha: Any) -> tuple[Any, Any, Any]:
        Bq = B(data, q)
        p = argmin_p(data, Bq, -nu, c, p)
        Ap = A(data, p)
        nu = ascent(nu, alpha - 1.0, c, Ap, Bq)
        q = argmin_q(data, Ap, nu, c, q)
        nu = ascent(nu, 1.0, c, Ap, B(data, q))
        return p, q, nu

    return iterate


Data = tuple[Split, Array]
"""What the argmins of a run are given: the splitting, and the multipliers m that the encoder's begins with."""


@inlined
def _argmin(data: Data, of_encoder: bool, x: Array, s: Array, c: Array, u: Array) -> Array:
    """The argmin of one block, started at u."""
    split, m = data
    if split.gradient:
        return gradient_step(split, of_encoder, x, s, c, u)
    return argmin_encoder(split, m, x, s, c, u) if of_encoder else argmin_marginal(split, x, s, c, u)


@inlined
def _argmin_p(data: Data, x: Array, s: Array, c: Array, p: Array) -> Array:
    return _argmin(data, data[0].encoder_first, x, s, c, p)


@inlined
def _argmin_q(data: Data, x: Array, s: Array, c: Array, q: Array) -> Array:
    return _argmin(data, not data[0].encoder_first, x, s, c, q)


@inlined
def _A(data: Data, p: Array) -> Array:
    return matmul(p, data[0].M) if data[0].encoder_first else p


@inlined
def _B(data: Data, q: Array) -> Array:
    return q if data[0].encoder_first else matmul(q, data[0].M)


@part
def _ascent(nu: Array, t: float, c: Array, Ap: Array, Bq: Array) -> Array:
    out = np.empty_like(nu)
    for z in range(nu.shape[0]):
        for j in range(nu.shape[1]):
            out[z, j] = nu[z, j] + t * c[z, j] * (Ap[z, j] - Bq[z, j])
    return out


step_one = inlined(solver_one(_argmin_p, _argmin_q, _A, _B, _ascent))
"""One iteration of Solver I: p, q, nu from (data, p, q, nu, c, alpha)."""

step_two = inlined(solver_two(_argmin_p, _argmin_q, _A, _B, _ascent))
"""One iteration of Solver II."""

# A penalty is reset only when it leaves this band around its target, so that it is constant near the limit.
LOW, HIGH = 0.85, 1.3


@part
def retune(
    h: Array, mass: Array, c: Array, boost: Array, kappa: float, floor: float, may_fall: bool, before: Array
) -> None:
    """Reset the entries of c that have left [LOW, HIGH] times their target, in place; those above it only if c may fall.

    ``before`` gets a copy of c, which the step may raise.
    """
    for z in range(c.shape[0]):
        for j in range(c.shape[1]):
            # 1e14 times a mass near 1 still leaves two digits beside it.
            target = min(kappa * boost[z, j] * max(abs(h[j]), floor) / max(mass[z, j], DEAD), 1e14)
            if c[z, j] < LOW * target or (may_fall and c[z, j] > HIGH * target):
                c[z, j] = target
            before[z, j] = c[z, j]


@part
def remember_raises(boost: Array, c: Array, before: Array) -> None:
    """A row whose penalty a step had to raise keeps the factor, since otherwise `retune` would undo it in every iteration."""
    for z in range(c.shape[0]):
        for j in range(c.shape[1]):
            boost[z, j] *= c[z, j] / before[z, j]


STRIDE = 50  # iterations between two displacements


@part
def leap(p_x: Array, W: Array, W_1: Array, W_0: Array, nu: Array, nu_1: Array) -> tuple[bool, Array, Array]:
    """Extrapolate the slow mode from W, and W_1 and W_0 one and two strides earlier.

    Returns whether there is one, and W and nu where it leads, or those given if there is none.
    """
    dot, square_0, square_1, largest = 0.0, 0.0, 0.0, 0.0
    for z in range(W.shape[0]):
        for i in range(W.shape[1]):
            d_1, d_0 = W[z, i] - W_1[z, i], W_1[z, i] - W_0[z, i]
            dot += p_x[i] * d_1 * d_0
            square_0 += p_x[i] * d_0 * d_0
            square_1 += p_x[i] * d_1 * d_1
            largest = max(largest, abs(d_1))
    # Successive displacements of a cosine above 0.95 count as one mode.
    if dot <= 0.95 * math.sqrt(square_0 * square_1) or square_1 == 0.0:
        return False, W, nu
    r = dot / square_0
    # At most 100 times the last displacement, 5 times from a saddle; and no entry moves by more than 0.1: nu is extrapolated too, and a
    # mode is straight near its limit only.
    far = min(min(r / (1.0 - r), 100.0) if r < 1.0 else 5.0, 0.1 / largest)
    new, nu_new = np.empty_like(W), np.empty_like(nu)
    for z in range(W.shape[0]):
        for i in range(W.shape[1]):
            # A tenth of an entry stays: a cluster that vanishes does so by the recursion itself.
            new[z, i] = max(W[z, i] + far * (W[z, i] - W_1[z, i]), 0.1 * W[z, i])
        for j in range(nu.shape[1]):
            nu_new[z, j] = nu[z, j] + far * (nu[z, j] - nu_1[z, j])
    normalise_columns(new, 0.0)
    return True, new, nu_new


@inlined
def _fetched(split: Split, state: State, r: int) -> tuple[Iterate, Tail]:
    """Copies of run r, with as many rows as it has clusters."""
    n = state.alive[r]
    W = load(state.W, r, n)
    now = Iterate(
        W,
        load(state.v, r, n),
        load(state.nu, r, n),
        load(state.c, r, n),
        load(state.boost, r, n),
        state.m[r],
        matmul(W, split.M),
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
def _mark_dead(W: Array, u: Array, v: Array, keep: Flags) -> int:
    """Mark the clusters to go on with; returns how many have no entry with mass in either block, and hold no letter.

    A cluster that holds the larger part of some letter stays: without it the letter's column would have nothing left to be rescaled.
    """
    dead = 0
    for z in range(u.shape[0]):
        keep[z] = False
        for j in range(u.shape[1]):
            keep[z] = keep[z] or u[z, j] >= DEAD or v[z, j] >= DEAD
        dead += not keep[z]
    for x in range(W.shape[1] if dead > 0 else 0):
        held, largest, at = 0.0, 0.0, 0
        for z in range(W.shape[0]):
            if keep[z]:
                held += W[z, x]
            elif W[z, x] > largest:
                largest, at = W[z, x], z
        if largest > held:
            keep[at] = True
            dead -= 1
    return dead


@inlined
def _without_dead(split: Split, now: Iterate, keep: Flags, kept: int) -> tuple[Iterate, Tail]:
    """Only the marked clusters; the tail begins anew, since earlier iterates have other rows."""
    W, v, nu = kept_rows(now.W, keep, kept), kept_rows(now.v, keep, kept), kept_rows(now.nu, keep, kept)
    c, boost = kept_rows(now.c, keep, kept), kept_rows(now.boost, keep, kept)
    normalise_columns(W, 0.0)
    normalise_columns(v, 0.0)
    now.m[0, 0] = np.nan
    return Iterate(W, v, nu, c, boost, now.m, matmul(W, split.M)), Tail(W, W, nu, 0)


@inlined
def _looked_ahead(split: Split, now: Iterate, tail: Tail) -> tuple[Iterate, Tail]:
    """The iterate to go on from: the extrapolated one, if two displacements of the tail are known and allow it; else the present one.

    The loss is also the augmented Lagrangian where v = W M, as it does after a leap.
    """
    looks = tail.looks
    if looks >= 2:
        found, W, nu = leap(split.p_x, now.W, tail.W_1, tail.W_0, now.nu, tail.nu_1)
        loss = loss_and_stationarity(split, now.W, split.rho, split.width)[0]
        level = augmented_lagrangian(split.h, loss, now.u, now.v, now.nu, now.c, split.encoder_first)
        if found and loss_and_stationarity(split, W, split.rho, split.width)[0] <= min(loss, level):
            u = matmul(W, split.M)
            now.m[0, 0] = np.nan
            _follow(split, u, nu)
            now, looks = Iterate(W, u, nu, now.c, now.boost, now.m, u), -1
    return now, Tail(now.W, tail.W_1, now.nu, looks + 1)


@inlined
def _follow(split: Split, v: Array, nu: Array) -> None:
    """Make nu the gradient that it is after every iteration, -grad F(v) or grad G(v), where it follows the marginal block.

    With that the descent theorem holds from the leap on (docs/explanation/theory.md). Where nu follows the encoder (pf-2) it is kept.
    """
    if (split.order == 1) == split.encoder_first or split.proximal > 0.0:
        return
    sign = 1.0 if split.order == 1 else -1.0
    for z in range(v.shape[0]):
        for j in range(v.shape[1]):
            nu[z, j] = sign * split.h[j] * (safe_log(v[z, j]) + 1.0)


@inlined
def iterate(split: Split, now: Iterate) -> Iterate:
    """One step of the formulation's recursion; c may be raised in place, see `blocks.concave_prox`."""
    p, q = (now.W, now.v) if split.encoder_first else (now.v, now.W)
    if split.order == 1:
        p, q, nu = step_one((split, now.m), p, q, now.nu, now.c, split.alpha)
    else:
        p, q, nu = step_two((split, now.m), p, q, now.nu, now.c, split.alpha)
    W, v = (p, q) if split.encoder_first else (q, p)
    return Iterate(W, v, nu, now.c, now.boost, now.m, matmul(W, split.M))


@inlined
def _tune(split: Split, now: Iterate, iteration: int, c_before: Array) -> None:
    """Reset the automatic penalty, and keep a copy of it: the step may raise it."""
    mass = now.u if split.tune_on_encoder else now.v
    retune(split.h, mass, now.c, now.boost, split.kappa, split.floor, iteration < split.settled, c_before)


@entry
def advance(split: Split, state: State, steps: Integers, trace: Array) -> None:
    """Do steps[r] iterations of run r, fewer if it ends.

    Once split.stop is set, an iteration under way is given up, and the run stays where it was before it. With
    trace.shape[2] = TRACE_COLUMNS every iteration is recorded; with 0 none is, and stationarity is evaluated only once
    the other two residuals are small, and at the end.
    """
    record, automatic = trace.shape[2] > 0, split.kappa > 0.0
    for r in range(steps.size):
        if steps[r] == 0:
            continue
        if split.stop[0] != 0:
            break
        now, tail = _fetched(split, state, r)
        c_before, keep = np.empty_like(now.c), np.empty(now.W.shape[0], dtype=np.bool_)
        for step in range(steps[r]):
            before = now
            if automatic:
                _tune(split, before, state.iterations[r], c_before)
            now = iterate(split, before)
            if split.stop[0] != 0:  # the step may have been cut short
                now = before
                break
            state.iterations[r] += 1
            if not is_finite(now.u, now.v, now.nu):
                state.outcome[r], now = FAILED, before
                break
            if automatic:
                remember_raises(now.boost, now.c, c_before)
            loss = measure_run(split, state, r, now, before, record)
            if record:
                record_iteration(split, now, loss, state.residuals[r], trace[r, step])
            state.outcome[r] = judge(split, state, r, now, before)
            if state.outcome[r] != RUNNING:
                break
            dead = _mark_dead(now.W, now.u, now.v, keep)
            if dead > 0:
                now, tail = _without_dead(split, now, keep, now.W.shape[0] - dead)
            elif split.accelerate and state.iterations[r] % STRIDE == 0:
                now, tail = _looked_ahead(split, now, tail)
        if not record:
            state.residuals[r, 2] = loss_and_stationarity(split, now.W, split.rho, split.width)[1]
        _put_back(state, r, now, tail)
