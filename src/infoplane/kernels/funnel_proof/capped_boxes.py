"""Branch and bound over boxes of posteriors that a cap allows: those with g(q) < floor, or a proof that there are none; and local search.

    g(q) = H(q) - beta H(Tq) - lambda.q   on   {q >= 0, sum q = 1, L <= Tq <= U}

The box of least bound is cut where the secant of some letter is furthest below h. A linear programme, begun at the basis of the parent,
proposes multipliers, and `capped_cell` says what they prove. Only q on at most r letters matter, see `posterior/programme.py`: a cap on Tq
is kept when a posterior is taken apart over the vertices of {q' >= 0, Tq' = Tq}.

The local search proves nothing. H is concave: replaced by its tangent at q, floored so that a letter may come back, the rest is the
convex relaxation, whose minimiser has no larger g. Repeated until g stays. Without an average cap (beta = 0) the minimisers are vertices,
and their neighbours are tried too.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, inlined, part
from ..common import Integers, copy_row
from .boxes import propagate
from .capped_cell import Multipliers, cell_bound, is_empty, shrunk_by_rows
from .capped_relaxation import (
    EMPTY,
    SOLVED,
    Tableau,
    begin,
    column,
    completed,
    exchange,
    leaving,
    refresh,
    relaxed,
    tableau,
)
from .descent import masses
from .relaxation import ROUNDS, SHRUNK, entropy, letter_to_cut, place_inside, shrunk_by_bound
from .search import (
    BETA,
    CELLS,
    ERROR,
    FLOOR,
    FOUND,
    RANK,
    WAITING,
    WORTH,
    count_cell,
    enough,
    give_up,
    in_use,
    known,
    let_wait,
    next_cell,
    report,
    seen,
)

FLOORS = (0.03, 1e-10)
"""Masses below which the tangent of H no longer grows steeper: at first, and in the end; a tenth from one tangent to the next."""


DUST = 1e-12
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
    """The letters of a point, without dust, normalised."""
    total = 0.0
    for x in range(q.size):
        q[x] = point[x] if point[x] > DUST else 0.0
        total += q[x]
    for x in range(q.size):
        q[x] /= total


@inlined
def best_neighbour(lp: Tableau, lam: Array, w: Array, value: float) -> int:
    """The variable whose exchange leads to the neighbouring vertex of least H(q) - lambda.q, if that is below value; else -1."""
    n, m = lp.T.shape
    best, chosen = value - 1e-10, -1
    for j in range(n + m):
        if lp.basic[j] or not lp.upper[j] > lp.lower[j]:
            continue
        column(lp, j, w)
        sign = -1.0 if lp.at_upper[j] else 1.0
        t, _, _ = leaving(lp, w, sign, lp.upper[j] - lp.lower[j])
        if t < DUST:
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
    return chosen


@inlined
def descended(lp: Tableau, lam: Array, beta: float, c: Array, multipliers: Multipliers, q: Array) -> float:
    """A local minimum of g in q, from the relaxation with the slopes c; its value, infinite if there is no point at all."""
    n, m = lp.T.shape
    slopes, trial, best = c.copy(), np.empty(n), np.inf
    floor = FLOORS[0]
    # Tangents of one descent, at most.
    for _ in range(25):
        if relaxed(lp, slopes, beta, multipliers, 0.0, np.nan, m) != SOLVED:
            begin(lp, 0)
            break
        posterior_at(lp.point, trial)
        value = value_of(lp.T, lam, beta, trial)
        fell = best - value
        if value < best:
            best = value
            copy_row(trial, q)
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
            j = best_neighbour(lp, lam, w, value_of(lp.T, lam, beta, trial))
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
                copy_row(trial, q)
    return best


@entry
def descend_within(
    T: Array, lam: Array, beta: float, lower: Array, upper: Array, slopes: Array, found: Array, values: Array
) -> None:
    """A local minimum of g in each row of found, and its value, from the relaxation with the slopes in the same row of slopes."""
    lp = tableau(T)
    copy_row(lower, lp.lower)
    copy_row(upper, lp.upper)
    multipliers = Multipliers(np.zeros(T.shape[1]), np.zeros(1), np.zeros(1))
    for row in range(slopes.shape[0]):
        values[row] = descended(lp, lam, beta, slopes[row], multipliers, found[row])


class CappedBoxes(NamedTuple):
    """A search under way; arrays, updated in place. heap[:WAITING] are the cells that wait, lowest bound first, the rest are free."""

    T: Array  # (n, |S|)         p(s|x), one row per letter
    lam: Array  # (n,)           multipliers of p_x; a search may lower them
    p: Array  # (n,)             masses
    L: Array  # (|S|,)           what a cluster's p(s|z) may be
    U: Array  # (|S|,)
    most: Array  # (n,)          the largest mass of each letter
    number: Array
    tally: Integers
    heap: Integers  # (cells,)
    key: Array  # (cells,)       proven: g >= key in the cell
    low: Array  # (cells, n)
    high: Array  # (cells, n)
    basis: Integers  # (cells, |S| + 1)  where the relaxation was least
    at_upper: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]  # (cells, n + |S|)
    letter: Integers  # (cells,) where to cut,
    cut: Array  # (cells, 2)     and what the cut leaves out
    found: Array  # (most, n)    violating posteriors
    table: Integers  # sets of letters that have been descended on


class CappedWork(NamedTuple):
    """Room for one cell: its ranges, and what bounding it leaves behind."""

    l: Array  # (n,)
    b: Array  # (n,)
    c: Array  # (n,)         slope of the secant minus lambda
    k: Array  # (n,)
    least: Array  # (n,)     M_x
    cut: Array  # (n, 2)     what the bound excludes inside the range
    top: Integers  # (r + 1,)
    q: Array  # (n,)


@inlined
def secants(search: CappedBoxes, work: CappedWork, lp: Tableau) -> float:
    """The relaxation's slopes into c and its ranges into the tableau; its constant."""
    const = 0.0
    for x in range(work.l.size):
        l, b = work.l[x], work.b[x]
        lp.lower[x], lp.upper[x] = l, b
        h = entropy(l)
        slope = (entropy(b) - h) / (b - l) if b > l else 0.0
        work.c[x] = slope - search.lam[x]
        const += h - slope * l
    return const


