"""Newton's step for u = T(u): (I - T'(u)) d = T(u) - u, for a few clusters on a few letters y.

T'(u) = diag(1 / q') B C,   (C d)_zy = (rho_zy d_zy + rho_z sum_y q(y|z) d_zy) / k
B[(z, y), (z', y')] = sum_x p(x) p(y|x) p(y'|x) W[z, x] (1[z = z'] - W[z', x])
"""

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common.numerics import regrouped, solve
from .extrapolation import LONGEST
from .selfmap import ChannelBlocks


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
