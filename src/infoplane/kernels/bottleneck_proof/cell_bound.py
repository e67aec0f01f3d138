"""The lower bound of f(q) - lambda.q on a box l <= Tq <= b, f(q) = H(Tq) - gamma H(q).

h(s) = -s log s. For every y let r_y be concave on [0, 1] with r_y <= h on [l_y, b_y]; R_x = sum_y r_y(T_yx); mu any vector. Then every q
with Tq in the box has f(q) - lambda.q >= B + gamma KL(q || w), where w(x) is prop. to exp((lambda_x - R_x - mu.T_x) / gamma) and

    B = -sum_y max(mu_y l_y, mu_y b_y) - gamma log sum_x exp((lambda_x - R_x - mu.T_x) / gamma).

Here r_y = t_y (the secant of h between l_y and b_y) + (1 - t_y) (h between them, its tangents at l_y and b_y outside), 0 <= t_y <= 1. The
exponents are affine in v = (mu, t), and B is concave in it. The bound holds whatever v is: only its evaluation must be accurate, and its
rounding is bounded by `slack` (docs/explanation/certificates.md).
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common.numerics import UNIT, exp, regrouped
from ..common.rows import Flags, Integers, copy_row

MANY = 200  # from so many letters on the ascent looks at some of them, and range reduction at moments
THIN = 1e-100  # no box is thinner at zero: the logarithm of b_y stays moderate


class Dual(NamedTuple):
    """A lambda to be judged, with the channel T[y, x] = p(y|x)."""

    T: Array  # (|Y|, |X|)
    h: Array  # (|Y|, |X|)  h(T)
    lam: Array  # (|X|,)
    gamma: float
    largest: float  # max |lambda_x|


class Work(NamedTuple):
    """Room for one box's bound; n = 2 |Y| multipliers v = (mu, t)."""

    low: Array  # (|Y|,)      l
    high: Array  # (|Y|,)     b
    slope: Array  # (|Y|,)    of the secants
    offset: Array  # (|Y|,)   of the secants
    base: Array  # (|X|,)     lambda_x - sum_y (the tangent part of r_y)
    F: Array  # (n, |X|)      the exponents are (base - v.F) / gamma: T, and secant minus tangent part
    w: Array  # (|X|,)        their softmax
    v: Array  # (n,)
    tried: Array  # (n,)      multipliers that a line search tries
    reached: Array  # (n,)    multipliers that the active sets of a Newton step have come to
    mean: Array  # (n,)       E_w F; the first |Y| are Tw
    model: Array  # (n,)      the same after a step, to first order
    step: Array  # (n,)       from v to where the quadratic model is largest
    piece: Array  # (n,)      the part of it that one active set solves for, by places in `free`
    Q: Array  # (n, n)        Cov_w(F) / gamma; the curvature of the bound is -Q
    L: Array  # (n, n)        a Cholesky factor
    rows: Array  # (n, |X|)   scratch for Q
    free: Integers  # (n,)   coordinates that a Newton step may move
    held: Flags  # (n,)       and those at a kink or a limit
    tilt_low: Array  # (|Y|,)   theta by which range reduction moved l_y
    tilt_high: Array  # (|Y|,)  and b_y


@part
def room(T: Array) -> Work:
    """Work for one box after another."""
    n_y, n_x = T.shape
    n = 2 * n_y
    F = np.empty((n, n_x))
    for y in range(n_y):
        for x in range(n_x):
            F[y, x] = T[y, x]
    a, v = np.empty((6, n_y)), np.empty((7, n))
    return Work(
        a[0],
        a[1],
        a[2],
        a[3],
        np.empty(n_x),
        F,
        np.empty(n_x),
        v[0],
        v[1],
        v[2],
        v[3],
        v[4],
        v[5],
        v[6],
        np.empty((n, n)),
        np.empty((n, n)),
        np.empty((n, n_x)),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.bool_),
        a[4],
        a[5],
    )


@regrouped
def mean(w: Array, t: Array) -> float:
    """Sum_x w t."""
    total = 0.0
    for x in range(w.shape[0]):
        total += w[x] * t[x]
    return total


@regrouped
def means(w: Array, rows: Array, found: Array) -> None:
    """The same for every row."""
    for j in range(rows.shape[0]):
        total = 0.0
        for x in range(w.shape[0]):
            total += w[x] * rows[j, x]
        found[j] = total


