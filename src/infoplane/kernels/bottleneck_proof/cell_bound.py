"""The lower bound of f(q) - lambda.q on one cell of the Y-simplex, f(q) = H(Tq) - gamma H(q).

For a simplicial cell with corners v_i and ANY vector a, every q with Tq in the cell has

    f(q) - lambda.q  >=  min_i (H(v_i) - a.v_i) - gamma log sum_x exp((lambda_x - a.T_x) / gamma),

because H - a is concave, so smallest at a corner, and what is left is smallest over all q at a softmax. First a interpolates H at
the corners; lowering its values there by s >= 0 (Newton on the concave bound, active sets) pulls Tq into the cell. The bound
holds whatever a is: only its evaluation must be accurate, and its rounding is bounded by `slack`.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ..common.arrays import Flags, Integers
from ..common.fast import exp, regrouped
from ..common.jit import part
from .leaves import Edges, entropy_of

UNIT = 2.0**-53  # unit roundoff


class Dual(NamedTuple):
    """A lambda to be judged, with the channel T[y, x] = p(y|x)."""

    T: Array  # (|Y|, |X|)
    lam: Array  # (|X|,)
    gamma: float
    largest: float  # max |lambda_x|


class Work(NamedTuple):
    """Room for one leaf's bound: vectors are (|Y|,), matrices (|Y|, |Y|)."""

    w: Array  # (|X|,)     exponents, then their softmax
    corners: Array  # a corner a row
    heights: Array  # H at the corners
    inverse: Array  # inverse @ u: barycentric coordinates
    square: Array  # scratch
    a: Array
    kept: Array  # the best a so far
    s: Array  # H(v_i) - a.v_i, shifted to a least entry of 0
    u: Array  # T w
    c: Array  # its barycentric coordinates
    step: Array
    tried: Array
    slope: Array
    Q: Array
    free: Integers
    held: Flags


@part
def room(n_y: int, n_x: int) -> Work:
    """Work for one leaf after another."""
    m, v = np.empty((4, n_y, n_y)), np.empty((9, n_y))
    return Work(
        np.empty(n_x),
        m[0],
        v[0],
        m[1],
        m[2],
        v[1],
        v[2],
        v[3],
        v[4],
        v[5],
        v[6],
        v[7],
        v[8],
        m[3],
        np.empty(n_y, dtype=np.int64),
        np.empty(n_y, dtype=np.bool_),
    )


@regrouped
def mean(w: Array, t: Array) -> float:
    """Sum_x w t."""
    total = 0.0
    for x in range(w.shape[0]):
        total += w[x] * t[x]
    return total


@regrouped
def mean_product(w: Array, s: Array, t: Array) -> float:
    """Sum_x w s t."""
    total = 0.0
    for x in range(w.shape[0]):
        total += w[x] * s[x] * t[x]
    return total


@part
def invert(V: Array, out: Array) -> None:
    """Gauss-Jordan with partial pivoting; V is destroyed. A vanishing pivot spoils a guess, no more."""
    n = V.shape[0]
    for i in range(n):
        for j in range(n):
            out[i, j] = 1.0 if i == j else 0.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(V[i, k]) > abs(V[p, k]):
                p = i
        pivot = 1.0 / V[p, k] if V[p, k] != 0.0 else 0.0
        for j in range(n):
            V[k, j], V[p, j] = V[p, j], V[k, j]
            out[k, j], out[p, j] = out[p, j], out[k, j]
            V[k, j] *= pivot
            out[k, j] *= pivot
        for i in range(n):
            factor = V[i, k]
            if i != k and factor != 0.0:
                for j in range(n):
                    V[i, j] -= factor * V[k, j]
                    out[i, j] -= factor * out[k, j]


@part
def log_partition(dual: Dual, a: Array, w: Array) -> float:
    """Log sum_x exp((lambda_x - a.T_x) / gamma); w becomes the softmax."""
    n_y, n_x = dual.T.shape
    for x in range(n_x):
        w[x] = dual.lam[x]
    for y in range(n_y):
        for x in range(n_x):
            w[x] -= a[y] * dual.T[y, x]
    top = w[0]
    for x in range(1, n_x):
        top = max(top, w[x])
    for x in range(n_x):
        w[x] = exp((w[x] - top) / dual.gamma)
    total = 0.0
    for x in range(n_x):
        total += w[x]
    scale = 1.0 / total
    for x in range(n_x):
        w[x] *= scale
    return float(top / dual.gamma + math.log(total))


@part
def slack(dual: Dual, largest_a: float) -> float:
    """Twice the first-order bound of all rounding in a leaf's bound; derived in docs/certificates.md, term by term."""
    n_y, n_x = dual.T.shape
    of_heights = (2.0 * n_y + 7.0) * math.log(n_y)
    of_a = (3.0 * n_y + 9.0) * largest_a
    of_lambda = (n_y + 6.0) * dual.largest
    of_sum = dual.gamma * (2.0 * n_x + 4.0 + 9.0 * math.log(n_x))
    return 2.0 * UNIT * (of_heights + of_a + of_lambda + of_sum)


