"""Leaps of a fixed-point iteration u <- T(u), in the log domain: SQUAREM and Anderson from its last few points, Newton from its slopes.

SQUAREM (Varadhan, Roland 2008):     u0 + 2 a r + a^2 v,  r = T(u0) - u0,  v = (T(u1) - u1) - r,  u1 = T(u0),  a = |r| / |v|
Anderson, type II (Walker, Ni 2011): T(u) - D_G theta,    theta = argmin |f - D_F theta|,  f = T(u) - u
Newton:                              u + d,               (I - T'(u)) d = f

with D_F, D_G the last differences of f and of T(u), and the norm weighted by q(z, y) = exp(u), so that an entry counts by its mass.
Newton's is for a few clusters on a few letters y:

T'(u) = diag(1 / q') B C,   (C d)_zy = (rho_zy d_zy + rho_z sum_y q(y|z) d_zy) / k
B[(z, y), (z', y')] = sum_x p(x) p(y|x) p(y'|x) W[z, x] (1[z = z'] - W[z', x])

None is safe by itself: the caller keeps a point only if the objective does not rise there. Points are flat, (z, y) in one row: loops
over them are long enough to vectorise.
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common.numerics import exp, regrouped, solve, solve_definite
from .selfmap import ChannelBlocks

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


@regrouped
def _slopes(channel: ChannelBlocks, n_y: int, W: Array, B: Array) -> None:
    """Fill B, adding one letter x at a time."""
    d, n_z, width = B.shape[0], B.shape[0] // n_y, channel.p_x.shape[1]
    a = np.empty(d)
    for j in range(d):
        for k in range(d):
            B[j, k] = 0.0
    for c in range(channel.p_x.shape[0]):
        t, w = channel.T[c], W[c]
        for i in range(width):
            p_x = channel.p_x[c, i]
            if p_x == 0.0:
                continue
            for z in range(n_z):
                for y in range(n_y):
                    a[z * n_y + y] = w[z, i] * t[y, i]
            for j in range(d):
                pull = p_x * a[j]
                for k in range(d):
                    B[j, k] -= pull * a[k]
            for z in range(n_z):
                first = z * n_y
                for y in range(n_y):
                    pull = p_x * t[y, i]
                    for other in range(n_y):
                        B[first + y, first + other] += pull * a[first + other]


@part
def newton_cost(channel: ChannelBlocks, clusters: int) -> int:
    """What the step costs, in evaluations of the map; a huge number beyond its largest size, so that it is never tried."""
    d, n_x = clusters * channel.n_y, channel.p_x.size
    # The step costs |X| d^2 / 2 + d^3 / 3 products: beyond 40 unknowns it does not pay.
    if d > 40:
        return 1 << 40
    return 1 + int(2.0 * (n_x * d * d + d * d * d / 3.0) / (n_x * clusters * (2.0 * channel.n_y + 20.0)))


@part
def newton(
    channel: ChannelBlocks, rho: Array, width: float, W: Array, u: Array, f: Array, q: Array, q_new: Array, out: Array
) -> bool:
    """Fill out = u + d, with W and q_new those of T(u), q = exp(u), f = T(u) - u; False if there is no such step.

    u, f and out are flat, with the padding of |Y|; q and q_new are tables.
    """
    n_z, padded, n_y = q.shape[0], q.shape[1], channel.n_y
    d = n_z * n_y
    B, M, step = np.empty((d, d)), np.empty((d, d)), np.empty(d)
    _slopes(channel, n_y, W, B)
    for z in range(n_z):
        mass = 0.0
        for y in range(n_y):
            mass += q[z, y]
        for y in range(n_y):
            step[z * n_y + y] = f[z * padded + y]
        for j in range(d):
            pull = 0.0
            for y in range(n_y):
                pull += B[j, z * n_y + y]
            for y in range(n_y):
                M[j, z * n_y + y] = (rho[2] * B[j, z * n_y + y] + rho[0] * pull * q[z, y] / mass) / width
    for z in range(n_z):
        for y in range(n_y):
            j = z * n_y + y
            share = max(q_new[z, y], 1e-300)
            for k in range(d):
                M[j, k] = -M[j, k] / share
            M[j, j] += 1.0
    if not solve(M, step):
        return False
    for i in range(u.size):
        out[i] = u[i]
    for z in range(n_z):
        for y in range(n_y):
            out[z * padded + y] += min(max(step[z * n_y + y], -LONGEST), LONGEST)
    return True
