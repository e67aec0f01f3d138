"""What the searches over boxes and over slots share: their counters, the heap of waiting cells, and how they look for violations."""

import numpy as np

from ...information import Array
from ..common.arrays import Integers
from ..common.jit import part
from .descent import descend

WAITING, CELLS, FOUND, LOST, SINCE, RANK = range(6)
"""Places in `tally`: cells waiting, cells bounded, violating posteriors met, cells given up, cells since the first violation, rank(T)."""

BETA, FLOOR, ERROR, RELATIVE, LEAST = range(5)
"""Places in `number`: beta; the bound that ends a cell; rounding, absolute, and of the slopes, relative; the least bound of a lost cell."""

WORTH = 0.3
"""A posterior this far down to the floor is reported: to prove that g ends just above the floor could take for ever."""

PATIENCE = 300
"""Cells that a search goes on for after its first violation, at least: more columns come cheaply then."""

LARGE = 1e-3
"""Masses that count as a letter in use, when a violation is looked for."""


@part
def push(heap: Integers, count: int, keys: Array, slot: int) -> None:
    """Put a slot into the heap heap[:count], least key first; there is room for one more."""
    i = count
    while i > 0:
        parent = (i - 1) // 2
        if keys[heap[parent]] <= keys[slot]:
            break
        heap[i] = heap[parent]
        i = parent
    heap[i] = slot


@part
def pop(heap: Integers, count: int, keys: Array) -> int:
    """Take the slot of least key out of heap[:count]; it is left at heap[count - 1], where free slots are kept."""
    first = heap[0]
    last = heap[count - 1]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= count - 1:
            break
        if child + 1 < count - 1 and keys[heap[child + 1]] < keys[heap[child]]:
            child += 1
        if keys[last] <= keys[heap[child]]:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = last
    heap[count - 1] = first
    return int(first)


@part
def seen(table: Integers, letters: Integers) -> bool:
    """Whether this set of letters, in rising order, was met before; remembers it (a clash of hashes forgets the older)."""
    code = np.int64(1469598103934665603)
    for i in range(letters.size):
        code = (code ^ (letters[i] + 1)) * np.int64(1099511628211)
    place = (code ^ (code >> 29)) & (table.size - 1)
    if table[place] == code:
        return True
    table[place] = code
    return False


@part
def explore(T: Array, lam: Array, number: Array, tally: Integers, found: Array, table: Integers, q: Array) -> None:
    """Descend from the large letters of q, once for every set of them; a posterior that violates is kept."""
    r, n = tally[RANK], q.size
    chosen = np.empty(min(r, n), dtype=np.int64)
    count = 0
    for x in range(n):
        if q[x] > LARGE:
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
    if count == 0 or tally[FOUND] >= found.shape[0]:
        return
    letters = chosen[:count].copy()
    if seen(table, letters):
        return
    part, total = np.empty(count), 0.0
    for i in range(count):
        part[i] = q[letters[i]]
        total += part[i]
    part /= total
    if descend(T, lam, number[BETA], letters, part) < WORTH * number[FLOOR]:
        row = tally[FOUND]
        for x in range(n):
            found[row, x] = 0.0
        for i in range(count):
            found[row, letters[i]] = part[i]
        tally[FOUND] += 1


@part
def enough(tally: Integers, found: Array) -> bool:
    """Whether a search that has met violations should hand them over: its cells cannot all be done."""
    count, since = tally[FOUND], tally[SINCE]
    return bool(count >= found.shape[0] or (count > 0 and since > max(PATIENCE, (tally[CELLS] - since) // 2)))
