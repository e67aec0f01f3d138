"""Extrapolation of a fixed-point iteration u <- T(u) from its last few points: SQUAREM and Anderson, both in the log domain.

SQUAREM (Varadhan, Roland 2008):     u0 + 2 a r + a^2 v,  r = T(u0) - u0,  v = (T(u1) - u1) - r,  u1 = T(u0),  a = |r| / |v|
Anderson, type II (Walker, Ni 2011): T(u) - D_G theta,    theta = argmin |f - D_F theta|,  f = T(u) - u
with D_F, D_G the last differences of f and of T(u), and the norm weighted by q(z, y) = exp(u), so that an entry counts by its mass.
Neither is safe by itself: the caller keeps a point only if the objective does not rise there. Points are flat, (z, y) in one row: loops
over them are long enough to vectorise.
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common.numerics import exp, regrouped, solve_definite

LONGEST = 30.0  # no logarithm moves by more in one step
# SQUAREM's longest step at first, and the factor by which it grows on success and shrinks on refusal.
FIRST_CAP, GROWTH = 4.0, 4.0
SLACK = 1e-14  # relative rise of an objective that may be rounding


@regrouped
def squarem(u: Array, r: Array, f: Array, q: Array, cap: float, out: Array) -> float:
    """Fill out with SQUAREM's point from u0 = u, r, and f = T(u1) - u1; returns its step length a, at least 1 and at most cap."""
    on_r, on_v = 0.0, 0.0
    for i in range(u.size):
        v = f[i] - r[i]
        on_r += q[i] * r[i] * r[i]
        on_v += q[i] * v * v
    a = min(max(math.sqrt(on_r / on_v), 1.0), cap) if on_v > 0.0 else 1.0
    for i in range(u.size):
        out[i] = u[i] + min(max(2.0 * a * r[i] + a * a * (f[i] - r[i]), -LONGEST), LONGEST)
    return a


@part
def remember(D_F: Array, D_G: Array, held: int, f: Array, f_old: Array, u: Array, u_old: Array) -> int:
    """Put the newest differences over the oldest; ``held`` counts all since the history was cleared. Returns held + 1."""
    slot = held % D_F.shape[0]
    for i in range(f.size):
        D_F[slot, i] = f[i] - f_old[i]
        D_G[slot, i] = (u[i] - u_old[i]) + D_F[slot, i]
    return held + 1


@regrouped
def anderson(u: Array, f: Array, q: Array, D_F: Array, D_G: Array, held: int, out: Array) -> None:
    """Fill out with Anderson's point from u and f = T(u) - u. The rows of D_F and D_G may be longer than u."""
    memory = min(held, D_F.shape[0])
    normal, theta, scales = np.empty((memory, memory)), np.empty(memory), np.empty(memory)
    for j in range(memory):
        for i in range(u.size):
            out[i] = q[i] * D_F[j, i]
        for k in range(j + 1):
            total = 0.0
            for i in range(u.size):
                total += out[i] * D_F[k, i]
            normal[j, k] = total
        total = 0.0
        for i in range(u.size):
            total += out[i] * f[i]
        # Columns are scaled to unit length; one of length 0 has no influence.
        scale = 1.0 / math.sqrt(normal[j, j]) if normal[j, j] > 0.0 else 0.0
        theta[j] = scale * total
        for k in range(j):
            normal[j, k] *= scale * normal[k, k]
        normal[j, j] = scale
    for j in range(memory):
        scales[j] = normal[j, j]
        normal[j, j] = 1.0 + 1e-10  # a ridge, relative to the diagonal
    solve_definite(normal, theta, 1e-14)
    for i in range(u.size):
        out[i] = f[i]
    for j in range(memory):
        pull = theta[j] * scales[j]
        for i in range(u.size):
            out[i] -= pull * D_G[j, i]
    for i in range(u.size):
        out[i] = u[i] + min(max(out[i], -LONGEST), LONGEST)


@regrouped
def normalise(u: Array) -> None:
    """Shift u so that exp(u) has total mass 1."""
    top, total = u[0], 0.0
    for i in range(u.size):
        top = max(top, u[i])
    for i in range(u.size):
        total += exp(u[i] - top)
    shift = top + math.log(total)
    for i in range(u.size):
        u[i] -= shift
