"""The best multipliers v = (mu, t) of a box's bound B: Newton's method with active sets.

B is concave, with kinks at mu_y = 0 and limits 0 <= t_y <= 1. Its slopes are E_w F, less b_y where mu_y > 0 and l_y where mu_y < 0, and its
curvature is -Cov_w(F) / gamma. Numba counts references to arrays when they are passed on, or fetched from `Work`: what active sets repeat
is inlined, and fetches them once.
"""

import math

from ...information import Array
from ...runtime.compiling import inlined, part
from ..common import copy_row, regrouped
from .cell_bound import Dual, Work, means

SEEN = 1e-4  # letters with less mass than this under w do not count for the curvature: Newton's step is a little off, and any step is valid


@part
def locate(work: Work) -> None:
    """E_w F."""
    means(work.w, work.F, work.mean)


@regrouped
def product(s: Array, t: Array, count: int) -> float:
    """Sum of s t over the first so many."""
    total = 0.0
    for x in range(count):
        total += s[x] * t[x]
    return total


@regrouped
def products(rows: Array, count: int, gamma: float, Q: Array) -> None:
    """Q = R R' / gamma, of the first so many columns."""
    for j in range(rows.shape[0]):
        for k in range(j + 1):
            total = 0.0
            for x in range(count):
                total += rows[j, x] * rows[k, x]
            Q[j, k] = total / gamma
            Q[k, j] = Q[j, k]


@part
def curvature(dual: Dual, work: Work) -> None:
    """Q = Cov_w(F) / gamma, on letters that w sees; centred first, so that nothing cancels."""
    n, n_x = work.F.shape
    count = 0
    for x in range(n_x):
        if work.w[x] > SEEN:
            root = math.sqrt(work.w[x])
            for j in range(n):
                work.rows[j, count] = root * (work.F[j, x] - work.mean[j])
            count += 1
    products(work.rows, count, dual.gamma, work.Q)


@part
def slope_of(low: Array, high: Array, j: int, slope: float, at: float) -> float:
    """The bound's slope in v_j where it is `at`, from (E_w F)_j; 0 where a kink or a limit holds it."""
    if j < low.shape[0]:
        over, under = slope - float(high[j]), slope - float(low[j])
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
def solve_free(work: Work, count: int, known: int, ridge: float) -> None:
    """Newton's step on the first `count` free coordinates, by Cholesky; a ridge makes flat directions long, not infinite.

    The first `known` rows of the factor stand: active sets change by one coordinate, and all before it stay where they are.
    """
    Q, L, free, piece = work.Q, work.L, work.free, work.piece
    for k in range(known, count):
        for m in range(k + 1):
            total = Q[free[k], free[m]]
            if m < 16:  # from here on a sum is worth vector registers
                for l in range(m):
                    total -= L[k, l] * L[m, l]
            else:
                total -= product(L[k], L[m], m)
            L[k, m] = total / L[m, m] if m < k else math.sqrt(max(total, 0.0) + ridge)
    for k in range(count):
        total = piece[k]
        for m in range(k):
            total -= L[k, m] * piece[m]
        piece[k] = total / L[k, k]
    for k in range(count - 1, -1, -1):
        total = piece[k]
        for m in range(k + 1, count):
            total -= L[m, k] * piece[m]
        piece[k] = total / L[k, k]


@part
def edge(low: float, high: float, side: float) -> float:
    """What the slope in mu_y loses on one side of its kink: b_y above, l_y below."""
    return high if side > 0.0 else low


@inlined
def begin(work: Work) -> tuple[int, float]:
    """Where active sets begin: every coordinate inside its limits, or driven from its kink, is free. Their number, the steepest slope."""
    low, high, v, mean, held, reached, model, free = (
        work.low,
        work.high,
        work.v,
        work.mean,
        work.held,
        work.reached,
        work.model,
        work.free,
    )
    n_y, n = low.shape[0], v.shape[0]
    steepest, count = 0.0, 0
    for j in range(n):
        slope = slope_of(low, high, j, mean[j], v[j])
        steepest = max(steepest, abs(slope))
        inside = v[j] != 0.0 and (j < n_y or v[j] < 1.0)
        held[j] = not (inside or slope != 0.0)
        reached[j] = v[j]
        model[j] = mean[j]
        if not held[j]:
            free[count] = j
            count += 1
    return count, steepest


