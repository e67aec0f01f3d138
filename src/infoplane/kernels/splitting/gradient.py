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
from ..common.numerics import safe_log
from ..common.rows import matmul
from .encoder import slope_table
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
def _direction(u: Array, g: Array, first_step: float) -> tuple[Array, float]:
    """m (g - mean_z g), and the longest valid step along it; 0 if there is none."""
    m = np.ones_like(u)
    d = _mean_subtracted(g, m)
    xi = _longest_step(u, d, first_step)
    if xi == 0.0:
        for z in range(u.shape[0]):
            for j in range(u.shape[1]):
                if u[z, j] < BACK.floor:
                    m[z, j] = 0.0
        d = _mean_subtracted(g, m)
        xi = _longest_step(u, d, first_step)
    return d, xi


@part
def _mean_subtracted(g: Array, m: Array) -> Array:
    """m (m g - mean_z m g)."""
    d = np.empty_like(g)
    for j in range(g.shape[1]):
        mean = 0.0
        for z in range(g.shape[0]):
            mean += m[z, j] * g[z, j]
        mean /= g.shape[0]
        for z in range(g.shape[0]):
            d[z, j] = m[z, j] * (g[z, j] - mean)
    return d


@part
def _longest_step(u: Array, d: Array, first_step: float) -> float:
    """The first of xi_0, xi_0/4, ... for which u - xi d stays in [0, 1]; 0 if all of them are too long."""
    xi = first_step
    for z in range(u.shape[0]):
        for j in range(u.shape[1]):
            while not 0.0 <= u[z, j] - xi * d[z, j] <= 1.0:
                if xi <= BACK.shortest:
                    return 0.0
                xi *= BACK.shorter
    return xi


@part
def _moved(u: Array, d: Array, xi: float) -> Array:
    out = np.empty_like(u)
    for z in range(u.shape[0]):
        for j in range(u.shape[1]):
            out[z, j] = u[z, j] - xi * d[z, j]
    return out


@part
def _taken(u: Array, d: Array, xi: float) -> Array:
    """The step itself: 1e-9 is added to every entry, and the columns are normalised."""
    out = np.empty_like(u)
    for j in range(u.shape[1]):
        total = 0.0
        for z in range(u.shape[0]):
            out[z, j] = u[z, j] - xi * d[z, j] + BACK.floor
            total += out[z, j]
        for z in range(u.shape[0]):
            out[z, j] /= total
    return out


@part
def _slope(d: Array, g: Array) -> float:
    """<d, g - mean_z g>, how fast the block falls along -d."""
    whole = _mean_subtracted(g, np.ones_like(g))
    total = 0.0
    for z in range(d.shape[0]):
        for j in range(d.shape[1]):
            total += d[z, j] * whole[z, j]
    return total


@part
def _penalty(x: Array, s: Array, c: Array, u: Array) -> float:
    value = 0.0
    for z in range(u.shape[0]):
        for j in range(u.shape[1]):
            value += 0.5 * c[z, j] * (u[z, j] - x[z, j]) ** 2 - s[z, j] * u[z, j]
    return value


@part
def _marginal_value(split: Split, v: Array) -> float:
    value = 0.0
    for z in range(v.shape[0]):
        for j in range(v.shape[1]):
            value -= split.h[j] * v[z, j] * safe_log(v[z, j])
    return value


@part
def gradient_marginal(split: Split, x: Array, s: Array, c: Array, v: Array) -> Array:
    """One step on the marginal block sum_j h_j H(v_j)."""
    g = np.empty_like(v)
    for z in range(v.shape[0]):
        for j in range(v.shape[1]):
            g[z, j] = -split.h[j] * (safe_log(v[z, j]) + 1.0) + c[z, j] * (v[z, j] - x[z, j]) - s[z, j]
    d, longest = _direction(v, g, split.first_step)
    value, slope = _marginal_value(split, v) + _penalty(x, s, c, v), _slope(d, g)
    xi = longest
    while xi > BACK.shortest:
        v_new = _moved(v, d, xi)
        if _marginal_value(split, v_new) + _penalty(x, s, c, v_new) <= value - BACK.armijo * xi * slope:
            return _taken(v, d, xi)
        xi *= BACK.shorter
    return _taken(v, d, longest)


@part
def _encoder_value(split: Split, W: Array, log_W: Array, log_z: Array, log_zy: Array) -> float:
    """The encoder block at W, with the decoders of the encoder whose logarithms are given."""
    a, d = split.a, split.d
    new_z, new_zy = marginal_logs(split.P, split.p_y, W)
    value = 0.0
    for z in range(W.shape[0]):
        value -= math.exp(new_z[z]) * a[0] * new_z[z]
        for i in range(W.shape[1]):
            p_zx = split.p_x[i] * W[z, i]
            value -= p_zx * (a[1] * safe_log(W[z, i]) + d[1] * (log_W[z, i] - log_z[z]))
        for y in range(split.p_y.shape[0]):
            p_zy = split.p_y[y] * math.exp(new_zy[z, y])
            value -= p_zy * (a[2] * new_zy[z, y] + d[0] * (log_zy[z, y] - log_z[z]))
    return value


@part
def gradient_encoder(split: Split, x: Array, s: Array, c: Array, W: Array) -> Array:
    """One step on the encoder block, its decoders those of the present W."""
    log_W = log_table(W)
    log_z, log_zy = marginal_logs(split.P, split.p_y, W)
    u = matmul(W, split.M)
    pull = np.empty_like(u)
    for z in range(u.shape[0]):
        for j in range(u.shape[1]):
            pull[z, j] = c[z, j] * (u[z, j] - x[z, j]) - s[z, j]
    g = matmul(pull, split.features)
    S = slope_table(split, W, log_W, split.a[1], 1.0, 1.0)
    for z in range(W.shape[0]):
        for i in range(W.shape[1]):
            g[z, i] = split.p_x[i] * (g[z, i] - S[z, i])
    d, longest = _direction(W, g, split.first_step)
    value, slope = _encoder_value(split, W, log_W, log_z, log_zy) + _penalty(x, s, c, u), _slope(d, g)
    xi = longest
    while xi > BACK.shortest:
        W_new = _moved(W, d, xi)
        value_new = _encoder_value(split, W_new, log_W, log_z, log_zy) + _penalty(x, s, c, matmul(W_new, split.M))
        if value_new <= value - BACK.armijo * xi * slope:
            return _taken(W, d, xi)
        xi *= BACK.shorter
    return _taken(W, d, longest)
