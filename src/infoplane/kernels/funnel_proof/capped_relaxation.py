"""Minimise the convex relaxation of g over the posteriors that a cap allows: what it proposes is where a bound or a column comes from.

    minimise  c.q - beta H(u)   subject to  l <= q <= b,  L <= u <= U,  Tq = u,  sum q = 1

For beta = 0 it is one linear programme, by the simplex method with bounded variables. It has few rows, |S| + 1, and many columns: the
inverse of the basis is kept whole, and the basis of a parent cell is where its children begin. Else -beta H(u) >= beta u.log v for any v
(Gibbs): each programme at the best v so far adds its vertex to a small hull, on which the function is minimised by moves between two
vertices. The multipliers of a programme, with beta log v, are the a of `capped_cell`, which says what they prove. Of rows that stand
behind those of the secret (the kept target's, `kept_boxes`) only the ranges count: u is then the first ones.
"""

from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import inlined, part
from ..common import Integers, copy_row, copy_rows, fill, largest_of
from .capped_cell import Multipliers, add_rows, filling_multiplier, target_multiplier
from .relaxation import entropy, known_enough, move, smoothed_logs, step_length

SOLVED, EMPTY, UNFINISHED = 0, 1, 2
"""How a programme ends: at an optimum; with multipliers that say that it has no point; or after too many steps."""

FEASIBLE = 1e-10
"""What a variable may be outside of its range by."""

REFRESH = 40
"""Steps after which the inverse is computed anew: each adds a few roundings."""


class Tableau(NamedTuple):
    """Variables q (n) and u (m), rows Tq - u = 0 and sum q = 1; arrays, updated in place."""

    T: Array  # (n, m)
    lower: Array  # (n + m,)
    upper: Array  # (n + m,)
    basis: Integers  # (m + 1,)     variables in the basis,
    at_upper: Integers  # (n + m,)  and at which end of their ranges the others stand
    inverse: Array  # (m + 1, m + 1)
    point: Array  # (n + m,)
    basic: Integers  # (n + m,)     1 for a variable in the basis
    y: Array  # (m + 1,)            multipliers of the rows


@part
def tableau(T: Array) -> Tableau:
    """Room for programmes over a table T, with a basis to begin with: u and the first letter."""
    n, m = T.shape
    a, of_variables = np.zeros((3, n + m)), np.zeros((2, n + m), np.int64)
    fill(a[1], 1.0)
    basis, inverse = np.empty(m + 1, np.int64), np.zeros((m + 1, m + 1))
    made = Tableau(T, a[0], a[1], basis, of_variables[0], inverse, a[2], of_variables[1], np.zeros(m + 1))
    begin(made, 0)
    return made


@part
def begin(lp: Tableau, letter: int) -> None:
    """The basis of u and one letter, everything else at its lower end."""
    n, m = lp.T.shape
    fill(lp.at_upper, 0)
    for s in range(m):
        lp.basis[s] = n + s
    lp.basis[m] = letter


@part
def column(lp: Tableau, j: int, w: Array) -> None:
    """w = B^-1 A_j: how the variables of the basis fall as variable j rises."""
    n, m = lp.T.shape
    for i in range(m + 1):
        if j < n:
            total = lp.inverse[i, m]
            for s in range(m):
                total += lp.inverse[i, s] * lp.T[j, s]
            w[i] = total
        else:
            w[i] = -lp.inverse[i, j - n]


@inlined
def invert(B: Array, inverse: Array) -> bool:
    """The inverse of B by Gauss and Jordan, into an identity; B is used up. False if it is singular."""
    size = B.shape[0]
    for c in range(size):
        pivot = c
        for i in range(c + 1, size):
            if abs(B[i, c]) > abs(B[pivot, c]):
                pivot = i
        if abs(B[pivot, c]) < 1e-12:
            return False
        if pivot != c:
            for k in range(size):
                B[c, k], B[pivot, k] = B[pivot, k], B[c, k]
                inverse[c, k], inverse[pivot, k] = inverse[pivot, k], inverse[c, k]
        scale = 1.0 / B[c, c]
        for k in range(size):
            B[c, k] *= scale
            inverse[c, k] *= scale
        for i in range(size):
            factor = B[i, c]
            if i != c and factor != 0.0:
                for k in range(size):
                    B[i, k] -= factor * B[c, k]
                    inverse[i, k] -= factor * inverse[c, k]
    return True


