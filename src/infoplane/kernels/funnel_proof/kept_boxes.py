"""How low g can be among the posteriors that caps allow, where a target U is kept: boxes of T_u q, and what is proven of them.

    g(q) = H(T_u q) - beta H(T_s q) - lambda.q  on  {0 <= q <= most, sum q = 1, L <= T_s q <= U, l <= T_u q <= b}.

With lines o_u + c_u t below h(t) = -t log t on [l_u, b_u], any a in R^S, y in R^U and numbers nu, tau, sigma, every such q has

    g(q) >= B = sum_u o_u + nu + sum_x min(0, k_x most_x) + Psi_s + Psi_u,      k_x = (c + y).T_ux + a.T_sx - lambda_x - nu,
    Psi_s = -tau + sum_s min over [L_s, U_s] of (beta t log t - a_s t + tau t),
    Psi_u = -sigma + sum_u min over [l_u, b_u] of (sigma - y_u) t :

h is above its lines; add and subtract a.T_s q, y.T_u q and nu; both Psi are minima over more than there is (sum T_s q = sum T_u q = 1). A
linear programme (`capped_relaxation`) proposes a and y; what closes a box is computed by this formula alone, rounded downward.
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, part
from ..common import EPS, copy_row, fill, largest_of, total_of
from .capped_boxes import posterior_at
from .capped_cell import Multipliers, filling_multiplier, target_least, target_multiplier
from .capped_relaxation import EMPTY, SOLVED, Tableau, begin, relaxed, tableau
from .relaxation import entropy

SHORT = 1e-9
"""A side that is shorter has a line of slope 0 below it, which loses less than rounding."""

TANGENTS = 12
"""Tangents of one descent, at most."""


@part
def lines(low: Array, high: Array, slope: Array, offset: Array) -> None:
    """c_u and o_u: the secants of h; whatever the slope, h(t) - c t is concave, and least at an end."""
    for u in range(low.size):
        width = high[u] - low[u]
        h_low, h_high = entropy(low[u]), entropy(high[u])
        slope[u] = (h_high - h_low) / width if width > SHORT else 0.0
        offset[u] = min(h_low - slope[u] * low[u], h_high - slope[u] * high[u])
        offset[u] -= 8.0 * EPS * (h_low + h_high + 2.0 * abs(slope[u]) * high[u])


@part
def least_of(
    T: Array, costs: Array, size: float, beta: float, lower: Array, upper: Array, multipliers: Array, hidden: int
) -> float:
    """nu + sum_x min(0, k_x most_x) + Psi_s + Psi_u for the linear costs, right to ``size`` each: rounded downward."""
    n, m = T.shape
    tilted, heaviest = np.empty(n), 0.0
    for x in range(n):
        tilted[x] = costs[x]
        weight = abs(costs[x])
        for s in range(m):
            tilted[x] += T[x, s] * multipliers[s]
            weight += T[x, s] * abs(multipliers[s])
        heaviest = max(heaviest, weight)
    nu = filling_multiplier(tilted, lower[:n], upper[:n])
    total, sizes = nu, abs(nu)
    for x in range(n):
        part_x = min(0.0, (tilted[x] - nu) * upper[x])
        total += part_x
        sizes += abs(part_x)
    # The largest error of k_x counts once, as sum_x q_x = 1.
    total -= 2.0 * (3 * m + 24) * EPS * (heaviest + abs(nu) + size) + (n + 8) * EPS * sizes
    for first, last, weight in ((0, hidden, beta), (hidden, m, 0.0)):
        a, L, U = multipliers[first:last], lower[n + first : n + last], upper[n + first : n + last]
        total += target_least(a, target_multiplier(a, weight, L, U), weight, L, U)
    return float(total)


@entry
def weigh_kept_boxes(
    T: Array,
    hidden: int,
    lam: Array,
    beta: float,
    lower: Array,
    upper: Array,
    low: Array,
    high: Array,
    bounds: Array,
    found: Array,
) -> None:
    """B of each box, a row of low and high, infinite if no posterior is in it; and where the relaxation is least, 0 if it met no point.

    T has the secret's columns first, then those of U; lower and upper are the ranges of q, of T_s q, and a workspace for those of T_u q.
    """
    n, m = T.shape
    lp: Tableau = tableau(T)
    slope, offset, costs, nothing = np.empty(m - hidden), np.empty(m - hidden), np.empty(n), np.zeros(n)
    multipliers = Multipliers(np.zeros(m), np.zeros(1), np.zeros(1))
    largest, first = largest_of(lam), n + hidden
    for box in range(low.shape[0]):
        copy_row(lower[:first], lp.lower)
        copy_row(upper[:first], lp.upper)
        copy_row(low[box], lp.lower[first:])
        copy_row(high[box], lp.upper[first:])
        lines(low[box], high[box], slope, offset)
        for x in range(n):
            costs[x] = -lam[x]
            for u in range(m - hidden):
                costs[x] += slope[u] * T[x, hidden + u]
        status = relaxed(lp, costs, beta, multipliers, 0.0, np.nan, hidden)
        fill(found[box], 0.0)
        bounds[box] = -np.inf
        if status == EMPTY:
            if least_of(T, nothing, 0.0, 0.0, lp.lower, lp.upper, multipliers.a, hidden) > 0.0:
                bounds[box] = np.inf
            begin(lp, 0)
            continue
        size, offsets = largest + largest_of(slope), 0.0
        for u in range(m - hidden):
            offsets += abs(offset[u])
        bounds[box] = total_of(offset) + least_of(T, costs, size, beta, lp.lower, lp.upper, multipliers.a, hidden)
        bounds[box] -= 4.0 * (m + 8) * EPS * (offsets + abs(bounds[box]))
        if status == SOLVED:
            posterior_at(lp.point, found[box])
        else:
            begin(lp, 0)


@entry
def descend_kept(
    T: Array,
    hidden: int,
    lam: Array,
    beta: float,
    lower: Array,
    upper: Array,
    begun: Array,
    found: Array,
    values: Array,
) -> None:
    """Local minima of g in the rows of found, and their values, infinite if none was met; from the tangents of H(T_u q) at begun."""
    n, m = T.shape
    lp: Tableau = tableau(T)
    copy_row(lower, lp.lower)
    copy_row(upper, lp.upper)
    multipliers = Multipliers(np.zeros(m), np.zeros(1), np.zeros(1))
    costs, trial, u = np.empty(n), np.empty(n), np.empty(m)
    for row in range(begun.shape[0]):
        values[row] = np.inf
        copy_row(begun[row], u[hidden:])
        for _ in range(TANGENTS):
            for x in range(n):
                costs[x] = -lam[x]
                for s in range(hidden, m):
                    costs[x] -= math.log(max(u[s], 1e-9)) * T[x, s]
            if relaxed(lp, costs, beta, multipliers, 0.0, np.nan, hidden) != SOLVED:
                begin(lp, 0)
                break
            posterior_at(lp.point, trial)
            fill(u, 0.0)
            g = 0.0
            for x in range(n):
                g -= lam[x] * trial[x]
                for s in range(m):
                    u[s] += trial[x] * T[x, s]
            for s in range(m):
                g += entropy(u[s]) * (1.0 if s >= hidden else -beta)
            if g >= values[row] - 1e-12:
                break
            values[row] = g
            copy_row(trial, found[row])
