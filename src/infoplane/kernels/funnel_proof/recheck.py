"""What a cell may keep: every bound and every range that a search claims, computed once more by the plain formulas, in fresh arrays.

    k_x = beta sum_y T[x,y] log v_y - lambda_x - nu,   phi_x(t) = h(t) + k_x t
    box      B = nu + sum_x M_x,   M_x = min(phi_x(l_x), phi_x(b_x))
    slots    B = nu + sum_i M_i,   M_i = the least phi_x(t) over the letters x of slot i, at t = L_i and at t = cap_ix

A search leaves a trail: for every round log v, nu, the bound that it claims and the ranges after it. Here the cell is followed from where
it was begun, by nothing but T, lambda, the trail's log v and nu, and these formulas; what is kept is what is found here, not what was
claimed. Margins for rounding are those that docs/explanation/exact_funnel.md derives, a little less wide than the search's own, so that
whatever does not hold here is a mistake, not a rounding: it is counted, and no certificate is given (`CellSearch.mistakes`).

Nothing is shared with the search but T, lambda and the places of its numbers.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common import EPS, Integers
from .search import BETA, ERROR, FLOOR


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
    return h + k * t - 3.0 * EPS * (h + abs(k) * t)


@part
def plain_slope(T: Array, lam: Array, beta: float, w: Array, nu: float, x: int) -> float:
    """A lower bound of k_x."""
    tangent = 0.0
    for y in range(w.size):
        tangent += T[x, y] * w[y]
    tangent *= beta
    lam_x = float(lam[x])
    return (tangent - lam_x - nu) - (3 * w.size + 16) * EPS * (abs(tangent) + abs(lam_x) + abs(nu))


@part
def is_distribution(w: Array) -> bool:
    """Whether exp(w) sums to no more than 1, up to the rounding that a bound pays for."""
    total = 0.0
    for y in range(w.size):
        total += math.exp(w[y])
    return total <= 1.0 + (2 * w.size + 8 + math.log(w.size)) * EPS


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
    return total - (count + 4) * EPS * size - number[ERROR] if is_distribution(w) else -np.inf


@part
def plain_largest(l: Array, b: Array, spare: int) -> Array:
    """Of the letters that may be 0, at most so many are not: the largest b, and behind them the next; 0 where there is none."""
    largest = np.zeros(spare + 1)
    for x in range(l.size):
        if l[x] == 0.0 and b[x] > largest[spare]:
            i = spare
            while i > 0 and largest[i - 1] < b[x]:
                largest[i] = largest[i - 1]
                i -= 1
            largest[i] = b[x]
    return largest


@part
def plain_sums(l: Array, b: Array, r: int) -> bool:
    """Shrink a box by sum q = 1 and at most r letters in use; False if nothing is left."""
    slack = 2.0 * (r + 4) * EPS
    for _ in range(3):  # as often as a search does, at most
        spare, least, most = r, 0.0, 0.0
        for x in range(l.size):
            if l[x] > b[x]:
                return False
            if l[x] > 0.0:
                spare, least, most = spare - 1, least + l[x], most + b[x]
        if spare < 0:
            return False
        largest = plain_largest(l, b, spare)
        for i in range(spare):
            most += largest[i]
        if most * (1.0 + slack) < 1.0 or least * (1.0 - slack) > 1.0:
            return False
        same = True
        for x in range(l.size):
            if b[x] > 0.0:
                positive, others = l[x] > 0.0, most
                if positive:
                    others = most - b[x]
                elif spare > 0 and b[x] >= largest[spare - 1]:
                    others = most - b[x] + largest[spare]
                high = 0.0 if spare == 0 and not positive else min(b[x], max(1.0 - (least - l[x]) + slack, 0.0))
                low = max(l[x], 1.0 - others - slack * (1.0 + most))
                same = same and low == l[x] and high == b[x]
                l[x], b[x] = low, high
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
        rho = (floor - bound) * (1.0 + 2.0 * EPS)
        for x in range(l.size):
            if not b[x] > 0.0:
                continue
            level = M[x] + rho + 2.0 * EPS * (abs(M[x]) + rho)
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


class SlotTrail(NamedTuple):
    """What a search claims of one cell, a row per round."""

    L: Array  # (rounds, r)     the masses' lower ends after the round,
    cap: Array  # (rounds, r, n)  and the caps
    w: Array  # (rounds, |Y|)     log v
    nu: Array  # (rounds,)
    bound: Array  # (rounds,)
    rounds: Integers  # (2,)    how many, and whether sum V = 1 closed the cell after them


@part
def plain_sets(L: Array, B: Array, cap: Array) -> bool:
    """Fit sets, caps and masses to each other: a cap is at most B_i, a letter whose cap is below L_i is out; False if nothing is left."""
    r, n = cap.shape
    for i in range(r):
        letters, only, widest = 0, -1, 0.0
        for x in range(n):
            if cap[i, x] > 0.0:
                cap[i, x] = min(cap[i, x], B[i]) if cap[i, x] >= L[i] else 0.0
                if cap[i, x] > 0.0:
                    letters, only, widest = letters + 1, x, max(widest, cap[i, x])
        B[i] = min(B[i], widest)
        if L[i] > B[i]:
            return False
        if letters == 1 and L[i] > 0.0:
            # Letters are distinct: what this slot certainly has, no other has.
            for j in range(r):
                if j != i:
                    cap[j, only] = 0.0
    return True


@part
def plain_order(L: Array, B: Array, cap: Array) -> bool:
    """Shrink a cell by sum V = 1, V_1 >= ... >= V_r and distinct letters; False if nothing is left."""
    r = L.size
    slack = 2.0 * (r + 4) * EPS
    for _ in range(4):  # as often as a search does, at most
        low, high, mass = L.copy(), B.copy(), cap.sum()
        if not plain_sets(L, B, cap):
            return False
        for i in range(1, r):
            B[i] = min(B[i], B[i - 1])
        for i in range(r - 2, -1, -1):
            L[i] = max(L[i], L[i + 1])
        least, most = L.sum(), B.sum()
        if most * (1.0 + slack) < 1.0 or least * (1.0 - slack) > 1.0:
            return False
        larger = 0.0
        for i in range(r):
            l, b = L[i], B[i]
            B[i] = min(b, 1.0 - (least - l) + slack)
            # What all others leave at least; and of what the larger ones leave, the largest of r - i masses has its share.
            L[i] = max(l, 1.0 - (most - b) - slack * (1.0 + most), (1.0 - larger) / (r - i) - slack * (1.0 + larger))
            larger += B[i]
            if L[i] > B[i]:
                return False
        if (low == L).all() and (high == B).all() and cap.sum() == mass:
            break
    return True


@part
def plain_slot_bound(
    T: Array, lam: Array, number: Array, L: Array, cap: Array, w: Array, nu: float, k: Array, M: Array
) -> float:
    """B, rounded downward, with k_x of the letters of any set and M_i; no bound at all if v is no distribution."""
    r, n = cap.shape
    for x in range(n):
        k[x] = 0.0
        for i in range(r):
            if cap[i, x] > 0.0:
                k[x] = plain_slope(T, lam, number[BETA], w, nu, x)
                break
    total, size = nu, abs(nu)
    for i in range(r):
        least, empty = np.inf, True
        for x in range(n):
            if cap[i, x] > 0.0:
                empty = False
                least = min(least, plain_phi(k[x], cap[i, x]), plain_phi(k[x], L[i]))
        M[i] = 0.0 if empty else least
        total += M[i]
        size += abs(M[i])
    return total - (r + 4) * EPS * size - number[ERROR] if is_distribution(w) else -np.inf


@part
def shortened(
    k: Array, level: float, error: float, L: Array, cap: Array, i: int, claimed_L: float, claimed: Array
) -> int:
    """Lower the caps of slot i, take letters out, raise its L, as claimed and as far as it holds; how many claims do not hold."""
    mistakes = 0
    raised = max(claimed_L, L[i])
    holds = True
    for x in range(claimed.size):
        if cap[i, x] > 0.0 and claimed[x] < cap[i, x]:
            lower = min(plain_phi(k[x], cap[i, x]), plain_phi(k[x], max(claimed[x], L[i])))
            mistakes += lower < level - error
            if lower >= level:
                cap[i, x] = claimed[x]
        if cap[i, x] > 0.0 and raised > L[i]:
            lower = min(plain_phi(k[x], L[i]), plain_phi(k[x], min(raised, cap[i, x])))
            mistakes += lower < level - error
            holds = holds and lower >= level
    if holds:
        L[i] = raised
    return mistakes


@part
def followed_slots(
    T: Array, lam: Array, number: Array, L: Array, B: Array, cap: Array, trail: SlotTrail
) -> tuple[float, int, Levels]:
    """The bound of a cell, inf if it is closed, with L, B and caps as far as they hold, in place; and how many claims do not hold."""
    floor, error = number[FLOOR], number[ERROR]
    r, n = cap.shape
    k, M = np.empty(n), np.empty(r)
    levels = Levels(k, np.full(r, np.inf))
    best, mistakes = -np.inf, 0
    for row in range(trail.rounds[0]):
        if not plain_order(L, B, cap):
            return np.inf, mistakes, levels
        bound = plain_slot_bound(T, lam, number, L, cap, trail.w[row], trail.nu[row], k, M)
        mistakes += trail.bound[row] > bound + error
        if bound >= floor:
            return np.inf, mistakes, levels
        if bound > best:
            best = bound
        rho = (floor - bound) * (1.0 + 2.0 * EPS)
        for i in range(r):
            levels.level[i] = M[i] + rho + 2.0 * EPS * (abs(M[i]) + rho)
            mistakes += shortened(k, levels.level[i], error, L, cap, i, trail.L[row, i], trail.cap[row, i])
    if trail.rounds[1] > 0:
        if not plain_order(L, B, cap):
            return np.inf, mistakes, levels
        mistakes += 1
    return best, mistakes, levels


@part
def leaves_out_of_slot(levels: Levels, cap: Array, i: int, t1: float, t2: float) -> bool:
    """Whether g is at least the floor wherever t1 <= V_i <= t2, whatever the slot's letter."""
    for x in range(cap.shape[1]):
        if cap[i, x] > t1 and t1 < t2:
            k = levels.k[x]
            if not min(plain_phi(k, t1), plain_phi(k, min(t2, cap[i, x]))) >= levels.level[i]:
                return False
    return True
