"""Branch and bound over posteriors, compiled: how low can g(q) = H(q) - beta H(u) - lambda.q go, u = sum_x q_x T_x?

Only q on at most r letters matter (r = rank of T). They are met by their largest letters: a node is a tuple of **chosen** letters, the
largest of q in falling order, and a cell, a simplex with vertices v whose coordinates are the masses of the chosen letters and, last, the
mass t of **the rest**, whatever letters that is on. A node with r chosen letters has no rest: it is *closed*. For any u_c on the Y-simplex,
by Gibbs' inequality -H(u) >= u.log u_c, with c_x = beta T_x.log u_c - lambda_x,

    open     g(q) >= H(v) + sum_chosen v_x c_x + t min_{other x} c_x        (lumping the rest lowers H)
    closed   g(q) >= H(v) - s H(u) - lambda.v + (beta - s) u.log u_c         for an s for which H - s H(T .) is concave on the cell

and both right sides are concave on the cell: the least vertex is a bound. For the second, on the cell (see docs/exact_funnel.md),
1/s = max over pairs of letters of 1 - sum_y T_xy T_x'y / (largest u_y). A node whose bound reaches the floor is done, and with it every support
that it stands for. Another is halved across its widest edge or, if the rest weighs more than the cell's width, opened: one node for
each letter that may be the largest of the rest.

Vertices are dyadic fractions, so cells are exact; rounding of everything else is covered by `error` and `growth`.
"""

import math
from typing import NamedTuple

import numpy as np

from ..information import Array
from .descent import reduced_cost, xlogx
from .jit import entry, part
from .split import Flags, Integers

TOP, CELLS, FOUND, LOST = range(4)
"""Places in `Search.count`: nodes waiting, nodes bounded, violating posteriors met, cells given up (too small to halve exactly)."""

BETA, FLOOR, ERROR, GROWTH, LEAST = range(5)
"""Places in `Search.number`: beta; the bound that ends a node; rounding, absolute and relative; the least bound of an ended node."""

STEPS = 4
"""Values of u_c tried on a node; each moves it towards the vertices of least bound."""

WORTH = 0.1
"""A posterior this far down to the floor is reported: were it passed over, to prove that g stops just above the floor would take for ever."""

SMALLEST = 1e-14
"""No u_c has a smaller entry, so that a letter of the rest that is alone in meeting some y is not infinitely good."""


class Search(NamedTuple):
    """A search under way; arrays, updated in place. Slots [0, TOP) of the stack hold the nodes that wait."""

    T: Array  # (|X|, |Y|)      p(y|x), a row a letter
    lam: Array  # (|X|,)
    number: Array
    count: Integers
    size: Integers  # (slots,)         letters chosen
    chosen: Integers  # (slots, r)
    closed: Flags  # (slots,)
    hint: Integers  # (slots,)         a letter to stand for the rest at first
    V: Array  # (slots, r, r)   a row a vertex: masses of the chosen letters, then of the rest
    U: Array  # (slots, r, |Y|) T_x summed over the chosen letters
    G: Array  # (slots, r)      H(v) - lambda.v, over the chosen letters
    H: Array  # (slots, r)      H(u), closed nodes only
    found: Array  # (most, |X|)      violating posteriors


class Bound(NamedTuple):
    """What bounding a node leaves behind."""

    w: Array  # (r,)       weights of the vertices: where the bound is worst
    score: Array  # (r,)   the bound at each vertex
    c: Array  # (|X|,)     c_x
    open_to: Flags  # (|X|,) letters that the rest may be on
    u: Array  # (|Y|,)
    rest: Array  # (|Y|,)    p(y) given that x is in the rest


@part
def vertices(search: Search, slot: int) -> int:
    """How many vertices a node's cell has."""
    return search.size[slot] + (0 if search.closed[slot] else 1)


@part
def weigh(search: Search, slot: int, i: int) -> None:
    """U, G and H of vertex i."""
    k = search.size[slot]
    G = 0.0
    for j in range(vertices(search, slot)):
        G -= xlogx(search.V[slot, i, j])
    for j in range(k):
        G -= search.lam[search.chosen[slot, j]] * search.V[slot, i, j]
    search.G[slot, i] = G
    H = 0.0
    for y in range(search.T.shape[1]):
        u = 0.0
        for j in range(k):
            u += search.V[slot, i, j] * search.T[search.chosen[slot, j], y]
        search.U[slot, i, y] = u
        if search.closed[slot]:
            H -= xlogx(u)
    search.H[slot, i] = H


