"""The argmins of the two blocks.

*The encoder block*: argmin over W, each column W_x on the simplex, of

    a_z H(Z) + a_zx H(Z|X) + a_zy H(Z|Y) - d_y sum p(z,y) log q(y|z) - d_x sum p(z,x) log q(x|z)
        - <s, W M> + sum (c/2) (W M - x)^2

by majorise-minimise. Concave entropies are replaced by their tangents; a convex -|a| H is |a|-smooth relative to the divergence
D(W, W_old) = sum_x p(x) KL(W_x || W_old_x); the variational decoders q(y|z), q(x|z) are those of W_old. One such step, or ten mirror
steps, are what ``step="majorise"`` takes; ``step="exact"`` repeats them until W rests, with the decoders of the outer iterate: a
stationary point of the subproblem, reached downhill from W_old (its global minimiser where the block is convex). What remains in each is

    sum_x p(x) [ -<S_x, W_x> + k sum_z W log W ] - <s, W M> + sum (c/2) (W M - x)^2,     k = |a_z|_- + |a_zy|_- - a_zx

- k <= 0 (the funnel's pf-2, the deterministic bottleneck): `mirror_step` majorises the penalty as well, by Lambda D(W, W_old).
- k > 0: `dual_newton`, by the dual in m, one unknown per row of the constraint, with W_x = softmax((S_x + m features_x)/k) and
  target = x + s/c:

    minimise  D(m) = sum m^2/(2c) - <m, target> + k sum_x p(x) log sum_z exp((S + m features)/k),      g = D'(m) = m/c - target + W M

The block's value at W(m) exceeds its minimum by no more than sum c g^2 / 2 (it plus D(m) is that sum). Newton's system is

    diag(1/c) + sum_x (p(x)/k) features features' (diag(W_x) - W_x W_x')

- few unknowns: Cholesky, and Newton's steps to rounding.
- many: conjugate gradients on products with it, O(|Z| |X| |Y|) each, without writing it down. For each z it is a diagonal plus nearly rank
  one, since features are positive: (mass) (mean feature) (mean feature)' outweighs their spread. That is what preconditions it; clusters
  meet only through the softmax. It begins with the m of the argmin before. ``step="exact"`` goes on to rounding; ``step="majorise"`` ends
  once g is at most `SHARE` of the way that W M has come, both in the norm sum c g^2.

*The marginal block*: argmin over v on the simplex, column by column, of

    h H(v) - <s, v> + sum_z (c_z/2) (v_z - x_z)^2.

h < 0 is the entropy prox (strictly convex), h > 0 the concave prox (its upper branch), h = 0 a weighted projection.
With lam the multiplier of sum v = 1, stationarity is c v - h (log v + 1) = c x + s - lam; v_z(lam) decreases, so lam is found by a
safeguarded one-dimensional Newton search.
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import inlined, part
from ..common import (
    EPS,
    LOG_TINY,
    UNIT,
    Flags,
    copy_rows,
    matmul,
    safe_log,
    solve_definite,
    upper_root,
    wright_omega,
)
from .measure import combine, largest_difference, largest_entry, log_table, marginal_logs, softmax_columns
from .tables import Split


@inlined
def convexity(split: Split) -> float:
    """|a_z|_- + |a_zy|_-: the multiple of D(W, W_old) that majorises the convex entropies of the encoder block."""
    return float(max(-split.a[0], 0.0) + max(-split.a[2], 0.0))


@part
def pull(x: Array, s: Array, c: Array, u: Array) -> Array:
    """s + c (x - u): minus the slope of -<s, u> + sum (c/2) (u - x)^2."""
    out = np.empty_like(u)
    for z in range(u.shape[0]):
        for j in range(u.shape[1]):
            out[z, j] = s[z, j] + c[z, j] * (x[z, j] - u[z, j])
    return out


@part
def moved(u: Array, t: float, d: Array) -> Array:
    """u + t d."""
    out = np.empty_like(u)
    for z in range(u.shape[0]):
        for j in range(u.shape[1]):
            out[z, j] = u[z, j] + t * d[z, j]
    return out


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
def argmin_encoder(split: Split, m: Array, x: Array, s: Array, c: Array, W: Array) -> Array:
    """The encoder block's argmin: ``split.inner`` majorise-minimise steps, fewer once W rests if ``split.inner_tol`` asks for that.

    m are the multipliers of the argmin before, where there are many: begun with, and updated in place. NaN if none are known.
    """
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
            W = dual_newton(split, m, S, k, x, s, c, W)
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
    uphill = matmul(pull(x, s, c, u), split.features)
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


ROUNDING = 45 * EPS
"""Of a dual value near 1, and of entries of its gradient."""

DENSE = 128
"""Unknowns up to which Newton's system is written down and solved to rounding. The heart's bottleneck has 80; at 176 (225 x 10 letters, 16
clusters) that took fifteen times as long as conjugate gradients do."""

SHARE = 0.3
"""Error of a majorising step with many unknowns, beside its own length in W M. Below 1/2 the block falls, which is all that the descent
theorem asks of it: it is 1-strongly convex in u = W M in the norm sum c u^2, so that |u - u*| <= |g|, and P(W_old) - P(W) is at least
(|u_old - u*|^2 - |g|^2)/2 >= ((1/SHARE - 1)^2 - 1) |g|^2 / 2 > 0. With 0.1 runs need as many iterations, each a third longer."""


@part
def _dual(
    split: Split, S: Array, k: float, target: Array, c: Array, m: Array, gradient: Array
) -> tuple[Array, Array, float]:
    """W_x = softmax((S_x + m features_x)/k), u = W M, and D(m), whose gradient is filled in."""
    score = matmul(m, split.features)
    for z in range(score.shape[0]):
        for i in range(score.shape[1]):
            score[z, i] = (score[z, i] + S[z, i]) / k
    log_total = np.empty(score.shape[1])
    W, value = softmax_columns(score, log_total), 0.0
    u = matmul(W, split.M)
    for z in range(m.shape[0]):
        for j in range(m.shape[1]):
            value += m[z, j] * (0.5 * m[z, j] / c[z, j] - target[z, j])
            gradient[z, j] = m[z, j] / c[z, j] - target[z, j] + u[z, j]
    for i in range(log_total.shape[0]):
        value += k * split.p_x[i] * log_total[i]
    return W, u, value


@part
def _square(c: Array, a: Array) -> float:
    """sum c a^2."""
    total = 0.0
    for z in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += c[z, j] * a[z, j] ** 2
    return total


@inlined
def dual_newton(split: Split, known: Array, S: Array, k: float, x: Array, s: Array, c: Array, W: Array) -> Array:
    """W_x = softmax((S_x + m features_x)/k), with m the minimiser of the dual, by damped Newton.

    Once split.stop is set what is returned means nothing.
    """
    u_before, dense = matmul(W, split.M), x.size <= DENSE
    m, target, gradient = pull(x, s, c, u_before), np.empty_like(x), np.empty_like(x)
    warm, loose = not dense and not np.isnan(known[0, 0]), not dense and split.inner_tol == 0.0
    for z in range(x.shape[0]):
        for j in range(x.shape[1]):
            target[z, j] = x[z, j] + s[z, j] / c[z, j]
            if warm:
                m[z, j] = known[z, j]
    W, u, value = _dual(split, S, k, target, c, m, gradient)
    last = np.inf
    for _ in range(50):  # should rounding keep it moving
        largest = largest_entry(gradient)
        if split.stop[0] != 0 or largest <= ROUNDING or (largest <= 1e-10 and largest > 0.5 * last):
            break
        if loose and _square(c, gradient) <= SHARE * SHARE * _square(c, moved(u, -1.0, u_before)):
            break
        last = largest
        if dense:
            direction = newton_direction(split, W, k, c, gradient)
        else:
            direction = conjugate_direction(split, W, k, c, gradient, 0.3 if loose else 1e-3)
        m, W, u, value = _descended(split, S, k, target, c, m, value, direction, gradient)
    if not dense:
        copy_rows(m, known)
    return W


@part
def _descended(
    split: Split, S: Array, k: float, target: Array, c: Array, m: Array, value: float, direction: Array, gradient: Array
) -> tuple[Array, Array, Array, float]:
    """m - step direction, step = 1, 1/2, ... until D falls as it should; with W, u and D there, whose gradient is filled in."""
    decrease, step, new = 0.0, 1.0, m
    for z in range(m.shape[0]):
        for j in range(m.shape[1]):
            decrease += direction[z, j] * gradient[z, j]
    for _ in range(40):  # 1e-12 of the full step is rounding
        new = moved(m, -step, direction)
        W, u, value_new = _dual(split, S, k, target, c, new, gradient)
        enough = value - 1e-4 * step * decrease + ROUNDING * (1.0 + abs(value))
        if split.stop[0] != 0 or value_new <= enough:
            break
        step *= 0.5
    return new, W, u, value_new


@part
def newton_direction(split: Split, W: Array, k: float, c: Array, gradient: Array) -> Array:
    """Solve (diag(1/c) + sum_x (p_x/k) features features' (diag(W_x) - W_x W_x')) direction = gradient.

    Rows differ by as much as the masses do, so the system is scaled to a unit diagonal; Cholesky reads what is below that.
    """
    n_z, n_m = gradient.shape
    n_x = W.shape[1]
    root, psi = np.empty(n_x), np.empty((n_z * n_m, n_x))
    scale, b = np.empty(n_z * n_m), np.empty(n_z * n_m)
    for i in range(n_x):
        root[i] = math.sqrt(split.p_x[i] / k)
    for z in range(n_z):
        for j in range(n_m):
            row, diagonal = z * n_m + j, 1.0 / c[z, j]
            for i in range(n_x):
                psi[row, i] = root[i] * split.features[j, i] * W[z, i]
                diagonal += psi[row, i] * root[i] * split.features[j, i] * max(1.0 - W[z, i], 0.0)
            scale[row] = 1.0 / math.sqrt(diagonal)
            b[row] = scale[row] * gradient[z, j]
    hessian = matmul(psi, psi.T)
    for z in range(n_z):
        for row in range(z * n_m, (z + 1) * n_m):
            for column in range(z * n_m, row):
                for i in range(n_x):
                    hessian[row, column] -= psi[row, i] * root[i] * split.features[column - z * n_m, i]
            for column in range(row):
                hessian[row, column] *= -scale[row] * scale[column]
            hessian[row, row] = 1.0
    solve_definite(hessian, b, 1e-14)
    direction = np.empty_like(gradient)
    for z in range(n_z):
        for j in range(n_m):
            direction[z, j] = scale[z * n_m + j] * b[z * n_m + j]
    return direction


@part
def hessian_product(split: Split, W: Array, k: float, c: Array, d: Array) -> Array:
    """Newton's matrix times d: d/c + (W (D - sum_z W D) / k) M, D = d features."""
    D = matmul(d, split.features)
    mean = np.zeros(W.shape[1])
    for z in range(W.shape[0]):
        for i in range(W.shape[1]):
            mean[i] += W[z, i] * D[z, i]
    for z in range(W.shape[0]):
        for i in range(W.shape[1]):
            D[z, i] = W[z, i] * (D[z, i] - mean[i]) / k
    product = matmul(D, split.M)
    for z in range(d.shape[0]):
        for j in range(d.shape[1]):
            product[z, j] += d[z, j] / c[z, j]
    return product


