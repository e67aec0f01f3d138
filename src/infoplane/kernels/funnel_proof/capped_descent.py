"""Posteriors of low g(q) = H(q) - beta H(Tq) - lambda.q among those that a cap allows: local search, which proves nothing.

H is concave: replaced by its tangent at q, floored so that a letter may come back, the rest is the convex relaxation, whose minimiser has
no larger g. Repeated until g stays. Without an average cap (beta = 0) the minimisers are vertices, and their neighbours are tried too.
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, part
from .bounded_simplex import SOLVED, Tableau, begin, column, exchange, leaving, refresh, tableau
from .capped_cell import Prices
from .capped_relaxation import relaxed
from .ranges import entropy

FLOORS = (0.03, 1e-10)
"""Masses below which the tangent of H no longer grows steeper: at first, and in the end; a tenth from one tangent to the next."""


TRACE = 1e-12
"""A mass below this is none."""


@part
def value_of(T: Array, lam: Array, beta: float, q: Array) -> float:
    """g(q)."""
    n, m = T.shape
    value, u = 0.0, np.zeros(m)
    for x in range(n):
        if q[x] > 0.0:
            value += entropy(q[x]) - lam[x] * q[x]
            for s in range(m):
                u[s] += q[x] * T[x, s]
    for s in range(m):
        value -= beta * entropy(u[s])
    return value


@part
def posterior_at(point: Array, q: Array) -> None:
    """The letters of a point, without traces, normalised."""
    total = 0.0
    for x in range(q.size):
        q[x] = point[x] if point[x] > TRACE else 0.0
        total += q[x]
    q /= total


@part
def best_neighbour(lp: Tableau, lam: Array, w: Array, value: float) -> tuple[int, float]:
    """The variable whose exchange leads to the neighbouring vertex of least H(q) - lambda.q, if that is below value; and the value."""
    n, m = lp.T.shape
    best, chosen = value - 1e-10, -1
    for j in range(n + m):
        if lp.basic[j] or not lp.upper[j] > lp.lower[j]:
            continue
        column(lp, j, w)
        sign = -1.0 if lp.at_upper[j] else 1.0
        t, _, _ = leaving(lp, w, sign, lp.upper[j] - lp.lower[j])
        if t < TRACE:
            continue
        change = 0.0
        if j < n:
            change = entropy(max(lp.point[j] + sign * t, 0.0)) - entropy(max(lp.point[j], 0.0)) - lam[j] * sign * t
        for i in range(m + 1):
            x = lp.basis[i]
            if x < n:
                moved = lp.point[x] - w[i] * sign * t
                change += entropy(max(moved, 0.0)) - entropy(max(lp.point[x], 0.0)) + lam[x] * w[i] * sign * t
        if value + change < best:
            best, chosen = value + change, j
    return chosen, best


@part
def descended(lp: Tableau, lam: Array, beta: float, c: Array, prices: Prices, q: Array) -> float:
    """A local minimum of g in q, from the relaxation with the slopes c; its value, infinite if there is no point at all."""
    n, m = lp.T.shape
    slopes, trial, best = c.copy(), np.empty(n), np.inf
    floor = FLOORS[0]
    # Tangents of one descent, at most.
    for _ in range(25):
        if relaxed(lp, slopes, beta, prices, 0.0, np.nan, m) != SOLVED:
            begin(lp, 0)
            break
        posterior_at(lp.point, trial)
        value = value_of(lp.T, lam, beta, trial)
        fell = best - value
        if value < best:
            best = value
            q[:] = trial
        if fell < 1e-10 and floor <= FLOORS[1]:
            break
        for x in range(n):
            slopes[x] = -math.log(max(trial[x], floor)) - 1.0 - lam[x]
        floor = max(0.1 * floor, FLOORS[1])
    if not beta > 0.0 and best < np.inf and refresh(lp):
        w = np.empty(m + 1)
        # Moves to a neighbouring vertex, at most.
        for _ in range(60):
            posterior_at(lp.point, trial)
            j, _ = best_neighbour(lp, lam, w, value_of(lp.T, lam, beta, trial))
            if j < 0:
                break
            column(lp, j, w)
            sign = -1.0 if lp.at_upper[j] else 1.0
            t, row, end = leaving(lp, w, sign, lp.upper[j] - lp.lower[j])
            exchange(lp, w, j, sign, t, row, end)
            if not refresh(lp):
                begin(lp, 0)
                break
            posterior_at(lp.point, trial)
            value = value_of(lp.T, lam, beta, trial)
            if value < best:
                best = value
                q[:] = trial
    return best


@entry
def descend_within(
    T: Array, lam: Array, beta: float, lower: Array, upper: Array, slopes: Array, found: Array, values: Array
) -> None:
    """A local minimum of g in each row of found, and its value, from the relaxation with the slopes in the same row of slopes."""
    lp = tableau(T)
    lp.lower[:], lp.upper[:] = lower, upper
    prices = Prices(np.zeros(T.shape[1]), np.zeros(1), np.zeros(1))
    for row in range(slopes.shape[0]):
        values[row] = descended(lp, lam, beta, slopes[row], prices, found[row])
