"""Slots: a posterior on at most r = rank(T) letters is r slots with masses V_1 >= ... >= V_r, each with one letter x(i).

A cell gives every slot a range [L_i, B_i] of masses and a set of letters with a cap for each, the largest mass that the slot may have with
that letter: one cell covers many supports. How low can g be in it? With phi_x(t) = h(t) + k_x t, k_x = beta sum_y T[x,y] log v_y -
lambda_x - nu, exactly

    g(q) = B + sum_i (phi_x(i)(V_i) - M_i) + beta KL(Tq || v),    B = nu + sum_i M_i,

where M_i is the least phi_x(t) over the letters x of slot i and over t = L_i and t = cap_ix: every term after B >= 0. So
phi_x(V_i) - M_i <= floor - B wherever g < floor: this lowers caps, takes letters out of sets, and shrinks the ranges of masses.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common import EPS, Flags, Integers, copy_row, copy_rows
from .recheck import SlotTrail
from .relaxation import (
    LOOK,
    ROUNDS,
    SHRUNK,
    STEPS,
    entropy,
    excluded,
    fill_sharp,
    fill_tangents,
    known_enough,
    move,
    phi,
    slope_of_last,
    smoothed_logs,
    step_length,
    worth,
)
from .search import BETA, ERROR, FLOOR, RELATIVE

KEPT = 4
"""Letters of each slot that a cell remembers as where the relaxation was least."""

GONE = 255
"""Code of a letter that is not in a slot's set; code j < 255 stands for a cap of 2^(-j/8)."""

Codes = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


class Slots(NamedTuple):
    """A search under way; arrays, updated in place. heap[:WAITING] are the cells that wait, lowest bound first, the rest are free."""

    T: Array  # (n, |Y|)            p(y|x), one row per letter
    lam: Array  # (n,)             multipliers; a search may lower them
    p: Array  # (n,)               masses
    number: Array
    tally: Integers
    heap: Integers  # (cells,)
    key: Array  # (cells,)          proven: g >= key in the cell
    low: Array  # (cells, r)
    high: Array  # (cells, r)
    code: Codes  # (cells, r, n)    caps, rounded up
    guess: Integers  # (cells, r, KEPT)
    mass: Array  # (cells, r, KEPT)
    slot: Integers  # (cells,)      where to cut: a slot,
    pair: Integers  # (cells, 2)    two letters whose neighbours part, or -1,
    cut: Array  # (cells, 2)        and what a cut of the masses leaves out
    found: Array  # (most, n)       violating posteriors
    table: Integers  # sets of letters that have been descended on


class SlotWork(NamedTuple):
    """Room for one cell."""

    L: Array  # (r,)
    B: Array  # (r,)
    cap: Array  # (r, n)        0: not in the set
    q: Array  # (r, n)          the relaxation's masses
    V: Array  # (r,)
    h_L: Array  # (r,)
    h_cap: Array  # (r, n)
    line: Array  # (r, n)       slope of the secant minus lambda
    member: Integers  # (r, n)  letters of each set
    size: Integers  # (r,)
    active: Integers  # (n,)    letters of any set
    used: Flags  # (n,)
    tangent: Array  # (n,)
    k: Array  # (n,)
    least: Array  # (r,)        M_i
    best: Integers  # (r,)      cheapest letter of a set
    worst: Integers  # (r,)     dearest letter in use
    u: Array  # (|Y|,)
    w: Array  # (|Y|,)          log v
    sharp: Array  # (|Y|,)      1 / u
    D: Array  # (|Y|,)
    cut: Array  # (r, 2)
    nu: Array  # (1,)


@part
def workspace(search: Slots) -> SlotWork:
    """Room for one cell."""
    (n, m), r = search.T.shape, search.low.shape[1]
    a, q, h_cap, line = np.empty((5, r)), np.zeros((r, n)), np.empty((r, n)), np.empty((r, n))
    of_slots, of_x, of_y, active, used = (
        np.empty((3, r), np.int64),
        np.empty((2, n)),
        np.empty((4, m)),
        np.empty(n, np.int64),
        np.empty(n, np.bool_),
    )
    return SlotWork(
        a[0], a[1], np.empty((r, n)), q, a[2], a[3], h_cap, line, np.empty((r, n), np.int64), of_slots[0], active, used, of_x[0], of_x[1],
        a[4], of_slots[1], of_slots[2], of_y[0], of_y[1], of_y[2], of_y[3], np.empty((r, 2)), np.empty(1),
    )  # fmt: skip


