"""When a run of a splitting has ended, and what its trace holds; neither is part of the recursion.

primal   max |A p - B q| = max |W M - v|
dual     max Bq c |B(q - q_old)|
stationarity   max |W - fixed_point(W)|, see `measure`: evaluated when recording, and once the other two are small

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

from ...information import Array
from ...runtime.compiling import inlined, part
from ..common.rows import (
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
)
from .measure import augmented_lagrangian, largest_difference, loss_and_stationarity
from .tables import Iterate, Setting, Split, State, Weights


@part
def _sum(table: Array) -> float:
    total = 0.0
    for z in range(table.shape[0]):
        for j in range(table.shape[1]):
            total += table[z, j]
    return total


@part
def _largest(table: Array) -> float:
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


@inlined
def is_finite(new: Iterate) -> bool:
    """Whether all entries are finite; their sum is not if one is not, while a largest entry would pass over a NaN."""
    return math.isfinite(_sum(new.u) + _sum(new.v) + _sum(new.nu))


@inlined
def measure(
    split: Split, setting: Setting, state: State, r: int, now: Iterate, old: Iterate, rho: Weights, record: bool
) -> float:
    """Fill the residuals of run r, and return its loss; stationarity and loss only if they are needed."""
    q, q_old = (now.v, old.v) if setting.encoder_first else (now.u, old.u)
    primal, dual = largest_difference(now.u, now.v), _dual_residual(now.c, q, q_old)
    state.residuals[r, 0], state.residuals[r, 1] = primal, dual
    loss = 0.0
    if record or (primal <= setting.tol and dual <= setting.tol):
        loss, state.residuals[r, 2] = loss_and_stationarity(split, now.W, rho, setting.width[r])
    return loss


@inlined
def record_iteration(split: Split, setting: Setting, now: Iterate, loss: float, residuals: Array, row: Array) -> None:
    """Fill one row of a trace."""
    row[LOSS] = loss
    row[AUGMENTED] = augmented_lagrangian(split.h, loss, now.u, now.v, now.nu, now.c, setting.encoder_first)
    row[PRIMAL], row[DUAL], row[STATIONARITY] = residuals[0], residuals[1], residuals[2]
    row[PENALTY] = _largest(now.c)


@inlined
def judge(setting: Setting, state: State, r: int, now: Iterate, old: Iterate) -> int:
    """The outcome of run r after `measure`, as in the table above; counts the iterations without movement."""
    primal, dual, stationary = state.residuals[r, 0], state.residuals[r, 1], state.residuals[r, 2]
    if primal <= setting.tol and dual <= setting.tol and stationary <= setting.tol:
        return STATIONARY
    if setting.primal_tol > 0.0 and _total_variation(now.u, now.v) < setting.primal_tol:
        return PRIMAL_ONLY
    moved = largest_difference(now.W, old.W) > 1e-16 or primal > 1e-15
    state.still[r] = 0 if moved else state.still[r] + 1
    return STALLED if state.still[r] >= 100 else RUNNING
