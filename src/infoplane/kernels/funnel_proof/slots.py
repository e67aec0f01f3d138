"""Branch and bound over slots: the same as `boxes`, for many letters and a T of low rank.

A cell is cut in the mass of one slot, or the set of a slot is parted by distance in T between the two letters that share most of it.
"""

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, inlined, part
from ..common import copy_row, copy_rows
from .recheck import Levels, SlotTrail, followed_slots, leaves_out_of_slot
from .relaxation import ROUNDS, below_h, entropy, place_inside
from .search import CELLS, MISTAKES, WAITING, count_cell, enough, explore, give_up, let_wait, next_cell
from .slot_bound import KEPT, Slots, SlotWork, decoded, encoded, settle, workspace

MIXED = 0.1
"""A slot's mixing entropy times this is weighed against what the secants lose, to choose where to cut."""


@part
def two_largest(work: SlotWork, i: int, v: float) -> tuple[int, int, float]:
    """The two letters that share most of slot i, -1 if there are none, and v times the entropy of how its letters mix."""
    first, second, mixing = -1, -1, 0.0
    for j in range(work.size[i]):
        x = work.member[i, j]
        mass = work.q[i, x]
        if work.cap[i, x] > 0.0 and mass > 0.0:
            mixing += v * entropy(min(mass / work.V[i], 1.0))
            if first < 0 or mass > work.q[i, first]:
                first, second = x, first
            elif second < 0 or mass > work.q[i, second]:
                second = x
    return first, second, mixing


@part
def where_to_cut(work: SlotWork) -> tuple[int, int, int]:
    """A slot; two of its letters whose neighbours are to part, or (-1, -1) if its mass is to be cut. The slot is -1 if nothing can be."""
    best, slot, a, b, widest, wide = 0.0, -1, -1, -1, -1, 0.0
    for i in range(work.L.size):
        if work.size[i] == 0:
            continue
        l, h = work.L[i], work.B[i]
        v = min(max(work.V[i], l), h)
        if h > l:
            lost = below_h(l, h, v)
            if lost > best:
                best, slot, a, b = lost, i, -1, -1
            if h - l > wide:
                wide, widest = h - l, i
        first, second, mixing = two_largest(work, i, v)
        if second >= 0 and MIXED * mixing > best:
            best, slot, a, b = MIXED * mixing, i, first, second
        if first >= 0:
            # The same letter in two slots: it is in this one, or it is not.
            for j in range(i):
                same = MIXED * min(work.q[i, first], work.q[j, first])
                if same > best and work.size[j] > 1:
                    best, slot, a, b = same, j, first, first
    return (widest, -1, -1) if best < 1e-12 and widest >= 0 else (slot, a, b)


@part
def place_of_cut(search: Slots, work: SlotWork, levels: Levels, slot: int) -> tuple[float, float]:
    """What to leave out of the masses of a slot; NaN if they are too near each other."""
    low, high = work.L[slot], work.B[slot]
    t1, t2 = max(work.cut[slot, 0], low), min(work.cut[slot, 1], high)
    if t1 < t2:
        if leaves_out_of_slot(levels, work.cap, slot, t1, t2):
            return t1, t2
        search.tally[MISTAKES] += 1
    t = place_inside(low, high, work.V[slot])
    return t, t


@part
def keep(search: Slots, work: SlotWork, levels: Levels, bound: float) -> None:
    """Let a cell wait, if it can be cut and there is room."""
    where, a, b = where_to_cut(work)
    t1, t2 = place_of_cut(search, work, levels, where) if where >= 0 and a < 0 else (0.0, 0.0)
    if where < 0 or t1 != t1 or search.tally[WAITING] >= search.heap.size:
        give_up(search.number, search.tally, bound)
        return
    cell = let_wait(search.heap, search.key, search.tally, bound)
    search.slot[cell] = where
    search.pair[cell, 0], search.pair[cell, 1] = a, b
    search.cut[cell, 0], search.cut[cell, 1] = t1, t2
    r, n = work.cap.shape
    for i in range(r):
        search.low[cell, i], search.high[cell, i] = work.L[i], work.B[i]
        for j in range(KEPT):
            search.guess[cell, i, j] = -1
        for x in range(n):
            search.code[cell, i, x] = encoded(work.cap[i, x])
            if work.q[i, x] > 0.0:
                j = KEPT - 1
                if search.guess[cell, i, j] >= 0 and search.mass[cell, i, j] >= work.q[i, x]:
                    continue
                while j > 0 and (search.guess[cell, i, j - 1] < 0 or search.mass[cell, i, j - 1] < work.q[i, x]):
                    search.guess[cell, i, j] = search.guess[cell, i, j - 1]
                    search.mass[cell, i, j] = search.mass[cell, i, j - 1]
                    j -= 1
                search.guess[cell, i, j], search.mass[cell, i, j] = x, work.q[i, x]


