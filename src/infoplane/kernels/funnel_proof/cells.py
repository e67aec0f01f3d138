"""The cells of the funnel's branch and bound, and how low g(q) = H(q) - beta H(u) - lambda.q can go in one, u = sum_x q_x T_x.

A node is a tuple of **chosen** letters, the largest of q in falling order, and a cell: a simplex whose vertices v hold the masses of the
chosen letters and, last, the mass t of **the rest**, whatever other letters that is on. A node with r chosen letters has no rest: it is
*closed*. For any u_c on the Y-simplex -H(u) >= u.log u_c (Gibbs). So, with c_x = beta T_x.log u_c - lambda_x,

    open      g(q) >= H(v) + sum_chosen v_x c_x + t min_{other x} c_x         (to lump the rest together lowers H)
    closed    g(q) >= H(v) - s H(u) - lambda.v + (beta - s) u.log u_c         for an s with H - s H(T .) concave on the cell

and both right sides are concave on the cell, so the least of their values at the vertices is a bound. Both are proven in
docs/exact_funnel.md, as is that 1/s = max over pairs of letters of 1 - sum_y T_xy T_x'y / (largest u_y) will do. Vertices are dyadic
fractions, so cells are exact; the rounding of everything else is covered by `ERROR` and `GROWTH`.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ..common.arrays import Flags, Integers
from ..common.jit import part
from .descent import xlogx

TOP, CELLS, FOUND, LOST = range(4)
"""Places in `Search.tally`: nodes waiting, nodes bounded, violating posteriors met, cells given up (too small to halve exactly)."""

BETA, FLOOR, ERROR, GROWTH, LEAST = range(5)
"""Places in `Search.number`: beta; the bound that ends a node; rounding, absolute and relative; the least bound of an ended node."""

STEPS = 4
"""Values of u_c tried on a node; each moves it towards the vertices of least bound."""

SMALLEST = 1e-14
"""No u_c has a smaller entry: where u_y = 0, a letter of the rest with p(y|x) > 0 would make the bound infinitely low."""


class Search(NamedTuple):
    """A search under way; arrays, updated in place. Slots [0, TOP) of the stack hold the nodes that wait."""

    T: Array  # (|X|, |Y|)      p(y|x), one row per letter x
    lam: Array  # (|X|,)
    number: Array
    tally: Integers
    size: Integers  # (slots,)         letters chosen
    chosen: Integers  # (slots, r)
    closed: Flags  # (slots,)
    hint: Integers  # (slots,)         a letter to stand for the rest at first
    V: Array  # (slots, r, r)   one row per vertex: masses of the chosen letters, then of the rest
    U: Array  # (slots, r, |Y|) T_x summed over the chosen letters
    G: Array  # (slots, r)      H(v) - lambda.v, over the chosen letters
    H: Array  # (slots, r)      H(u), closed nodes only
    found: Array  # (most, |X|)      violating posteriors


class Bound(NamedTuple):
    """What is known of a node once it has been bounded; scratch arrays that are used again for the next one."""

    w: Array  # (r,)       weights of the vertices: where the bound is worst
    score: Array  # (r,)   the bound at each vertex
    c: Array  # (|X|,)     c_x
    open_to: Flags  # (|X|,) letters that the rest may be on
    u: Array  # (|Y|,)
    rest: Array  # (|Y|,)    p(y) given that x is in the rest


@part
def vertices(search: Search, slot: int) -> int:
    """How many vertices a node's cell has."""
    return int(search.size[slot]) + (0 if search.closed[slot] else 1)


@part
def weigh(search: Search, slot: int, i: int) -> None:
    """Fill U, G and H of vertex i."""
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
    """1/s, rounded up: H - s H(T .) is concave on the cell of a closed node."""
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
    return worst + float(search.number[GROWTH] - 1.0)


@part
def reweigh(w: Array, score: Array, c: int, beta: float) -> None:
    """Weights w_i <- w_i exp(-score_i / beta), normalised: Blahut and Arimoto's step towards the u_c of the best bound."""
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
    """The bound of a closed node, without the allowance for rounding."""
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
    """The bound of an open node, without the allowance for rounding; marks the letters that may be the largest of the rest."""
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
    """A lower bound of g in a node."""
    raw = bound_closed(search, slot, out) if search.closed[slot] else bound_open(search, slot, out)
    return raw - float(search.number[ERROR])