@inlined
def settle(search: CappedBoxes, work: CappedWork, lp: Tableau, multipliers: Multipliers) -> float:
    """Bound a cell and shrink it while that helps: a proven bound of what is left, infinite if nothing below the floor is."""
    beta, floor, error = search.number[BETA], search.number[FLOOR], search.number[ERROR]
    bound = -np.inf
    for _ in range(ROUNDS):
        for x in range(work.l.size):
            work.cut[x, 0], work.cut[x, 1] = work.b[x], work.l[x]
        if not propagate(work.l, work.b, search.tally[RANK], work.top):
            return np.inf
        if not shrunk_by_rows(search.T, search.L, search.U, work.l, work.b):
            return np.inf
        const = secants(search, work, lp)
        status = relaxed(lp, work.c, beta, multipliers, const, floor, lp.T.shape[1])
        if status == EMPTY and is_empty(search.T, search.L, search.U, work.l, work.b, multipliers.a):
            return np.inf
        completed(lp, work.c, beta, multipliers, work.l, work.b)
        found = cell_bound(
            search.T, search.lam, beta, error, search.L, search.U, work.l, work.b, multipliers, work.k, work.least
        )
        if found >= floor:
            return np.inf
        if found > bound:
            bound = found
        share = shrunk_by_bound(work.l, work.b, work.k, work.least, floor - found, work.cut)
        if not share > SHRUNK:
            break
    return bound


@inlined
def keep(search: CappedBoxes, work: CappedWork, lp: Tableau, bound: float) -> None:
    """Let a cell wait, if it can be cut and there is room: where the secant of a letter is furthest below h."""
    letter = max(letter_to_cut(work.l, work.b, lp.point[: work.l.size]), 0)
    l, b = work.l[letter], work.b[letter]
    t1, t2 = max(work.cut[letter, 0], l), min(work.cut[letter, 1], b)
    if not t1 < t2:
        t1 = t2 = place_inside(l, b, lp.point[letter])
    if t1 != t1 or search.tally[WAITING] >= search.heap.size:
        give_up(search.number, search.tally, bound)
        return
    cell = let_wait(search.heap, search.key, search.tally, bound)
    search.letter[cell], search.cut[cell, 0], search.cut[cell, 1] = letter, t1, t2
    copy_row(work.l, search.low[cell])
    copy_row(work.b, search.high[cell])
    copy_row(lp.basis, search.basis[cell])
    copy_row(lp.at_upper, search.at_upper[cell])


