"""What is measured of an encoder and of a run: the Lagrangian, residuals, the trace, and whether the run has ended.

    primal         max |A p - B q| = max |W M - v|
    dual           max Bq c |B(q - q_old)|
    stationarity   max |W - fixed_point(W)|: evaluated when recording, and once the other two are small

=============  ==========================================================================================
outcome        the first of these that holds after an iteration
=============  ==========================================================================================
FAILED         an entry of W M, v or nu is not finite
STATIONARY     all three residuals are at most tol
PRIMAL_ONLY    the paper's rule, if asked for: (1/2) sum_z |W M - v| is below primal_tol in every column
STALLED        W has not moved, and v = W M to rounding, for 100 iterations
RUNNING        none
=============  ==========================================================================================
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import inlined, part
from ..common import (
    AUGMENTED,
    DUAL,
    LOSS,
    PENALTY,
    PRIMAL,
    PRIMAL_ONLY,
    RUNNING,
    STALLED,
    STATIONARITY,
    STATIONARY,
    exp,
    floored_log,
    matmul,
    safe_log,
)
from .tables import Iterate, Split, State, Weights


@part
def log_table(p: Array) -> Array:
    """Element-wise `floored_log` of a matrix."""
    out = np.empty_like(p)
    for i in range(p.shape[0]):
        for j in range(p.shape[1]):
            out[i, j] = floored_log(p[i, j])
    return out


@part
def marginal_logs(P: Array, p_y: Array, W: Array) -> tuple[Array, Array]:
    """log p(z) and log p(z|y).

    Given two arrays instead of all of a split, since numba counts references to every array that a call is given.
    """
    p_zy = matmul(W, P)
    log_z = np.empty(W.shape[0])
    for z in range(W.shape[0]):
        p_z = 0.0
        for y in range(p_y.shape[0]):
            p_z += p_zy[z, y]
            p_zy[z, y] = safe_log(p_zy[z, y] / p_y[y])
        log_z[z] = safe_log(p_z)
    return log_z, p_zy


@part
def combine(T: Array, log_z: Array, on_z: float, log_zy: Array, on_zy: float) -> Array:
    """on_z log p(z) + on_zy sum_y p(y|x) log p(z|y), as a table over (z, x)."""
    S = matmul(log_zy, T)
    for z in range(S.shape[0]):
        for i in range(S.shape[1]):
            S[z, i] = on_z * log_z[z] + on_zy * S[z, i]
    return S


@part
def softmax_columns(score: Array, log_total: Array) -> Array:
    """Softmax over z of each column, in place; fills log_total with the logs of the normalisers. Returns score."""
    n_z, n_x = score.shape
    for i in range(n_x):
        log_total[i] = score[0, i]
    for z in range(1, n_z):
        for i in range(n_x):
            log_total[i] = max(log_total[i], score[z, i])
    total = np.zeros(n_x)
    for z in range(n_z):
        for i in range(n_x):
            score[z, i] = exp(score[z, i] - log_total[i])
    for z in range(n_z):
        for i in range(n_x):
            total[i] += score[z, i]
    for i in range(n_x):
        log_total[i] += math.log(total[i])
        total[i] = 1.0 / total[i]
    for z in range(n_z):
        for i in range(n_x):
            score[z, i] *= total[i]
    return score


@inlined
def lagrangian(split: Split, W: Array, log_z: Array, log_zy: Array, rho: Weights) -> float:
    """rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y)."""
    value = 0.0
    for z in range(W.shape[0]):
        value -= rho[0] * math.exp(log_z[z]) * log_z[z]
        for i in range(W.shape[1]):
            value -= rho[1] * split.p_x[i] * W[z, i] * safe_log(W[z, i])
        for y in range(split.p_y.shape[0]):
            value -= rho[2] * split.p_y[y] * math.exp(log_zy[z, y]) * log_zy[z, y]
    return value


@part
def augmented_lagrangian(h: Array, loss: float, u: Array, v: Array, nu: Array, c: Array, encoder_first: bool) -> float:
    """L_c: the encoder block at W with its own decoders, the marginal block at v, and the penalty of A p - B q; loss = L(W), u = W M.

    With its own decoder, -sum p(z,y) log q(y|z) is H(Z|Y) - H(Z) + const, so the encoder block is L(W) minus what v carries.
    """
    value = loss
    sign = 1.0 if encoder_first else -1.0
    for z in range(v.shape[0]):
        for j in range(v.shape[1]):
            gap = u[z, j] - v[z, j]
            value += h[j] * (u[z, j] * safe_log(u[z, j]) - v[z, j] * safe_log(v[z, j]))
            value += sign * nu[z, j] * gap + 0.5 * c[z, j] * gap * gap
    return value


@inlined
def fixed_point(split: Split, W: Array, log_z: Array, log_zy: Array, rho: Weights, width: float) -> Array:
    """W exp(-g/width) normalised, g = (dL/dW) / p(x): stationary encoders are its fixed points.

    The width is `MarkovLagrangian.width`: gamma makes it Blahut-Arimoto's map, beta - 1 the monotone map of the funnel.
    """
    score = combine(split.T, log_z, rho[0] / width, log_zy, rho[2] / width)
    on_W = 1.0 + rho[1] / width
    if on_W != 0.0:
        for z in range(W.shape[0]):
            for i in range(W.shape[1]):
                score[z, i] += on_W * safe_log(W[z, i])
    return softmax_columns(score, np.empty(W.shape[1]))


@part
def largest_difference(U: Array, V: Array) -> float:
    """max |U - V|."""
    largest = 0.0
    for i in range(U.shape[0]):
        for j in range(U.shape[1]):
            largest = max(largest, abs(U[i, j] - V[i, j]))
    return largest


@part
def loss_and_stationarity(split: Split, W: Array, rho: Weights, width: float) -> tuple[float, float]:
    """L(W), and max |W - fixed_point(W)|: for the bottleneck max |W - BA(W)|, the residual of the self-consistent equations."""
    log_z, log_zy = marginal_logs(split.P, split.p_y, W)
    loss = lagrangian(split, W, log_z, log_zy, rho)
    return loss, largest_difference(W, fixed_point(split, W, log_z, log_zy, rho, width))


@part
def largest_entry(table: Array) -> float:
    """max |table|."""
    largest = 0.0
    for z in range(table.shape[0]):
        for j in range(table.shape[1]):
            largest = max(largest, abs(table[z, j]))
    return largest


@part
def _total_variation(u: Array, v: Array) -> float:
    """The largest (1/2) sum_z |u - v| of a column, the paper's primal residual."""
    largest = 0.0
    for j in range(u.shape[1]):
        total = 0.0
        for z in range(u.shape[0]):
            total += abs(u[z, j] - v[z, j])
        largest = max(largest, 0.5 * total)
    return largest