@part
def decoded(code: int) -> float:
    """The cap of a code."""
    return 0.0 if code == GONE else 2.0 ** (-0.125 * code)


@part
def encoded(cap: float) -> int:
    """The code of a cap, rounded up."""
    if not cap > 0.0:
        return GONE
    j = min(max(int(-8.0 * math.log2(cap)), 0), GONE - 1)
    while j > 0 and decoded(j) < cap:
        j -= 1
    return j


@part
def fit_sets(work: SlotWork) -> tuple[bool, bool]:
    """Caps of at most B_i, letters whose cap is below L_i out, a letter that a slot must have in no other: whether anything is left, and
    whether much has changed.
    """
    L, B, cap = work.L, work.B, work.cap
    r, n = cap.shape
    changed = False
    for i in range(r):
        count, widest, only = 0, 0.0, -1
        for x in range(n):
            if cap[i, x] > 0.0:
                cap[i, x] = min(cap[i, x], B[i]) if cap[i, x] >= L[i] else 0.0
                if cap[i, x] > 0.0:
                    count, only, widest = count + 1, x, max(widest, cap[i, x])
        if widest < B[i]:
            changed = changed or widest < 0.95 * B[i]
            B[i] = widest
        if L[i] > B[i] or (count == 0 and L[i] > 0.0):
            return False, changed
        if count == 1 and L[i] > 0.0:
            for j in range(r):
                if j != i and cap[j, only] > 0.0:
                    cap[j, only] = 0.0
                    changed = True
    return True, changed


@part
def fit_masses(L: Array, B: Array) -> tuple[bool, bool]:
    """sum V = 1 and V_1 >= ... >= V_r, rounding outward: the same."""
    r = L.size
    slack, changed, sum_L, sum_B, before = 4.0 * (r + 4) * EPS, False, 0.0, 0.0, 0.0
    for i in range(1, r):
        B[i] = min(B[i], B[i - 1])
    for i in range(r - 2, -1, -1):
        L[i] = max(L[i], L[i + 1])
    for i in range(r):
        sum_L += L[i]
        sum_B += B[i]
    least, most = sum_L * (1.0 - slack), sum_B * (1.0 + slack)
    if most < 1.0 or least > 1.0:
        return False, changed
    for i in range(r):
        ceiling = 1.0 - (least - L[i]) + slack
        if ceiling < B[i]:
            changed = changed or ceiling < 0.95 * B[i]
            B[i] = ceiling
        # All others at most; and of what the larger ones leave, the largest of r - i masses has at least its share.
        base = max(1.0 - (most - B[i]) - slack * (1.0 + most), (1.0 - before) / (r - i) - slack * (1.0 + before))
        if base > L[i]:
            changed = changed or base > 1.05 * L[i]
            L[i] = base
        before += B[i]
        if L[i] > B[i]:
            return False, changed
    return True, changed


@part
def propagate(work: SlotWork) -> bool:
    """Shrink a cell, rounding outward, by sum V = 1, the order of the slots, and distinct letters; False if nothing is left."""
    for _ in range(4):
        left, sets = fit_sets(work)
        if not left:
            return False
        left, masses = fit_masses(work.L, work.B)
        if not left:
            return False
        if not (sets or masses):
            break
    return True


@part
def fill_set(search: Slots, work: SlotWork, i: int) -> int:
    """The letters of slot i and the slopes of their secants, and what the guess has there; the letter of the largest cap, -1 if none."""
    work.size[i], work.h_L[i], work.V[i], widest = 0, entropy(work.L[i]), 0.0, -1
    wide = work.B[i] - work.L[i]
    common = (entropy(work.B[i]) - work.h_L[i]) / wide if wide > 0.0 else 0.0
    for x in range(work.used.size):
        cap = work.cap[i, x]
        if not cap > 0.0:
            work.q[i, x] = 0.0
            continue
        work.member[i, work.size[i]] = x
        work.size[i] += 1
        work.used[x] = True
        work.h_cap[i, x] = entropy(cap)
        work.line[i, x] = (common if work.L[i] > 0.0 else work.h_cap[i, x] / cap) - search.lam[x]
        work.V[i] += work.q[i, x]
        if widest < 0 or cap > work.cap[i, widest]:
            widest = x
    return widest