@regrouped
def minorants(
    T: Array, h: Array, lows: Array, highs: Array, slopes: Array, offsets: Array, base: Array, differences: Array
) -> None:
    """Take the tangent part of every r_y from the base; what its secant has over that becomes a row of the differences."""
    n_y = T.shape[0]
    for y in range(n_y):
        low, high, slope, offset = lows[y], highs[y], slopes[y], offsets[y]
        at_low, at_high = 0.0, -1.0 - math.log(high)
        if low > 0.0:
            at_low = -1.0 - math.log(low)
        for x in range(T.shape[1]):
            s = T[y, x]
            tangent = h[y, x]
            tangent = low + at_low * s if s < low else tangent
            tangent = high + at_high * s if s > high else tangent
            base[x] -= tangent
            differences[n_y + y, x] = offset + slope * s - tangent


@part
def secant(low: float, high: float) -> tuple[float, float]:
    """Slope and offset of the secant of h between two points, at neither of them above h."""
    h_low = -low * math.log(low) if low > 0.0 else 0.0
    h_high = -high * math.log(high)
    flattest = -1.0 - math.log(high)  # a secant's slope lies between this and 1 more, which rounding may have spoiled
    slope = (h_high - h_low) / (high - low) if high > low else flattest
    slope = min(max(slope, flattest), flattest + 1.0)
    return slope, min(h_low - slope * low, h_high - slope * high)


@part
def prepare(dual: Dual, work: Work) -> None:
    """The minorants of a box, from work.low and work.high."""
    copy_row(dual.lam, work.base)
    for y in range(work.low.shape[0]):
        work.slope[y], work.offset[y] = secant(work.low[y], work.high[y])
    minorants(dual.T, dual.h, work.low, work.high, work.slope, work.offset, work.base, work.F)


@part
def slack(dual: Dual, work: Work, v: Array) -> float:
    """Twice the first-order bound of all rounding in a box's bound; derived in docs/explanation/certificates.md, term by term."""
    n_y, n_x = dual.T.shape
    steepest, offsets, edges = 0.0, 0.0, 0.0
    for y in range(n_y):
        steepest = max(steepest, abs(v[y]) + 3.0 * abs(math.log(work.high[y])))
        offsets += abs(work.offset[y])
        edges += abs(v[y]) * work.high[y]
    exponents = dual.largest + steepest + offsets + 2.0 * math.log(n_y) + 2.0 * n_y + 6.0
    of_exponents = (5.0 * n_y + 48.0) * exponents
    of_edges = (n_y + 4.0) * edges
    of_sum = dual.gamma * (2.0 * n_x + 16.0 + 9.0 * math.log(n_x))
    return 2.0 * UNIT * (of_exponents + of_edges + of_sum)


@regrouped
def subtract(w: Array, factors: Array, rows: Array) -> None:
    """W -= factors.rows; all rows in one call, which takes longer than a row of some hundred letters."""
    for j in range(factors.shape[0]):
        factor = factors[j]
        if factor != 0.0:
            for x in range(w.shape[0]):
                w[x] -= factor * rows[j, x]


@regrouped
def softmax(w: Array, gamma: float) -> tuple[float, float]:
    """Exponents e become exp((e - max e) / gamma); the maximum and the sum, by which the caller divides."""
    top = w[0]
    for x in range(1, w.shape[0]):
        top = max(top, w[x])
    total = 0.0
    for x in range(w.shape[0]):
        w[x] = exp((w[x] - top) / gamma)
    for x in range(w.shape[0]):  # by itself, see `regrouped`
        total += w[x]
    return top, total


@part
def log_partition(dual: Dual, a: Array, w: Array) -> float:
    """Log sum_x exp((lambda_x - a.T_x) / gamma); w becomes the softmax."""
    copy_row(dual.lam, w)
    subtract(w, a, dual.T)
    top, total = softmax(w, dual.gamma)
    scale(w, 1.0 / total)
    return float(top / dual.gamma + math.log(total))


@regrouped
def scale(w: Array, factor: float) -> None:
    """W *= factor."""
    for x in range(w.shape[0]):
        w[x] *= factor


@part
def bound_with(dual: Dual, work: Work, v: Array) -> tuple[float, float]:
    """The safe bound with multipliers v, and gamma log sum exp, of which work.w becomes the softmax."""
    n_y = work.low.shape[0]
    edges = 0.0
    copy_row(work.base, work.w)
    for y in range(n_y):
        edges += max(v[y] * work.low[y], v[y] * work.high[y])
    subtract(work.w, v, work.F)
    top, total = softmax(work.w, dual.gamma)
    scale(work.w, 1.0 / total)
    potential = top + dual.gamma * math.log(total)
    return -edges - potential - slack(dual, work, v), potential