@part
def share(search: Search, slot: int) -> float:
    """1/s: H - s H(T .) is concave on the cell of a closed node."""
    k, m = search.size[slot], search.T.shape[1]
    T, chosen = search.T, search.chosen[slot]
    largest = np.zeros(m)
    for y in range(m):
        for i in range(k):
            largest[y] = max(largest[y], search.U[slot, i, y])
    worst = 0.0
    for a in range(k):
        for b in range(a):
            overlap = 0.0
            for y in range(m):
                if largest[y] > 0.0:
                    overlap += T[chosen[a], y] * T[chosen[b], y] / largest[y]
            worst = max(worst, 1.0 - overlap)
    return worst + (search.number[GROWTH] - 1.0)


@part
def reweigh(w: Array, score: Array, c: int, beta: float) -> None:
    """W_i <- w_i exp(-score_i / beta), normalised: the step that cannot lower the best bound attainable from sum w_i u_i."""
    least, total = score[0], 0.0
    for i in range(c):
        least = min(least, score[i])
    for i in range(c):
        w[i] *= math.exp((least - score[i]) / beta)
        total += w[i]
    for i in range(c):
        w[i] /= total


@part
def bound_closed(search: Search, slot: int, out: Bound) -> float:
    """The bound of a node without a rest, before `error`."""
    c, m = search.size[slot], search.T.shape[1]
    beta, floor, growth = search.number[BETA], search.number[FLOOR] + search.number[ERROR], search.number[GROWTH]
    U = search.U[slot]
    inverse = share(search, slot)
    s = beta if inverse * beta <= 1.0 else 1.0 / inverse
    best = -np.inf
    for i in range(c):
        out.w[i] = 1.0 / c
    for step in range(STEPS):
        total = 0.0
        for y in range(m):
            out.u[y] = SMALLEST
            for i in range(c):
                out.u[y] += out.w[i] * U[i, y]
            total += out.u[y]
        for y in range(m):
            out.u[y] = math.log(out.u[y] / total)
        middle, lowest = 0.0, np.inf
        for i in range(c):
            tangent = 0.0
            for y in range(m):
                tangent += U[i, y] * out.u[y]
            out.score[i] = search.G[slot, i] - s * search.H[slot, i] + (beta - s) * growth * tangent
            middle += out.w[i] * out.score[i]
            lowest = min(lowest, out.score[i])
        best = max(best, lowest)
        # The average is the most that any u_c could reach.
        if best >= floor or middle < floor or step == STEPS - 1 or s >= beta:
            break
        reweigh(out.w, out.score, c, beta - s)
    return best


@part
def bound_open(search: Search, slot: int, out: Bound) -> float:
    """The bound of a node with a rest, before `error`; leaves the letters that the rest may be largest on."""
    k, n, m = search.size[slot], search.T.shape[0], search.T.shape[1]
    beta, floor, growth = search.number[BETA], search.number[FLOOR] + search.number[ERROR], search.number[GROWTH]
    T, U, V = search.T, search.U[slot], search.V[slot]
    for y in range(m):
        out.rest[y] = T[search.hint[slot], y]
    for x in range(n):
        out.open_to[x] = True
    for j in range(k):
        out.open_to[search.chosen[slot, j]] = False
    for i in range(k + 1):
        out.w[i] = 1.0 / (k + 1)
    best, least = -np.inf, np.inf
    for step in range(STEPS):
        total = 0.0
        for y in range(m):
            out.u[y] = SMALLEST
            for i in range(k + 1):
                out.u[y] += out.w[i] * (U[i, y] + V[i, k] * out.rest[y])
            total += out.u[y]
        for y in range(m):
            out.u[y] = math.log(out.u[y] / total)
        least = np.inf
        for x in range(n):
            if out.open_to[x]:
                tangent = 0.0
                for y in range(m):
                    tangent += T[x, y] * out.u[y]
                out.c[x] = beta * growth * tangent - search.lam[x]
                if out.c[x] < least:
                    least = out.c[x]
                    search.hint[slot] = x
        lowest = np.inf
        for i in range(k + 1):
            tangent = 0.0
            for y in range(m):
                tangent += U[i, y] * out.u[y]
            out.score[i] = search.G[slot, i] + beta * growth * tangent + V[i, k] * least
            lowest = min(lowest, out.score[i])
        best = max(best, lowest)
        if best >= floor or step == STEPS - 1:
            break
        reweigh(out.w, out.score, k + 1, beta)
        for y in range(m):
            out.rest[y] = 0.5 * (out.rest[y] + T[search.hint[slot], y])
    if best >= floor:
        return best
    # The largest of at most r - k letters has at least that share of the rest.
    share = 1.0 / (search.V.shape[1] - k)
    for x in range(n):
        if out.open_to[x]:
            lift = share * (out.c[x] - least)
            possible = False
            for i in range(k + 1):
                possible = possible or out.score[i] + V[i, k] * lift < floor
            out.open_to[x] = possible
    return best


