"""The paper's way to take an argmin: one mean-subtracted gradient step per block, its length by back-tracking.

    u <- u - xi (g - mean_z g),   g the gradient of  f(u) - <s, L u> + sum (c/2) (L u - x)^2              (paper, Section V)

Subtracting the mean over z keeps every column on its simplex. One xi serves the whole block: it must leave every entry positive, and
satisfy Armijo's condition. Kept as the faithful reproduction of the paper; one entry near zero shortens the step of
the whole matrix, which is why `step="exact"` is the default.
"""

import math

import numpy as np

from ...information import Array
from ..common.arrays import matmul
from ..common.jit import part
from ..common.roots import TINY, safe_log
from .encoder import slope_table
from .measure import log_table, marginal_logs
from .tables import Split

ARMIJO = 1e-4
HALVINGS = 60


@part
def _mean_subtracted(g: Array) -> float:
    """g - mean_z g, in place; returns its squared length."""
    square = 0.0
    for j in range(g.shape[1]):
        mean = 0.0
        for z in range(g.shape[0]):
            mean += g[z, j]
        mean /= g.shape[0]
        for z in range(g.shape[0]):
            g[z, j] -= mean
            square += g[z, j] * g[z, j]
    return square


@part
def _longest_step(u: Array, g: Array) -> float:
    """The first power of 1/2, from 1 on, for which u - xi g stays positive."""
    xi = 1.0
    for z in range(u.shape[0]):
        for j in range(u.shape[1]):
            while u[z, j] - xi * g[z, j] <= TINY and xi > TINY:
                xi *= 0.5
    return xi


@part
def _moved(u: Array, g: Array, xi: float) -> Array:
    out = np.empty_like(u)
    for z in range(u.shape[0]):
        for j in range(u.shape[1]):
            out[z, j] = u[z, j] - xi * g[z, j]
    return out


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
    square = _mean_subtracted(g)
    value = _marginal_value(split, v) + _penalty(x, s, c, v)
    xi = _longest_step(v, g)
    for _ in range(HALVINGS):
        v_new = _moved(v, g, xi)
        if _marginal_value(split, v_new) + _penalty(x, s, c, v_new) <= value - ARMIJO * xi * square:
            return v_new
        xi *= 0.5
    return v


@part
def _encoder_value(split: Split, W: Array, log_W: Array, log_z: Array, log_zy: Array) -> float:
    """The encoder block at W, with the decoders of the encoder whose logarithms are given."""
    a, d = split.a, split.d
    new_z, new_zy = marginal_logs(split, W)
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
    log_z, log_zy = marginal_logs(split, W)
    u = matmul(W, split.M)
    pull = np.empty_like(u)
    for z in range(u.shape[0]):
        for j in range(u.shape[1]):
            pull[z, j] = c[z, j] * (u[z, j] - x[z, j]) - s[z, j]
    g = matmul(pull, split.features)
    S = slope_table(split, W, log_W, split.a[1])
    for z in range(W.shape[0]):
        for i in range(W.shape[1]):
            g[z, i] = split.p_x[i] * (g[z, i] - S[z, i])
    square = _mean_subtracted(g)
    value = _encoder_value(split, W, log_W, log_z, log_zy) + _penalty(x, s, c, u)
    xi = _longest_step(W, g)
    for _ in range(HALVINGS):
        W_new = _moved(W, g, xi)
        value_new = _encoder_value(split, W_new, log_W, log_z, log_zy) + _penalty(x, s, c, matmul(W_new, split.M))
        if value_new <= value - ARMIJO * xi * square:
            return W_new
        xi *= 0.5
    return W
