"""The lower bound of f(q) - lambda.q on a box l <= Tq <= b, f(q) = H(Tq) - gamma H(q); and smaller boxes that hold every q of interest.

h(s) = -s log s. For every y let r_y be concave on [0, 1] with r_y <= h on [l_y, b_y]; R_x = sum_y r_y(T_yx); mu any vector. Then every q
with Tq in the box has f(q) - lambda.q >= B + gamma KL(q || w), where w(x) is prop. to exp((lambda_x - R_x - mu.T_x) / gamma) and

    B = -sum_y max(mu_y l_y, mu_y b_y) - gamma log sum_x exp((lambda_x - R_x - mu.T_x) / gamma).

Here r_y = t_y (the secant of h between l_y and b_y) + (1 - t_y) (h between them, its tangents at l_y and b_y outside), 0 <= t_y <= 1. The
exponents are affine in v = (mu, t), and B is concave in it. The bound holds whatever v is: only its evaluation must be accurate, and its
rounding is bounded by `slack` (docs/explanation/certificates.md).

*Sum to one.* u = Tq sums to one, so that 1 - sum of the other b's <= u_y <= 1 - sum of the other l's.

*Range reduction.* A q in the box with f(q) - lambda.q < target has gamma KL(q || w) <= target - B = gamma rho, hence by Donsker and
Varadhan, for every y and theta > 0,

    u_y  <=  c + (rho + log sum_x w_x exp(theta (T_yx - c))) / theta,    u_y  >=  c - (rho + log sum_x w_x exp(-theta (T_yx - c))) / theta.

Any c and theta are valid; c = (Tw)_y and theta = sqrt(2 rho / Var_w(T_y)) are good ones. Where there are many letters the sum of
exponentials is bounded by four moments of T_y first, in one pass for both ends (`near`). All ends are rounded outward.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common import THIN, UNIT, Flags, Integers, copy_row, exp, regrouped

MANY = 200  # from so many letters on range reduction looks at moments first


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
def workspace(T: Array) -> Work:
    """Work for one box after another."""
    n_y, n_x = T.shape
    n = 2 * n_y
    F = np.empty((n, n_x))
    for y in range(n_y):
        for x in range(n_x):
            F[y, x] = T[y, x]
    a, v = np.empty((6, n_y)), np.empty((7, n))
    Q, L, rows = np.empty((n, n)), np.empty((n, n)), np.empty((n, n_x))
    return Work(
        a[0], a[1], a[2], a[3], np.empty(n_x), F, np.empty(n_x), v[0], v[1], v[2], v[3], v[4], v[5], v[6], Q, L, rows,
        np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_), a[4], a[5],
    )  # fmt: skip


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


Moments = tuple[float, float, float]

LOOSE = 0.1  # share of rho that they may lose


@part
def propagate(work: Work) -> bool:
    """Tighten a box by sum_y u_y = 1; False if it is empty."""
    n_y = work.low.shape[0]
    for _ in range(2):
        lows, highs = 0.0, 0.0
        for y in range(n_y):
            lows += work.low[y]
            highs += work.high[y]
        margin = 4.0 * (n_y + 4.0) * UNIT * max(highs, 1.0)
        for y in range(n_y):
            work.high[y] = max(min(work.high[y], 1.0 - (lows - work.low[y]) + margin), THIN)
        highs = 0.0
        for y in range(n_y):
            highs += work.high[y]
        for y in range(n_y):
            work.low[y] = max(work.low[y], 1.0 - (highs - work.high[y]) - margin)
            if work.low[y] > work.high[y]:
                return False
    return True


@regrouped
def tilted(w: Array, T: Array, centre: float, theta: float) -> tuple[float, float]:
    """Sums over x of w exp(theta (T - c)), and of that times T - c."""
    total, moment = 0.0, 0.0
    for x in range(w.shape[0]):
        away = T[x] - centre
        mass = w[x] * exp(theta * away)
        total += mass
        moment += mass * away
    return total, moment


@part
def reach(dual: Dual, work: Work, y: int, theta: float, rho: float) -> tuple[float, float]:
    """(rho + log E_w exp(theta (T_y - c))) / |theta|, rounded up, for theta of either sign; and the share of rho at which to try again.

    The best theta has theta K' - K = rho, K = log E_w exp(theta (T_y - c)).
    """
    n_y, n_x = dual.T.shape
    centre = work.mean[y]
    total, moment = tilted(work.w, dual.T[y], centre, theta)
    log = math.log(total)
    rounding = 4.0 * UNIT * (n_x + 16.0 + 4.0 * abs(theta) + abs(log))
    far = (rho + log + rounding) / abs(theta)
    return far + 4.0 * (n_y + 24.0) * UNIT * (far + centre), (theta * moment / total - log) / rho


@regrouped
def spread(w: Array, T: Array, centre: float) -> float:
    """Sum_x w (T - c)^2."""
    total = 0.0
    for x in range(w.shape[0]):
        total += w[x] * (T[x] - centre) * (T[x] - centre)
    return total


@regrouped
def moments(w: Array, T: Array, centre: float) -> Moments:
    """Sums over x of w (T - c)^2, w (T - c)^3 and w (T - c)^4."""
    second, third, fourth = 0.0, 0.0, 0.0
    for x in range(w.shape[0]):
        away = T[x] - centre
        square = w[x] * away * away
        second += square
        third += square * away
        fourth += square * away * away
    return second, third, fourth


@part
def rest_of_exp(z: float) -> float:
    """(e^z - 1 - z - z^2/2 - z^3/6) / z^4, rounded up for z >= 0; it grows with z."""
    if abs(z) > 1.0:
        return (math.exp(z) - 1.0 - z - z * z * (0.5 + z / 6.0)) / (z * z * z * z) * (1.0 + 1e-12)
    total = 0.0
    for k in range(18, 3, -1):  # 1/4! + z/5! + z^2/6! + ...
        total = 1.0 + z * total / (k + 1.0)
    return total / 24.0 * (1.0 + 1e-12)


@part
def near(dual: Dual, work: Work, y: int, theta: float, rho: float, moment: Moments) -> float:
    """The reach for theta of either sign, rounded up, from moments alone; infinite where they say too little.

    X = theta (T_y - c) <= z, so exp(X) <= 1 + X + X^2/2 + X^3/6 + X^4 rest(z), as the rest grows; its mean under w needs no exponentials.
    """
    n_y, n_x = dual.T.shape
    second, third, fourth = moment
    centre, squared = work.mean[y], theta * theta
    one, two = theta * (1.0 - centre), -theta * centre  # the ends of X, as 0 <= T <= 1
    z, lowest = max(one, two) * (1.0 + 1e-12), min(one, two)
    if not z < 20.0:  # theta (T - c) beyond which moments say too little
        return math.inf
    rest, tail = rest_of_exp(z), squared * squared * fourth
    if not tail * (rest - rest_of_exp(lowest)) <= LOOSE * rho:
        return math.inf
    log = math.log(1.0 + 0.5 * squared * second + squared * theta * third / 6.0 + tail * rest)
    sums = (1.0 + abs(theta)) * (1.0 + squared * second) + tail * rest
    far = (rho + log + 4.0 * UNIT * (n_x + 16.0) * sums) / abs(theta)
    return float(far + 4.0 * (n_y + 24.0) * UNIT * (far + centre))


@part
def next_tilt(theta: float, share: float, most: float) -> float:
    """The theta to try after one at which theta K' - K was that share of rho; 0 if it is near enough, or cannot grow."""
    if not (share > 4.0 or share < 0.25):
        return 0.0
    factor = min(max(1.0 / math.sqrt(max(share, 1e-6)), 0.03), 30.0)
    if abs(theta) >= most and factor >= 1.0:
        return 0.0
    return min(max(theta * factor, -most), most)


