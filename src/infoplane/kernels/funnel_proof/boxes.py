"""Branch and bound over boxes l <= q <= b: posteriors with g(q) < floor, or a proof that there are none.

The box of least bound is cut where the secant of some letter is furthest below h, and both parts are bounded (`box_bound`). Only q on at
most r = rank(T) letters matter.
"""

import numpy as np

from ...runtime.compiling import entry, part
from ..common.rows import copy_row
from .box_bound import settle
from .box_cells import BoxRoom, PosteriorBoxes, room
from .ranges import entropy
from .recheck import BoxTrail, Levels, followed, leaves_out
from .relaxation import ROUNDS
from .search import CELLS, LEAST, LOST, MISTAKES, RANK, SINCE, UNPAID, WAITING, enough, explore, pop, push


@part
def place_of_cut(search: PosteriorBoxes, work: BoxRoom, levels: Levels) -> tuple[int, float, float]:
    """The letter whose secant is furthest below h where the relaxation is least, and what to leave out of its range."""
    best, letter = 0.0, -1
    for x in range(work.l.size):
        l, b, q = work.l[x], work.b[x], min(max(work.q[x], work.l[x]), work.b[x])
        if b > l:
            h_l = entropy(l)
            lost = entropy(q) - h_l - (entropy(b) - h_l) * (q - l) / (b - l)
            if lost > best:
                best, letter = lost, x
    if letter < 0 or best < 1e-12:
        widest = 0.0
        for x in range(work.l.size):
            if work.b[x] - work.l[x] > widest:
                widest, letter = work.b[x] - work.l[x], x
    if letter < 0:
        return -1, 0.0, 0.0
    l, b = work.l[letter], work.b[letter]
    t1, t2 = max(work.cut[letter, 0], l), min(work.cut[letter, 1], b)
    if t1 < t2:
        if leaves_out(levels, letter, t1, t2):
            return letter, t1, t2
        search.tally[MISTAKES] += 1
    t = 0.5 * (work.q[letter] + 0.5 * (l + b))
    t = min(max(t, l + 0.1 * (b - l)), b - 0.1 * (b - l))
    return (letter, t, t) if l < t < b else (-1, 0.0, 0.0)


@part
def keep(search: PosteriorBoxes, work: BoxRoom, levels: Levels, bound: float) -> None:
    """Let a cell wait, if it can be cut and there is room."""
    letter, t1, t2 = place_of_cut(search, work, levels)
    waiting = search.tally[WAITING]
    if letter < 0 or waiting >= search.heap.size:
        search.number[LEAST] = min(search.number[LEAST], bound)
        search.tally[LOST] += 1
        return
    slot = search.heap[waiting]
    search.key[slot] = bound
    search.letter[slot], search.cut[slot, 0], search.cut[slot, 1] = letter, t1, t2
    for x in range(work.l.size):
        search.low[slot, x], search.high[slot, x], search.guess[slot, x] = work.l[x], work.b[x], work.q[x]
    push(search.heap, waiting, search.key, slot)
    search.tally[WAITING] = waiting + 1


@part
def visit(search: PosteriorBoxes, work: BoxRoom, trail: BoxTrail, inherited: float) -> None:
    """Settle the cell in `work` and follow the trail; keep what holds of it, and look for a violation in it, if it is not done."""
    search.tally[CELLS] += 1
    if search.tally[UNPAID]:
        search.tally[SINCE] += 1
    l, b = work.l.copy(), work.b.copy()
    settle(search, work, trail)
    bound, mistakes, levels = followed(search.T, search.lam, search.number, search.tally[RANK], l, b, trail)
    search.tally[MISTAKES] += mistakes
    if bound < np.inf:
        copy_row(l, work.l)
        copy_row(b, work.b)
        explore(search.T, search.lam, search.p, search.number, search.tally, search.found, search.table, work.q)
        keep(search, work, levels, max(inherited, bound))


@entry
def advance_boxes(search: PosteriorBoxes, cells: int) -> bool:
    """Bound at most so many cells, in pairs, at first the whole simplex; True while cells wait and the search should go on."""
    work, (n, m) = room(search), search.T.shape
    trail = BoxTrail(
        np.empty((ROUNDS, n)),
        np.empty((ROUNDS, n)),
        np.empty((ROUNDS, m)),
        np.empty(ROUNDS),
        np.empty(ROUNDS),
        np.empty(2, np.int64),
    )
    if search.tally[CELLS] == 0:
        work.l[:], work.b[:], work.q[:] = 0.0, 1.0, 1.0 / search.T.shape[0]
        visit(search, work, trail, -np.inf)
    last = search.tally[CELLS] + cells - 1
    while search.tally[CELLS] < last and search.tally[WAITING] > 0:
        if enough(search.tally, search.found):
            return False
        slot = pop(search.heap, search.tally[WAITING], search.key)
        search.tally[WAITING] -= 1
        letter, bound = search.letter[slot], search.key[slot]
        low, high, guess = search.low[slot].copy(), search.high[slot].copy(), search.guess[slot].copy()
        t1, t2 = search.cut[slot, 0], search.cut[slot, 1]
        for side in range(2):
            copy_row(low, work.l)
            copy_row(high, work.b)
            copy_row(guess, work.q)
            if side == 0:
                work.b[letter] = t1
            else:
                work.l[letter] = t2
            visit(search, work, trail, bound)
    return bool(search.tally[WAITING] > 0)
