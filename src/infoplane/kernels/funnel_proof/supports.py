"""Branch and bound over posteriors, compiled: posteriors with g(q) < floor, or a proof that there are none.

Only q on at most r letters matter (r = rank of T), and each is met by its largest letters. The first node has everything in the rest. A
node whose bound reaches the floor is done, and with it every support that begins with its letters. Another is halved across its widest
edge or, if the rest weighs more than the cell is wide, opened: one node for each letter that may be the largest of the rest.
"""

import numpy as np

from ..common.jit import entry, part
from .cells import BETA, CELLS, FLOOR, FOUND, LEAST, LOST, TOP, Bound, Search, bound, vertices, weigh
from .descent import reduced_cost

WORTH = 0.1
"""A posterior with g below this share of the floor is reported: to prove that g stays just above the floor could take for ever."""


@part
def violation(search: Search, slot: int, out: Bound) -> bool:
    """Whether g is below `WORTH` times the floor where the bound is worst; if so, that posterior is kept."""
    c, k = vertices(search, slot), search.size[slot]
    letters, q = np.empty(c, dtype=np.int64), np.zeros(c)
    for j in range(c):
        letters[j] = search.chosen[slot, j] if j < k else search.hint[slot]
        for i in range(c):
            q[j] += out.w[i] * search.V[slot, i, j]
    if reduced_cost(search.T, search.lam, search.number[BETA], letters, q, out.u) >= WORTH * search.number[FLOOR]:
        return False
    row = search.tally[FOUND]
    for x in range(search.T.shape[0]):
        search.found[row, x] = 0.0
    for j in range(c):
        search.found[row, letters[j]] = q[j]
    search.tally[FOUND] += 1
    return True


@part
def leave(search: Search, slot: int, out: Bound) -> int:
    """Give up the nodes at the top of the stack that share their largest letter; returns how many wait below them.

    Where g dips below the floor, the rim of the dip would be halved without end. One posterior per largest letter is enough to go on.
    """
    letter = search.chosen[slot, 0]
    while slot >= 0 and search.size[slot] > 0 and search.chosen[slot, 0] == letter:
        search.number[LEAST] = min(search.number[LEAST], bound(search, slot, out))
        slot -= 1
    return slot + 1


@part
def elsewhere(search: Search, slot: int) -> bool:
    """Whether the chosen letters fall in the wrong order all over the cell: another node, in the right order, covers it."""
    for j in range(search.size[slot] - 1):
        wrong = True
        for i in range(vertices(search, slot)):
            wrong = wrong and search.V[slot, i, j] < search.V[slot, i, j + 1]
        if wrong:
            return True
    return False


@part
def widest(search: Search, slot: int) -> tuple[int, int, float]:
    """The edge (i, j) of largest sum (v_i - v_j)^2 / (v_i + v_j), which is up to a factor how much H bends along it."""
    c = vertices(search, slot)
    V = search.V[slot]
    first, second, width = 0, 0, 0.0
    for i in range(c):
        for j in range(i):
            total = 0.0
            for x in range(c):
                if V[i, x] + V[j, x] > 0.0:
                    total += (V[i, x] - V[j, x]) ** 2 / (V[i, x] + V[j, x])
            if total > width:
                first, second, width = i, j, total
    return first, second, width


@part
def copy(search: Search, source: int, target: int) -> None:
    """Copy a node into another slot."""
    search.size[target], search.closed[target] = search.size[source], search.closed[source]
    search.hint[target] = search.hint[source]
    for i in range(vertices(search, source)):
        search.G[target, i], search.H[target, i] = search.G[source, i], search.H[source, i]
        search.chosen[target, i] = search.chosen[source, i]
        for j in range(vertices(search, source)):
            search.V[target, i, j] = search.V[source, i, j]
        for y in range(search.T.shape[1]):
            search.U[target, i, y] = search.U[source, i, y]


@part
def halve(search: Search, slot: int, i: int, j: int) -> bool:
    """Put the two halves in slots `slot` and `slot + 1`; False if the middle of the edge cannot be written down exactly."""
    c = vertices(search, slot)
    for x in range(c):
        a, b = search.V[slot, i, x], search.V[slot, j, x]
        total = a + b
        large, small = max(a, b), min(a, b)
        if small - (total - large) != 0.0:
            return False
    copy(search, slot, slot + 1)
    for x in range(c):
        middle = 0.5 * (search.V[slot, i, x] + search.V[slot, j, x])
        search.V[slot, i, x] = middle
        search.V[slot + 1, j, x] = middle
    weigh(search, slot, i)
    weigh(search, slot + 1, j)
    return True


