"""What searches over boxes and over slots are made of: h(t) + k t on a range of masses, and steps on a convex relaxation.

phi(t) = h(t) + k t, h(t) = -t log t, is concave: on [l, b] it is least at an end, and where it reaches a level at two places it reaches
that level between them. That is all that range reduction needs. `phi` is rounded downward (docs/explanation/exact_funnel.md).

The relaxation replaces H by its secants: minimise c.q - beta H(Tq) by moves between two letters. Nothing there needs to be exact: whatever
v = Tq a few steps lead to, the bound computed from it holds.
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common import EPS, Integers


@part
def phi(h: float, k: float, t: float) -> float:
    """A lower bound of h + k t, given h = h(t) as `entropy` computes it."""
    return h + k * t - 4.0 * EPS * (h + abs(k) * t)


@part
def entropy(t: float) -> float:
    """h(t) = -t log t for 0 <= t <= 1, within three units of rounding."""
    return -t * math.log(t) if t > 0.0 else 0.0


@part
def nearest(end: float, k: float, level: float, t: float, f: float) -> float:
    """A point with phi >= level, as far from t, where phi = f >= level, towards the end of the range as a few chords find."""
    f_end = phi(entropy(end), k, end)
    if f_end >= level:
        return end
    for _ in range(5):  # chords; a root need not be exact, only on the safe side
        # The chord from the end lies below phi: where it meets the level, phi is above it.
        nearer = end + (t - end) * ((level - f_end) / (f - f_end))
        f_nearer = phi(entropy(nearer), k, nearer)
        if not (f_nearer >= level and abs(nearer - end) < abs(t - end)):
            break
        small = abs(nearer - t) <= 1e-3 * abs(t - end)
        t, f = nearer, f_nearer
        if small:
            break
    return t


@part
def excluded(k: float, l: float, b: float, level: float) -> tuple[float, float]:
    """t1 <= t2 with phi >= level on [t1, t2], a part of [l, b] as large as a few chords find; (b, l) if there is none.

    Both ends are checked, not trusted: phi(t1) >= level and phi(t2) >= level, so phi >= level between them, as phi is concave.
    """
    top = min(max(math.exp(min(k, 1.0) - 1.0), l), b)
    f_top = phi(entropy(top), k, top)
    if not f_top >= level:
        return b, l
    return nearest(l, k, level, top, f_top), nearest(b, k, level, top, f_top)


@part
def shrunk_by_bound(l: Array, b: Array, k: Array, M: Array, gap: float, cut: Array) -> float:
    """Shrink every range by phi_x(q_x) - M_x <= floor - B, in place; the share of the widths that went. What lies inside goes into cut."""
    rho = gap * (1.0 + 4.0 * EPS)
    before = after = 0.0
    for x in range(l.size):
        cut[x, 0], cut[x, 1] = b[x], l[x]
        if b[x] > l[x]:
            before += b[x] - l[x]
            level = M[x] + rho + 4.0 * EPS * (abs(M[x]) + rho)
            t1, t2 = excluded(k[x], l[x], b[x], level)
            if t1 < t2:
                if t1 <= l[x]:
                    l[x] = t2
                elif t2 >= b[x]:
                    b[x] = t1
                else:
                    cut[x, 0], cut[x, 1] = t1, t2
            after += b[x] - l[x]
    return (before - after) / before if before > 0.0 else 0.0


STEPS = 200
"""Moves on one relaxation, at most."""

LOOK = 8
"""Moves between two bounds."""

ROUNDS = 8
"""Times that a cell is bounded and shrunk, at most,"""

SHRUNK = 0.05
"""and the share of the ranges that must have gone for another time."""

SMOOTHING = 1e-12
"""Share of the uniform distribution in v: a y that u does not meet yet must not look infinitely good."""


@part
def smoothed_logs(u: Array, w: Array) -> None:
    """W = log v for v = u mixed with a little of the uniform distribution and normalised: w <= 0, sum exp(w) = 1 up to rounding."""
    m = u.size
    total = 0.0
    for y in range(m):
        w[y] = max(u[y], 0.0) + SMOOTHING / m
        total += w[y]
    for y in range(m):
        w[y] = math.log(w[y] / total)


@part
def step_length(u: Array, D: Array, slope: float, beta: float, most: float) -> float:
    """The t in [0, most] where slope t + beta sum_y (u + t D) log(u + t D) is least, by safeguarded Newton; sum D = 0."""
    m = u.size
    low, high = 0.0, most
    t = most
    for y in range(m):
        if D[y] < 0.0:
            t = min(t, -u[y] / D[y])
    high = t
    tiny = SMOOTHING / m
    # Newton from where the quadratic model has its minimum.
    first, second = slope, 0.0
    for y in range(m):
        if D[y] != 0.0:
            first += beta * D[y] * math.log(u[y] + tiny)
            second += beta * D[y] * D[y] / (u[y] + tiny)
    if not first < 0.0:
        return 0.0
    t = min(-first / second, high) if second > 0.0 else high
    for _ in range(12):
        value, second = slope, 0.0
        for y in range(m):
            if D[y] != 0.0:
                at = max(u[y] + t * D[y], 0.0) + tiny
                value += beta * D[y] * math.log(at)
                second += beta * D[y] * D[y] / at
        if abs(value) <= 1e-3 * -first:
            break
        if value < 0.0:
            low = t
            if t >= high:
                break
        else:
            high = t
        new = t - value / second if second > 0.0 else high
        t = new if low < new < high else 0.5 * (low + high)
    return t


@part
def slope_of_last(cost: Array, width: Array, left: float) -> float:
    """Fill up the cheapest ranges, each by its width, until nothing is left to give: the cost of the last; cost is used up.

    One after the other is looked for: few are filled, and a sort takes two seconds to compile.
    """
    last = 0.0
    for _ in range(cost.size):
        first = 0
        for i in range(1, cost.size):
            if cost[i] < cost[first]:
                first = i
        if cost[first] == np.inf:
            break
        last, cost[first] = cost[first], np.inf
        left -= width[first]
        if left <= 0.0:
            break
    return last


@part
def fill_tangents(T: Array, w: Array, beta: float, active: Integers, count: int, tangent: Array) -> None:
    """beta sum_y T[x,y] w_y of the active letters."""
    for i in range(count):
        x = active[i]
        total = 0.0
        for y in range(w.size):
            total += T[x, y] * w[y]
        tangent[x] = beta * total


@part
def worth(T: Array, up: int, down: int, sharp: Array, beta: float, fall: float, limit: float) -> float:
    """What a move of at most ``limit`` between two letters wins by a quadratic model; the slope falls by ``fall``, sharp = 1 / u."""
    bend = 0.0
    for y in range(sharp.size):
        d = T[down, y] - T[up, y]
        bend += d * d * sharp[y]
    move = min(limit, fall / (beta * bend + 1e-300))
    return fall * move - 0.5 * beta * bend * move * move


@part
def fill_sharp(u: Array, sharp: Array) -> None:
    """1 / u, finite."""
    for y in range(u.size):
        sharp[y] = 1.0 / (u[y] + 1e-9)


@part
def move(u: Array, D: Array, t: float) -> None:
    """u + t D, in place."""
    for y in range(u.size):
        u[y] = max(u[y] + t * D[y], 0.0)


@part
def known_enough(bound: float, value: float, floor: float) -> bool:
    """Whether a cell is done, or its relaxation is below the floor itself: a tenth of the distance is exact enough then."""
    return bound >= floor or (value < floor and value - bound < 0.1 * (floor - value))


@part
def below_h(l: float, b: float, q: float) -> float:
    """h(q) less the secant of h between l and b."""
    h = entropy(l)
    return entropy(q) - h - (entropy(b) - h) * (q - l) / (b - l)


@part
def letter_to_cut(l: Array, b: Array, q: Array) -> int:
    """The letter whose secant is furthest below h at q; if none is, that of the widest range; -1 if all are points."""
    best, letter, widest, wide = 1e-12, -1, -1, 0.0
    for x in range(l.size):
        if b[x] > l[x]:
            lost = below_h(l[x], b[x], min(max(q[x], l[x]), b[x]))
            if lost > best:
                best, letter = lost, x
            if b[x] - l[x] > wide:
                wide, widest = b[x] - l[x], x
    return letter if letter >= 0 else widest


@part
def place_inside(l: float, b: float, q: float) -> float:
    """Where to cut a range: between q and its middle, not near an end; NaN if it is too thin."""
    t = 0.5 * (q + 0.5 * (l + b))
    t = min(max(t, l + 0.1 * (b - l)), b - 0.1 * (b - l))
    return t if l < t < b else np.nan