@part
def farthest(dual: Dual, work: Work, y: int, theta: float, most: float, rho: float) -> tuple[float, float]:
    """The smallest reach found from a theta onward, and its theta."""
    best, at = math.inf, theta
    for _ in range(4):  # more are tried only where the distribution of T under w is far from normal
        far, share = reach(dual, work, y, theta, rho)
        if far < best:
            best, at = far, theta
        theta = next_tilt(theta, share, most)
        if theta == 0.0:
            break
    return best, at


@part
def reduce(dual: Dual, work: Work, gap: float) -> bool:
    """Shrink the box to what may lie below the target, `gap` above its bound; False if that is empty.

    The theta of every end that was moved stays in work.tilt_low (negative) and work.tilt_high, for `recheck`.
    """
    n_y = work.low.shape[0]
    rho = gap / dual.gamma * (1.0 + 4.0 * UNIT)
    if not rho < 1e6:
        return True
    many = dual.T.shape[1] >= MANY
    for y in range(n_y):
        centre = work.mean[y]
        moment = (0.0, 0.0, 0.0)
        if many:
            moment = moments(work.w, dual.T[y], centre)
            variance = moment[0]
        else:
            variance = spread(work.w, dual.T[y], centre)
        deviation = math.sqrt(2.0 * rho * max(variance, 0.0))
        most = 400.0 / max(centre, 1.0 - centre)  # what exp has rounded to zero in w stays negligible
        theta = min(2.0 * rho / deviation, most) if deviation > 0.0 else most
        # An end is worth a look if 0.8 of a normal distribution's reach would move it by 0.03 of the box.
        expected, worth = 0.8 * deviation, 0.03 * (work.high[y] - work.low[y])
        if centre + expected < work.high[y] - worth:
            far, at = (near(dual, work, y, theta, rho, moment), theta) if many else (math.inf, theta)
            if not far < math.inf:
                far, at = farthest(dual, work, y, theta, most, rho)
            if centre + far < work.high[y]:
                work.high[y], work.tilt_high[y] = max(centre + far, THIN), at
        if centre - expected > work.low[y] + worth:
            far, at = (near(dual, work, y, -theta, rho, moment), -theta) if many else (math.inf, -theta)
            if not far < math.inf:
                far, at = farthest(dual, work, y, -theta, most, rho)
            if centre - far > work.low[y]:
                work.low[y], work.tilt_low[y] = centre - far, at
        if work.low[y] > work.high[y]:
            return False
    return True