@part
def open_rest(search: Search, slot: int, out: Bound) -> int:
    """Replace a node by one for each letter x that may be the largest of the rest; returns how many.

    The rest t of a vertex goes to x and to what is left, between all of it to x and a share of 1/m, with m >= the number of letters left: a
    prism over the cell. It is cut into simplices along a staircase: up to some vertex all goes to x, from that vertex on the share.
    """
    k, r, n, hint = search.size[slot], search.V.shape[1], search.T.shape[0], search.hint[slot]
    V, chosen = search.V[slot].copy(), search.chosen[slot].copy()
    last = k == r - 1
    share, stairs = 1.0, 0
    while share * (r - k) > 1.0:
        share *= 0.5
    for i in range(k + 1):
        stairs += V[i, k] > 0.0
    target = slot
    for x in range(n):
        if not out.open_to[x]:
            continue
        for stair in range(1 if last else stairs):
            search.size[target], search.closed[target] = k + 1, last
            search.hint[target] = hint if hint != x else (x + 1) % n
            for j in range(k):
                search.chosen[target, j] = chosen[j]
            search.chosen[target, k] = x
            row, step = 0, 0
            for i in range(k + 1):
                climbs = V[i, k] > 0.0 and not last
                for shared in range(2):
                    if (shared and climbs and step >= stair) or (not shared and not (climbs and step > stair)):
                        for j in range(k):
                            search.V[target, row, j] = V[i, j]
                        taken = V[i, k] * (share if shared else 1.0)
                        search.V[target, row, k] = taken
                        if not last:
                            search.V[target, row, k + 1] = V[i, k] - taken
                        row += 1
                step += climbs
            for i in range(row):
                weigh(search, target, i)
            target += 1
    return target - slot


@part
def scratch(search: Search) -> Bound:
    """Scratch arrays for one bound."""
    n, m = search.T.shape
    r = search.V.shape[1]
    return Bound(np.empty(r), np.empty(r), np.empty(n), np.empty(n, dtype=np.bool_), np.empty(m), np.empty(m))


def begin(search: Search) -> None:
    """Fill the stack with the first node: everything is in the rest."""
    search.tally[:] = 0
    search.tally[TOP] = 1
    search.number[LEAST] = np.inf
    search.size[0], search.closed[0], search.hint[0] = 0, False, 0
    search.V[0, 0, 0] = 1.0
    search.U[0, 0], search.G[0, 0], search.H[0, 0] = 0.0, 0.0, 0.0


@entry
def advance(search: Search, cells: int) -> bool:
    """Bound at most ``cells`` nodes; returns whether nodes are left on the stack."""
    out = scratch(search)
    n, slots = search.T.shape[0], search.V.shape[0]
    for _ in range(cells):
        if search.tally[TOP] == 0:
            break
        slot = search.tally[TOP] - 1
        if elsewhere(search, slot):
            search.tally[TOP] = slot
            continue
        search.tally[CELLS] += 1
        proven = bound(search, slot, out)
        k = search.size[slot]
        if proven >= search.number[FLOOR]:
            search.number[LEAST] = min(search.number[LEAST], proven)
            search.tally[TOP] = slot
            continue
        if k > 0 and violation(search, slot, out):
            search.tally[TOP] = leave(search, slot, out)
            continue
        i, j, width = widest(search, slot)
        if not search.closed[slot]:
            rest = 0.0
            for vertex in range(k + 1):
                rest += out.w[vertex] * search.V[slot, vertex, k]
            if width < rest or k == 0:
                if slot + n * (k + 1) <= slots:
                    search.tally[TOP] = slot + open_rest(search, slot, out)
                    search.number[LEAST] = min(search.number[LEAST], search.number[FLOOR])
                    continue
                width = 0.0
        if width > 0.0 and slot + 2 <= slots and halve(search, slot, i, j):
            search.tally[TOP] = slot + 2
        else:
            search.number[LEAST] = min(search.number[LEAST], proven)
            search.tally[LOST] += 1
            search.tally[TOP] = slot
    return bool(search.tally[TOP] > 0)


@entry
def least(search: Search) -> float:
    """A lower bound of g everywhere, if the search ends here."""
    out = scratch(search)
    low = float(search.number[LEAST])
    for slot in range(search.tally[TOP]):
        low = min(low, bound(search, slot, out))
    return low
