"""What a box may keep: every bound and every range that a search claims, computed once more by the plain formulas, in fresh arrays.

    k_x = beta sum_y T[x,y] log v_y - lambda_x - nu,   phi_x(t) = h(t) + k_x t,   M_x = min(phi_x(l_x), phi_x(b_x)),   B = nu + sum_x M_x

A search leaves a trail: for every round log v, nu, the bound that it claims and the ranges after it. Here the cell is followed from the
box in which it was begun, by nothing but T, lambda, the trail's log v and nu, and these formulas; what is kept is what is found here, not
what was claimed. Margins for rounding are those that docs/explanation/exact_funnel.md derives, a little less wide than the search's own, so
that whatever does not hold here is a mistake, not a rounding: it is counted, and no certificate is given (`Pricing.mistakes`).

Nothing is shared with the search but T, lambda and the places of its numbers.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common.rows import Integers
from .search import BETA, ERROR, FLOOR

E = 2.0**-52  # from 1 to the next number


class BoxTrail(NamedTuple):
    """What a search claims of one cell, a row per round."""

    l: Array  # (rounds, n)   the ranges after the round
    b: Array  # (rounds, n)
    w: Array  # (rounds, |Y|)  log v
    nu: Array  # (rounds,)
    bound: Array  # (rounds,)
    rounds: Integers  # (2,)   how many, and whether sum q = 1 closed the cell after them


class Levels(NamedTuple):
    """Of the last round: where phi_x(t) = h(t) + k_x t is at least level_x, g is at least the floor."""

    k: Array
    level: Array


@part
def plain_phi(k: float, t: float) -> float:
    """A lower bound of h(t) + k t."""
    h = -t * math.log(t) if t > 0.0 else 0.0
    return h + k * t - 3.0 * E * (h + abs(k) * t)


@part
def plain_slope(T: Array, lam: Array, beta: float, w: Array, nu: float, x: int) -> float:
    """A lower bound of k_x."""
    tangent = 0.0
    for y in range(w.size):
        tangent += T[x, y] * w[y]
    tangent *= beta
    price = float(lam[x])
    return (tangent - price - nu) - (3 * w.size + 16) * E * (abs(tangent) + abs(price) + abs(nu))


@part
def is_distribution(w: Array) -> bool:
    """Whether exp(w) sums to no more than 1, up to the rounding that a bound pays for."""
    total = 0.0
    for y in range(w.size):
        total += math.exp(w[y])
    return total <= 1.0 + (2 * w.size + 8 + math.log(w.size)) * E


@part
def plain_bound(
    T: Array, lam: Array, number: Array, l: Array, b: Array, w: Array, nu: float, k: Array, M: Array
) -> float:
    """B, rounded downward, with k_x and M_x; no bound at all if v is no distribution."""
    total, size, count = nu, abs(nu), 0
    for x in range(l.size):
        k[x] = M[x] = 0.0
        if b[x] > 0.0:
            k[x] = plain_slope(T, lam, number[BETA], w, nu, x)
            M[x] = plain_phi(k[x], b[x])
            M[x] = min(plain_phi(k[x], l[x]) if l[x] > 0.0 else 0.0, M[x])
            total += M[x]
            size += abs(M[x])
            count += 1
    return total - (count + 4) * E * size - number[ERROR] if is_distribution(w) else -np.inf


@part
def plain_sums(l: Array, b: Array, r: int) -> bool:
    """Shrink a box by sum q = 1 and at most r letters in use; False if nothing is left."""
    slack = 2.0 * (r + 4) * E
    for _ in range(3):  # as often as a search does, at most
        free = b[(l == 0.0) & (b > 0.0)]
        positive = l > 0.0
        spare = r - int(positive.sum())
        if spare < 0 or (l > b).any():
            return False
        # Of the letters that may be 0, at most so many are not: the largest.
        largest = np.sort(free)[::-1]
        least, most = l[positive].sum(), b[positive].sum() + largest[:spare].sum()
        if most * (1.0 + slack) < 1.0 or least * (1.0 - slack) > 1.0:
            return False
        next_largest = largest[spare] if largest.size > spare else 0.0
        low, high = l.copy(), b.copy()
        for x in range(l.size):
            if b[x] > 0.0:
                high[x] = 0.0 if spare == 0 and not positive[x] else min(b[x], max(1.0 - (least - l[x]) + slack, 0.0))
                others = most
                if positive[x]:
                    others = most - b[x]
                elif spare > 0 and b[x] >= largest[min(spare, largest.size) - 1]:
                    others = most - b[x] + next_largest
                low[x] = max(l[x], 1.0 - others - slack * (1.0 + most))
        same = (low == l).all() and (high == b).all()
        l[:], b[:] = low, high
        if same:
            break
    return True


@part
def followed(
    T: Array, lam: Array, number: Array, r: int, l: Array, b: Array, trail: BoxTrail
) -> tuple[float, int, Levels]:
    """The bound of a cell, inf if it is closed, with its ranges l and b as far as they hold, in place; and how many claims do not hold."""
    floor, error = number[FLOOR], number[ERROR]
    k, M = np.empty(l.size), np.empty(l.size)
    levels = Levels(k, np.full(l.size, np.inf))
    best, mistakes = -np.inf, 0
    for row in range(trail.rounds[0]):
        if not plain_sums(l, b, r):
            return np.inf, mistakes, levels
        bound = plain_bound(T, lam, number, l, b, trail.w[row], trail.nu[row], k, M)
        mistakes += trail.bound[row] > bound + error
        if bound >= floor:
            return np.inf, mistakes, levels
        if bound > best:
            best = bound
        rho = (floor - bound) * (1.0 + 2.0 * E)
        for x in range(l.size):
            if not b[x] > 0.0:
                continue
            level = M[x] + rho + 2.0 * E * (abs(M[x]) + rho)
            levels.level[x] = level
            low, high = max(trail.l[row, x], l[x]), min(trail.b[row, x], b[x])
            if low > l[x]:
                lower = min(plain_phi(k[x], l[x]), plain_phi(k[x], min(low, b[x])))
                mistakes += lower < level - error
                l[x] = low if lower >= level else l[x]
            if high < b[x]:
                lower = min(plain_phi(k[x], b[x]), plain_phi(k[x], max(high, l[x])))
                mistakes += lower < level - error
                b[x] = high if lower >= level else b[x]
    if trail.rounds[1] > 0:
        if not plain_sums(l, b, r):
            return np.inf, mistakes, levels
        mistakes += 1
    return best, mistakes, levels


@part
def leaves_out(levels: Levels, x: int, t1: float, t2: float) -> bool:
    """Whether g is at least the floor wherever t1 <= q_x <= t2: phi_x is concave, so its ends tell."""
    return t1 >= t2 or min(plain_phi(levels.k[x], t1), plain_phi(levels.k[x], t2)) >= levels.level[x]
