"""A box's bound by groups of letters (`groups`) instead of letters: B can only fall, by less than what the box lacks.

The exponent of a letter is lambda_x - a.T_x + sum_y phi_y(T_yx), phi_y(s) = a_y s - r_y(s) - mu_y s convex. On a group it lies below
its chord between the ends of T_y, with value c_y at the mean m_y and slope s_y. So with Z = s.(T - m) / gamma <= z of mean 0,

    sum_x exp((lambda_x - R_x - mu.T_x) / gamma)  <=  Omega exp(sum_y c_y / gamma) E_omega e^Z,
    E_omega e^Z  <=  min(1 + E Z^2 (e^z - 1 - z) / z^2, e^z)                            (Bennett),     E Z^2 = s'Cs / gamma^2.

For the secant part of r_y the chord is exact. The first factors are those of a letter with the column m and the group's lambda, so that
the ascent runs on groups as on letters; the last one, `growth`, is bounded afterwards. It is of second order in s, and what it loses,
its excess over 1 + E Z^2 / 2, of third. A tilt by theta (T_y - c), for the range reduction, is theta gamma more of s_y.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common.fast import exp, regrouped
from ..common.rows import copy_row
from .cell_bound import THIN, UNIT, Dual, Work, mean, secant, slack
from .groups import Groups
from .ranges import MOST_TILT, NOTICEABLE, PROMISING, TILTS, next_tilt

NARROW = 1e-12  # ranges of T_y on which r_y is taken for constant, its chord's slope for 0
FARTHEST = 600.0  # z from which on nothing is said
ABOUT = 1e-9  # added to z, for the rounding in it


class Tilt(NamedTuple):
    """How the exponents of one box differ from those that its groups were made with; room for them."""

    curved: Array  # (|Y|, G)  slopes of the chords of r_y's tangent part
    slope: Array  # (|Y|, G)   s / gamma, centred: sum_y (T_y - m_y) = 0
    moved: Array  # (|Y|, G)   C s / gamma: how far it moves a group's mean
    most: Array  # (G,)        z
    second: Array  # (G,)      E Z^2


@part
def tilt_room(groups: Groups) -> Tilt:
    """For one box after another."""
    _, n_y, G = groups.mean.shape
    a, b = np.empty((3, n_y, G)), np.empty((2, G))
    return Tilt(a[0], a[1], a[2], b[0], b[1])


@part
def as_letters(groups: Groups, p: int, gamma: float) -> Dual:
    """The groups of a slope, taken for letters."""
    return Dual(groups.mean[p], groups.mean[p], groups.lam[p], gamma, groups.largest[p])


@regrouped
def chords(
    ends: tuple[Array, Array, Array, Array, Array],
    low: float,
    high: float,
    slope: float,
    offset: float,
    base: Array,
    difference: Array,
    curved: Array,
) -> None:
    """As `cell_bound.minorant`, with the chord of the tangent part in its place; and the chord's slope."""
    centre, least, largest, h_least, h_largest = ends
    at_low, at_high = 0.0, -1.0 - math.log(high)
    if low > 0.0:
        at_low = -1.0 - math.log(low)
    for g in range(centre.shape[0]):
        s, t = least[g], largest[g]
        one, two = h_least[g], h_largest[g]
        one = low + at_low * s if s < low else one
        one = high + at_high * s if s > high else one
        two = low + at_low * t if t < low else two
        two = high + at_high * t if t > high else two
        wide = t - s > NARROW
        rate = (two - one) / (t - s) if wide else 0.0
        tangent = one + rate * (centre[g] - s) if wide else min(one, two)
        curved[g] = rate
        base[g] -= tangent
        difference[g] = offset + slope * centre[g] - tangent


@part
def prepare_groups(groups: Groups, p: int, work: Work, tilt: Tilt) -> None:
    """The minorants of a box on the groups of one slope, from work.low and work.high."""
    n_y = work.low.shape[0]
    copy_row(groups.lam[p], work.base)
    for y in range(n_y):
        copy_row(groups.mean[p, y], work.F[y])
        low, high = work.low[y], work.high[y]
        work.slope[y], work.offset[y] = secant(low, high)
        ends = (groups.mean[p, y], groups.low[p, y], groups.high[p, y], groups.h_low[p, y], groups.h_high[p, y])
        chords(ends, low, high, work.slope[y], work.offset[y], work.base, work.F[n_y + y], tilt.curved[y])


