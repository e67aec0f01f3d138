"""Boxes l <= q <= b of posteriors: the cells of a search that wait, room for the one in hand, and what sum q = 1 says of a box."""

from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common.numerics import EPS
from ..common.rows import Integers
from .search import RANK


class PosteriorBoxes(NamedTuple):
    """A search under way; arrays, updated in place. heap[:WAITING] are the cells that wait, lowest bound first, the rest are free."""

    T: Array  # (n, |Y|)         p(y|x), one row per letter
    lam: Array  # (n,)         prices; a search may lower them
    p: Array  # (n,)           masses
    number: Array
    tally: Integers
    heap: Integers  # (cells,)
    key: Array  # (cells,)       proven: g >= key in the cell
    low: Array  # (cells, n)
    high: Array  # (cells, n)
    guess: Array  # (cells, n)   where the relaxation was least
    letter: Integers  # (cells,) where to cut,
    cut: Array  # (cells, 2)     and what the cut leaves out
    found: Array  # (most, n)    violating posteriors
    table: Integers  # sets of letters that have been descended on


class BoxRoom(NamedTuple):
    """Room for one cell: its ranges, and what bounding it leaves behind; active letters are at [:count]."""

    l: Array  # (n,)
    b: Array  # (n,)
    q: Array  # (n,)
    active: Integers  # (n,)   letters with b > 0
    line: Array  # (n,)        slope of the secant minus lambda
    h_l: Array  # (n,)         h(l)
    h_b: Array  # (n,)         h(b)
    tangent: Array  # (n,)     beta sum_y T[x,y] log v_y
    c: Array  # (n,)           slope of the relaxation
    k: Array  # (n,)           k_x, rounded downward
    least: Array  # (n,)       M_x
    u: Array  # (|Y|,)
    w: Array  # (|Y|,)         log v
    sharp: Array  # (|Y|,)     1 / u
    D: Array  # (|Y|,)
    top: Integers  # (r + 1,)  letters without a lower bound, largest b first
    cut: Array  # (n, 2)       what the bound excludes inside the range
    nu: Array  # (1,)


@part
def room(search: PosteriorBoxes) -> BoxRoom:
    """Room for one cell."""
    n, m = search.T.shape
    whole = np.int64
    return BoxRoom(
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n, whole),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(m),
        np.empty(m),
        np.empty(m),
        np.empty(m),
        np.empty(search.tally[RANK] + 1, whole),
        np.empty((n, 2)),
        np.empty(1),
    )


@part
def propagate(l: Array, b: Array, r: int, top: Integers) -> bool:
    """Shrink a box, rounding outward, by sum q = 1 and at most r letters in use; False if nothing is left."""
    n = l.size
    for _ in range(3):
        positive, sum_l, sum_b = 0, 0.0, 0.0
        for x in range(n):
            if l[x] > b[x]:
                return False
            if l[x] > 0.0:
                positive += 1
                sum_l += l[x]
                sum_b += b[x]
        if positive > r:
            return False
        spare = r - positive
        # The spare + 1 largest b among letters that may be 0.
        count = 0
        for x in range(n):
            if l[x] == 0.0 and b[x] > 0.0:
                if spare == 0:
                    b[x] = 0.0
                    continue
                i = count if count <= spare else spare
                if count <= spare or b[x] > b[top[spare]]:
                    while i > 0 and b[top[i - 1]] < b[x]:
                        top[i] = top[i - 1]
                        i -= 1
                    top[i] = x
                    count = min(count + 1, spare + 1)
        most = sum_b
        for i in range(min(count, spare)):
            most += b[top[i]]
        slack = 4.0 * (r + 4) * EPS
        most = most * (1.0 + slack)
        least = sum_l * (1.0 - slack)
        if most < 1.0 or least > 1.0:
            return False
        runner_up = b[top[spare]] if count > spare else 0.0
        changed = False
        for x in range(n):
            if b[x] > 0.0:
                ceiling = 1.0 - (least - l[x]) + slack
                if ceiling < b[x]:
                    changed = changed or ceiling < 0.95 * b[x]
                    b[x] = max(ceiling, 0.0)
        for x in range(n):
            if l[x] > 0.0:
                others = most - b[x]
            else:
                others = most
                for i in range(min(count, spare)):
                    if top[i] == x:
                        others = most - b[x] + runner_up
            base = 1.0 - others - slack * (1.0 + most)
            if base > l[x]:
                changed = changed or l[x] == 0.0
                l[x] = base
        if not changed:
            break
    return True