@part
def bound(search: Search, slot: int, out: Bound) -> float:
    """A number that g does not go below in a node."""
    raw = bound_closed(search, slot, out) if search.closed[slot] else bound_open(search, slot, out)
    return raw - search.number[ERROR]


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
    row = search.count[FOUND]
    for x in range(search.T.shape[0]):
        search.found[row, x] = 0.0
    for j in range(c):
        search.found[row, letters[j]] = q[j]
    search.count[FOUND] += 1
    return True


@part
def leave(search: Search, slot: int, out: Bound) -> int:
    """Give up the nodes at the top of the stack that share their largest letter; how many wait below them.

    Where g dips below the floor, the rim of the dip would be halved without end. One posterior of each largest letter is enough to go on with.
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
    """A node into another slot."""
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
    """Replace a node by one for each letter x that may be the largest of the rest; how many.

    The rest t of each vertex is shared between x and what is left, from (t, 0) to (t/m, ...), m >= the number of letters left: a prism,
    cut into simplices along a staircase.
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
                for bottom in range(2):
                    if (bottom == 0 and climbs and step > stair) or (bottom == 1 and not (climbs and step >= stair)):
                        continue
                    for j in range(k):
                        search.V[target, row, j] = V[i, j]
                    taken = V[i, k] * (share if bottom == 1 else 1.0)
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
    """Room for one bound."""
    n, m = search.T.shape
    r = search.V.shape[1]
    return Bound(np.empty(r), np.empty(r), np.empty(n), np.empty(n, dtype=np.bool_), np.empty(m), np.empty(m))


def begin(search: Search) -> None:
    """One node: everything is rest."""
    search.count[:] = 0
    search.count[TOP] = 1
    search.number[LEAST] = np.inf
    search.size[0], search.closed[0], search.hint[0] = 0, False, 0
    search.V[0, 0, 0] = 1.0
    search.U[0, 0], search.G[0, 0], search.H[0, 0] = 0.0, 0.0, 0.0


@entry
def advance(search: Search, cells: int) -> bool:
    """Bound at most so many nodes; True while nodes wait."""
    out = scratch(search)
    n, slots = search.T.shape[0], search.V.shape[0]
    for _ in range(cells):
        if search.count[TOP] == 0:
            break
        slot = search.count[TOP] - 1
        if elsewhere(search, slot):
            search.count[TOP] = slot
            continue
        search.count[CELLS] += 1
        proven = bound(search, slot, out)
        k = search.size[slot]
        if proven >= search.number[FLOOR]:
            search.number[LEAST] = min(search.number[LEAST], proven)
            search.count[TOP] = slot
            continue
        if k > 0 and violation(search, slot, out):
            search.count[TOP] = leave(search, slot, out)
            continue
        i, j, width = widest(search, slot)
        if not search.closed[slot]:
            rest = 0.0
            for vertex in range(k + 1):
                rest += out.w[vertex] * search.V[slot, vertex, k]
            if width < rest or k == 0:
                if slot + n * (k + 1) <= slots:
                    search.count[TOP] = slot + open_rest(search, slot, out)
                    search.number[LEAST] = min(search.number[LEAST], search.number[FLOOR])
                    continue
                width = 0.0
        if width > 0.0 and slot + 2 <= slots and halve(search, slot, i, j):
            search.count[TOP] = slot + 2
        else:
            search.number[LEAST] = min(search.number[LEAST], proven)
            search.count[LOST] += 1
            search.count[TOP] = slot
    return search.count[TOP] > 0


@entry
def least(search: Search) -> float:
    """A number that g does not go below anywhere, if the search ends here."""
    out = scratch(search)
    low = search.number[LEAST]
    for slot in range(search.count[TOP]):
        low = min(low, bound(search, slot, out))
    return low
