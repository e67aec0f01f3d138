"""The marginal block: argmin over v on the simplex, column by column, of

    h H(v) - <s, v> + sum_z (c_z/2) (v_z - x_z)^2.

h < 0 is the entropy prox (strictly convex), h > 0 the concave prox (its upper branch), h = 0 a weighted projection.
With lam the multiplier of sum v = 1, stationarity is c v - h (log v + 1) = c x + s - lam; v_z(lam) decreases, so lam is found by a
safeguarded one-dimensional Newton search, which begins with Newton's step from the v before.
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import inlined, part
from ..common.numerics import TINY, UNIT, safe_log, upper_root, wright_omega
from ..common.rows import Flags
from .tables import Split


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
            concave_prox(split.h[j] - eta, x[:, j], slope, c[:, j], v[:, j], new[:, j], split.kappa > 0.0)
        else:
            convex_prox(eta - split.h[j], x[:, j], slope, c[:, j], v[:, j], new[:, j])
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
def _first(h: float, x: Array, s: Array, c: Array, v: Array) -> float:
    """The lam at which sum v + dv = 1, each row linearised at the v before: dv = (c x + s - c v + h (log v + 1) - lam)/(c - h/v).

    NaN where a row is past its edge, c v <= h, or none has mass.
    """
    total, width = -1.0, 0.0
    for i in range(v.shape[0]):
        if v[i] > TINY:
            slope = c[i] - h / v[i]
            if not slope > 0.0:
                return math.nan
            total += v[i] + (c[i] * (x[i] - v[i]) + s[i] + h * (math.log(v[i]) + 1.0)) / slope
            width += 1.0 / slope
    return total / width


@part
def _search(
    h: float, x: Array, s: Array, c: Array, lam: float, low: float, high: float, emptied: Flags, out: Array
) -> None:
    """The multiplier between low and high at which v sums to one, by Newton kept inside the bracket from lam on; fills out with v."""
    rounding = 4.0 * UNIT * max(x.shape[0], 2)
    if not low < lam < high:
        lam = 0.5 * (low + high)
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
def convex_prox(k: float, x: Array, s: Array, c: Array, v: Array, out: Array) -> None:
    """Minimise k sum v log v - <s, v> + sum (c/2)(v - x)^2 on the simplex, k >= 0."""
    n = x.shape[0]
    low, high = -math.inf, -math.inf
    for i in range(n):
        y = c[i] * x[i] + s[i] - k
        low = max(low, y - c[i])  # some v_i = 1 there, so the total is at least one
        high = max(high, y - c[i] / n + k * math.log(n))  # every v_i <= 1/n there
    _search(-k, x, s, c, _first(-k, x, s, c, v), low, high, np.zeros(n, dtype=np.bool_), out)


@inlined
def concave_prox(k: float, x: Array, s: Array, c: Array, v: Array, out: Array, adaptive: bool) -> None:
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
    # The total is convex and grows without bound as lam falls: a Newton step from below one ends above it, whichever lam it begins with.
    first = _first(k, x, s, c, v)
    _search(k, x, s, c, first if first < edge else edge - k, -math.inf, edge, emptied, out)