@part
def _preconditioner(split: Split, W: Array, k: float, c: Array) -> tuple[Array, Array]:
    """diagonal, ray: for each z the matrix is about diag(diagonal) + ray ray', ray the mean feature times the root of its mass."""
    weight = np.empty_like(W)
    for z in range(W.shape[0]):
        for i in range(W.shape[1]):
            weight[z, i] = W[z, i] * (1.0 - W[z, i]) / k
    squares = np.empty_like(split.M)
    for i in range(squares.shape[0]):
        for j in range(squares.shape[1]):
            squares[i, j] = split.M[i, j] * split.features[j, i]
    ray, diagonal = matmul(weight, split.M), matmul(weight, squares)
    for z in range(W.shape[0]):
        mass = 0.0
        for i in range(W.shape[1]):
            mass += weight[z, i] * split.p_x[i]
        root = 1.0 / math.sqrt(mass) if mass > 0.0 else 0.0
        for j in range(ray.shape[1]):
            ray[z, j] *= root
            diagonal[z, j] = max(diagonal[z, j] - ray[z, j] ** 2, 0.0) + 1.0 / c[z, j]
    return diagonal, ray


@inlined
def _preconditioned(diagonal: Array, ray: Array, r: Array, y: Array) -> float:
    """y = (diag(diagonal) + ray ray')^-1 r for each z, by Sherman and Morrison; returns <r, y>."""
    inner = 0.0
    for z in range(r.shape[0]):
        along, size = 0.0, 1.0
        for j in range(r.shape[1]):
            along += ray[z, j] * r[z, j] / diagonal[z, j]
            size += ray[z, j] ** 2 / diagonal[z, j]
        for j in range(r.shape[1]):
            y[z, j] = (r[z, j] - ray[z, j] * along / size) / diagonal[z, j]
            inner += r[z, j] * y[z, j]
    return inner


