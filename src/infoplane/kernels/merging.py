"""Greedy pairwise merging, compiled: always the cheapest pair, without computing the cost of every pair again.

cost(i, j) = a (fall of I(Y;Z)) + b (fall of I(X;Z)) when clusters i and j become one, with t_y = p(i,y) + p(j,y):

    fall of I(X;Z) = (p_i + p_j) h(w),                  w = p_i / (p_i + p_j), h the binary entropy
    fall of I(Y;Z) = sum_y t_y d(p(i,y) / t_y || w),    d the binary divergence; a Jensen-Shannon divergence in all

A pair is ordered, i < j, and belongs to row i; the merged cluster keeps the name i. Each row remembers its cheapest
pair, or else a *bound* that none of its pairs undercuts. A merge alters only the pairs of i and j, so a row whose
cheapest pair is gone keeps its old cost as a bound, and is scanned again only if that bound becomes the smallest of
all. So the pair taken is the cheapest exactly, whatever the signs of a and b; equal costs go to the first (i, j).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..information import Array
from ..runtime.compiling import entry, part
from .common.rows import Integers

STALE = -1  # partner of a row that has a bound only


class Clusters(NamedTuple):
    """The state between two merges; cluster c no longer counts once it has been merged into one of lower number."""

    p_zy: Array  # (n, |Y|)  p(c, y)
    phi_zy: Array  # (n, |Y|)  p(c, y) log p(c, y): a pair then costs one logarithm per y, that of the sum
    p_z: Array  # (n,)
    phi_z: Array  # (n,)
    alive: Integers  # (n,)  the clusters that are left, ascending, in the first `count` places
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
    """Where row i would have its entry j = 0 in the table; the entry of (i, j) is j places further."""
    return i * (2 * n - i - 1) // 2 - i - 1


@part
def price_row(c: Clusters, a: float, b: float, count: int, place: int) -> None:
    """Compute every cost of the row at this place of `alive`, and its cheapest pair."""
    i = c.alive[place]
    base = before(len(c.p_z), i)
    best, partner = np.inf, STALE
    for other in range(place + 1, count):
        j = c.alive[other]
        new = cost(c, a, b, i, j)
        if c.table.size:
            c.table[base + j] = new
        if new < best:
            best, partner = new, j
    c.bound[i], c.partner[i] = best, partner


@part
def scan_row(c: Clusters, count: int, place: int) -> None:
    """Look up the cheapest pair of the row at this place of `alive`."""
    i = c.alive[place]
    base = before(len(c.p_z), i)
    best, partner = np.inf, STALE
    for other in range(place + 1, count):
        j = c.alive[other]
        if c.table[base + j] < best:
            best, partner = c.table[base + j], j
    c.bound[i], c.partner[i] = best, partner


@part
def cheapest(c: Clusters, a: float, b: float, count: int) -> int:
    """Place of the row that holds the cheapest pair of all: the row of smallest bound, once that bound is attained."""
    while True:
        place = 0
        for other in range(1, count - 1):
            if c.bound[c.alive[other]] < c.bound[c.alive[place]]:
                place = other
        if c.partner[c.alive[place]] != STALE:
            return place
        if c.table.size:
            scan_row(c, count, place)
        else:
            price_row(c, a, b, count, place)


@part
def unite(c: Clusters, a: float, b: float, count: int, place: int) -> None:
    """Merge the row at this place with its partner, leaving count - 1 clusters and a valid bound for every row."""
    i = c.alive[place]
    j = c.partner[i]
    for y in range(c.p_zy.shape[1]):
        t = c.p_zy[i, y] + c.p_zy[j, y]
        c.p_zy[i, y] = t
        c.phi_zy[i, y] = t * math.log(t) if t > 0.0 else 0.0
    c.p_z[i] += c.p_z[j]
    c.phi_z[i] = c.p_z[i] * math.log(c.p_z[i])

    for earlier in range(place):
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
    gone = place + 1
    while c.alive[gone] != j:
        if c.partner[c.alive[gone]] == j:
            c.partner[c.alive[gone]] = STALE
        gone += 1
    for later in range(gone, count - 1):
        c.alive[later] = c.alive[later + 1]
    price_row(c, a, b, count - 1, place)


@entry
def open_rows(c: Clusters, a: float, b: float, first: int, last: int) -> None:
    """Price the rows first, ..., last - 1 of the singletons."""
    for place in range(first, last):
        price_row(c, a, b, len(c.p_z), place)


@entry
def merge(c: Clusters, a: float, b: float, count: int, pairs: Integers, fall: Array) -> None:
    """Do ``len(pairs)`` merges from `count` clusters on; write each pair (i, j) and its falls of I(Y;Z) and I(X;Z)."""
    for step in range(len(pairs)):
        place = cheapest(c, a, b, count - step)
        i = c.alive[place]
        j = c.partner[i]
        pairs[step, 0], pairs[step, 1] = i, j
        fall[step, 0], fall[step, 1] = falls(c.p_zy, c.p_z, i, j)
        unite(c, a, b, count - step, place)