@part
def set_mass(work: SlotWork, i: int, wanted: float, letter: int) -> float:
    """The mass of slot i, scaled, or on one letter if it has none; by how much it has grown."""
    before = work.V[i]
    if before > 0.0:
        for x in range(work.used.size):
            work.q[i, x] *= wanted / before
    elif letter >= 0:
        work.q[i, letter] = wanted
    work.V[i] = wanted
    return float(wanted - before)


@part
def prepare(search: Slots, work: SlotWork) -> int:
    """Sets, secants, and masses in the cell with sum 1 near the guess; how many letters are in any set."""
    L, B, q, V = work.L, work.B, work.q, work.V
    r, n = work.cap.shape
    total = 0.0
    work.used[:] = False
    for i in range(r):
        widest = fill_set(search, work, i)
        set_mass(work, i, min(max(V[i], L[i]), B[i]), widest)
        total += V[i]
    count = 0
    for x in range(n):
        if work.used[x]:
            work.active[count] = x
            count += 1
    for i in range(r):
        wanted = min(max(V[i] + 1.0 - total, L[i]), B[i])
        if wanted != V[i] and work.size[i] > 0:
            total += set_mass(work, i, wanted, work.member[i, 0])
    work.u[:] = 0.0
    for i in range(r):
        for j in range(work.size[i]):
            x = work.member[i, j]
            if q[i, x] > 0.0:
                for y in range(work.u.size):
                    work.u[y] += q[i, x] * search.T[x, y]
    return count


@part
def slopes(search: Slots, work: SlotWork, count: int) -> None:
    """Log v into w, beta T.w of every active letter, and each set's cheapest letter and dearest letter in use."""
    smoothed_logs(work.u, work.w)
    fill_tangents(search.T, work.w, search.number[BETA], work.active, count, work.tangent)
    for i in range(work.size.size):
        best = worst = -1
        low, high = np.inf, -np.inf
        for j in range(work.size[i]):
            x = work.member[i, j]
            cost = work.line[i, x] + work.tangent[x]
            if cost < low:
                low, best = cost, x
            if work.q[i, x] > 0.0 and cost > high:
                high, worst = cost, x
        work.best[i], work.worst[i] = best, worst


@part
def bounded(search: Slots, work: SlotWork, count: int) -> float:
    """B, rounded downward, for the v of `slopes` and the nu of the cheapest letters; leaves nu, k_x and M_i."""
    r = work.size.size
    cost, width, left = np.empty(r), np.empty(r), 1.0
    for i in range(r):
        cost[i] = work.line[i, work.best[i]] + work.tangent[work.best[i]] if work.best[i] >= 0 else np.inf
        width[i] = work.B[i] - work.L[i]
        left -= work.L[i]
    nu = slope_of_last(cost, width, left)
    work.nu[0] = nu
    relative = search.number[RELATIVE]
    for j in range(count):
        x = work.active[j]
        tangent, lam = work.tangent[x], search.lam[x]
        work.k[x] = (tangent - lam - nu) - relative * (abs(tangent) + abs(lam) + abs(nu))
    total, size = nu, abs(nu)
    for i in range(r):
        least = np.inf if work.size[i] > 0 else 0.0
        for j in range(work.size[i]):
            x = work.member[i, j]
            least = min(least, phi(work.h_cap[i, x], work.k[x], work.cap[i, x]))
            least = min(least, phi(work.h_L[i], work.k[x], work.L[i]))
        work.least[i] = least
        total += least
        size += abs(least)
    return total - (r + 8) * EPS * size - float(search.number[ERROR])


@part
def best_move(search: Slots, work: SlotWork) -> tuple[int, int, float]:
    """The slots to take from and to give to, the dearest letter of the one and the cheapest of the other, that win most, and how much can
    be moved; -1 if nothing wins 1e-12.
    """
    source, target, most, gain = -1, -1, 0.0, 1e-12
    fill_sharp(work.u, work.sharp)
    for i in range(work.size.size):
        down = work.worst[i]
        for j in range(work.size.size):
            up = work.best[j]
            if down < 0 or up < 0 or (i == j and up == down):
                continue
            limit = work.q[i, down]
            if i != j:
                limit = min(limit, work.V[i] - work.L[i], work.B[j] - work.V[j])
            fall = work.line[i, down] + work.tangent[down] - work.line[j, up] - work.tangent[up]
            if fall > 0.0 and limit > 0.0:
                won = worth(search.T, up, down, work.sharp, search.number[BETA], fall, limit)
                if won > gain:
                    gain, source, target, most = won, i, j, limit
    return source, target, most