@part
def conjugate_direction(split: Split, W: Array, k: float, c: Array, gradient: Array, share: float) -> Array:
    """The same system by preconditioned conjugate gradients, until the norm sum c r^2 of its residual is `share` squared of the first.

    However early it ends, <gradient, direction> is positive.
    """
    diagonal, ray = _preconditioner(split, W, k, c)
    r, y = gradient.copy(), np.empty_like(gradient)
    direction, d = np.zeros_like(gradient), np.zeros_like(gradient)
    enough, before = share * share * _square(c, r), np.inf
    for _ in range(r.size):
        inner = _preconditioned(diagonal, ray, r, y)
        if split.stop[0] != 0 or not inner > 0.0 or _square(c, r) <= enough:
            break
        for z in range(r.shape[0]):
            for j in range(r.shape[1]):
                d[z, j] = y[z, j] + inner / before * d[z, j]
        product, curvature = hessian_product(split, W, k, c, d), 0.0
        for z in range(r.shape[0]):
            for j in range(r.shape[1]):
                curvature += d[z, j] * product[z, j]
        for z in range(r.shape[0]):
            for j in range(r.shape[1]):
                direction[z, j] += inner / curvature * d[z, j]
                r[z, j] -= inner / curvature * product[z, j]
        before = inner
    return direction


