"""How low is f(q) - lambda.q, f(q) = keep H(T_u q) - hide H(T_s q), if the secret S is binary? Pairs of letters suffice.

With T_s q fixed, which is one number, f - lambda.q is concave: it is least at vertices of {q >= 0, sum q = 1, T_s q fixed}, which have two
letters. On the edge q = (1 - t) e_x + t e_y, a <= t <= b, for any distribution c on S (Gibbs' inequality),

    f(q) - lambda.q  >=  keep (secant of H(T_u q)) + hide sum_s (T_s q)_s log c_s - lambda.q,

which is affine in t: the smaller of its values at a and b is a bound of the interval, which is halved until the bound reaches what is
asked for.
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, part
from ..common import UNIT, Integers

LEAST = 1e-30  # c is no smaller: its logarithm stays moderate


@part
def entropy_at(T: Array, x: int, y: int, t: float) -> float:
    """H of (1 - t) T_x + t T_y."""
    total = 0.0
    for i in range(T.shape[0]):
        p = T[i, x] + t * (T[i, y] - T[i, x])
        if p > 0.0:
            total -= p * math.log(p)
    return total


@part
def gibbs(T: Array, x: int, y: int, at: float, c: float) -> float:
    """sum_s s log s' for s at one point of the edge and s' at another, c; never with sum s' above one."""
    total = 0.0
    for i in range(T.shape[0]):
        s = max(T[i, x] + at * (T[i, y] - T[i, x]), 0.0)
        other = max(T[i, x] + c * (T[i, y] - T[i, x]), LEAST)
        total += s * math.log(other)
    return total


@part
def slope_of_secret(T: Array, x: int, y: int, t: float) -> float:
    """The slope of sum_s s log s along the edge."""
    total = 0.0
    for i in range(T.shape[0]):
        d = T[i, y] - T[i, x]
        total += d * math.log(max(T[i, x] + t * d, LEAST))
    return total


@part
def lowest_of_relaxation(T_s: Array, hide: float, slope: float, x: int, y: int, a: float, b: float) -> float:
    """Where slope t + hide sum s log s is least on [a, b]: convex, by bisection; any point will do."""
    if slope + hide * slope_of_secret(T_s, x, y, a) >= 0.0:
        return a
    if slope + hide * slope_of_secret(T_s, x, y, b) <= 0.0:
        return b
    low, high = a, b
    # Bisections for the lowest point of the relaxation: any is valid.
    for _ in range(14):
        middle = 0.5 * (low + high)
        if slope + hide * slope_of_secret(T_s, x, y, middle) > 0.0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


@part
def rounding(T_u: Array, T_s: Array, keep: float, hide: float, largest: float) -> float:
    """More than rounding does to bound or value: a probability is right to 4 |T| units, -p log p to 40 times that (docs/howto/tasks.md)."""
    n_u, n_s = T_u.shape[0], T_s.shape[0]
    of_u, of_s = keep * n_u * (n_u + 24.0), hide * n_s * (n_s + 24.0)
    return 4.0 * UNIT * (80.0 * (of_u + of_s) + 80.0 * (n_s + 8.0) * hide + 16.0 * largest)


@part
def bound_edge(
    T_u: Array, T_s: Array, keep: float, hide: float, lam: Array, x: int, y: int, floor: float, off: float, stack: Array
) -> tuple[float, float, float, int]:
    """A proven bound of an edge, or of what of it lies below -floor; the lowest value met and its t; how many intervals."""
    top, cells = 1, 0
    stack[0, 0], stack[0, 1] = 0.0, 1.0
    stack[0, 2], stack[0, 3] = entropy_at(T_u, x, y, 0.0), entropy_at(T_u, x, y, 1.0)
    best, where, least = math.inf, 0.0, math.inf
    rise = lam[y] - lam[x]
    while top > 0:
        top -= 1
        a, b, h_a, h_b = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        cells += 1
        slope = keep * (h_b - h_a) / (b - a) - rise
        c = lowest_of_relaxation(T_s, hide, slope, x, y, a, b)
        at_a = keep * h_a - lam[x] - a * rise + hide * gibbs(T_s, x, y, a, c)
        at_b = keep * h_b - lam[x] - b * rise + hide * gibbs(T_s, x, y, b, c)
        bound = min(at_a, at_b) - off
        h_c = entropy_at(T_u, x, y, c)
        value = keep * h_c - lam[x] - c * rise + hide * gibbs(T_s, x, y, c, c)
        if value < best:
            best, where = value, c
        # A violated edge is known well enough if its bound is within a tenth of what was met.
        goal = min(-floor, 1.1 * best) if best < 0.0 else -floor
        # An interval thinner than 1e-9 is not cut: its bound stands.
        if bound >= goal or not b - a > 1e-9 or top + 2 > stack.shape[0]:
            least = min(least, bound)
            continue
        inside = c - a > 0.2 * (b - a) and b - c > 0.2 * (b - a)
        cut, h_cut = c, h_c
        if not inside:
            cut = 0.5 * (a + b)
            h_cut = entropy_at(T_u, x, y, cut)
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = a, cut, h_a, h_cut
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2], stack[top + 1, 3] = cut, b, h_cut, h_b
        top += 2
    if least != least:  # NaN proves nothing
        least = -math.inf
    return least, best, where, cells


@entry
def search_edges(
    T_u: Array,
    T_s: Array,
    keep: float,
    hide: float,
    lam: Array,
    floor: float,
    worth: float,
    pairs: Integers,
    found: Array,
) -> tuple[float, int, int]:
    """A bound of f(q) - lambda.q over all q; how many edges below ``worth`` were written to pairs and found; how many intervals.

    Of every such edge pairs has its letters and found the value and t; once they are full, others are not written.
    """
    n = T_u.shape[1]
    # At most 200 intervals of one edge wait.
    stack = np.empty((200, 4))
    largest = 0.0
    for x in range(n):
        largest = max(largest, abs(lam[x]))
    off = rounding(T_u, T_s, keep, hide, largest)
    least, count, cells = math.inf, 0, 0
    if n == 1:
        least = keep * entropy_at(T_u, 0, 0, 0.0) + hide * gibbs(T_s, 0, 0, 0.0, 0.0) - lam[0] - off
    for x in range(n):
        for y in range(x + 1, n):
            bound, value, t, some = bound_edge(T_u, T_s, keep, hide, lam, x, y, floor, off, stack)
            cells += some
            least = min(least, bound)
            if value < worth and count < pairs.shape[0]:
                pairs[count, 0], pairs[count, 1] = x, y
                found[count, 0], found[count, 1] = value, t
                count += 1
    return least, count, cells