@part
def value_of_relaxation(search: Slots, work: SlotWork) -> float:
    """sum_i (secants of h at V_i, mixed as the slot's letters are) - lambda.q - beta H(u)."""
    value = 0.0
    for i in range(work.size.size):
        if work.L[i] > 0.0:
            value += work.h_L[i]
        for j in range(work.size[i]):
            x = work.member[i, j]
            if work.q[i, x] > 0.0:
                value += work.line[i, x] * work.q[i, x]
                if work.L[i] > 0.0:
                    value -= (work.line[i, x] + search.lam[x]) * work.L[i] * work.q[i, x] / work.V[i]
    for y in range(work.u.size):
        value -= search.number[BETA] * entropy(work.u[y])
    return value


@part
def relaxed(search: Slots, work: SlotWork, count: int) -> float:
    """Minimise the relaxation by moves of mass from one letter in one slot to another; B."""
    q, V, L, B = work.q, work.V, work.L, work.B
    for step in range(STEPS + 1):
        slopes(search, work, count)
        source, target, most = best_move(search, work)
        last = source < 0 or step == STEPS
        if last or step % LOOK == LOOK - 1:
            best = bounded(search, work, count)
            if last or known_enough(best, value_of_relaxation(search, work), search.number[FLOOR]):
                return best
        down, up = work.worst[source], work.best[target]
        for y in range(work.D.size):
            work.D[y] = search.T[up, y] - search.T[down, y]
        t = step_length(work.u, work.D, work.line[target, up] - work.line[source, down], search.number[BETA], most)
        if t <= 0.0:
            break
        q[source, down] = 0.0 if t >= q[source, down] else q[source, down] - t
        q[target, up] += t
        if source != target:
            V[source] = L[source] if t >= V[source] - L[source] else V[source] - t
            V[target] = B[target] if t >= B[target] - V[target] else V[target] + t
        move(work.u, work.D, t)
    return bounded(search, work, count)


@part
def reduced(search: Slots, work: SlotWork, bound: float) -> float:
    """Lower caps, take letters out, shrink the masses' ranges, by phi_x(V_i) - M_i <= floor - B; the share that went."""
    rho = (search.number[FLOOR] - bound) * (1.0 + 4.0 * EPS)
    before, after = 0.0, 0.0
    for i in range(work.size.size):
        L = work.L[i]
        level = work.least[i] + rho + 4.0 * EPS * (abs(work.least[i]) + rho)
        first, second, lowest = 0.0, 1.0, np.inf
        for j in range(work.size[i]):
            x = work.member[i, j]
            k, cap = work.k[x], work.cap[i, x]
            before += cap - L
            t1, t2 = excluded(k, L, cap, level)
            low = L
            if t1 < t2:
                if t1 <= L and t2 >= cap and L > 0.0:
                    work.cap[i, x] = 0.0
                    continue
                if t2 >= cap:
                    work.cap[i, x] = t1
                elif t1 <= L:
                    low = t2
                    t1 = L
            if not t1 < t2:
                t1, t2 = cap, L
            first, second = max(first, t1), min(second, t2)
            lowest = min(lowest, low)
            after += work.cap[i, x] - low
        if work.size[i] > 0 and lowest > L:
            work.L[i] = lowest
        work.cut[i, 0], work.cut[i, 1] = first, second
    return (before - after) / before if before > 0.0 else 0.0


@part
def settle(search: Slots, work: SlotWork, trail: SlotTrail) -> None:
    """Bound a cell and shrink it while that helps, or until nothing below the floor is left in it; the trail says how."""
    floor = search.number[FLOOR]
    trail.rounds[:] = 0
    for row in range(ROUNDS):
        if not propagate(work):
            trail.rounds[1] = 1
            return
        count = prepare(search, work)
        found = relaxed(search, work, count)
        share = reduced(search, work, found) if found < floor else 0.0
        trail.nu[row], trail.bound[row] = work.nu[0], found
        copy_row(work.w, trail.w[row])
        copy_row(work.L, trail.L[row])
        copy_rows(work.cap, trail.cap[row])
        trail.rounds[0] = row + 1
        if found >= floor or not share > SHRUNK:
            return