@inlined
def visit(search: Slots, work: SlotWork, trail: SlotTrail, inherited: float) -> None:
    """Settle the cell in `work` and follow the trail; keep what holds of it, and look for a violation in it, if it is not done."""
    count_cell(search.tally)
    L, B, cap = work.L.copy(), work.B.copy(), work.cap.copy()
    settle(search, work, trail)
    bound, mistakes, levels = followed_slots(search.T, search.lam, search.number, L, B, cap, trail)
    search.tally[MISTAKES] += mistakes
    if bound < np.inf:
        copy_row(L, work.L)
        copy_row(B, work.B)
        copy_rows(cap, work.cap)
        total = np.zeros(cap.shape[1])
        for i in range(work.size.size):
            for x in range(total.size):
                total[x] += work.q[i, x]
        explore(search, total)
        keep(search, work, levels, max(inherited, bound))


@part
def restore(search: Slots, L: Array, B: Array, cap: Array, q: Array, cell: int, side: int) -> None:
    """One of the two parts of a cell: ranges, caps, and where the relaxation was least."""
    r, n = cap.shape
    where, a, b = search.slot[cell], search.pair[cell, 0], search.pair[cell, 1]
    q[:] = 0.0
    for i in range(r):
        L[i], B[i] = search.low[cell, i], search.high[cell, i]
        for x in range(n):
            cap[i, x] = decoded(search.code[cell, i, x])
        for j in range(KEPT):
            if search.guess[cell, i, j] >= 0:
                q[i, search.guess[cell, i, j]] = search.mass[cell, i, j]
    if a < 0:
        if side == 0:
            B[where] = search.cut[cell, 0]
        else:
            L[where] = search.cut[cell, 1]
        return
    for x in range(n):
        first = x == a
        if a != b:
            to_a, to_b = 0.0, 0.0
            for y in range(search.T.shape[1]):
                to_a += (search.T[x, y] - search.T[a, y]) ** 2
                to_b += (search.T[x, y] - search.T[b, y]) ** 2
            first = first or (to_a < to_b and x != b)
        if first != (side == 0):
            cap[where, x] = 0.0


@entry
def advance_slots(search: Slots, cells: int) -> bool:
    """Bound at most so many cells, in pairs, at first the whole simplex; True while cells wait and the search should go on."""
    work, m = workspace(search), search.T.shape[1]
    r, n = work.cap.shape
    trail = SlotTrail(
        np.empty((ROUNDS, r)),
        np.empty((ROUNDS, r, n)),
        np.empty((ROUNDS, m)),
        np.empty(ROUNDS),
        np.empty(ROUNDS),
        np.empty(2, np.int64),
    )
    last = max(search.tally[CELLS], 1) + cells - 1
    # The place of the cell that was popped is the next to be filled: its second part waits here while the first is settled.
    L, B, cap, q, bound, sides = np.zeros(r), np.ones(r), np.ones((r, n)), np.zeros((r, n)), -np.inf, 1
    while True:
        if search.tally[CELLS] > 0:
            cell = next_cell(search.heap, search.key, search.tally, search.found, last)
            if cell < 0:
                return bool(search.tally[WAITING] > 0 and not enough(search.tally, search.found))
            restore(search, L, B, cap, q, cell, 1)
            restore(search, work.L, work.B, work.cap, work.q, cell, 0)
            bound, sides = search.key[cell], 2
        for side in range(sides):
            if side == sides - 1:
                copy_row(L, work.L)
                copy_row(B, work.B)
                copy_rows(cap, work.cap)
                copy_rows(q, work.q)
            visit(search, work, trail, bound)
