"""The encoder block: argmin over W, each column W_x on the simplex, of

    a_z H(Z) + a_zx H(Z|X) + a_zy H(Z|Y) - d_y sum p(z,y) log q(y|z) - d_x sum p(z,x) log q(x|z)
        - <s, W M> + sum (c/2) (W M - x)^2

by majorise-minimise. Concave entropies are replaced by their tangents; a convex -|a| H is |a|-smooth relative to the divergence
D(W, W_old) = sum_x p(x) KL(W_x || W_old_x); the variational decoders q(y|z), q(x|z) are those of W_old. One such step, or ten mirror
steps, are what ``step="majorise"`` takes; ``step="exact"`` repeats them until W rests, with the decoders of the outer iterate: a
stationary point of the subproblem, reached downhill from W_old (its global minimiser where the block is convex). What remains in each is

    sum_x p(x) [ -<S_x, W_x> + k sum_z W log W ] - <s, W M> + sum (c/2) (W M - x)^2,     k = |a_z|_- + |a_zy|_- - a_zx

- k > 0: `dual.dual_newton`: W_x = softmax((S_x + m features_x)/k) with as many unknowns m as the constraint has rows.
- k <= 0 (the funnel's pf-2, the deterministic bottleneck): `mirror_step` majorises the penalty as well, by Lambda D(W, W_old).
"""

import numpy as np

from ...information import Array
from ...runtime.compiling import inlined, part
from ..common.numerics import LOG_TINY
from ..common.rows import copy_rows, matmul
from .dual import dual_newton
from .measure import combine, largest_difference, log_table, marginal_logs, softmax_columns
from .tables import Split


@inlined
def convexity(split: Split) -> float:
    """|a_z|_- + |a_zy|_-: the multiple of D(W, W_old) that majorises the convex entropies of the encoder block."""
    return float(max(-split.a[0], 0.0) + max(-split.a[2], 0.0))


@part
def slope_table(split: Split, W: Array, log_W: Array, on_W: float, entropies: float, decoders: float) -> Array:
    """S[z, x]: minus the slope of everything in the block but H(Z|X) and the penalty, over p(x), plus on_W log W.

    ``entropies`` and ``decoders``, 1 or 0, say which of the two parts are in it.

    log q(y|z) = log p(z|y) + log p(y) - log p(z) and log q(x|z) = log W + log p(x) - log p(z); parts in x or y alone add the same to
    every z of a column and make no difference.
    """
    a_z, a_zy = entropies * split.a[0], entropies * split.a[2]
    d_y, d_x = decoders * split.d[0], decoders * split.d[1]
    on_z, on_zy = a_z - d_y - d_x, a_zy + d_y
    if on_z != 0.0 or on_zy != 0.0:
        log_z, log_zy = marginal_logs(split.P, split.p_y, W)
        S = combine(split.T, log_z, on_z, log_zy, on_zy)
    else:
        S = np.zeros_like(W)
    on_W += d_x
    if on_W != 0.0:
        for z in range(W.shape[0]):
            for i in range(W.shape[1]):
                S[z, i] += on_W * log_W[z, i]
    return S


@part
def argmin_encoder(split: Split, x: Array, s: Array, c: Array, W: Array) -> Array:
    """The encoder block's argmin: ``split.inner`` majorise-minimise steps, fewer once W rests if ``split.inner_tol`` asks for that."""
    extra = convexity(split)
    k = extra - split.a[1]
    in_slopes = k <= 0.0 or extra + split.d[1] != 0.0
    log_W = log_table(W) if in_slopes else W
    exact = split.inner_tol > 0.0
    fixed = slope_table(split, W, log_W, 0.0, 0.0, 1.0) if exact and k > 0.0 else np.zeros((0, 0))
    for _ in range(split.inner):
        if split.stop[0] != 0:
            break
        before = W
        if k > 0.0:
            S = slope_table(split, W, log_W, extra, 1.0, 0.0 if exact else 1.0)
            if exact:
                for z in range(W.shape[0]):
                    for i in range(W.shape[1]):
                        S[z, i] += fixed[z, i]
            W = dual_newton(split, S, k, x, s, c, W)
            if split.inner > 1 and in_slopes:
                log_W = log_table(W)
        else:
            W = mirror_step(split, x, s, c, W, log_W)
        if exact and largest_difference(W, before) <= split.inner_tol:
            break
    return W


@inlined
def divergence_of(split: Split, W_new: Array, log_new: Array, W: Array, log_W: Array) -> float:
    """D(W_new, W) = sum_x p(x) KL(W_new_x || W_x), summed over terms that are never negative, so that small steps do not cancel."""
    total = 0.0
    for z in range(W.shape[0]):
        for i in range(W.shape[1]):
            t = log_new[z, i] - log_W[z, i]
            if abs(t) < 1e-4:
                total += split.p_x[i] * W[z, i] * t * t * (0.5 + t / 3.0)
            else:
                total += split.p_x[i] * (W_new[z, i] * (t - 1.0) + W[z, i])
    return total


@inlined
def mirror_step(split: Split, x: Array, s: Array, c: Array, W: Array, log_W: Array) -> Array:
    """W_new prop. to W exp(-g/width), width doubled until (width + a_zx - convexity) D(W_new, W) majorises the penalty.

    g is the slope of the whole block over p(x). H(Z|X) equals its tangent minus D exactly, which is where a_zx enters.
    log_W is updated in place: the logarithms of the new W are known here, and to take them again would cost as much as the step.
    """
    S = slope_table(split, W, log_W, split.a[1], 1.0, 1.0)  # a_zx H(Z|X) has the slope -a_zx log W
    u = matmul(W, split.M)
    pull = np.empty_like(u)
    for z in range(u.shape[0]):
        for j in range(u.shape[1]):
            pull[z, j] = s[z, j] + c[z, j] * (x[z, j] - u[z, j])
    uphill = matmul(pull, split.features)
    width = split.mirror
    score, log_new = np.empty_like(W), np.empty_like(W)
    log_total = np.empty(W.shape[1])
    for _ in range(100):
        for z in range(W.shape[0]):
            for i in range(W.shape[1]):
                score[z, i] = log_W[z, i] + (S[z, i] + uphill[z, i]) / width
                log_new[z, i] = score[z, i]
        W_new = softmax_columns(score, log_total)
        for z in range(W.shape[0]):
            for i in range(W.shape[1]):
                log_new[z, i] = max(log_new[z, i] - log_total[i], LOG_TINY)
        u_new = matmul(W_new, split.M)
        penalty = 0.0
        for z in range(u.shape[0]):
            for j in range(u.shape[1]):
                penalty += 0.5 * c[z, j] * (u_new[z, j] - u[z, j]) ** 2
        allowed = width + split.a[1] - convexity(split)
        if penalty <= allowed * divergence_of(split, W_new, log_new, W, log_W) + 1e-300:
            break
        width *= 2.0
    copy_rows(log_new, log_W)
    return W_new
