"""Hard partitions x -> z, compiled: clusters merged pair by pair, letters moved one at a time, a line of letters cut into intervals.

**Merging** takes always the cheapest pair, without computing the cost of every pair again.
cost(i, j) = a (fall of I(Y;Z)) + b (fall of I(X;Z)) when clusters i and j become one, with t_y = p(i,y) + p(j,y):

    fall of I(X;Z) = (p_i + p_j) h(w),                  w = p_i / (p_i + p_j), h the binary entropy
    fall of I(Y;Z) = sum_y t_y d(p(i,y) / t_y || w),    d the binary divergence; a Jensen-Shannon divergence in all

A pair is ordered, i < j, and belongs to row i; the merged cluster keeps the name i. Each row remembers its cheapest pair, or else a *bound*
that none of its pairs undercuts. A merge alters only the pairs of i and j, so a row whose cheapest pair is gone keeps its old cost as a
bound, and is scanned again only if that bound becomes the smallest of all. So the pair taken is the cheapest exactly, whatever the signs of
a and b; equal costs go to the first (i, j).

**Moving** is the sequential descent of a Lagrangian. For a map x -> z H(Z|X) = 0, and up to a constant L = sum_z G(z),
G(z) = rho_z h(q(z)) + rho_zy sum_y h(q(z, y)), h(t) = -t log t. So letter x goes from z to the cluster z' where G(z' + x) - G(z') is least,
if that is below G(z) - G(z - x). Only the y with p(x, y) > 0 take part: a table with few of them in a row costs little, however many
clusters there are.

**Cutting** is a dynamic programme over where to cut. Letters stand in a row, and q(y) is the mass of those from i to j - 1. What
an interval loses is its part of H(Y|Z),

    c(i, j) = m log m - sum_y q(y) log q(y),   m = sum_y q(y);     F[k, j] = min over i < j of F[k-1, i] + c(i, j)

is the least H(Y|Z) of the first j letters in k intervals. `cut_line` takes any |Y|: every c(i, j) is computed once and serves all k,
O(n^2 (|Y| + k)). With two y, and letters in the order of p(y|x), c is Monge,

    c(i, j) + c(i', j') <= c(i, j') + c(i', j),   i <= i' < j <= j',

so that the best last cut moves to the right with j, and `cut_sorted` finds F[k] by divide and conquer, O(k n log n). An interval of less
mass than ``least`` costs infinity, which leaves c Monge: where the left side is infinite, the narrowest interval (i', j) is too light also.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..information import Array
from ..runtime.compiling import entry, part
from .common import Integers, log, regrouped

STALE = -1  # partner of a row that has a bound only


class Clusters(NamedTuple):
    """The state between two merges; cluster c no longer counts once it has been merged into one of lower number."""

    p_zy: Array  # (n, |Y|)  p(c, y)
    phi_zy: Array  # (n, |Y|)  p(c, y) log p(c, y): a pair then costs one logarithm per y, that of the sum
    p_z: Array  # (n,)
    phi_z: Array  # (n,)
    alive: Integers  # (n,)  the clusters that are left, ascending, in the first `count` entries
    bound: Array  # (n,)  no pair (c, j), j > c, costs less
    partner: Integers  # (n,)  the first j with cost(c, j) = bound[c], or STALE
    table: Array  # (n (n - 1) / 2,)  the cost of every pair, row after row; if empty, costs are computed when needed


def singletons(p_xy: Array, *, remember: bool) -> Clusters:
    """Z = X, for the rows of a dense joint, each of positive mass; `open_rows` makes it ready for `merge`."""
    n = p_xy.shape[0]
    p_z = p_xy.sum(axis=1)
    return Clusters(
        p_zy=p_xy.copy(),
        phi_zy=p_xy * np.log(np.where(p_xy > 0, p_xy, 1.0)),
        p_z=p_z,
        phi_z=p_z * np.log(p_z),
        alive=np.arange(n, dtype=np.int64),
        bound=np.full(n, np.inf),
        partner=np.full(n, STALE, dtype=np.int64),
        table=np.empty(n * (n - 1) // 2 if remember else 0),
    )


@part
def log_ratio(p: float, q: float, difference: float) -> float:
    """log(p / q), from p - q where the two are close: p may have lost that difference to rounding."""
    if abs(difference) < 0.5 * q:
        return math.log1p(difference / q)
    return math.log(p) - math.log(q)


@part
def falls(p_zy: Array, p_z: Array, i: int, j: int) -> tuple[float, float]:
    """(fall of I(Y;Z), fall of I(X;Z)) in the divergence form: accurate also for rows that are all but equal."""
    if p_z[i] > p_z[j]:
        i, j = j, i
    # i is the lighter one: differences from its share w are then as accurate as the smaller of the two shares.
    total = p_z[i] + p_z[j]
    w, v = p_z[i] / total, p_z[j] / total
    log_w, log_v = math.log(w), math.log1p(-w)
    fall_y = 0.0
    for y in range(p_zy.shape[1]):
        p, q = p_zy[i, y], p_zy[j, y]
        if p == 0.0:
            fall_y -= q * log_v
        elif q == 0.0:
            fall_y -= p * log_w
        else:
            t = p + q
            d = p / t - w
            fall_y += p * log_ratio(p / t, w, d) + q * log_ratio(q / t, v, -d)
    return max(fall_y, 0.0), -p_z[i] * log_w - p_z[j] * log_v


@part
def cost(c: Clusters, a: float, b: float, i: int, j: int) -> float:
    """Cost of the pair i < j, by differences of p log p wherever these are accurate."""
    total = c.p_z[i] + c.p_z[j]
    fall_x: float = total * math.log(total) - c.phi_z[i] - c.phi_z[j]
    fall_y = fall_x
    for y in range(c.p_zy.shape[1]):
        p, q = c.p_zy[i, y], c.p_zy[j, y]
        if p != 0.0 and q != 0.0:
            t = p + q
            fall_y -= t * math.log(t) - c.phi_zy[i, y] - c.phi_zy[j, y]
    # Falls above this share of the merged mass keep nine digits as differences of p log p.
    if fall_y < 1e-5 * total:
        fall_y, fall_x = falls(c.p_zy, c.p_z, i, j)
    return a * fall_y + b * fall_x


@part
def before(n: int, i: int) -> int:
    """Where row i would have its entry j = 0 in the table; the entry of (i, j) is j entries further."""
    return i * (2 * n - i - 1) // 2 - i - 1


@part
def scan_row(c: Clusters, a: float, b: float, count: int, index: int, known: bool) -> None:
    """Find the cheapest pair of a row, given by its index in `alive`, by its costs in the table, if they are ``known``, or computed."""
    i = c.alive[index]
    base = before(len(c.p_z), i)
    best, partner = np.inf, STALE
    for other in range(index + 1, count):
        j = c.alive[other]
        new = c.table[base + j] if known else cost(c, a, b, i, j)
        if c.table.size and not known:
            c.table[base + j] = new
        if new < best:
            best, partner = new, j
    c.bound[i], c.partner[i] = best, partner


@part
def cheapest(c: Clusters, a: float, b: float, count: int) -> int:
    """Place of the row that holds the cheapest pair of all: the row of smallest bound, once that bound is attained."""
    while True:
        index = 0
        for other in range(1, count - 1):
            if c.bound[c.alive[other]] < c.bound[c.alive[index]]:
                index = other
        if c.partner[c.alive[index]] != STALE:
            return index
        scan_row(c, a, b, count, index, c.table.size > 0)


@part
def unite(c: Clusters, a: float, b: float, count: int, index: int) -> None:
    """Merge the row of this index in `alive` with its partner, leaving count - 1 clusters and a valid bound for every row."""
    i = c.alive[index]
    j = c.partner[i]
    for y in range(c.p_zy.shape[1]):
        t = c.p_zy[i, y] + c.p_zy[j, y]
        c.p_zy[i, y] = t
        c.phi_zy[i, y] = t * math.log(t) if t > 0.0 else 0.0
    c.p_z[i] += c.p_z[j]
    c.phi_z[i] = c.p_z[i] * math.log(c.p_z[i])

    for earlier in range(index):
        x = c.alive[earlier]
        new = cost(c, a, b, x, i)
        if c.table.size:
            c.table[before(len(c.p_z), x) + i] = new
        # On equality i < j is the smallest partner, unless the row has a smaller one already or is stale (-1).
        if new < c.bound[x] or (new == c.bound[x] and c.partner[x] >= i):
            c.bound[x], c.partner[x] = new, i
        elif c.partner[x] == i or c.partner[x] == j:
            c.partner[x] = STALE

    # Rows between i and j lose their pair with j; rows after j never had one with either.
    gone = index + 1
    while c.alive[gone] != j:
        if c.partner[c.alive[gone]] == j:
            c.partner[c.alive[gone]] = STALE
        gone += 1
    for later in range(gone, count - 1):
        c.alive[later] = c.alive[later + 1]
    scan_row(c, a, b, count - 1, index, False)


@entry
def open_rows(c: Clusters, a: float, b: float, first: int, last: int) -> None:
    """Weigh the rows first, ..., last - 1 of the singletons."""
    for index in range(first, last):
        scan_row(c, a, b, len(c.p_z), index, False)


@entry
def merge(c: Clusters, a: float, b: float, count: int, pairs: Integers, fall: Array) -> None:
    """Do ``len(pairs)`` merges from `count` clusters on; write each pair (i, j) and its falls of I(Y;Z) and I(X;Z)."""
    for step in range(len(pairs)):
        index = cheapest(c, a, b, count - step)
        i = c.alive[index]
        j = c.partner[i]
        pairs[step, 0], pairs[step, 1] = i, j
        fall[step, 0], fall[step, 1] = falls(c.p_zy, c.p_z, i, j)
        unite(c, a, b, count - step, index)


class HardClusters(NamedTuple):
    """A map x -> z with its tables; updated in index."""

    labels: Integers  # (|X|,)
    size: Integers  # (|Z|,)   letters in each cluster
    mass: Array  # (|Z|,)      q(z)
    h_mass: Array  # (|Z|,)    h(q(z))
    q: Array  # (|Y|, |Z|)     q(z, y)
    h_q: Array  # (|Y|, |Z|)   h(q(z, y))


class LetterRows(NamedTuple):
    """P row by row (CSR)."""

    rows: Integers  # (|X| + 1,)
    columns: Integers
    masses: Array
    p_x: Array  # (|X|,)


@part
def h(t: float) -> float:
    """-t log t."""
    return -t * math.log(t) if t > 0.0 else 0.0


@regrouped
def add_gains(q: Array, h_q: Array, p: float, rho: float, gain: Array) -> None:
    """Adds rho (h(q + p) - h(q)) for every cluster; p > 0."""
    for z in range(q.size):
        t = q[z] + p
        gain[z] -= rho * (t * log(t) + h_q[z])


@part
def put(letters: LetterRows, there: HardClusters, x: int, z: int, sign: float) -> None:
    """Adds letter x to cluster z, or takes it out (sign -1); an empty cluster has exactly no mass."""
    there.size[z] += 1 if sign > 0.0 else -1
    empty = there.size[z] == 0
    there.mass[z] = 0.0 if empty else max(there.mass[z] + sign * letters.p_x[x], 0.0)
    there.h_mass[z] = h(there.mass[z])
    for i in range(letters.rows[x], letters.rows[x + 1]):
        y = letters.columns[i]
        there.q[y, z] = 0.0 if empty else max(there.q[y, z] + sign * letters.masses[i], 0.0)
        there.h_q[y, z] = h(there.q[y, z])


@entry
def move_letters(
    letters: LetterRows, there: HardClusters, order: Integers, rho_z: float, rho_zy: float, gain: Array
) -> tuple[int, float]:
    """Every letter of ``order`` once, to where L is least; how many moved, and the fall of L in nats. ``gain`` is scratch, (|Z|,)."""
    moved, fall, clusters = 0, 0.0, there.mass.size
    for x in order:
        home = there.labels[x]
        put(letters, there, x, home, -1.0)
        for z in range(clusters):
            gain[z] = 0.0
        add_gains(there.mass, there.h_mass, letters.p_x[x], rho_z, gain)
        for i in range(letters.rows[x], letters.rows[x + 1]):
            y = letters.columns[i]
            add_gains(there.q[y], there.h_q[y], letters.masses[i], rho_zy, gain)
        best = home
        for z in range(clusters):
            # A move must gain more than rounding.
            if gain[z] < gain[best] - (1e-14 if best == home else 0.0):
                best = z
        fall += gain[home] - gain[best]
        moved += best != home
        there.labels[x] = best
        put(letters, there, x, best, 1.0)
    return moved, fall


INFINITE = math.inf


@part
def loss_of_two(a: float, b: float) -> float:
    """M H(a/m, b/m) of an interval with the masses a and b of the two y."""
    m = a + b
    lost = 0.0
    if a > 0.0:
        lost -= a * math.log(a / m)
    if b > 0.0:
        lost -= b * math.log(b / m)
    return lost


@entry
def cut_sorted(first: Array, second: Array, least: float, F: Array, last_cut: Integers) -> None:
    """Fill F[k, j] and the last cut i of each, k = 1, ..., K; ``first`` and ``second`` are the sums of p(x, y) up to each letter, from 0.

    F is (K + 1, n + 1). Pieces of a layer that are still to be filled lie on a stack: rows low..high, whose cuts lie in left..right.
    """
    n = first.size - 1
    stack = np.empty((2 * 64, 4), dtype=np.int64)
    for j in range(1, n + 1):
        light = first[j] + second[j] < least
        F[1, j] = INFINITE if light else loss_of_two(first[j], second[j])
        last_cut[1, j] = 0
    for k in range(2, F.shape[0]):
        depth = 1
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = k, n, k - 1, n - 1
        while depth > 0:
            depth -= 1
            low, high, left, right = stack[depth]
            middle = (low + high) // 2
            best, at = INFINITE, left
            for i in range(left, min(middle - 1, right) + 1):
                a, b = first[middle] - first[i], second[middle] - second[i]
                if a + b < least:
                    break  # and those further to the right are lighter still
                value = F[k - 1, i] + loss_of_two(a, b)
                if value < best:
                    best, at = value, i
            F[k, middle], last_cut[k, middle] = best, at
            if low < middle:
                stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = low, middle - 1, left, at
                depth += 1
            if middle < high:
                stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = middle + 1, high, at, right
                depth += 1


@entry
def cut_line(rows: Array, least: float, F: Array, last_cut: Integers) -> None:
    """The same for letters in any order, ``rows`` being p(x, y), a row each; F[j, k] and the cuts lie here with all k of a j together."""
    n, n_y = rows.shape
    q, q_log_q = np.empty(n_y), np.empty(n_y)
    F[0, 0] = 0.0
    for j in range(1, n + 1):
        q[:] = 0.0
        q_log_q[:] = 0.0
        mass = 0.0
        for i in range(j - 1, -1, -1):
            kept = 0.0
            for y in range(n_y):
                p = rows[i, y]
                if p > 0.0:
                    mass += p
                    q[y] += p
                    q_log_q[y] = q[y] * math.log(q[y])
                kept += q_log_q[y]
            if mass < least:
                continue
            lost = mass * math.log(mass) - kept
            for k in range(1, min(F.shape[1] - 1, i + 1) + 1):
                value = F[i, k - 1] + lost
                if value < F[j, k]:
                    F[j, k], last_cut[j, k] = value, i