@part
def refresh(lp: Tableau) -> bool:
    """The inverse of the basis, and the values of all variables; False if the basis is singular."""
    n, m = lp.T.shape
    size = m + 1
    B, inverse = np.zeros((size, size)), np.zeros((size, size))
    for i in range(size):
        inverse[i, i] = 1.0
        j = lp.basis[i]
        if j < n:
            for s in range(m):
                B[s, i] = lp.T[j, s]
            B[m, i] = 1.0
        else:
            B[j - n, i] = -1.0
    if not invert(B, inverse):
        return False
    copy_rows(inverse, lp.inverse)
    fill(lp.basic, 0)
    for i in range(size):
        lp.basic[lp.basis[i]] = 1
    rest = np.zeros(size)
    rest[m] = 1.0
    for j in range(n + m):
        if lp.basic[j] == 0:
            value = lp.upper[j] if lp.at_upper[j] else lp.lower[j]
            lp.point[j] = value
            if value != 0.0:
                if j < n:
                    for s in range(m):
                        rest[s] -= value * lp.T[j, s]
                    rest[m] -= value
                else:
                    rest[j - n] += value
    for i in range(size):
        total = 0.0
        for k in range(size):
            total += inverse[i, k] * rest[k]
        lp.point[lp.basis[i]] = total
    return True


@inlined
def multipliers_of(lp: Tableau, cost: Array) -> bool:
    """The rows' multipliers for the present basis into y; of the sum of infeasibilities, and True, as long as there are any."""
    n, m = lp.T.shape
    outside = np.zeros(m + 1)
    infeasible = False
    for i in range(m + 1):
        j = lp.basis[i]
        if lp.point[j] < lp.lower[j] - FEASIBLE:
            outside[i], infeasible = -1.0, True
        elif lp.point[j] > lp.upper[j] + FEASIBLE:
            outside[i], infeasible = 1.0, True
    for k in range(m + 1):
        total = 0.0
        for i in range(m + 1):
            if infeasible:
                total += outside[i] * lp.inverse[i, k]
            elif lp.basis[i] < n:
                total += cost[lp.basis[i]] * lp.inverse[i, k]
        lp.y[k] = total
    return infeasible


@inlined
def entering(lp: Tableau, cost: Array, infeasible: bool, least: float, first: bool) -> int:
    """The variable whose move lowers the objective fastest, or the first that does; -1 if none does."""
    n, m = lp.T.shape
    best, chosen = least, -1
    for j in range(n + m):
        if lp.basic[j] or not lp.upper[j] > lp.lower[j]:
            continue
        if j < n:
            slope = (0.0 if infeasible else cost[j]) - lp.y[m]
            for s in range(m):
                slope -= lp.T[j, s] * lp.y[s]
        else:
            slope = lp.y[j - n]
        fall = slope if lp.at_upper[j] else -slope
        if fall > best:
            best, chosen = fall, j
            if first:
                break
    return chosen


@part
def leaving(lp: Tableau, w: Array, sign: float, widest: float) -> tuple[float, int, int]:
    """How far the entering variable moves, the row that stops it, -1 if its own range does, and at which end that row's variable stops."""
    t, row, end, pivot = widest, -1, 0, 0.0
    for i in range(w.size):
        fall = w[i] * sign
        if abs(fall) < 1e-9:
            continue
        j = lp.basis[i]
        x, low, high = lp.point[j], lp.lower[j], lp.upper[j]
        # A variable outside of its range stops where it comes in; one inside where it would go out.
        if fall > 0.0:
            stop = high if x > high + FEASIBLE else low
            if x < low - FEASIBLE:
                continue
            limit, upper = (x - stop) / fall, int(x > high + FEASIBLE)
        else:
            stop = low if x < low - FEASIBLE else high
            if x > high + FEASIBLE:
                continue
            limit, upper = (x - stop) / fall, int(x >= low - FEASIBLE)
        limit = max(limit, 0.0)
        if limit < t - 1e-13 or (row >= 0 and limit <= t + 1e-13 and abs(fall) > pivot):
            t, row, end, pivot = min(limit, t), i, upper, abs(fall)
    return t, row, end


@part
def exchange(lp: Tableau, w: Array, j: int, sign: float, t: float, row: int, end: int) -> None:
    """Move variable j by t; it goes into the basis, or to the other end of its range if no row stops it."""
    for i in range(w.size):
        lp.point[lp.basis[i]] -= w[i] * sign * t
    if row < 0:
        lp.at_upper[j] = 1 - lp.at_upper[j]
        lp.point[j] = lp.upper[j] if lp.at_upper[j] else lp.lower[j]
        return
    lp.point[j] += sign * t
    out = lp.basis[row]
    lp.at_upper[out], lp.point[out] = end, lp.upper[out] if end else lp.lower[out]
    lp.basic[out], lp.basic[j], lp.basis[row] = 0, 1, j
    for k in range(w.size):
        lp.inverse[row, k] /= w[row]
    for i in range(w.size):
        if i != row and w[i] != 0.0:
            for k in range(w.size):
                lp.inverse[i, k] -= w[i] * lp.inverse[row, k]