@regrouped
def slope_row(
    a: float, mu: float, t: float, secant: float, curved: Array, gamma: float, slope: Array, mid: Array
) -> None:
    """One y's s / gamma, before it is centred; its share of the mean over y is added to `mid`."""
    for g in range(slope.shape[0]):
        slope[g] = (a - mu - t * secant - (1.0 - t) * curved[g]) / gamma
        mid[g] += slope[g]


@regrouped
def centre_row(slope: Array, mid: Array, letters: int, above: Array, below: Array, most: Array) -> None:
    """Take the mean over y off, and add to z what this y may contribute."""
    for g in range(slope.shape[0]):
        slope[g] -= mid[g] / letters
        most[g] += max(slope[g] * above[g], -slope[g] * below[g])


@regrouped
def add_product(s: Array, t: Array, to: Array) -> None:
    """To += s t."""
    for g in range(to.shape[0]):
        to[g] += s[g] * t[g]


@regrouped
def add_variance(slope: Array, variance: Array, factor: float, to: Array) -> None:
    """To += factor s^2 C_yy, for the rounding of s'Cs."""
    for g in range(to.shape[0]):
        to[g] += factor * slope[g] * slope[g] * variance[g]


@part
def doubt(n_y: int, letters: int) -> float:
    """What rounding may do to s'Cs, in units of sum_y s_y^2 C_yy."""
    return 8.0 * UNIT * n_y * (letters + 4.0 * n_y + 64.0)


@part
def lean(groups: Groups, p: int, work: Work, gamma: float, letters: int, tilt: Tilt) -> None:
    """Fill the tilt of a box with multipliers work.v, after `prepare_groups`."""
    n_y, G = tilt.slope.shape
    mid = tilt.second
    for g in range(G):
        mid[g], tilt.most[g] = 0.0, ABOUT
    for y in range(n_y):
        t = work.v[n_y + y]
        slope_row(groups.slopes[p, y], work.v[y], t, work.slope[y], tilt.curved[y], gamma, tilt.slope[y], mid)
    for y in range(n_y):
        centre_row(tilt.slope[y], mid, n_y, groups.above[p, y], groups.below[p, y], tilt.most)
    for g in range(G):
        tilt.second[g] = 0.0
    for y in range(n_y):
        for g in range(G):
            tilt.moved[y, g] = 0.0
        for z in range(n_y):
            add_product(groups.spread[p, y, z], tilt.slope[z], tilt.moved[y])
        add_product(tilt.slope[y], tilt.moved[y], tilt.second)
    for y in range(n_y):
        add_variance(tilt.slope[y], groups.spread[p, y, y], doubt(n_y, letters), tilt.second)


@part
def growth(z: float, second: float) -> float:
    """An upper bound of E e^Z for Z <= z of mean 0 and E Z^2 = second; infinite beyond `FARTHEST`.

    (e^z - 1 - z) / z^2 = 1/2! + z/3! + z^2/4! + ... <= 1 / (2 - 2z/3), as (k + 2)! >= 2 3^k (Bernstein).
    """
    whole = exp(min(z, FARTHEST))
    share = 0.5 / (1.0 - z / 3.0) if z < 1.0 else (whole - 1.0 - z) / (z * z)
    found = min(1.0 + second * share * (1.0 + 1e-12), whole * (1.0 + 1e-12))
    return found if z <= FARTHEST else math.inf


@regrouped
def grown(w: Array, most: Array, second: Array) -> float:
    """Sum_g w growth."""
    total = 0.0
    for g in range(w.shape[0]):
        total += w[g] * growth(most[g], max(second[g], 0.0))
    return total


@part
def group_slack(dual: Dual, groups: Groups, p: int, work: Work, tilt: Tilt) -> float:
    """Rounding that groups add to `slack` of the same groups taken for letters; derived in docs/certificates.md."""
    n_y, n_x = dual.T.shape
    steepest, highest = 0.0, 0.0
    for y in range(n_y):
        highest = max(highest, abs(groups.slopes[p, y]))
        for g in range(tilt.slope.shape[1]):
            steepest = max(steepest, abs(tilt.slope[y, g]))
    terms = n_x + 4.0 * n_y + 128.0
    exponents = slack(as_letters(groups, p, dual.gamma), work, work.v) / (5.0 * n_y + 48.0)
    others = terms * (dual.largest + highest + dual.gamma * steepest) + dual.gamma * (
        2.0 * n_x + 64.0 + 9.0 * math.log(n_x)
    )
    return terms * exponents + 2.0 * UNIT * others


