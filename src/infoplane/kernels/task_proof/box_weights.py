"""The lower bound of f(q) - lambda.q on a box l <= T_u q <= b, f(q) = keep H(T_u q) - hide H(T_s q) - gamma H(q); any |S|, gamma >= 0.

For every u let r_u be concave on [0, 1] with r_u <= h on [l_u, b_u], h(t) = -t log t; any mu, and any a with c = softmax(a) on S. Then
every q with T_u q in the box has f(q) - lambda.q >= B,

    B = -sum_u max(mu_u l_u, mu_u b_u) - hide lse(a) + softmin_x [keep sum_u r_u(T_ux) - lambda_x + mu.T_ux + hide a.T_sx],

softmin [e] = -gamma log sum_x exp(-e_x / gamma), the least e_x at gamma = 0. *Proof.* H(T_u q) >= sum_x q_x sum_u r_u(T_ux) (Jensen), and
-H(T_s q) >= sum_s (T_s q)_s log c_s = sum_x q_x (a.T_sx - lse(a)) (Gibbs): only boxes of U are cut, however large S is. r_u = t_u
(secant) + (1 - t_u) (h between l_u and b_u, its tangents outside), 0 <= t_u <= 1; Newton's method on v = (mu, t, a), with the kinks of
mu and, at gamma = 0, the least e_x smoothed. Whatever v it ends with is valid: the caller computes B from it by the plain formula.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, part
from ..common import UNIT, copy_row, solve_definite


class NewtonEffort(NamedTuple):
    """How hard the best multipliers are looked for: any are valid."""

    stages: int = 12
    steps: int = 12
    trials: int = 12
    """Of smoothing, of Newton's method in each, of a line search."""
    barrier: float = 0.02
    """Of the smoothing, that keeps t inside."""
    longest: float = 20.0
    """Most that a step moves a multiplier."""


EFFORT = NewtonEffort()


class Box(NamedTuple):
    """A box l <= T_u q <= b, and what its bound is made of: e = base + v.F, v = (mu, t, a)."""

    T_u: Array  # (|U|, n)
    T_s: Array  # (|S|, n)
    keep: float
    hide: float
    gamma: float
    low: Array  # (|U|,)   l
    high: Array  # (|U|,)  b
    base: Array  # (n,)
    F: Array  # (2 |U| + |S|, n)
    largest: float  # the largest |lambda|
    steepest: float  # and the largest slope of the minorants, for rounding


@part
def fill(
    T_u: Array, T_s: Array, keep: float, hide: float, lam: Array, low: Array, high: Array, base: Array, F: Array
) -> float:
    """e = base + v.F; returns the largest slope of the minorants, for rounding."""
    n_u, n = T_u.shape
    steepest = 0.0
    for x in range(n):
        base[x] = -lam[x]
    for u in range(n_u):
        lo, hi = low[u], high[u]
        h_lo = -lo * math.log(lo) if lo > 0.0 else 0.0
        h_hi = -hi * math.log(hi)
        at_lo, at_hi = (-1.0 - math.log(lo) if lo > 0.0 else 0.0), -1.0 - math.log(hi)
        slope = (h_hi - h_lo) / (hi - lo) if hi > lo else at_hi
        slope = min(max(slope, at_hi), at_hi + 1.0)
        offset = min(h_lo - slope * lo, h_hi - slope * hi)
        steepest = max(steepest, abs(at_hi) + abs(slope) + abs(offset))
        for x in range(n):
            s = T_u[u, x]
            tangent = 0.0
            if s < lo:
                tangent = lo + at_lo * s
            elif s > hi:
                tangent = hi + at_hi * s
            elif s > 0.0:
                tangent = -s * math.log(s)
            base[x] += keep * tangent
            F[u, x] = s
            F[n_u + u, x] = keep * (offset + slope * s - tangent)
    for j in range(T_s.shape[0]):
        for x in range(n):
            F[2 * n_u + j, x] = hide * T_s[j, x]
    return steepest


@part
def log_sum(a: Array) -> float:
    """Log sum exp."""
    top = -math.inf
    for j in range(a.shape[0]):
        top = max(top, a[j])
    total = 0.0
    for j in range(a.shape[0]):
        total += math.exp(a[j] - top)
    return top + math.log(total) if a.shape[0] > 0 else 0.0