@part
def argmin_marginal(split: Split, x: Array, s: Array, c: Array, v: Array) -> Array:
    """The marginal block's argmin; with an automatic penalty it may raise entries of c, in place (see `concave_prox`)."""
    new = np.empty_like(v)
    eta = split.proximal
    for j in range(v.shape[1]):
        slope = s[:, j].copy()
        if eta > 0.0:
            # ADMM-IB adds eta KL(v || v_old): eta more convexity, and a pull towards the logarithms of v_old.
            for z in range(v.shape[0]):
                slope[z] += eta * (safe_log(v[z, j]) + 1.0)
        if split.h[j] - eta > 0.0:
            concave_prox(split.h[j] - eta, x[:, j], slope, c[:, j], new[:, j], split.kappa > 0.0)
        else:
            convex_prox(eta - split.h[j], x[:, j], slope, c[:, j], new[:, j])
    return new


@inlined
def _entropy_root(k: float, c: float, y: float) -> tuple[float, float]:
    """The v with k log v + c v = y (for k = 0, max(y, 0) / c), and its slope in lam, -v / (k + c v)."""
    if k == 0.0:
        return (y / c, -1.0 / c) if y > 0.0 else (0.0, 0.0)
    v = (k / c) * wright_omega(y / k + math.log(c / k))
    return v, -v / (k + c * v)