@part
def settle(dual: Dual, groups: Groups, p: int, work: Work, tilt: Tilt) -> tuple[float, float]:
    """Sum_g w growth of a box with multipliers work.v, and what is to be subtracted from its bound by groups taken for letters."""
    lean(groups, p, work, dual.gamma, dual.T.shape[1], tilt)
    grew = grown(work.w, tilt.most, tilt.second)
    return grew, dual.gamma * math.log(grew) + group_slack(dual, groups, p, work, tilt)


@regrouped
def tilted_groups(
    w: Array,
    centre: Array,
    extent: Array,
    variance: Array,
    moved: Array,
    most: Array,
    second: Array,
    at: float,
    theta: float,
    doubted: float,
) -> tuple[float, float]:
    """Sums over groups of w exp(theta (m - c)) growth, tilted by theta as well, and of that times T - c, nearly."""
    total, moment = 0.0, 0.0
    for g in range(w.shape[0]):
        away = centre[g] - at
        z = most[g] + abs(theta) * extent[g]
        squared = second[g] + theta * (2.0 * moved[g] + doubted * theta * variance[g])
        mass = w[g] * exp(theta * away) * growth(z, max(squared, 0.0))
        total += mass
        moment += mass * (away + moved[g] + theta * variance[g])
    return total, moment


@part
def farthest_of_groups(
    groups: Groups,
    p: int,
    work: Work,
    tilt: Tilt,
    y: int,
    theta: float,
    most: float,
    rho: float,
    grew: float,
    letters: int,
) -> float:
    """The smallest reach found from a theta of either sign onward, as `ranges.farthest`; grew is sum_g w growth, to which w belongs."""
    n_y = work.low.shape[0]
    centre, variance, best = work.mean[y], groups.spread[p, y, y], math.inf
    doubted = 1.0 + doubt(n_y, letters)
    for _ in range(TILTS):
        extent = groups.above[p, y] if theta > 0.0 else groups.below[p, y]
        total, moment = tilted_groups(
            work.w, groups.mean[p, y], extent, variance, tilt.moved[y], tilt.most, tilt.second, centre, theta, doubted
        )
        log = math.log(total / grew)
        rounding = 4.0 * UNIT * (letters + 64.0 + (letters + 4.0) * abs(theta) + abs(log))
        far = (rho + log + rounding) / abs(theta)
        far += 4.0 * (n_y + 24.0) * UNIT * (far + centre)
        best = far if far < best else best
        share = (theta * moment / total - log) / rho
        theta = next_tilt(theta, share, most)
        if theta == 0.0:
            break
    return best


@regrouped
def variance_of_groups(w: Array, centre: Array, within: Array, at: float) -> float:
    """Sum_g w ((m - c)^2 + C_yy): the variance of T_y under w, nearly."""
    total = 0.0
    for g in range(w.shape[0]):
        total += w[g] * ((centre[g] - at) * (centre[g] - at) + within[g])
    return total


@part
def reduce_by_groups(dual: Dual, groups: Groups, p: int, work: Work, tilt: Tilt, gap: float, grew: float) -> bool:
    """As `ranges.reduce`: shrink the box to what may lie below the target, `gap` above its bound; False if that is empty."""
    n_y, letters = dual.T.shape
    rho = gap / dual.gamma * (1.0 + 4.0 * UNIT)
    if not rho < 1e6:
        return True
    for y in range(n_y):
        work.mean[y] += mean(work.w, tilt.moved[y])  # any centre is valid; this is nearer to that of the letters
        centre = work.mean[y]
        variance = variance_of_groups(work.w, groups.mean[p, y], groups.spread[p, y, y], centre)
        deviation = math.sqrt(2.0 * rho * max(variance, 0.0))
        most = MOST_TILT / max(abs(centre), abs(1.0 - centre))
        theta = min(2.0 * rho / deviation, most) if deviation > 0.0 else most
        expected, worth = PROMISING * deviation, NOTICEABLE * (work.high[y] - work.low[y])
        if centre + expected < work.high[y] - worth:
            high = centre + farthest_of_groups(groups, p, work, tilt, y, theta, most, rho, grew, letters)
            if high < work.high[y]:
                work.high[y] = max(high, THIN)
        if centre - expected > work.low[y] + worth:
            low = centre - farthest_of_groups(groups, p, work, tilt, y, -theta, most, rho, grew, letters)
            if low > work.low[y]:
                work.low[y] = low
        if work.low[y] > work.high[y]:
            return False
    return True