@part
def bounds_at(box: Box, v: Array, soft: float, e: Array) -> tuple[float, float, float]:
    """B, the smoothed B that Newton's method climbs, and the least e."""
    base, F, low, high, hide, gamma = box.base, box.F, box.low, box.high, box.hide, box.gamma
    n_u, n, m = low.shape[0], base.shape[0], v.shape[0]
    for x in range(n):
        e[x] = base[x]
    for j in range(m):
        if v[j] != 0.0:
            for x in range(n):
                e[x] += v[j] * F[j, x]
    least = e[0]
    for x in range(1, n):
        least = min(least, e[x])
    wide = max(soft, gamma)
    total, exact = 0.0, least
    for x in range(n):
        total += math.exp((least - e[x]) / wide)
    smooth = least - wide * math.log(total)
    if gamma > 0.0:
        exact = smooth
        if wide != gamma:
            total = 0.0
            for x in range(n):
                total += math.exp((least - e[x]) / gamma)
            exact = least - gamma * math.log(total)
    secret = hide * log_sum(v[2 * n_u :]) if m > 2 * n_u else 0.0
    edges, round_edges, barrier = 0.0, 0.0, 0.0
    for u in range(n_u):
        middle, half = 0.5 * (low[u] + high[u]), 0.5 * (high[u] - low[u])
        edges += max(v[u] * low[u], v[u] * high[u])
        round_edges += middle * v[u] + half * math.sqrt(v[u] * v[u] + 9.0 * soft * soft)
        t = v[n_u + u]
        barrier += math.log(max(t, 1e-300)) + math.log(max(1.0 - t, 1e-300))
    return exact - edges - secret, smooth - round_edges - secret + EFFORT.barrier * soft * box.keep * barrier, least


@part
def rounding(
    T_u: Array,
    T_s: Array,
    keep: float,
    hide: float,
    gamma: float,
    largest: float,
    steepest: float,
    high: Array,
    v: Array,
) -> float:
    """More than rounding, of the table's quotients too, can do to B (docs/howto/tasks.md)."""
    n_u, n = T_u.shape
    n_s = T_s.shape[0]
    mu, edges, a = 0.0, 0.0, 1.0
    for u in range(n_u):
        mu += abs(v[u])
        edges += abs(v[u]) * high[u]
    for j in range(n_s):
        a = max(a, abs(v[2 * n_u + j]))
    size = largest + mu + keep * n_u * (2.0 * steepest + 40.0) + 2.0 * hide * (a + math.log(n_s + 1.0))
    sums = gamma * (2.0 * n + 64.0 + 16.0 * math.log(n + 1.0))
    return 8.0 * UNIT * ((5.0 * (n_u + n_s) + 96.0) * size + (n_u + 8.0) * edges + sums)


@part
def newton(box: Box, v: Array, soft: float, w: Array, step: Array) -> float:
    """Newton's step of the smoothed bound, from w, its curvature scaled to a unit diagonal; returns the rise that it promises."""
    F, low, high, keep, hide, gamma = box.F, box.low, box.high, box.keep, box.hide, box.gamma
    n_u, n, m = low.shape[0], w.shape[0], v.shape[0]
    wide = max(soft, gamma)
    slope, mean, scale, Q = np.empty(m), np.empty(m), np.empty(m), np.empty((m, m))
    for j in range(m):
        total = 0.0
        for x in range(n):
            total += w[x] * F[j, x]
        mean[j] = slope[j] = total
    rows = np.empty((m, n))
    for x in range(n):
        root = math.sqrt(w[x])
        for j in range(m):
            rows[j, x] = root * (F[j, x] - mean[j])
    for i in range(m):
        for j in range(i + 1):
            total = 0.0
            for x in range(n):
                total += rows[i, x] * rows[j, x]
            Q[i, j] = Q[j, i] = total / wide
    for u in range(n_u):
        middle, half, size = (
            0.5 * (low[u] + high[u]),
            0.5 * (high[u] - low[u]),
            math.sqrt(v[u] * v[u] + 9.0 * soft * soft),
        )
        slope[u] -= middle + half * v[u] / size
        Q[u, u] += half * 9.0 * soft * soft / (size * size * size)
        t, weight = v[n_u + u], EFFORT.barrier * soft * keep
        slope[n_u + u] += weight * (1.0 / t - 1.0 / (1.0 - t))
        Q[n_u + u, n_u + u] += weight * (1.0 / (t * t) + 1.0 / ((1.0 - t) * (1.0 - t)))
    if m > 2 * n_u:
        whole = log_sum(v[2 * n_u :])
        for i in range(2 * n_u, m):
            c_i = math.exp(v[i] - whole)
            slope[i] -= hide * c_i
            Q[i, i] += hide * c_i
            for j in range(2 * n_u, m):
                Q[i, j] -= hide * c_i * math.exp(v[j] - whole)
    for j in range(m):
        scale[j] = 1.0 / math.sqrt(1e-10 + (1.0 + 1e-9) * max(Q[j, j], 0.0))
    for i in range(m):
        for j in range(i):
            Q[i, j] *= scale[i] * scale[j]
        Q[i, i] = 1.0
        step[i] = slope[i] * scale[i]
    solve_definite(Q, step, 1e-14)
    rise = 0.0
    for j in range(m):
        step[j] *= scale[j]
        rise += step[j] * slope[j]
    return rise


@part
def reach(n_u: int, v: Array, step: Array) -> float:
    """How much of a step keeps every t inside (0, 1), and no multiplier from jumping."""
    share, largest = 1.0, 0.0
    for j in range(v.shape[0]):
        largest = max(largest, abs(step[j]))
    for u in range(n_u, 2 * n_u):
        if step[u] > 0.0:
            share = min(share, 0.95 * (1.0 - v[u]) / step[u])
        elif step[u] < 0.0:
            share = min(share, -0.95 * v[u] / step[u])
    return min(share, EFFORT.longest / largest) if largest > 0.0 else share


