"""Many runs of one formulation, each stopping by itself: the loop around `solver_one` and `solver_two`.

The recursions are those of `splitting.douglas_rachford`, compiled. State lives in arrays with one run a row and is updated in
place, so that a caller may advance a few hundred iterations at a time, look, show progress, be interrupted, and go on.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...information import Array
from ..common.borrow import borrowed
from ..common.jit import entry, inlined, part
from .acceleration import STRIDE, leap
from .douglas_rachford import solver_one, solver_two
from .encoder import argmin_encoder
from .gradient import gradient_encoder, gradient_marginal
from .marginal import argmin_marginal
from .measure import augmented_lagrangian, lagrangian, largest_difference, stationarity
from .split import Flags, Setting, Split, State, Tables, matmul

RUNNING, STATIONARY, PRIMAL_ONLY, STALLED, FAILED = 0, 1, 2, 3, 4

# Columns of a trace.
LOSS, AUGMENTED, PRIMAL, DUAL, STATIONARITY, PENALTY = 0, 1, 2, 3, 4, 5
TRACE_COLUMNS = 6

DEAD = 1e-12  # a cluster is dropped when both its copies hold less mass than this
STALL_PATIENCE = 100  # iterations without any movement
LOW, HIGH = (
    0.85,
    1.3,
)  # a penalty is reset only when it leaves this band around its target, so that it freezes near the limit
LARGEST = 1e14
FLOOR = 0.05  # smallest weight, relative to the largest rho, that an entropy counts with in its penalty


@part
def _marginals(split: Split, W: Array) -> Array:
    return matmul(W, split.M)


@part
def _identity(_split: Split, v: Array) -> Array:
    return v


@part
def _sum(table: Array) -> float:
    total = 0.0
    for z in range(table.shape[0]):
        for j in range(table.shape[1]):
            total += table[z, j]
    return total


@part
def _retune(split: Split, mass: Array, c: Array, boost: Array, kappa: float, floor: float) -> None:
    """c_zj = kappa boost_zj |h_j| / mass_zj, the curvature of the row's own entropy; reset only outside [LOW, HIGH] of that."""
    for z in range(c.shape[0]):
        for j in range(c.shape[1]):
            target = min(kappa * boost[z, j] * max(abs(split.h[j]), floor) / max(mass[z, j], DEAD), LARGEST)
            if not (LOW * target <= c[z, j] <= HIGH * target):
                c[z, j] = target


@part
def _remember(boost: Array, c: Array, before: Array) -> None:
    """A row whose penalty a step had to raise keeps the factor, lest `_retune` undo it and the two take turns for ever."""
    for z in range(c.shape[0]):
        for j in range(c.shape[1]):
            boost[z, j] *= c[z, j] / before[z, j]


@part
def _dual_residual(c: Array, q: Array, q_old: Array) -> float:
    """Max Bq c |B(q - q_old)|: how far p is from its first-order condition, each row weighed by the mass that it acts on.

    On the simplex a wrong slope matters in proportion to the mass it moves. Unweighed, a dying cluster could never pass: its
    row-scaled c grows as fast as its mass falls.
    """
    largest = 0.0
    for z in range(q.shape[0]):
        for j in range(q.shape[1]):
            largest = max(largest, q[z, j] * c[z, j] * abs(q[z, j] - q_old[z, j]))
    return largest


@part
def _total_variation(u: Array, v: Array) -> float:
    """Sum |u - v|, the paper's primal residual."""
    total = 0.0
    for z in range(u.shape[0]):
        for j in range(u.shape[1]):
            total += abs(u[z, j] - v[z, j])
    return total


@part
def _largest(table: Array) -> float:
    largest = 0.0
    for z in range(table.shape[0]):
        for j in range(table.shape[1]):
            largest = max(largest, abs(table[z, j]))
    return largest


@part
def count_dead(u: Array, v: Array, keep: Flags) -> int:
    """Marks the rows to keep, those with mass in either copy; returns how many are not."""
    dead = 0
    for z in range(u.shape[0]):
        keep[z] = False
        for j in range(u.shape[1]):
            keep[z] = keep[z] or u[z, j] >= DEAD or v[z, j] >= DEAD
        dead += not keep[z]
    return dead


