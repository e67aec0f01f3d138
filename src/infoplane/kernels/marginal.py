"""The marginal block: argmin over v on the simplex, column by column, of

    h H(v) - <s, v> + sum_z (c_z/2) (v_z - x_z)^2.

h < 0 is the entropy prox (strictly convex), h > 0 the concave prox (its upper branch), h = 0 a weighted projection.
With lam the multiplier of sum v = 1, stationarity is c v - h (log v + 1) = c x + s - lam; v_z(lam) decreases, so lam is found by a
safeguarded one-dimensional Newton search.
"""

import numpy as np

from ..information import Array
from .jit import part
from .roots import safe_log, upper_root, wright_omega
from .split import Split


@part
def argmin_marginal(split: Split, x: Array, s: Array, c: Array, v: Array) -> Array:
    """The marginal block's argmin; with ``split.adaptive`` it may raise entries of c, in place (see `concave_prox`)."""
    new = np.empty_like(v)
    eta = split.proximal
    for j in range(v.shape[1]):
        slope = s[:, j].copy()
        if eta > 0.0:
            # ADMM-IB adds eta KL(v || v_old): eta more convexity, and a pull towards the logarithms of v_old.
            for z in range(v.shape[0]):
                slope[z] += eta * (safe_log(v[z, j]) + 1.0)
        if split.h[j] - eta > 0.0:
            concave_prox(split.h[j] - eta, x[:, j], slope, c[:, j], new[:, j], split.adaptive)
        else:
            convex_prox(eta - split.h[j], x[:, j], slope, c[:, j], new[:, j])
    return new


@part
def _entropy_root(k: float, c: float, y: float) -> tuple[float, float]:
    """The v with k log v + c v = y (for k = 0, max(y, 0) / c), and its slope in lam, -v / (k + c v)."""
    if k == 0.0:
        return (y / c, -1.0 / c) if y > 0.0 else (0.0, 0.0)
    v = (k / c) * wright_omega(y / k + np.log(c / k))
    return v, -v / (k + c * v)


@part
def convex_prox(k: float, x: Array, s: Array, c: Array, out: Array) -> None:
    """Minimise k sum v log v - <s, v> + sum (c/2)(v - x)^2 on the simplex, k >= 0."""
    n = x.shape[0]
    y = c * x + s - k
    low = np.max(y - c)  # some v_i = 1 there, so the total is at least one
    high = np.max(y - c / n + k * np.log(n))  # every v_i <= 1/n there
    lam = 0.5 * (low + high)
    for _ in range(200):
        total, slope = -1.0, 0.0
        for i in range(n):
            out[i], dv = _entropy_root(k, c[i], y[i] - lam)
            total += out[i]
            slope += dv
        if total > 0.0:
            low = lam
        else:
            high = lam
        if abs(total) <= 1e-15 or high - low <= 1e-16 * (abs(low) + abs(high)):
            break
        lam_new = lam - total / slope if slope < 0.0 else 0.5 * (low + high)
        lam = lam_new if low < lam_new < high else 0.5 * (low + high)
    out /= out.sum()


@part
def concave_prox(k: float, x: Array, s: Array, c: Array, out: Array, adaptive: bool) -> None:
    """Minimise -k sum v log v - <s, v> + sum (c/2)(v - x)^2 on the simplex, k > 0, on the branch v_i > k / c_i.

    The root v = (k/c) e^t, e^t - t = (c x + s + k - lam)/k + log(k/c), exists while lam <= the smallest `edge`. If even there the
    total exceeds one, the row at the edge is too concave for its penalty: its c is doubled (adaptive), else it is emptied.
    """
    n = x.shape[0]
    emptied = np.zeros(n, dtype=np.bool_)
    for _ in range(60 + n):
        edge, at = np.inf, -1
        for i in range(n):
            if not emptied[i]:
                here = c[i] * x[i] + s[i] + k + k * (np.log(k / c[i]) - 1.0)
                if here < edge:
                    edge, at = here, i
        total = -1.0
        for i in range(n):
            if not emptied[i]:
                total += (k / c[i]) * np.exp(upper_root((c[i] * x[i] + s[i] + k - edge) / k + np.log(k / c[i])))
        if total <= 0.0:
            break
        if adaptive:
            c[at] *= 2.0
        elif emptied.sum() < n - 1:
            emptied[at] = True
        else:
            out[:] = 0.0  # one row is left, and the simplex leaves it no choice
            out[at] = 1.0
            return
    # total(lam) grows without bound as lam falls: walk down until it is positive, then close in.
    high, width = edge, k
    low = edge - width
    for _ in range(200):
        if _concave_total(k, x, s, c, low, emptied, out)[0] >= 0.0:
            break
        high = low
        width *= 2.0
        low -= width
    lam = 0.5 * (low + high)
    for _ in range(200):
        total, slope = _concave_total(k, x, s, c, lam, emptied, out)
        if total > 0.0:
            low = lam
        else:
            high = lam
        if abs(total) <= 1e-15 or high - low <= 1e-16 * (abs(low) + abs(high)):
            break
        lam_new = lam - total / slope if slope < 0.0 else 0.5 * (low + high)
        lam = lam_new if low < lam_new < high else 0.5 * (low + high)
    out /= out.sum()


@part
def _concave_total(
    k: float, x: Array, s: Array, c: Array, lam: float, emptied: np.ndarray, out: Array
) -> tuple[float, float]:
    """Sum v(lam) - 1 and its slope; leaves v(lam) in out."""
    total, slope = -1.0, 0.0
    for i in range(x.shape[0]):
        if emptied[i]:
            out[i] = 0.0
            continue
        t = upper_root((c[i] * x[i] + s[i] + k - lam) / k + np.log(k / c[i]))
        out[i] = (k / c[i]) * np.exp(t)
        total += out[i]
        fall = -np.expm1(-t) * c[i]  # c - k/v, the curvature of the row; dv/dlam = -1/(c - k/v)
        if fall > 0.0:
            slope -= 1.0 / fall
    return total, slope