@part
def fill_weights(e: Array, least: float, wide: float, w: Array) -> None:
    """w prop. to exp(-e / wide)."""
    total = 0.0
    for x in range(e.shape[0]):
        w[x] = math.exp((least - e[x]) / wide)
        total += w[x]
    for x in range(e.shape[0]):
        w[x] /= total


@part
def climbed(
    box: Box, soft: float, target: float, best: float, v: Array, best_v: Array, w: Array, e: Array
) -> tuple[float, float]:
    """Newton's method on the smoothed bound, in place: the best safe bound so far, whose multipliers are best_v, and the smoothed one."""
    n_u, m = box.low.shape[0], v.shape[0]
    step, tried = np.empty(m), np.empty(m)
    _, smooth, least = bounds_at(box, v, soft, e)
    for _ in range(EFFORT.steps):
        fill_weights(e, least, max(soft, box.gamma), w)
        rise = newton(box, v, soft, w, step)
        if not rise > 0.0:
            break
        share, exact, higher = reach(n_u, v, step), 0.0, -math.inf
        for _ in range(EFFORT.trials):
            for j in range(m):
                tried[j] = v[j] + share * step[j]
            exact, higher, least = bounds_at(box, tried, soft, e)
            if higher >= smooth + 1e-4 * share * rise:
                break
            share *= 0.35
        else:
            break
        smooth = higher
        safe = exact - rounding(
            box.T_u, box.T_s, box.keep, box.hide, box.gamma, box.largest, box.steepest, box.high, tried
        )
        copy_row(tried, v)
        if safe > best:
            best = safe
            copy_row(v, best_v)
        if best >= target or rise < 0.1 * soft:
            break
    return best, smooth


@entry
def weigh(
    T_u: Array,
    T_s: Array,
    keep: float,
    hide: float,
    gamma: float,
    lam: Array,
    low: Array,
    high: Array,
    target: float,
    v: Array,
    w: Array,
) -> float:
    """The bound of a box, climbed from the multipliers v until it reaches the target or cannot; v and w, the weights of x, are left behind.

    Returns the safe bound.
    """
    n_u, n = T_u.shape
    base, F, e, best_v = np.empty(n), np.empty((v.shape[0], n)), np.empty(n), v.copy()
    largest = 0.0
    for x in range(n):
        largest = max(largest, abs(lam[x]))
    steepest = fill(T_u, T_s, keep, hide, lam, low, high, base, F)
    box = Box(T_u, T_s, keep, hide, gamma, low, high, base, F, largest, steepest)
    spread = math.log(n + 1.0)
    exact, _, _ = bounds_at(box, v, 1.0, e)
    best = exact - rounding(T_u, T_s, keep, hide, gamma, largest, steepest, high, v)
    if gamma == 0.0:
        soft = min(0.05, max((target - best) / spread, 1e-7))
    else:
        soft = min(gamma, max(0.1 * (target - best), 1e-9))
    for stage in range(EFFORT.stages):
        if best >= target:
            break
        best, smooth = climbed(box, soft, target, best, v, best_v, w, e)
        highest = smooth + (max(soft, gamma) * spread if gamma == 0.0 else 0.0) + 0.4 * soft * n_u + 8.0 * soft
        if (highest < target and stage > 0) or soft < max(1e-10, 0.02 * (target - best) / spread):
            break
        soft *= 0.2
    copy_row(best_v, v)
    _, _, least = bounds_at(box, v, 1.0, e)
    fill_weights(e, least, max(gamma, max(0.3 * (target - best) / spread, 1e-9)), w)
    return best if best > -math.inf else -math.inf  # NaN, too


@entry
def best_shares(T_u: Array, e: Array, least: float, rho: float, thetas: Array) -> None:
    """Gamma = 0: a q of the box below the target has sum_x q_x (e_x - min e) <= rho, the target less the bound; hence for every theta >= 0

    u <= max_x (T_ux - theta (e_x - min e)) + theta rho, and u >= the same with signs: for each u the theta of the tightest, by bisection;
    the caller computes the ends from them.
    """
    n_u, n = T_u.shape
    for u in range(n_u):
        for side in range(2):
            sign = 1.0 if side == 0 else -1.0
            bottom, top, best = 0.0, 1.0 / max(rho, 1e-12), math.inf
            for _ in range(30):
                theta = 0.5 * (bottom + top)
                highest, at = -math.inf, 0
                for x in range(n):
                    value = sign * T_u[u, x] - theta * (e[x] - least)
                    if value > highest:
                        highest, at = value, x
                if highest + theta * rho < best:
                    best = highest + theta * rho
                    thetas[side, u] = theta
                if e[at] - least > rho:
                    bottom = theta
                else:
                    top = theta
