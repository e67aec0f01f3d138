"""Smaller boxes that still hold every q of interest.

*Sum to one.* u = Tq sums to one, so that 1 - sum of the other b's <= u_y <= 1 - sum of the other l's.

*Range reduction.* A q in the box with f(q) - lambda.q < target has gamma KL(q || w) <= target - B = gamma rho (`cell_bound`), hence by
Donsker and Varadhan, for every y and theta > 0,

    u_y  <=  c + (rho + log sum_x w_x exp(theta (T_yx - c))) / theta,    u_y  >=  c - (rho + log sum_x w_x exp(-theta (T_yx - c))) / theta.

Any c and theta are valid; c = (Tw)_y and theta = sqrt(2 rho / Var_w(T_y)) are good ones. All ends are rounded outward.
"""

import math

from ...information import Array
from ..common.fast import exp, regrouped
from ..common.jit import part
from .cell_bound import THIN, UNIT, Dual, Work

MOST_TILT = 400.0  # theta |T - c|: what exp has rounded to zero in w stays negligible
TILTS = 4  # values of theta tried where the distribution of T under w is far from normal
PROMISING = 0.8  # an end is worth a look if this share of a normal distribution's reach would move it ...
NOTICEABLE = 0.03  # ... by this share of the box


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
def spread(w: Array, T: Array, centre: float) -> float:
    """Sum_x w (T - c)^2."""
    total = 0.0
    for x in range(w.shape[0]):
        total += w[x] * (T[x] - centre) * (T[x] - centre)
    return total


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


@part
def farthest(dual: Dual, work: Work, y: int, theta: float, most: float, rho: float) -> float:
    """The smallest reach found from a theta onward."""
    best = math.inf
    for _ in range(TILTS):
        far, share = reach(dual, work, y, theta, rho)
        if far < best:
            best = far
        if not (share > 4.0 or share < 0.25):
            break
        factor = min(max(1.0 / math.sqrt(max(share, 1e-6)), 0.03), 30.0)
        if abs(theta) >= most and factor >= 1.0:
            break
        theta = min(max(theta * factor, -most), most)
    return best


@part
def reduce(dual: Dual, work: Work, gap: float) -> bool:
    """Shrink the box to what may lie below the target, `gap` above its bound; False if that is empty."""
    n_y = work.low.shape[0]
    rho = gap / dual.gamma * (1.0 + 4.0 * UNIT)
    if not rho < 1e6:
        return True
    for y in range(n_y):
        centre = work.mean[y]
        deviation = math.sqrt(2.0 * rho * max(spread(work.w, dual.T[y], centre), 0.0))
        most = MOST_TILT / max(centre, 1.0 - centre)
        theta = min(2.0 * rho / deviation, most) if deviation > 0.0 else most
        expected, worth = PROMISING * deviation, NOTICEABLE * (work.high[y] - work.low[y])
        if centre + expected < work.high[y] - worth:
            high = centre + farthest(dual, work, y, theta, most, rho)
            if high < work.high[y]:
                work.high[y] = max(high, THIN)
        if centre - expected > work.low[y] + worth:
            low = centre - farthest(dual, work, y, -theta, most, rho)
            if low > work.low[y]:
                work.low[y] = low
        if work.low[y] > work.high[y]:
            return False
    return True