@part
def bound_with(dual: Dual, work: Work) -> tuple[float, float]:
    """The safe bound with work.a, and gamma log sum exp, of which work.w becomes the softmax."""
    n_y = work.a.shape[0]
    least = math.inf
    largest = 0.0
    for i in range(n_y):
        largest = max(largest, abs(work.a[i]))
        over = work.heights[i]
        for y in range(n_y):
            over -= work.a[y] * work.corners[i, y]
        least = min(least, over)
    potential = dual.gamma * log_partition(dual, work.a, work.w)
    return least - potential - slack(dual, largest), potential


@part
def interpolate(work: Work, s: Array) -> None:
    """The a with a.v_i = H(v_i) - s_i at every corner."""
    n_y = s.shape[0]
    for y in range(n_y):
        work.a[y] = 0.0
    for i in range(n_y):
        for y in range(n_y):
            work.a[y] += work.inverse[i, y] * (work.heights[i] - s[i])


@part
def locate(dual: Dual, work: Work) -> None:
    """The decoder u = T w and its barycentric coordinates c; the slope of the bound in s is -c."""
    n_y = work.a.shape[0]
    for y in range(n_y):
        work.u[y] = mean(work.w, dual.T[y])
    for i in range(n_y):
        work.c[i] = 0.0
        for y in range(n_y):
            work.c[i] += work.inverse[i, y] * work.u[y]


@part
def curvature(dual: Dual, work: Work) -> None:
    """Q = inverse Cov_w(T) inverse' / gamma; the bound's curvature in s is -Q."""
    n_y = work.a.shape[0]
    for y in range(n_y):
        for v in range(y + 1):
            total = (mean_product(work.w, dual.T[y], dual.T[v]) - work.u[y] * work.u[v]) / dual.gamma
            work.Q[y, v] = total
            work.Q[v, y] = total
    for i in range(n_y):
        for y in range(n_y):
            total = 0.0
            for v in range(n_y):
                total += work.inverse[i, v] * work.Q[v, y]
            work.square[i, y] = total
    for i in range(n_y):
        for j in range(n_y):
            total = 0.0
            for y in range(n_y):
                total += work.square[i, y] * work.inverse[j, y]
            work.Q[i, j] = total


@part
def solve_free(work: Work, count: int) -> None:
    """Newton's step on the first `count` free coordinates, by Cholesky; a ridge makes flat directions long, not infinite."""
    L, free = work.square, work.free
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
        total = work.slope[free[k]]
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
    """Where the bound's quadratic model in s is largest on s >= 0, by active sets: work.step; returns the rise its slope promises."""
    n_y = work.a.shape[0]
    settled = True
    for i in range(n_y):
        settled = settled and work.c[i] >= 0.0 and not work.s[i] > 0.0
    if settled:  # Tw lies in the cell: the interpolant is the best a
        return 0.0
    curvature(dual, work)
    count = 0
    for i in range(n_y):
        work.tried[i] = work.s[i]
        work.slope[i] = -work.c[i]
        work.held[i] = not work.s[i] > 0.0
        if not work.held[i]:
            work.free[count] = i
            count += 1
    for _ in range(4 * n_y):
        if count > 0:
            solve_free(work, count)
            t, stop = 1.0, -1  # as far as no coordinate turns negative; the first to reach zero is held there
            for k in range(count):
                i = work.free[k]
                if work.tried[i] + t * work.step[k] < 0.0:
                    t, stop = -work.tried[i] / work.step[k], k
            for k in range(count):
                work.tried[work.free[k]] += t * work.step[k]
            for i in range(n_y):
                work.slope[i] = -work.c[i]
                for v in range(n_y):
                    work.slope[i] -= work.Q[i, v] * (work.tried[v] - work.s[v])
            if stop >= 0:
                work.tried[work.free[stop]] = 0.0
                work.held[work.free[stop]] = True
                count -= 1
                for k in range(stop, count):
                    work.free[k] = work.free[k + 1]
                continue
        steepest, rate = -1, 1e-9
        for i in range(n_y):
            if work.held[i] and work.slope[i] > rate:
                steepest, rate = i, work.slope[i]
        if steepest < 0:
            break
        work.held[steepest] = False
        work.free[count] = steepest
        count += 1
    rise = 0.0
    for i in range(n_y):
        work.step[i] = work.tried[i] - work.s[i]
        rise -= work.c[i] * work.step[i]
    return rise


@part
def longest_edge(work: Work, edge: Edges) -> None:
    """The edge with the largest Jensen gap of H: cutting it lifts the interpolant most, and keeps cells from going flat."""
    n_y = work.a.shape[0]
    best = -math.inf
    edge[0], edge[1] = 0, 0
    for i in range(n_y):
        for j in range(i):
            for y in range(n_y):
                work.tried[y] = 0.5 * (work.corners[i, y] + work.corners[j, y])
            gap = entropy_of(work.tried) - 0.5 * (work.heights[i] + work.heights[j])
            if gap > best:
                best = gap
                edge[0], edge[1] = i, j