@inlined
def fill_slopes(work: Work, count: int) -> None:
    """The model's slopes in the free coordinates, to be solved for."""
    low, high, free, piece, reached, model = work.low, work.high, work.free, work.piece, work.reached, work.model
    n_y = low.shape[0]
    for k in range(count):
        j = free[k]
        at, slope = reached[j], model[j]
        if j >= n_y:
            piece[k] = slope
        elif at == 0.0:  # released from its kink, to the side to which it was driven
            over, under = slope - high[j], slope - low[j]
            piece[k] = over if over > 0.0 else min(under, 0.0)
        else:
            piece[k] = slope - edge(low[j], high[j], at)


@inlined
def first_end(work: Work, count: int) -> tuple[float, int, float]:
    """How far the step in work.piece leads before a free coordinate crosses its kink or limit, which one, and that end; 1, -1 if none."""
    low, high, free, piece, reached, model = work.low, work.high, work.free, work.piece, work.reached, work.model
    n_y = low.shape[0]
    reach, stop, limit = 1.0, -1, 0.0
    for k in range(count):
        j, step = free[k], piece[k]
        at, end = reached[j], 0.0
        if j < n_y and at == 0.0:
            # At the kink, with the side chosen by the sign of the slope that released it.
            if (step if model[j] > high[j] else -step) < 0.0:
                reach, stop, limit = 0.0, k, 0.0
            continue
        if j < n_y:
            if at * (at + reach * step) >= 0.0:
                continue
        elif 0.0 <= at + reach * step <= 1.0:
            continue
        else:
            end = 0.0 if step < 0.0 else 1.0
        reach, stop, limit = (end - at) / step, k, end
    return reach, stop, limit


@inlined
def advance(work: Work, count: int, known: int, ridge: float) -> tuple[int, int]:
    """The step of the free coordinates, as far as none crosses its end; the first to reach it is held there.

    How many stay free, and how many rows of their factor stand.
    """
    free, piece, reached, mean, model, held, Q, v = (
        work.free,
        work.piece,
        work.reached,
        work.mean,
        work.model,
        work.held,
        work.Q,
        work.v,
    )
    n = v.shape[0]
    fill_slopes(work, count)
    solve_free(work, count, known, ridge)
    reach, stop, limit = first_end(work, count)
    for k in range(count):
        reached[free[k]] += reach * piece[k]
    if stop >= 0:
        reached[free[stop]] = limit
    if reach > 0.0:
        copy_row(mean, model)
        for k in range(n):
            moved = reached[k] - v[k]
            if moved != 0.0:
                for j in range(n):
                    model[j] -= Q[k, j] * moved
    if stop >= 0:
        held[free[stop]] = True
        count -= 1
        for k in range(stop, count):
            free[k] = free[k + 1]
    return count, stop if stop >= 0 else count


@inlined
def steepest_held(work: Work) -> int:
    """The held coordinate in which the model is steepest; -1 if it is flat in all of them."""
    low, high, held, model, reached = work.low, work.high, work.held, work.model, work.reached
    chosen, rate = -1, 1e-9
    for j in range(work.v.shape[0]):
        if held[j]:
            slope = abs(slope_of(low, high, j, model[j], reached[j]))
            if slope > rate:
                chosen, rate = j, slope
    return chosen


@part
def newton_step(dual: Dual, work: Work) -> float:
    """Where the bound's quadratic model in v is largest, by active sets: work.step leads there; returns the rise its slope promises."""
    n_y, n = work.low.shape[0], work.v.shape[0]
    count, steepest = begin(work)
    if not steepest > 1e-14:  # flat to rounding
        return 0.0
    curvature(dual, work)
    known, ridge = 0, 1e-14
    for j in range(n):
        ridge = max(ridge, 1e-11 * work.Q[j, j] + 1e-14)
    for _ in range(3 * n):
        if count > 0:
            left, known = advance(work, count, known, ridge)
            if left < count:
                count = left
                continue
        chosen = steepest_held(work)
        if chosen < 0:
            break
        work.held[chosen] = False
        work.free[count] = chosen
        count += 1
    rise = 0.0
    for j in range(n):
        work.step[j] = work.reached[j] - work.v[j]
        slope = work.mean[j]
        if j < n_y:
            slope -= edge(work.low[j], work.high[j], work.v[j] if work.v[j] != 0.0 else work.step[j])
        rise += work.step[j] * slope
    return rise