@part
def kept_rows(table: Array, keep: Flags, kept: int, normalise: bool) -> Array:
    """The rows marked, each column rescaled to sum to one if asked."""
    out = np.empty((kept, table.shape[1]))
    row = 0
    for z in range(table.shape[0]):
        if keep[z]:
            for j in range(table.shape[1]):
                out[row, j] = table[z, j]
            row += 1
    if normalise:
        for j in range(out.shape[1]):
            total = 0.0
            for z in range(kept):
                total += out[z, j]
            for z in range(kept):
                out[z, j] /= total
    return out


@part
def fetch(table: Array, r: int, out: Array) -> None:
    """Fills out with the first rows of run r."""
    for z in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[z, j] = table[r, z, j]


@part
def load(table: Array, r: int, rows: int) -> Array:
    """A copy of the first rows of run r."""
    out = np.empty((rows, table.shape[2]))
    fetch(table, r, out)
    return out


@part
def save(table: Array, r: int, rows: Array) -> None:
    """Puts rows back into run r, zeros below them."""
    for z in range(table.shape[1]):
        for j in range(table.shape[2]):
            table[r, z, j] = rows[z, j] if z < rows.shape[0] else 0.0


@part
def split_of(tables: Tables, setting: Setting, r: int, scale: float) -> Split:
    """What the steps of run r see."""
    return Split(
        tables.p_x,
        tables.p_y,
        tables.P,
        tables.T,
        tables.M,
        tables.features,
        setting.h[r],
        setting.a[r],
        setting.d[r],
        setting.inner,
        setting.kappa > 0.0,
        max(setting.kappa, 1.0) * scale,
        setting.proximal,
    )


