"""Leaps of a fixed-point iteration u <- T(u), in the log domain: SQUAREM from its last few points, Newton from its slopes.

SQUAREM (Varadhan, Roland 2008):     u0 + 2 a r + a^2 v,  r = T(u0) - u0,  v = (T(u1) - u1) - r,  u1 = T(u0),  a = |r| / |v|
Newton:                              u + d,               (I - T'(u)) d = f,  f = T(u) - u

with the norm weighted by q(z, y) = exp(u), so that an entry counts by its mass.

T'(u) = diag(1 / q) B C,   (C d)_zy = (rho_zy d_zy + rho_z sum_y q(y|z) d_zy) / k
B[(z, y), (z', y')] = sum_x p(x) p(y|x) p(y'|x) W[z, x] (1[z = z'] - W[z', x])

is self-adjoint in <d, e> = sum q d C e, where its eigenvalues are in [0, 1] at a minimum, so that Newton's step is found by conjugate
gradients, from q'/q - 1, the gradient there and to first order f. A product with T' costs what an evaluation of T does.

None is safe by itself: the caller keeps a point only if the objective does not rise there. Points are flat, (z, y) in one row: loops
over them are long enough to vectorise.
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common import TINY, exp, regrouped
from .selfmap import ChannelBlocks, Scratch, slope_times

LONGEST = 30.0  # no logarithm moves by more in one step
# SQUAREM's longest step at first, and the factor by which it grows on success and shrinks on refusal.
FIRST_CAP, STRETCH = 4.0, 4.0
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
def _scaled(d: Array, q: Array, rho: Array, width: float, out: Array) -> None:
    """Fill out = C d."""
    for z in range(q.shape[0]):
        mass, mean = 0.0, 0.0
        for y in range(q.shape[1]):
            mass += q[z, y]
            mean += q[z, y] * d[z, y]
        for y in range(q.shape[1]):
            out[z, y] = (rho[2] * d[z, y] + rho[0] * mean / mass) / width


@regrouped
def _inner(a: Array, b: Array, q: Array) -> float:
    """sum q a b."""
    total = 0.0
    for z in range(q.shape[0]):
        for y in range(q.shape[1]):
            total += q[z, y] * a[z, y] * b[z, y]
    return total


@regrouped
def _add(a: Array, scale: float, b: Array, share: float) -> None:
    """a <- share a + scale b."""
    for z in range(a.shape[0]):
        for y in range(a.shape[1]):
            a[z, y] = share * a[z, y] + scale * b[z, y]


@part
def newton(
    channel: ChannelBlocks, rho: Array, width: float, W: Array, u: Array, q: Array, q_new: Array, accuracy: float, work: Scratch,
    out: Array,
) -> int:  # fmt: skip
    """Fill out = u + d, d by conjugate gradients to this accuracy; returns the products with T' that it took, 0 if no step was found.

    u and out are flat, q = exp(u) and q_new those of T(u) are tables, and W is the encoder that u implies.
    """
    tables = np.zeros((5, q.shape[0], q.shape[1]))
    d, r, p, C, A = tables[0], tables[1], tables[2], tables[3], tables[4]
    for z in range(q.shape[0]):
        for y in range(q.shape[1]):
            r[z, y] = min(q_new[z, y] / max(q[z, y], TINY) - 1.0, 2.0)
            p[z, y] = r[z, y]
    _scaled(r, q, rho, width, C)
    first = left = _inner(r, C, q)
    products = 0
    for _ in range(200):  # more were not met where the step was any use
        slope_times(channel, W, C, q, A, work)
        _add(A, 1.0, p, -1.0)
        curvature = _inner(A, C, q)
        if curvature <= 0.0:  # T' has an eigenvalue above 1: what was found until then
            break
        products += 1
        _add(d, left / curvature, p, 1.0)
        _add(r, -left / curvature, A, 1.0)
        _scaled(r, q, rho, width, C)
        before, left = left, _inner(r, C, q)
        if left <= accuracy * accuracy * first:
            break
        _add(p, 1.0, r, left / before)
        _scaled(p, q, rho, width, C)
    longest = 0.0
    for z in range(q.shape[0]):
        for y in range(q.shape[1]):
            longest = max(longest, abs(d[z, y])) if q[z, y] > 1e-12 else longest  # what weighs nothing may run away
    # A logarithm of some weight moves by 2 at most: longer steps were all refused.
    scale, flat = min(1.0, 2.0 / max(longest, TINY)), d.reshape(u.size)
    for i in range(u.size):
        out[i] = u[i] + min(max(scale * flat[i], -LONGEST), LONGEST)
    return products


@part
def shorten(u_old: Array, u: Array) -> None:
    """Go back most of the way: of Newton's step 0.4 is left."""
    for i in range(u.size):
        u[i] = u_old[i] + 0.4 * (u[i] - u_old[i])
    normalise(u)
