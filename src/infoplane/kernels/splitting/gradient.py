"""The paper's way to take an argmin, as its authors' scripts do: one mean-subtracted gradient step per block.

    u <- normalised( u - xi m (g - mean_z g) + 1e-9 ),   g the gradient of  f(u) - <s, L u> + sum (c/2) (L u - x)^2    (paper, Section V)

Subtracting the mean over z keeps every column on its simplex. One xi serves the whole block: the first of xi_0, xi_0/4, xi_0/16, ...
that leaves every entry in [0, 1] and then, going on, the first that satisfies Armijo's condition; if none does, the first one that was
valid. Where entries near zero leave no valid step, those below 1e-9 are held: m is 0 there, and 1 elsewhere. Kept as the faithful
reproduction of the paper; one entry near zero shortens the step of the whole matrix, which is why `step="majorise"` is the default.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common import matmul, normalise_columns, safe_log
from .blocks import moved, pull, slope_table
from .measure import log_table, marginal_logs
from .tables import Split


class BackTracking(NamedTuple):
    """How a step is tried, as in the authors' scripts."""

    armijo: float = 1e-4
    shorter: float = 0.25
    shortest: float = 1e-11
    floor: float = 1e-9
    """The share of the slope that a step must gain, the factor between two trials, the shortest of them, and what is added to entries."""


BACK = BackTracking()


@part
def gradient_step(split: Split, of_encoder: bool, x: Array, s: Array, c: Array, u: Array) -> Array:
    """One step on the encoder block, its decoders those of the present W, or on the marginal block sum_j h_j H(v_j)."""
    if of_encoder:
        log_u = log_table(u)
        log_z, log_zy = marginal_logs(split.P, split.p_y, u)
        g = matmul(pull(x, s, c, matmul(u, split.M)), split.features)
        S = slope_table(split, u, log_u, split.a[1], 1.0, 1.0)
    else:
        log_u, log_z, log_zy = u, np.zeros(0), u
        g, S = np.empty_like(u), u
    for z in range(u.shape[0]):
        for i in range(u.shape[1]):
            if of_encoder:
                g[z, i] = -split.p_x[i] * (g[z, i] + S[z, i])
            else:
                g[z, i] = -split.h[i] * (safe_log(u[z, i]) + 1.0) + c[z, i] * (u[z, i] - x[z, i]) - s[z, i]
    d, slope, longest = _direction(u, g, split.first_step)
    value, xi = _value(split, of_encoder, x, s, c, u, log_u, log_z, log_zy), longest
    while xi > BACK.shortest:
        trial = moved(u, -xi, d)
        if _value(split, of_encoder, x, s, c, trial, log_u, log_z, log_zy) <= value - BACK.armijo * xi * slope:
            break
        xi *= BACK.shorter
    new = moved(u, -xi if xi > BACK.shortest else -longest, d)
    normalise_columns(new, BACK.floor)
    return new


@part
def _direction(u: Array, g: Array, first_step: float) -> tuple[Array, float, float]:
    """d = m (g - mean_z m g), how fast the block falls along -d, and the longest valid step along it; 0 if there is none."""
    d, held = np.empty_like(u), -1.0
    while True:
        slope, xi = 0.0, first_step
        for j in range(u.shape[1]):
            mean, whole = 0.0, 0.0
            for z in range(u.shape[0]):
                whole += g[z, j]
                mean += g[z, j] if u[z, j] >= held else 0.0
            whole, mean = whole / u.shape[0], mean / u.shape[0]
            for z in range(u.shape[0]):
                d[z, j] = g[z, j] - mean if u[z, j] >= held else 0.0
                slope += d[z, j] * (g[z, j] - whole)
                while xi > 0.0 and not 0.0 <= u[z, j] - xi * d[z, j] <= 1.0:
                    xi = xi * BACK.shorter if xi > BACK.shortest else 0.0
        if xi > 0.0 or held > 0.0:
            return d, slope, xi
        held = BACK.floor


@part
def _value(
    split: Split, of_encoder: bool, x: Array, s: Array, c: Array, u: Array, log_W: Array, log_z: Array, log_zy: Array
) -> float:
    """A block with its penalty at u; the encoder's with the decoders of the encoder whose logarithms are given."""
    value, penalty = 0.0, 0.0
    at = matmul(u, split.M) if of_encoder else u
    for z in range(x.shape[0]):
        for j in range(x.shape[1]):
            penalty += 0.5 * c[z, j] * (at[z, j] - x[z, j]) ** 2 - s[z, j] * at[z, j]
            if not of_encoder:
                value -= split.h[j] * u[z, j] * safe_log(u[z, j])
    if of_encoder:
        a, d = split.a, split.d
        new_z, new_zy = marginal_logs(split.P, split.p_y, u)
        for z in range(u.shape[0]):
            value -= math.exp(new_z[z]) * a[0] * new_z[z]
            for i in range(u.shape[1]):
                p_zx = split.p_x[i] * u[z, i]
                value -= p_zx * (a[1] * safe_log(u[z, i]) + d[1] * (log_W[z, i] - log_z[z]))
            for y in range(split.p_y.shape[0]):
                p_zy = split.p_y[y] * math.exp(new_zy[z, y])
                value -= p_zy * (a[2] * new_zy[z, y] + d[0] * (log_zy[z, y] - log_z[z]))
    return value + penalty
