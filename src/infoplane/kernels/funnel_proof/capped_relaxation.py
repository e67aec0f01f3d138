"""Minimise the convex relaxation of g over the posteriors that a cap allows: what it proposes is where a bound or a column comes from.

    minimise  c.q - beta H(u)   subject to  l <= q <= b,  L <= u <= U,  Tq = u,  sum q = 1

For beta = 0 it is one linear programme. Else -beta H(u) >= beta u.log v for any v (Gibbs): each programme at the best v so far adds its
vertex to a small hull, on which the function is minimised by moves between two vertices. The multipliers of a programme, with beta log v,
are the prices a of `capped_cell`. Of rows that stand behind those of the secret (the kept target's, `kept_boxes`) only the
ranges count: u is then the first ones.
"""

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from .bounded_simplex import SOLVED, Tableau, minimise
from .capped_cell import Prices, filling_multiplier, target_multiplier
from .ranges import entropy
from .relaxation import smoothed_logs, step_length

PIVOTS = 400
"""Steps of one programme, at most: children of a cell need a few."""


@part
def balanced(V: Array, n: int, cost: Array, weight: Array, count: int, beta: float, u: Array) -> None:
    """Minimise weight.cost - beta H(u), u the mixture of the vertices' columns behind the n first, by moves between two of them."""
    m = u.size
    w, D = np.empty(m), np.empty(m)
    # Moves between two vertices after each programme, at most.
    for _ in range(40):
        smoothed_logs(u, w)
        up = down = -1
        rise = fall = 0.0
        for i in range(count):
            slope = cost[i]
            for s in range(m):
                slope += beta * V[i, n + s] * w[s]
            if up < 0 or slope < rise:
                up, rise = i, slope
            if weight[i] > 0.0 and (down < 0 or slope > fall):
                down, fall = i, slope
        if up == down or fall - rise < 1e-11 * (1.0 + beta):
            return
        for s in range(m):
            D[s] = V[up, n + s] - V[down, n + s]
        t = step_length(u, D, cost[up] - cost[down], beta, weight[down])
        if t <= 0.0:
            return
        weight[up] += t
        weight[down] = 0.0 if t >= weight[down] else weight[down] - t
        for s in range(m):
            u[s] = max(u[s] + t * D[s], 0.0)


@part
def relaxed(lp: Tableau, c: Array, beta: float, prices: Prices, const: float, floor: float, hidden: int) -> int:
    """Minimise over the tableau's ranges: the point into lp.point, the best a into prices; how the last programme ended.

    Stops early where const + the minimum is known to be above the floor, or well below it. The first ``hidden`` rows are the secret's.
    """
    n, m = lp.T.shape
    if not beta > 0.0:
        status = minimise(lp, c, PIVOTS)
        prices.a[:] = -lp.y[:m]
        return status
    most = m + 4
    V, cost, weight = np.empty((most, n + m)), np.empty(most), np.zeros(most)
    count, value, lower = 0, np.inf, -np.inf
    u, w, tilted = np.empty(hidden), np.empty(hidden), np.empty(n)
    for s in range(hidden):
        u[s] = 0.5 * (lp.lower[n + s] + lp.upper[n + s])
    # Linear programmes for one relaxation, at most.
    for _ in range(15):
        smoothed_logs(u, w)
        for x in range(n):
            tilted[x] = c[x]
            for s in range(hidden):
                tilted[x] += beta * lp.T[x, s] * w[s]
        status = minimise(lp, tilted, PIVOTS)
        if status != SOLVED:
            prices.a[:] = -lp.y[:m]
            return status
        reached = const
        for x in range(n):
            reached += tilted[x] * lp.point[x]
        if reached > lower:
            lower = reached
            for s in range(m):
                prices.a[s] = (beta * w[s] if s < hidden else 0.0) - lp.y[s]
        if lower >= floor or value - lower < 1e-9 or (value < floor and value - lower < 0.1 * (floor - value)):
            break
        if count == most:
            count -= 1
            least = np.argmin(weight)
            V[least], cost[least], weight[least] = V[count], cost[count], weight[count]
            weight[:count] /= weight[:count].sum()
        V[count] = lp.point
        cost[count] = 0.0
        for x in range(n):
            cost[count] += c[x] * lp.point[x]
        weight[count] = 1.0 if count == 0 else 0.0
        count += 1
        for s in range(hidden):
            u[s] = 0.0
            for i in range(count):
                u[s] += weight[i] * max(V[i, n + s], 0.0)
        balanced(V, n, cost, weight, count, beta, u)
        value = const
        for i in range(count):
            value += weight[i] * cost[i]
        for s in range(hidden):
            value -= beta * entropy(u[s])
    if count > 0:
        lp.point[:] = 0.0
        for i in range(count):
            for j in range(n + m):
                lp.point[j] += weight[i] * V[i, j]
    return SOLVED


@part
def completed(lp: Tableau, c: Array, beta: float, prices: Prices, l: Array, b: Array) -> None:
    """The best nu and tau for the prices a; c is the relaxation's slope without them."""
    n, m = lp.T.shape
    tilted = np.empty(n)
    for x in range(n):
        tilted[x] = c[x]
        for s in range(m):
            tilted[x] += lp.T[x, s] * prices.a[s]
    prices.nu[0] = filling_multiplier(tilted, l, b)
    prices.tau[0] = target_multiplier(prices.a, beta, lp.lower[n:], lp.upper[n:])
