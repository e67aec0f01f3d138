"""Many runs of one formulation, each stopping by itself: the loop around `solver_one` and `solver_two`.

The recursions are those of `splitting.douglas_rachford`, compiled. State lives in arrays with one run a row and is updated in
place, so that a caller may advance a few hundred iterations at a time, look, show progress, be interrupted, and go on.
"""

import numpy as np
from numba import njit

from ..information import Array
from ..splitting.douglas_rachford import solver_one, solver_two
from .encoder import argmin_encoder
from .gradient import gradient_encoder, gradient_marginal
from .marginal import argmin_marginal
from .measure import augmented_lagrangian, lagrangian, largest_difference, stationarity
from .split import Split, matmul

RUNNING, STATIONARY, PRIMAL_ONLY, STALLED, FAILED = 0, 1, 2, 3, 4

# Columns of a trace.
LOSS, AUGMENTED, PRIMAL, DUAL, STATIONARITY, PENALTY = 0, 1, 2, 3, 4, 5
TRACE_COLUMNS = 6

DEAD = 1e-12  # a cluster is dropped when both its copies hold less mass than this
STALL_PATIENCE = 100  # iterations without any movement
LOW, HIGH = 0.85, 1.3  # a penalty is reset only when it leaves this band around its target, so that it freezes near the limit
LARGEST = 1e14


@njit(nogil=True)
def _encoder_step(split: Split, x: Array, s: Array, c: Array, W: Array) -> Array:
    if split.exact:
        return argmin_encoder(split, x, s, c, W)
    return gradient_encoder(split, x, s, c, W)


@njit(nogil=True)
def _marginal_step(split: Split, x: Array, s: Array, c: Array, v: Array) -> Array:
    if split.exact:
        return argmin_marginal(split, x, s, c, v)
    return gradient_marginal(split, x, s, c, v)


@njit(nogil=True)
def _argmin_p(split: Split, x: Array, s: Array, c: Array, p: Array) -> Array:
    return _encoder_step(split, x, s, c, p) if split.encoder_first else _marginal_step(split, x, s, c, p)


@njit(nogil=True)
def _argmin_q(split: Split, x: Array, s: Array, c: Array, q: Array) -> Array:
    return _marginal_step(split, x, s, c, q) if split.encoder_first else _encoder_step(split, x, s, c, q)


@njit(nogil=True)
def _A(split: Split, p: Array) -> Array:
    return matmul(p, split.M) if split.encoder_first else p


@njit(nogil=True)
def _B(split: Split, q: Array) -> Array:
    return q if split.encoder_first else matmul(q, split.M)


# Factories bind the blocks as constants, which numba can cache on disk; functions passed as arguments it cannot.
_solver_one = njit(nogil=True)(solver_one(_argmin_p, _argmin_q, _A, _B))
_solver_two = njit(nogil=True)(solver_two(_argmin_p, _argmin_q, _A, _B))


@njit(nogil=True)
def _retune(
    split: Split, W: Array, v: Array, c: Array, boost: Array, kappa: float, floor: float, on_encoder: bool
) -> None:
    """c_zj = kappa boost_zj |h_j| / mass_zj, the curvature of the row's own entropy; reset only outside [LOW, HIGH] of that."""
    mass = matmul(W, split.M) if on_encoder else v
    for z in range(c.shape[0]):
        for j in range(c.shape[1]):
            target = min(kappa * boost[z, j] * max(abs(split.h[j]), floor) / max(mass[z, j], DEAD), LARGEST)
            if not (LOW * target <= c[z, j] <= HIGH * target):
                c[z, j] = target


@njit(nogil=True)
def _remember(boost: Array, c: Array, before: Array) -> None:
    """A row whose penalty a step had to raise keeps the factor, lest `_retune` undo it and the two take turns for ever."""
    for z in range(c.shape[0]):
        for j in range(c.shape[1]):
            boost[z, j] *= c[z, j] / before[z, j]


@njit(nogil=True)
def _dual_residual(c: Array, q: Array, q_old: Array) -> float:
    """max c |B(q - q_old)|."""
    largest = 0.0
    for z in range(q.shape[0]):
        for j in range(q.shape[1]):
            largest = max(largest, c[z, j] * abs(q[z, j] - q_old[z, j]))
    return largest


@njit(nogil=True)
def _count_dead(u: Array, v: Array, keep: Array) -> int:
    """Marks the rows to keep, those with mass in either copy; returns how many are not."""
    dead = 0
    for z in range(u.shape[0]):
        keep[z] = False
        for j in range(u.shape[1]):
            keep[z] = keep[z] or u[z, j] >= DEAD or v[z, j] >= DEAD
        dead += not keep[z]
    return dead


