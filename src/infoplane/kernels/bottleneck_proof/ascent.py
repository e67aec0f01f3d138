"""The best multipliers v = (mu, t) of a box's bound B: Newton's method with active sets.

B is concave, with kinks at mu_y = 0 and limits 0 <= t_y <= 1. Its slopes are E_w F, less b_y where mu_y > 0 and l_y where mu_y < 0, and its
curvature is -Cov_w(F) / gamma.
"""

import math

from ...information import Array
from ..common.fast import regrouped
from ..common.jit import part
from .cell_bound import Dual, Work, mean

SEEN = 1e-13  # letters with less mass than this under w do not count for the curvature


@part
def locate(work: Work) -> None:
    """E_w F."""
    for j in range(work.F.shape[0]):
        work.mean[j] = mean(work.w, work.F[j])


@regrouped
def product(s: Array, t: Array, count: int) -> float:
    """Sum of s t over the first so many."""
    total = 0.0
    for x in range(count):
        total += s[x] * t[x]
    return total


@part
def curvature(dual: Dual, work: Work) -> None:
    """Q = Cov_w(F) / gamma, on the letters that w sees; centred first, so that nothing cancels."""
    n, n_x = work.F.shape
    count = 0
    for x in range(n_x):
        if work.w[x] > SEEN:
            root = math.sqrt(work.w[x])
            for j in range(n):
                work.rows[j, count] = root * (work.F[j, x] - work.mean[j])
            count += 1
    for j in range(n):
        for k in range(j + 1):
            work.Q[j, k] = product(work.rows[j], work.rows[k], count) / dual.gamma
            work.Q[k, j] = work.Q[j, k]


@part
def slope_of(work: Work, j: int, values: Array, at: float) -> float:
    """The bound's slope in v_j where it is `at`, from E_w F = values; 0 where a kink or a limit holds it."""
    n_y = work.low.shape[0]
    slope = float(values[j])
    if j < n_y:
        over, under = slope - float(work.high[j]), slope - float(work.low[j])
        if at > 0.0:
            return over
        if at < 0.0:
            return under
        return max(over, 0.0) + min(under, 0.0)
    if at <= 0.0:
        return max(slope, 0.0)
    if at >= 1.0:
        return min(slope, 0.0)
    return slope


@part
def solve_free(work: Work, count: int) -> None:
    """Newton's step on the first `count` free coordinates, by Cholesky; a ridge makes flat directions long, not infinite."""
    L, free = work.L, work.free
    largest = 0.0
    for k in range(count):
        largest = max(largest, work.Q[free[k], free[k]])
    for k in range(count):
        for m in range(k + 1):
            total = work.Q[free[k], free[m]]
            for l in range(m):
                total -= L[k, l] * L[m, l]
            L[k, m] = total / L[m, m] if m < k else math.sqrt(max(total, 0.0) + 1e-11 * largest + 1e-14)
    for k in range(count):
        total = work.step[k]
        for m in range(k):
            total -= L[k, m] * work.step[m]
        work.step[k] = total / L[k, k]
    for k in range(count - 1, -1, -1):
        total = work.step[k]
        for m in range(k + 1, count):
            total -= L[m, k] * work.step[m]
        work.step[k] = total / L[k, k]


@part
def newton_step(dual: Dual, work: Work) -> float:
    """Where the bound's quadratic model in v is largest, by active sets: work.step; returns the rise its slope promises."""
    n_y = work.low.shape[0]
    n = 2 * n_y
    steepest = 0.0
    count = 0
    for j in range(n):
        slope = slope_of(work, j, work.mean, work.v[j])
        steepest = max(steepest, abs(slope))
        inside = work.v[j] != 0.0 and (j < n_y or work.v[j] < 1.0)
        work.held[j] = not (inside or slope != 0.0)
        work.tried[j] = work.v[j]
        work.model[j] = work.mean[j]
        if not work.held[j]:
            work.free[count] = j
            count += 1
    if not steepest > 1e-14:
        return 0.0
    curvature(dual, work)
    for _ in range(3 * n):
        if count > 0:
            for k in range(count):
                j = work.free[k]
                at = work.tried[j]
                if j < n_y and at == 0.0:  # released from its kink, to the side to which it was driven
                    over, under = work.model[j] - work.high[j], work.model[j] - work.low[j]
                    work.step[k] = over if over > 0.0 else min(under, 0.0)
                elif j < n_y:
                    work.step[k] = work.model[j] - (work.high[j] if at > 0.0 else work.low[j])
                else:
                    work.step[k] = work.model[j]
            solve_free(work, count)
            reach, stop, limit = 1.0, -1, 0.0
            for k in range(count):  # as far as none leaves its piece; the first to reach its end is held there
                j, step = work.free[k], work.step[k]
                at = work.tried[j]
                end = 0.0
                if j < n_y:
                    if at == 0.0:
                        # At the kink, with the side chosen by the sign of the slope that released it.
                        side = 1.0 if work.model[j] > work.high[j] else -1.0
                        if side * step < 0.0:
                            reach, stop, limit = 0.0, k, 0.0
                        continue
                    if at * (at + reach * step) >= 0.0:
                        continue
                else:
                    if 0.0 <= at + reach * step <= 1.0:
                        continue
                    end = 0.0 if step < 0.0 else 1.0
                reach, stop, limit = (end - at) / step, k, end
            for k in range(count):
                work.tried[work.free[k]] += reach * work.step[k]
            if stop >= 0:
                work.tried[work.free[stop]] = limit
            if reach > 0.0:
                for j in range(n):
                    total = work.mean[j]
                    for k in range(n):
                        total -= work.Q[j, k] * (work.tried[k] - work.v[k])
                    work.model[j] = total
            if stop >= 0:
                work.held[work.free[stop]] = True
                count -= 1
                for k in range(stop, count):
                    work.free[k] = work.free[k + 1]
                continue
        chosen, rate = -1, 1e-9
        for j in range(n):
            if work.held[j]:
                slope = abs(slope_of(work, j, work.model, work.tried[j]))
                if slope > rate:
                    chosen, rate = j, slope
        if chosen < 0:
            break
        work.held[chosen] = False
        work.free[count] = chosen
        count += 1
    rise = 0.0
    for j in range(n):
        work.step[j] = work.tried[j] - work.v[j]
        if j < n_y and work.v[j] == 0.0:
            rise += work.step[j] * (work.mean[j] - (work.high[j] if work.step[j] > 0.0 else work.low[j]))
        elif j < n_y:
            rise += work.step[j] * (work.mean[j] - (work.high[j] if work.v[j] > 0.0 else work.low[j]))
        else:
            rise += work.step[j] * work.mean[j]
    return rise
