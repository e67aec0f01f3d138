"""Climbs to the peaks of D by Newton's steps, to where u <- T w(u), w prop. to exp((lambda + T' log u) / gamma), stands still:

    (I - J) d = T w - u,    J = Cov_w(T) diag(1/u) / gamma,

made symmetric by diag(sqrt u). It is taken only where I - J is positive definite, as it is around a strict peak. Climbs by u <- T w alone
crawl where the largest eigenvalue of J is near 1; with many letters, every step of theirs counts.
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, part
from ..common.fast import regrouped
from ..common.linear import solve_definite
from ..common.roots import safe_log
from ..common.rows import copy_row
from .cell_bound import THIN, Dual, log_partition, mean
from .envelope import STILL

NEAR = 0.02  # a step in u below which Newton's may be tried


@regrouped
def covariance(w: Array, s: Array, t: Array, at_s: float, at_t: float) -> float:
    """Sum_x w (s - c) (t - d)."""
    total = 0.0
    for x in range(w.shape[0]):
        total += w[x] * (s[x] - at_s) * (t[x] - at_t)
    return total


@part
def leap(dual: Dual, w: Array, u: Array, after: Array, to: Array) -> bool:
    """To = u + d, from w at u and after = T w; False where that is no step towards a peak, or leaves the simplex."""
    n_y = u.shape[0]
    M, root = np.empty((n_y, n_y)), np.empty(n_y)
    for y in range(n_y):
        root[y] = math.sqrt(max(u[y], THIN))
        to[y] = (after[y] - u[y]) / root[y]
    for y in range(n_y):
        for z in range(y + 1):
            shared = covariance(w, dual.T[y], dual.T[z], after[y], after[z]) / (dual.gamma * root[y] * root[z])
            M[y, z] = (1.0 if y == z else 0.0) - shared
    if not solve_definite(M, to):
        return False
    for y in range(n_y):
        to[y] = u[y] + root[y] * to[y]
        if not to[y] > 0.0:
            return False
    return True


@part
def climb_one(dual: Dual, decoder: Array, steps: int, a: Array, w: Array) -> float:
    """One decoder of `climb_by_leaps`; returns its height."""
    n_y = decoder.shape[0]
    after, onward = np.empty(n_y), np.empty(n_y)  # T w of this decoder, and of the one before, to go back to
    leapt, height = False, -math.inf
    for step in range(steps):
        moved = 0.0
        for y in range(n_y):
            a[y] = -safe_log(decoder[y])
        found = dual.gamma * log_partition(dual, a, w)
        if leapt and not found >= height:
            copy_row(onward, decoder)
            leapt = False
            continue
        height = found
        for y in range(n_y):
            after[y] = mean(w, dual.T[y])
            moved = max(moved, abs(after[y] - decoder[y]))
        leapt = STILL < moved < NEAR and step < steps - 2 and leap(dual, w, decoder, after, onward)
        if leapt:
            copy_row(onward, decoder)
            copy_row(after, onward)
        else:
            copy_row(after, decoder)
        if moved <= STILL:
            break
    return height


@entry
def climb_by_leaps(dual: Dual, decoders: Array, heights: Array, steps: int) -> None:
    """As `envelope.climb`, with Newton's steps near a peak; one that lowers the height is taken back."""
    n_y, n_x = dual.T.shape
    a, w = np.empty(n_y), np.empty(n_x)
    for z in range(decoders.shape[0]):
        heights[z] = climb_one(dual, decoders[z], steps, a, w)
