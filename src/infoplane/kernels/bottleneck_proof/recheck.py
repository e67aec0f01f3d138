"""A second computation of everything that closes or shrinks a box, by the plain formulas, in arrays that the search never sees.

With the multipliers v = (mu, t), the slopes of the secants and theta that the search has used, and E_x = lambda_x - R_x - mu.T_x,

    a bound B holds          if  B <= -sum_y max(mu_y l_y, mu_y b_y) - gamma log sum_x exp(E_x / gamma),
    an end u_y <= e holds    if  target + sum_y max(mu_y l_y, mu_y b_y) + gamma log sum_x exp(E_x / gamma + theta (T_yx - e)) <= 0,
    a box is empty           if  sum_y l_y > 1 or sum_y b_y < 1,

u_y >= e likewise with theta (e - T_yx): Donsker and Varadhan's inequality (`cell_bound`), in which w and B have cancelled. What the search
claims lies inside by twice a bound of its rounding (`cell_bound.slack`, docs/explanation/certificates.md): half of that is for the rounding
here, so that no tolerance is needed. A NaN confirms nothing.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common import TINY, copy_row, exp, regrouped
from .cell_bound import Dual, Work


class Second(NamedTuple):
    """What the second computation keeps to itself; every array has one meaning."""

    h: Array  # (|Y|, |X|)   h(T), from T
    low: Array  # (|Y|,)     l of the box that a claim is about, before it was shrunk
    high: Array  # (|Y|,)    b of it
    scaled: Array  # (|X|,)  (E_x - max E) / gamma
    terms: Array  # (2,)     sum_y max(mu_y l_y, mu_y b_y), and max E


@part
def second_workspace(T: Array) -> Second:
    """Room for one claim after another."""
    n_y, n_x = T.shape
    h = np.zeros((n_y, n_x))
    for y in range(n_y):
        for x in range(n_x):
            if T[y, x] > 0.0:
                h[y, x] = -T[y, x] * math.log(T[y, x])
    return Second(h, np.empty(n_y), np.empty(n_y), np.empty(n_x), np.empty(2))


@part
def keep_box(work: Work, second: Second) -> None:
    """The box as it is now is what the next claim is about."""
    copy_row(work.low, second.low)
    copy_row(work.high, second.high)


@part
def empty(second: Second) -> bool:
    """Whether no u of the box sums to one."""
    lows, highs = 0.0, 0.0
    for y in range(second.low.shape[0]):
        lows += second.low[y]
        highs += second.high[y]
    return lows > 1.0 or highs < 1.0


@part
def sums_agree(second: Second, work: Work) -> bool:
    """Whether the box holds every u of the one before that sums to one: 1 - (the others' b) <= u_y <= 1 - (the others' l)."""
    n_y = second.low.shape[0]
    lows, highs = 0.0, 0.0
    for y in range(n_y):
        lows += second.low[y]
        highs += second.high[y]
    for y in range(n_y):
        if not work.high[y] >= min(second.high[y], 1.0 - (lows - second.low[y])):
            return False
        if not work.low[y] <= max(second.low[y], 1.0 - (highs - second.high[y])):
            return False
    return True


@regrouped
def lessen(to: Array, T: Array, h: Array, lows: Array, highs: Array, slopes: Array, v: Array) -> float:
    """Take t (the secant) + mu T, and 1 - t of h with its tangents outside the box, off the exponents; sum_y max(mu_y l_y, mu_y b_y).

    The secants have the given slopes, and are nowhere above h between the ends of the box.
    """
    n_y, edges = lows.shape[0], 0.0
    for y in range(n_y):
        low, high, slope, mu, t = lows[y], highs[y], slopes[y], v[y], v[n_y + y]
        log_low, log_high = math.log(low) if low > 0.0 else 0.0, math.log(high)
        offset = min(-low * log_low - slope * low, -high * log_high - slope * high)
        edges += max(mu * low, mu * high)
        at_low, at_high, rate = -1.0 - log_low, -1.0 - log_high, mu + t * slope
        for x in range(to.shape[0]):
            s = T[y, x]
            tangent = h[y, x]
            tangent = low + at_low * s if s < low else tangent
            tangent = high + at_high * s if s > high else tangent
            to[x] -= t * offset + rate * s + (1.0 - t) * tangent
    return edges


@regrouped
def largest(values: Array) -> float:
    """The largest of them."""
    top = values[0]
    for x in range(1, values.shape[0]):
        top = max(top, values[x])
    return float(top)


@regrouped
def scale_down(values: Array, top: float, gamma: float) -> None:
    """(E - max E) / gamma."""
    for x in range(values.shape[0]):
        values[x] = (values[x] - top) / gamma


@part
def fill(dual: Dual, second: Second, slope: Array, v: Array) -> None:
    """The exponents of the box that was kept, with multipliers v and secants of these slopes."""
    copy_row(dual.lam, second.scaled)
    second.terms[0] = lessen(second.scaled, dual.T, second.h, second.low, second.high, slope, v)
    second.terms[1] = largest(second.scaled)
    scale_down(second.scaled, second.terms[1], dual.gamma)


@regrouped
def tilted_sum(scaled: Array, T: Array, theta: float, end: float) -> float:
    """Sum_x exp(scaled + theta (T - e)); what `exp` may have rounded to zero in it is less than `TINY`, which its callers add."""
    total = 0.0
    for x in range(scaled.shape[0]):
        # 700 is near the largest that `exp` takes; a sum with such a term confirms nothing.
        total += exp(min(scaled[x] + theta * (T[x] - end), 700.0))
    return total


@part
def bound_agrees(dual: Dual, second: Second, work: Work, bound: float) -> bool:
    """Whether the box that was kept has this bound, with the multipliers work.v."""
    fill(dual, second, work.slope, work.v)
    total = tilted_sum(second.scaled, dual.T[0], 0.0, 0.0)
    exact = float(-second.terms[0] - second.terms[1] - dual.gamma * math.log(total + TINY))
    return bound <= exact


@part
def end_agrees(dual: Dual, second: Second, y: int, theta: float, end: float, target: float) -> bool:
    """Whether every q below the target has theta u_y <= theta e; theta is negative for a lower end."""
    total = tilted_sum(second.scaled, dual.T[y], theta, end)
    left = float(target + second.terms[0] + second.terms[1] + dual.gamma * math.log(total + TINY))
    return left <= 0.0


@part
def chosen(second: Second, work: Work, number: int) -> bool:
    """Whether the so-many-th range reduction is looked at: one in 8, scattered, and each that takes most of a side away."""
    # All of them would cost a fifth to a third of a proof (benchmarks/bench_recheck.py). Knuth's multiplier for hashing scatters
    # which ones are looked at, the same in every run.
    looked_at = (number * 2654435761 >> 16) % 8 == 0
    for y in range(second.low.shape[0]):
        if not work.high[y] - work.low[y] >= 0.02 * (second.high[y] - second.low[y]):
            looked_at = True
    return looked_at


@part
def ranges_agree(dual: Dual, second: Second, work: Work, target: float, emptied: bool) -> bool:
    """Whether every end that was moved, each by its own theta, leaves nothing below the target outside.

    Of a box that is empty, those of a letter whose ends have passed each other say it all.
    """
    fill(dual, second, work.slope, work.v)
    for y in range(second.low.shape[0]):
        low, high = work.low[y], work.high[y]
        if emptied and low <= high:
            continue
        if not high >= second.high[y] and not end_agrees(dual, second, y, work.tilt_high[y], high, target):
            return False
        if not low <= second.low[y] and not end_agrees(dual, second, y, work.tilt_low[y], low, target):
            return False
    return True