@inlined
def explore(search: CappedBoxes, work: CappedWork, lp: Tableau, whole: Tableau, multipliers: Multipliers) -> None:
    """Look for a violation near the relaxation's minimiser in an open cell, with all that the cap allows as its range."""
    beta, floor = search.number[BETA], search.number[FLOOR]
    posterior_at(lp.point, work.q)
    # A mass above this counts as a letter in use.
    letters = in_use(work.q, 1e-9, work.q.size)
    if search.tally[FOUND] >= search.found.shape[0]:
        return
    if seen(search.table, letters) and not value_of(search.T, search.lam, beta, work.q) < floor:
        return
    slopes = np.empty(work.q.size)
    for x in range(slopes.size):
        slopes[x] = -np.log(max(work.q[x], 1e-10)) - 1.0 - search.lam[x]
    value = descended(whole, search.lam, beta, slopes, multipliers, work.q)
    if not value < WORTH * floor:
        return
    letters = in_use(work.q, 0.0, work.q.size)
    q = masses(work.q, letters)
    if not known(search.found, search.tally[FOUND], letters, q):
        report(search, letters, q, value)


@inlined
def visit(
    search: CappedBoxes, work: CappedWork, lp: Tableau, whole: Tableau, multipliers: Multipliers, inherited: float
) -> None:
    """Settle the cell in `work`; let what is left of it wait, and look for a violation in it."""
    count_cell(search.tally)
    bound = settle(search, work, lp, multipliers)
    if bound < np.inf:
        keep(search, work, lp, max(inherited, bound))
        explore(search, work, lp, whole, multipliers)


@entry
def advance_capped(search: CappedBoxes, cells: int) -> bool:
    """Bound at most so many cells, in pairs, at first all that the cap allows; True while cells wait and the search should go on."""
    n, m = search.T.shape
    lp, whole = tableau(search.T), tableau(search.T)
    for one in (lp, whole):
        copy_row(search.L, one.lower[n:])
        copy_row(search.U, one.upper[n:])
    copy_row(search.most, whole.upper)
    multipliers = Multipliers(np.zeros(m), np.zeros(1), np.zeros(1))
    a, top = np.empty((4, n)), np.empty(search.tally[RANK] + 1, np.int64)
    work = CappedWork(np.zeros(n), search.most.copy(), a[0], a[1], a[2], np.empty((n, 2)), top, a[3])
    last = max(search.tally[CELLS], 1) + cells - 1
    low, high, basis, at_upper = work.l.copy(), work.b.copy(), lp.basis.copy(), np.zeros(n + m, np.uint8)
    letter, t1, t2, bound, sides = 0, search.most[0], 0.0, -np.inf, 1
    while True:
        if search.tally[CELLS] > 0:
            cell = next_cell(search.heap, search.key, search.tally, search.found, last)
            if cell < 0:
                return bool(search.tally[WAITING] > 0 and not enough(search.tally, search.found))
            copy_row(search.low[cell], low)
            copy_row(search.high[cell], high)
            copy_row(search.basis[cell], basis)
            copy_row(search.at_upper[cell], at_upper)
            letter, bound, sides = search.letter[cell], search.key[cell], 2
            t1, t2 = search.cut[cell, 0], search.cut[cell, 1]
        for side in range(sides):
            begin(lp, 0)
            copy_row(basis, lp.basis)
            copy_row(at_upper, lp.at_upper)
            copy_row(low, work.l)
            copy_row(high, work.b)
            if side == 0:
                work.b[letter] = t1
            else:
                work.l[letter] = t2
            visit(search, work, lp, whole, multipliers, bound)
