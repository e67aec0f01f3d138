"""Slots: a posterior on at most r = rank(T) letters is r slots with masses V_1 >= ... >= V_r, each with one letter.

A cell gives every slot a range [L_i, B_i] of masses and a set of letters with a cap for each, the largest mass that the slot may have with
that letter: one cell covers many supports. Here are the cells of a search that wait, room for the one in hand, and what sum V = 1 and the
order of the slots say of a cell. Caps wait as codes of one byte, rounded up.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common.numerics import EPS
from ..common.rows import Flags, Integers

KEPT = 4
"""Letters of each slot that a cell remembers as where the relaxation was least."""

GONE = 255
"""Code of a letter that is not in a slot's set; code j < 255 stands for a cap of 2^(-j/8)."""

Codes = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


class Slots(NamedTuple):
    """A search under way; arrays, updated in place. heap[:WAITING] are the cells that wait, lowest bound first, the rest are free."""

    T: Array  # (n, |Y|)            p(y|x), one row per letter
    lam: Array  # (n,)             prices; a search may lower them
    p: Array  # (n,)               masses
    number: Array
    tally: Integers
    heap: Integers  # (cells,)
    key: Array  # (cells,)          proven: g >= key in the cell
    low: Array  # (cells, r)
    high: Array  # (cells, r)
    code: Codes  # (cells, r, n)    caps, rounded up
    guess: Integers  # (cells, r, KEPT)
    mass: Array  # (cells, r, KEPT)
    slot: Integers  # (cells,)      where to cut: a slot,
    pair: Integers  # (cells, 2)    two letters whose neighbours part, or -1,
    cut: Array  # (cells, 2)        and what a cut of the masses leaves out
    found: Array  # (most, n)       violating posteriors
    table: Integers  # sets of letters that have been descended on


class SlotRoom(NamedTuple):
    """Room for one cell."""

    L: Array  # (r,)
    B: Array  # (r,)
    cap: Array  # (r, n)        0: not in the set
    q: Array  # (r, n)          the relaxation's masses
    V: Array  # (r,)
    h_L: Array  # (r,)
    h_cap: Array  # (r, n)
    line: Array  # (r, n)       slope of the secant minus lambda
    member: Integers  # (r, n)  letters of each set
    size: Integers  # (r,)
    active: Integers  # (n,)    letters of any set
    used: Flags  # (n,)
    tangent: Array  # (n,)
    k: Array  # (n,)
    least: Array  # (r,)        M_i
    best: Integers  # (r,)      cheapest letter of a set
    worst: Integers  # (r,)     dearest letter in use
    u: Array  # (|Y|,)
    w: Array  # (|Y|,)          log v
    D: Array  # (|Y|,)
    cut: Array  # (r, 2)
    nu: Array  # (1,)


@part
def room(search: Slots) -> SlotRoom:
    """Room for one cell."""
    (n, m), r = search.T.shape, search.low.shape[1]
    whole = np.int64
    return SlotRoom(
        np.empty(r),
        np.empty(r),
        np.empty((r, n)),
        np.zeros((r, n)),
        np.empty(r),
        np.empty(r),
        np.empty((r, n)),
        np.empty((r, n)),
        np.empty((r, n), whole),
        np.empty(r, whole),
        np.empty(n, whole),
        np.empty(n, np.bool_),
        np.empty(n),
        np.empty(n),
        np.empty(r),
        np.empty(r, whole),
        np.empty(r, whole),
        np.empty(m),
        np.empty(m),
        np.empty(m),
        np.empty((r, 2)),
        np.empty(1),
    )


@part
def decoded(code: int) -> float:
    """The cap of a code."""
    return 0.0 if code == GONE else 2.0 ** (-0.125 * code)


@part
def encoded(cap: float) -> int:
    """The code of a cap, rounded up."""
    if not cap > 0.0:
        return GONE
    j = min(max(int(-8.0 * math.log2(cap)), 0), GONE - 1)
    while j > 0 and decoded(j) < cap:
        j -= 1
    return j


@part
def propagate(work: SlotRoom) -> bool:
    """Shrink a cell, rounding outward, by sum V = 1, the order of the slots, and distinct letters; False if nothing is left."""
    L, B, cap = work.L, work.B, work.cap
    r, n = cap.shape
    slack = 4.0 * (r + 4) * EPS
    for _ in range(4):
        changed = False
        for i in range(r):
            count, widest, only = 0, 0.0, -1
            for x in range(n):
                if cap[i, x] > 0.0:
                    if cap[i, x] < L[i]:
                        cap[i, x] = 0.0
                        continue
                    cap[i, x] = min(cap[i, x], B[i])
                    if cap[i, x] > 0.0:
                        count += 1
                        only = x
                        widest = max(widest, cap[i, x])
            if widest < B[i]:
                changed = changed or widest < 0.95 * B[i]
                B[i] = widest
            if L[i] > B[i] or (count == 0 and L[i] > 0.0):
                return False
            if count == 1 and L[i] > 0.0:
                for j in range(r):
                    if j != i and cap[j, only] > 0.0:
                        cap[j, only] = 0.0
                        changed = True
        for i in range(1, r):
            B[i] = min(B[i], B[i - 1])
        for i in range(r - 2, -1, -1):
            L[i] = max(L[i], L[i + 1])
        sum_L, sum_B = 0.0, 0.0
        for i in range(r):
            sum_L += L[i]
            sum_B += B[i]
        least, most = sum_L * (1.0 - slack), sum_B * (1.0 + slack)
        if most < 1.0 or least > 1.0:
            return False
        before = 0.0
        for i in range(r):
            ceiling = 1.0 - (least - L[i]) + slack
            if ceiling < B[i]:
                changed = changed or ceiling < 0.95 * B[i]
                B[i] = ceiling
            # All others at most; and of what the larger ones leave, the largest of r - i masses has at least its share.
            base = max(1.0 - (most - B[i]) - slack * (1.0 + most), (1.0 - before) / (r - i) - slack * (1.0 + before))
            if base > L[i]:
                changed = changed or base > 1.05 * L[i]
                L[i] = base
            before += B[i]
            if L[i] > B[i]:
                return False
        if not changed:
            break
    return True
