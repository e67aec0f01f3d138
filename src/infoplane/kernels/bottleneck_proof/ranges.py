"""Smaller boxes that still hold every q of interest.

*Sum to one.* u = Tq sums to one, so that 1 - sum of the other b's <= u_y <= 1 - sum of the other l's.

*Range reduction.* A q in the box with f(q) - lambda.q < target has gamma KL(q || w) <= target - B = gamma rho (`cell_bound`), hence by
Donsker and Varadhan, for every y and theta > 0,

    u_y  <=  c + (rho + log sum_x w_x exp(theta (T_yx - c))) / theta,    u_y  >=  c - (rho + log sum_x w_x exp(-theta (T_yx - c))) / theta.

Any c and theta are valid; c = (Tw)_y and theta = sqrt(2 rho / Var_w(T_y)) are good ones. Where there are many letters the sum of
exponentials is bounded by four moments of T_y first, in one pass for both ends (`near`). All ends are rounded outward.
"""

import math

from ...information import Array
from ...runtime.compiling import part
from ..common.numerics import UNIT, exp, regrouped
from .cell_bound import MANY, THIN, Dual, Work

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