@part
def _dual_residual(c: Array, q: Array, q_old: Array) -> float:
    """Max Bq c |B(q - q_old)|: how far p is from its first-order condition, each row weighted by the mass that it acts on.

    On the simplex a wrong slope matters in proportion to the mass it moves. Without the weights, a dying cluster could never pass: its
    penalty grows as fast as its mass falls.
    """
    largest = 0.0
    for z in range(q.shape[0]):
        for j in range(q.shape[1]):
            largest = max(largest, q[z, j] * c[z, j] * abs(q[z, j] - q_old[z, j]))
    return largest


@part
def is_finite(u: Array, v: Array, nu: Array) -> bool:
    """Whether all entries are finite; their sum is not if one is not, while a largest entry would pass over a NaN."""
    total = 0.0
    for z in range(u.shape[0]):
        for j in range(u.shape[1]):
            total += u[z, j] + v[z, j] + nu[z, j]
    return math.isfinite(total)


@inlined
def measure_run(split: Split, state: State, r: int, now: Iterate, old: Iterate, record: bool) -> float:
    """Fill the residuals of run r, and return its loss; stationarity and loss only if they are needed."""
    q, q_old = (now.v, old.v) if split.encoder_first else (now.u, old.u)
    primal, dual = largest_difference(now.u, now.v), _dual_residual(now.c, q, q_old)
    state.residuals[r, 0], state.residuals[r, 1] = primal, dual
    loss = 0.0
    if record or (primal <= split.tol and dual <= split.tol):
        loss, state.residuals[r, 2] = loss_and_stationarity(split, now.W, split.rho, split.width)
    return loss


@inlined
def record_iteration(split: Split, now: Iterate, loss: float, residuals: Array, row: Array) -> None:
    """Fill one row of a trace."""
    row[LOSS] = loss
    row[AUGMENTED] = augmented_lagrangian(split.h, loss, now.u, now.v, now.nu, now.c, split.encoder_first)
    row[PRIMAL], row[DUAL], row[STATIONARITY] = residuals[0], residuals[1], residuals[2]
    row[PENALTY] = largest_entry(now.c)


@inlined
def judge(split: Split, state: State, r: int, now: Iterate, old: Iterate) -> int:
    """The outcome of run r after `measure`, as in the table above; counts the iterations without movement."""
    primal, dual, stationary = state.residuals[r, 0], state.residuals[r, 1], state.residuals[r, 2]
    if primal <= split.tol and dual <= split.tol and stationary <= split.tol:
        return STATIONARY
    if split.primal_tol > 0.0 and _total_variation(now.u, now.v) < split.primal_tol:
        return PRIMAL_ONLY
    moved = largest_difference(now.W, old.W) > 1e-16 or primal > 1e-15
    state.still[r] = 0 if moved else state.still[r] + 1
    return STALLED if state.still[r] >= 100 else RUNNING
