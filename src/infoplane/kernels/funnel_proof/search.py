"""What the searches over boxes and over slots share: their counters, the heap of waiting cells, and how they look for violations.

A search is any tuple of arrays with the names that are used here (`PosteriorBoxes`, `Slots`, `CappedBoxes`): kernels are compiled for each.
"""

from typing import Any

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common import Integers, fill, pop, push, total_of
from .descent import descend, masses, reduced_cost

WAITING, CELLS, FOUND, LOST, UNPAID, SINCE, RANK, MISTAKES = range(8)
"""Indices of `tally`: cells waiting, cells bounded, violating posteriors met, cells given up, violations no multiplier was lowered for,
cells since the first of those, rank(T), claims that did not hold when they were computed once more."""

BETA, FLOOR, ERROR, RELATIVE, LOWEST, BUDGET, SPENT, LEAST = range(8)
"""Indices of `number`: beta; the bound that ends a cell; rounding, absolute, and of the slopes, relative; how low a multiplier may go; what
of lambda.p_x may be, and has been, spent on lower multipliers; the least bound of a lost cell."""

WORTH = 0.3
"""A posterior this far down to the floor is reported: to prove that g ends just above the floor could take for ever."""


@part
def seen(table: Integers, letters: Integers) -> bool:
    """Whether this set of letters, in rising order, was met before; remembers it (a clash of hashes forgets the older)."""
    code = np.int64(1469598103934665603)
    for i in range(letters.size):
        code = (code ^ (letters[i] + 1)) * np.int64(1099511628211)
    entry = (code ^ (code >> 29)) & (table.size - 1)
    if table[entry] == code:
        return True
    table[entry] = code
    return False


@part
def in_use(q: Array, above: float, most: int) -> Integers:
    """The letters with a mass above some threshold, at most so many, the largest, in rising order."""
    chosen = np.empty(min(most, q.size), dtype=np.int64)
    count = 0
    for x in range(q.size):
        if q[x] > above:
            if count < chosen.size:
                chosen[count] = x
                count += 1
            else:
                weakest = 0
                for i in range(count):
                    if q[chosen[i]] < q[chosen[weakest]]:
                        weakest = i
                if q[x] > q[chosen[weakest]]:
                    for i in range(weakest, count - 1):
                        chosen[i] = chosen[i + 1]
                    chosen[count - 1] = x
    return chosen[:count].copy()


@part
def paid(lam: Array, p: Array, number: Array, letters: Integers, q: Array, value: float) -> bool:
    """Lower one multiplier so that g(q) = value < 0 becomes 0, where that costs lambda.p_x least; False if the budget does not allow it.

    Lower multipliers raise g everywhere: every bound proven so far still holds, and so the search goes on as if nothing had been found.
    """
    cost, x, share = np.inf, -1, 1.0
    for i in range(letters.size):
        if q[i] > 0.0 and -value * p[letters[i]] / q[i] < cost:
            cost, x, share = -value * p[letters[i]] / q[i], letters[i], q[i]
    if x < 0 or not (number[SPENT] + cost <= number[BUDGET] and lam[x] + value / share >= number[LOWEST]):
        return False
    lam[x] += value / share
    number[SPENT] += cost
    return True


@part
def known(found: Array, count: int, letters: Integers, q: Array) -> bool:
    """Whether one of the first rows of found is q."""
    for row in range(count):
        apart = 0.0
        for i in range(letters.size):
            apart = max(apart, abs(found[row, letters[i]] - q[i]))
        if apart < 1e-9:  # they are one
            return True
    return False


@part
def report(search: Any, letters: Integers, q: Array, value: float) -> None:
    """Keep a posterior that violates, q on its letters; a lower multiplier pays for it, if the budget allows that."""
    row = search.found[search.tally[FOUND]]
    fill(row, 0.0)
    for i in range(letters.size):
        row[letters[i]] = q[i]
    search.tally[FOUND] += 1
    if not paid(search.lam, search.p, search.number, letters, q, value):
        search.tally[UNPAID] += 1


@part
def attempt(search: Any, q: Array, letters: Integers) -> None:
    """Descend from q on some letters, if they are met for the first time or g(q) is below the floor already; keep what violates."""
    T, lam, beta, floor = search.T, search.lam, search.number[BETA], search.number[FLOOR]
    if letters.size == 0 or search.tally[FOUND] >= search.found.shape[0]:
        return
    part = masses(q, letters)
    total = total_of(part)
    for i in range(part.size):
        part[i] /= total
    met = seen(search.table, letters)
    if met and not reduced_cost(T, lam, beta, letters, part, np.empty(T.shape[1])) < floor:
        return
    value = descend(T, lam, beta, letters, part)
    if value < WORTH * floor and not (met and known(search.found, search.tally[FOUND], letters, part)):
        report(search, letters, part, value)


@part
def explore(search: Any, q: Array) -> None:
    """Look for a violation near q, the relaxation's minimiser in an open cell: from its large letters, and from all in use."""
    # Once among letters of some mass only, once among all that may be in use.
    large, every = in_use(q, 1e-3, search.tally[RANK]), in_use(q, 1e-9, search.tally[RANK])
    attempt(search, q, large)
    if every.size > large.size:
        attempt(search, q, every)


@part
def enough(tally: Integers, found: Array) -> bool:
    """Whether a search that has met violations should hand them over: its cells cannot all be done."""
    since = tally[SINCE]
    # It goes on for 300 cells at least after its first unpaid violation: more columns come cheaply then.
    late = since > max(300, (tally[CELLS] - since) // 2)
    return bool(tally[FOUND] >= found.shape[0] or (tally[UNPAID] > 0 and late))


@part
def count_cell(tally: Integers) -> None:
    """One more cell is bounded."""
    tally[CELLS] += 1
    if tally[UNPAID]:
        tally[SINCE] += 1


@part
def give_up(number: Array, tally: Integers, bound: float) -> None:
    """A cell that cannot be cut, or finds no room, keeps its bound for good."""
    number[LEAST] = min(number[LEAST], bound)
    tally[LOST] += 1


@part
def let_wait(heap: Integers, key: Array, tally: Integers, bound: float) -> int:
    """The row of a cell that waits from now on, with its bound; there must be one that is free."""
    cell = heap[tally[WAITING]]
    key[cell] = bound
    push(heap, tally[WAITING], key, cell)
    tally[WAITING] += 1
    return int(cell)


@part
def next_cell(heap: Integers, key: Array, tally: Integers, found: Array, last: int) -> int:
    """The waiting cell of least bound, to be cut; -1 once so many cells are bounded, none waits, or violations should be handed over."""
    if tally[CELLS] >= last or tally[WAITING] == 0 or enough(tally, found):
        return -1
    cell = pop(heap, tally[WAITING], key)
    tally[WAITING] -= 1
    return cell