@njit(nogil=True)
def _kept_rows(table: Array, keep: Array, normalise: bool) -> Array:
    """The rows marked, each column rescaled to sum to one if asked."""
    out = np.empty((keep.sum(), table.shape[1]))
    row = 0
    for z in range(table.shape[0]):
        if keep[z]:
            out[row] = table[z]
            row += 1
    if normalise:
        for j in range(out.shape[1]):
            out[:, j] /= out[:, j].sum()
    return out


@njit(cache=True, nogil=True)
def advance(
    p_x: Array,
    p_y: Array,
    P: Array,
    T: Array,
    M: Array,
    features: Array,
    rho: Array,
    h: Array,
    a: Array,
    d: Array,
    order: int,
    encoder_first: bool,
    exact: bool,
    inner: int,
    alpha: float,
    kappa: float,
    tune_on_encoder: bool,
    tol: float,
    primal_tol: float,
    W: Array,
    v: Array,
    nu: Array,
    c: Array,
    boost: Array,
    alive: Array,
    state: Array,
    still: Array,
    iterations: Array,
    residuals: Array,
    limit: int,
    trace: Array,
) -> None:
    """Advance every running run by at most trace.shape[1] iterations (or to ``limit`` in all); arrays (R, ...) in place.

    kappa > 0 keeps c at the automatic row-scaled penalty; kappa = 0 leaves c as it is. primal_tol > 0 stops by the paper's
    rule, the primal residual alone; otherwise primal, dual and stationarity residual must all be at most tol.
    With trace.shape[2] = 0 nothing is recorded, and stationarity is evaluated only once the other two are small.
    """
    record = trace.shape[2] > 0
    for r in range(W.shape[0]):
        if state[r] != RUNNING:
            continue
        scale = np.max(np.abs(rho[r]))
        auto = kappa > 0.0
        split = Split(
            p_x, p_y, P, T, M, features, h[r], a[r], d[r], encoder_first, exact, auto, inner, max(kappa, 1.0) * scale
        )
        n = alive[r]
        Wr, vr, nur = W[r, :n].copy(), v[r, :n].copy(), nu[r, :n].copy()
        cr, br = c[r, :n].copy(), boost[r, :n].copy()
        u = matmul(Wr, M)
        for step in range(trace.shape[1]):
            if iterations[r] >= limit:
                break
            if auto:
                _retune(split, Wr, vr, cr, br, kappa, 0.05 * scale, tune_on_encoder)
            W_old, c_old = Wr, cr.copy()
            q_old = vr if encoder_first else u
            if encoder_first:
                p, q = Wr, vr
            else:
                p, q = vr, Wr
            if order == 1:
                p, q, nur = _solver_one(split, p, q, nur, cr, alpha)
            else:
                p, q, nur = _solver_two(split, p, q, nur, cr, alpha)
            if encoder_first:
                Wr, vr = p, q
            else:
                Wr, vr = q, p
            if auto:
                _remember(br, cr, c_old)
            iterations[r] += 1
            u = matmul(Wr, M)
            primal = largest_difference(u, vr)
            dual = _dual_residual(cr, vr if encoder_first else u, q_old)
            if not np.isfinite(primal + dual + np.sum(nur)):
                state[r] = FAILED
                Wr = W_old
                break
            residuals[r, 0], residuals[r, 1] = primal, dual
            small = primal <= tol and dual <= tol
            if record or small:
                residuals[r, 2] = stationarity(split, Wr, rho[r])
            if record:
                trace[r, step, LOSS] = lagrangian(split, Wr, rho[r])
                trace[r, step, AUGMENTED] = augmented_lagrangian(split, Wr, vr, nur, cr, rho[r])
                trace[r, step, PRIMAL] = primal
                trace[r, step, DUAL] = dual
                trace[r, step, STATIONARITY] = residuals[r, 2]
                trace[r, step, PENALTY] = np.max(cr)
            if small and residuals[r, 2] <= tol:
                state[r] = STATIONARY
                break
            if primal_tol > 0.0 and np.sum(np.abs(u - vr)) <= primal_tol:
                state[r] = PRIMAL_ONLY
                break
            still[r] = still[r] + 1 if largest_difference(Wr, W_old) <= 1e-16 and primal <= 1e-15 else 0
            if still[r] >= STALL_PATIENCE:
                state[r] = STALLED
                break
            keep = np.empty(Wr.shape[0], dtype=np.bool_)
            if _count_dead(u, vr, keep) > 0:
                Wr, vr = _kept_rows(Wr, keep, True), _kept_rows(vr, keep, True)
                nur, cr, br = _kept_rows(nur, keep, False), _kept_rows(cr, keep, False), _kept_rows(br, keep, False)
                u = matmul(Wr, M)
        if not record:
            residuals[r, 2] = stationarity(split, Wr, rho[r])
        n = Wr.shape[0]
        alive[r] = n
        W[r, :n], v[r, :n], nu[r, :n], c[r, :n], boost[r, :n] = Wr, vr, nur, cr, br
        W[r, n:], v[r, n:], nu[r, n:] = 0.0, 0.0, 0.0