@part
def _total(h: float, x: Array, s: Array, c: Array, lam: float, emptied: Flags, out: Array) -> tuple[float, float]:
    """sum v(lam) - 1 and its slope in lam; fills out with v(lam)."""
    total, slope = -1.0, 0.0
    for i in range(x.shape[0]):
        if emptied[i]:
            out[i] = 0.0
        elif h > 0.0:
            t = upper_root((c[i] * x[i] + s[i] + h - lam) / h + math.log(h / c[i]))
            out[i] = (h / c[i]) * math.exp(t)
            fall = -math.expm1(-t) * c[i]  # c - h/v, the curvature of the row
            if fall > 0.0:
                slope -= 1.0 / fall
        else:
            out[i], fall = _entropy_root(-h, c[i], c[i] * x[i] + s[i] + h - lam)
            slope += fall
        total += out[i]
    return total, slope


@part
def _search(
    h: float, x: Array, s: Array, c: Array, lam: float, low: float, high: float, emptied: Flags, out: Array
) -> None:
    """The multiplier between low and high at which v sums to one, by Newton kept inside the bracket from lam on; fills out with v."""
    rounding = 4.0 * UNIT * max(x.shape[0], 2)
    for _ in range(200):
        total, slope = _total(h, x, s, c, lam, emptied, out)
        if total > 0.0:
            low = lam
        else:
            high = lam
        if abs(total) <= rounding or high - low <= 1e-16 * (abs(lam) + abs(high)):
            break
        lam_new = lam - total / slope if slope < 0.0 else low
        if not low < lam_new < high:
            lam_new = 0.5 * (low + high) if low > -math.inf else high - 1.0 - abs(high)
        lam = lam_new
    total = 0.0
    for i in range(out.shape[0]):
        total += out[i]
    for i in range(out.shape[0]):
        out[i] /= total


@inlined
def convex_prox(k: float, x: Array, s: Array, c: Array, out: Array) -> None:
    """Minimise k sum v log v - <s, v> + sum (c/2)(v - x)^2 on the simplex, k >= 0."""
    n = x.shape[0]
    low, high = -math.inf, -math.inf
    for i in range(n):
        y = c[i] * x[i] + s[i] - k
        low = max(low, y - c[i])  # some v_i = 1 there, so the total is at least one
        high = max(high, y - c[i] / n + k * math.log(n))  # every v_i <= 1/n there
    _search(-k, x, s, c, 0.5 * (low + high), low, high, np.zeros(n, dtype=np.bool_), out)


@inlined
def concave_prox(k: float, x: Array, s: Array, c: Array, out: Array, adaptive: bool) -> None:
    """Minimise -k sum v log v - <s, v> + sum (c/2)(v - x)^2 on the simplex, k > 0, on the branch v_i > k / c_i.

    The root v = (k/c) e^t, e^t - t = (c x + s + k - lam)/k + log(k/c), exists while lam <= the smallest `edge`. If even there the
    total exceeds one, the row at the edge is too concave for its penalty: its c is doubled (adaptive), else it is emptied.
    """
    n = x.shape[0]
    emptied = np.zeros(n, dtype=np.bool_)
    left = n
    for _ in range(60 + n):
        edge, at = math.inf, -1
        for i in range(n):
            here = c[i] * x[i] + s[i] + k * math.log(k / c[i])
            if not emptied[i] and here < edge:
                edge, at = here, i
        if _total(k, x, s, c, edge, emptied, out)[0] <= 0.0:
            break
        if adaptive:
            c[at] *= 2.0
        elif left > 1:
            emptied[at] = True
            left -= 1
        else:
            break  # one row is left: on the simplex its v is 1, which normalising gives it
    # The total is convex and grows without bound as lam falls: a Newton step from below one ends above it.
    _search(k, x, s, c, edge - k, -math.inf, edge, emptied, out)