@part
def minimise(lp: Tableau, cost: Array, steps: int) -> int:
    """Least cost.q from the basis that is there; the point and the rows' multipliers y, those of phase 1 if it is EMPTY."""
    if not refresh(lp):
        begin(lp, 0)
        refresh(lp)
    w = np.empty(lp.y.size)
    largest, still = max(largest_of(cost), 1.0), 0
    for step in range(steps):
        if step % REFRESH == REFRESH - 1 and not refresh(lp):
            return UNFINISHED
        infeasible = multipliers_of(lp, cost)
        # After 60 steps without progress the first variable that helps enters, not the best one: no cycle is as long.
        j = entering(lp, cost, infeasible, 1e-11 if infeasible else 1e-11 * largest, still > 60)
        if j < 0:
            return EMPTY if infeasible else SOLVED
        column(lp, j, w)
        sign = -1.0 if lp.at_upper[j] else 1.0
        t, row, end = leaving(lp, w, sign, lp.upper[j] - lp.lower[j])
        still = still + 1 if t < 1e-13 else 0
        exchange(lp, w, j, sign, t, row, end)
    return UNFINISHED


PIVOTS = 400
"""Steps of one programme, at most: children of a cell need a few."""


@part
def give(lp: Tableau, multipliers: Multipliers) -> None:
    """The rows' multipliers as the a of `capped_cell`."""
    for s in range(multipliers.a.size):
        multipliers.a[s] = -lp.y[s]


@inlined
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
        move(u, D, t)


@inlined
def add_vertex(V: Array, n: int, cost: Array, weight: Array, count: int, c: Array, point: Array, u: Array) -> int:
    """One more vertex of the hull, without weight unless it is the first, in place of the lightest if there is no room; how many."""
    if count == weight.size:
        count -= 1
        least, total = 0, 0.0
        for i in range(1, count + 1):
            least = i if weight[i] < weight[least] else least
        copy_row(V[count], V[least])
        cost[least], weight[least] = cost[count], weight[count]
        for i in range(count):
            total += weight[i]
        for i in range(count):
            weight[i] /= total
    copy_row(point, V[count])
    cost[count], weight[count] = 0.0, 1.0 if count == 0 else 0.0
    for x in range(n):
        cost[count] += c[x] * point[x]
    count += 1
    for s in range(u.size):
        u[s] = 0.0
        for i in range(count):
            u[s] += weight[i] * max(V[i, n + s], 0.0)
    return count


@part
def relaxed(
    lp: Tableau, c: Array, beta: float, multipliers: Multipliers, const: float, floor: float, hidden: int
) -> int:
    """Minimise over the tableau's ranges: the point into lp.point, the best a into multipliers; how the last programme ended.

    Stops early where const + the minimum is known to be above the floor, or well below it. The first ``hidden`` rows are the secret's.
    """
    n, m = lp.T.shape
    if not beta > 0.0:
        status = minimise(lp, c, PIVOTS)
        give(lp, multipliers)
        return status
    most = m + 4
    V, cost, weight = np.empty((most, n + m)), np.empty(most), np.zeros(most)
    count, value, lower = 0, np.inf, -np.inf
    u, w = np.empty(hidden), np.empty(hidden)
    for s in range(hidden):
        u[s] = 0.5 * (lp.lower[n + s] + lp.upper[n + s])
    # Linear programmes for one relaxation, at most.
    for _ in range(15):
        smoothed_logs(u, w)
        for s in range(hidden):
            w[s] *= beta
        tilted = c.copy()
        add_rows(lp.T, w, tilted)
        status = minimise(lp, tilted, PIVOTS)
        if status != SOLVED:
            give(lp, multipliers)
            return status
        reached = const
        for x in range(n):
            reached += tilted[x] * lp.point[x]
        if reached > lower:
            lower = reached
            for s in range(m):
                multipliers.a[s] = (w[s] if s < hidden else 0.0) - lp.y[s]
        if value - lower < 1e-9 or known_enough(lower, value, floor):
            break
        count = add_vertex(V, n, cost, weight, count, c, lp.point, u)
        balanced(V, n, cost, weight, count, beta, u)
        value = const
        for i in range(count):
            value += weight[i] * cost[i]
        for s in range(hidden):
            value -= beta * entropy(u[s])
    if count > 0:
        fill(lp.point, 0.0)
        for i in range(count):
            for j in range(n + m):
                lp.point[j] += weight[i] * V[i, j]
    return SOLVED


@part
def completed(lp: Tableau, c: Array, beta: float, multipliers: Multipliers, l: Array, b: Array) -> None:
    """The best nu and tau for the multipliers a; c is the relaxation's slope without them."""
    n, tilted = lp.T.shape[0], c.copy()
    add_rows(lp.T, multipliers.a, tilted)
    multipliers.nu[0] = filling_multiplier(tilted, l, b)
    multipliers.tau[0] = target_multiplier(multipliers.a, beta, lp.lower[n:], lp.upper[n:])
