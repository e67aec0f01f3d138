"""Points u = log q(z, y) of the accelerated bottleneck, flat: (z, y) in one row, so that loops over them are long enough to vectorise."""

import math

from ...information import Array
from ...runtime.compiling import part
from ..common.numerics import exp, floored_log, regrouped
from ..common.rows import Flags


@regrouped
def weights_of_logs(u: Array, rho: Array, width: float, q: Array, q_flat: Array, A: Array, A_flat: Array) -> None:
    """Fill q = exp(u) and A = (rho_z log q(z) + rho_zy u) / width; u is flat, the others come as tables and flat."""
    on_z, on_zy = rho[0] / width, rho[2] / width
    for i in range(u.size):
        q_flat[i] = exp(u[i])
        A_flat[i] = on_zy * u[i]
    for z in range(q.shape[0]):
        mass = 0.0
        for y in range(q.shape[1]):
            mass += q[z, y]
        shift = on_z * floored_log(mass)
        for y in range(q.shape[1]):
            A[z, y] += shift


@regrouped
def displacement(q_new: Array, u: Array, q: Array, f: Array) -> float:
    """Fill f = log q' - u; returns the root of sum q f^2. All are flat."""
    total = 0.0
    for i in range(u.size):
        f[i] = floored_log(q_new[i]) - u[i]
    for i in range(u.size):
        total += q[i] * f[i] * f[i]
    return math.sqrt(total)


@part
def add(u: Array, f: Array, size: int, out: Array) -> None:
    """Fill the first ``size`` entries of out with u + f."""
    for i in range(size):
        out[i] = u[i] + f[i]


@part
def copy(u: Array, size: int, out: Array) -> None:
    """Fill the first ``size`` entries of out with those of u."""
    for i in range(size):
        out[i] = u[i]


@part
def logs_of_kept(q: Array, keep: Flags, out: Array) -> int:
    """Put log q of the marked rows, rescaled to total mass 1, at the front of out, which is flat; returns how many rows."""
    row, total = 0, 0.0
    for z in range(q.shape[0]):
        for y in range(q.shape[1]):
            total += q[z, y] if keep[z] else 0.0
    for z in range(q.shape[0]):
        if keep[z]:
            for y in range(q.shape[1]):
                out[row * q.shape[1] + y] = floored_log(q[z, y] / total)
            row += 1
    return row