def _advancing(encoder_step: Callable[..., Array], marginal_step: Callable[..., Array]) -> Callable[..., Any]:
    """The loop, for one way of taking the argmins. Blocks are bound as constants: numba cannot cache functions as arguments."""
    marginal_then_encoder_one = inlined(solver_one(marginal_step, encoder_step, _identity, _marginals))
    marginal_then_encoder_two = inlined(solver_two(marginal_step, encoder_step, _identity, _marginals))
    encoder_then_marginal_two = inlined(solver_two(encoder_step, marginal_step, _marginals, _identity))

    def advance(tables: Tables, setting: Setting, state: State, trace: Array) -> None:
        record = trace.shape[2] > 0
        auto = setting.kappa > 0.0
        for r in range(state.W.shape[0]):
            if state.outcome[r] != RUNNING:
                continue
            rho = setting.rho[r]
            scale = max(abs(rho[0]), abs(rho[1]), abs(rho[2]))
            split = split_of(tables, setting, r, scale)
            n = state.alive[r]
            W, v, nu = load(state.W, r, n), load(state.v, r, n), load(state.nu, r, n)
            c, boost = load(state.c, r, n), load(state.boost, r, n)
            u = matmul(W, tables.M)
            W_1, W_0, nu_1, looks = load(state.W_1, r, n), load(state.W_0, r, n), load(state.nu_1, r, n), state.looks[r]
            for step in range(trace.shape[1]):
                if state.iterations[r] >= setting.limit:
                    break
                if auto:
                    _retune(split, u if setting.tune_on_encoder else v, c, boost, setting.kappa, FLOOR * scale)
                W_old, v_old, u_old, c_old = W, v, u, c.copy()
                if setting.encoder_first:
                    W, v, nu = encoder_then_marginal_two(split, W, v, nu, c, setting.alpha)
                elif setting.order == 1:
                    v, W, nu = marginal_then_encoder_one(split, v, W, nu, c, setting.alpha)
                else:
                    v, W, nu = marginal_then_encoder_two(split, v, W, nu, c, setting.alpha)
                state.iterations[r] += 1
                u = matmul(W, tables.M)
                primal = largest_difference(u, v)
                dual = _dual_residual(c, v, v_old) if setting.encoder_first else _dual_residual(c, u, u_old)
                total = _sum(u) + _sum(v) + _sum(nu)  # a largest entry would pass over one that is no number
                if not math.isfinite(total):
                    state.outcome[r] = FAILED
                    W, v, u = W_old, v_old, u_old
                    break
                if auto:
                    _remember(boost, c, c_old)
                small = primal <= setting.tol and dual <= setting.tol
                state.residuals[r, 0] = primal
                state.residuals[r, 1] = dual
                if record or small:
                    state.residuals[r, 2] = stationarity(split, W, rho, setting.width[r])
                if record:
                    trace[r, step, LOSS] = lagrangian(split, W, rho)
                    trace[r, step, AUGMENTED] = augmented_lagrangian(split, W, v, nu, c, rho, setting.encoder_first)
                    trace[r, step, PRIMAL] = primal
                    trace[r, step, DUAL] = dual
                    trace[r, step, STATIONARITY] = state.residuals[r, 2]
                    trace[r, step, PENALTY] = _largest(c)
                if small and state.residuals[r, 2] <= setting.tol:
                    state.outcome[r] = STATIONARY
                    break
                if setting.primal_tol > 0.0 and _total_variation(u, v) <= setting.primal_tol:
                    state.outcome[r] = PRIMAL_ONLY
                    break
                moved = largest_difference(W, W_old) > 1e-16 or primal > 1e-15
                state.still[r] = 0 if moved else state.still[r] + 1
                if state.still[r] >= STALL_PATIENCE:
                    state.outcome[r] = STALLED
                    break
                keep = np.empty(W.shape[0], dtype=np.bool_)
                dead = count_dead(u, v, keep)
                if dead > 0:
                    kept = W.shape[0] - dead
                    W, v = kept_rows(W, keep, kept, True), kept_rows(v, keep, kept, True)
                    nu, c = kept_rows(nu, keep, kept, False), kept_rows(c, keep, kept, False)
                    boost = kept_rows(boost, keep, kept, False)
                    u = matmul(W, tables.M)
                    W_0, W_1, nu_1, looks = W, W, nu, 0  # earlier iterates have other rows
                elif setting.accelerate and state.iterations[r] % STRIDE == 0:
                    if looks >= 2:
                        leaped, W_new, nu_new = leap(split, rho, W, W_1, W_0, nu, nu_1)
                        if leaped:
                            W, nu = W_new, nu_new
                            u = matmul(W, tables.M)
                            v = u.copy()
                            looks = -1
                    W_0, W_1, nu_1, looks = W_1, W, nu, looks + 1
            if not record:
                state.residuals[r, 2] = stationarity(split, W, rho, setting.width[r])
            state.alive[r] = W.shape[0]
            save(state.W, r, W)
            save(state.v, r, v)
            save(state.nu, r, nu)
            save(state.c, r, c)
            save(state.boost, r, boost)
            save(state.W_1, r, W_1)
            save(state.W_0, r, W_0)
            save(state.nu_1, r, nu_1)
            state.looks[r] = looks

    return inlined(advance)


_advance_exact = _advancing(argmin_encoder, argmin_marginal)
_advance_gradient = _advancing(gradient_encoder, gradient_marginal)


@entry
def advance_exact(tables: Tables, setting: Setting, state: State, trace: Array) -> None:
    """Advance every running run by at most trace.shape[1] iterations, or to the limit; argmins taken exactly.

    With trace.shape[2] = TRACE_COLUMNS every iteration is recorded; with 0 nothing is, and stationarity is evaluated only once
    the other two residuals are small, and at the end.
    """
    _advance_exact(borrowed(tables), borrowed(setting), borrowed(state), borrowed(trace))


@entry
def advance_gradient(tables: Tables, setting: Setting, state: State, trace: Array) -> None:
    """The same with the paper's one gradient step for every argmin."""
    _advance_gradient(borrowed(tables), borrowed(setting), borrowed(state), borrowed(trace))
