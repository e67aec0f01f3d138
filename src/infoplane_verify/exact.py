"""The bounds of closed cells once more, with `DIGITS` decimal digits (`decimal`, of the standard library), from the stored table.

One formula has all of them. Of f(q) = keep H(T_u q) - hide H(T_s q) - gamma H(q), every q with l <= T_u q <= b, L <= T_s q <= U and
q <= most has f(q) - lambda.q >= B for any mu, a, y, nu and 0 <= t <= 1:

    B = least(e) - sum_u max(mu_u l_u, mu_u b_u) - hide log sum_s exp(a_s) + sum_s min(y_s L_s, y_s U_s),
    e_x = keep sum_u r_u(T_ux) - lambda_x + mu.T_ux + (hide a - y).T_sx,    r_u = t_u (a line below h) + (1 - t_u) (h, with its tangents)
    least(e) = -gamma log sum_x exp(-e_x / gamma) if gamma > 0, else nu + sum_x min(0, (e_x - nu) most_x),

as h(T_u q) >= sum_x q_x r_u(T_ux) (Jensen), -H(s) >= s.log softmax(a), and mu.u and y.s are within their largest and least values on the
ranges. The bottleneck keeps Y and hides nothing; the funnel, and a release, keep X itself, T_u = 1, with a = log v and mu = -d.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np

from .numbers import Array
from .search import Closed

DIGITS = 50
"""Three times those of a floating-point number, and more."""

ZERO = Decimal(0)


class Form(NamedTuple):
    """f, lambda and the caps, on letters of positive mass."""

    U: Array
    """p(x, u), or any multiple of p(u|x) for each x."""
    S: Array
    """p(x, s)."""
    lam: Array
    keep: float
    hide: float
    gamma: float
    L: Array | float = 0.0
    upper: Array | float = 1.0
    """U of the caps."""
    most: Array | float = 1.0


def h(t: Decimal) -> Decimal:
    """-t log t, 0 at 0."""
    return -t * t.ln() if t > 0 else ZERO


def decimals(values: Array | float, like: Array | None = None) -> list[Decimal]:
    """Floating-point numbers as they are, every digit; one number as often as there are others."""
    values = np.asarray(values, dtype=float)
    return [Decimal(one) for one in (values if like is None else np.broadcast_to(values, like.shape)).tolist()]


def channel(P: Array) -> list[list[tuple[int, Decimal]]]:
    """The entries above 0 of p(y|x), with their y, for each x."""
    rows = [decimals(row) for row in P]
    return [[(y, value / sum(row)) for y, value in enumerate(row) if value] for row in rows]


def bound(form: Form, cell: Closed) -> Decimal:
    """B of a closed cell; -infinity unless every t is in [0, 1]."""
    with localcontext() as context:
        context.prec = DIGITS
        keep, hide, gamma = decimals(np.array([form.keep, form.hide, form.gamma]))
        low, high = decimals(cell.low), decimals(cell.high)
        slope, mu, t, a, y = (decimals(one) for one in cell.by[:5])
        if any(not 0 <= one <= 1 for one in t):
            return Decimal("-Infinity")
        offset = [min(h(l) - s * l, h(b) - s * b) for l, b, s in zip(low, high, slope, strict=True)]

        def r(u: int, s: Decimal) -> Decimal:
            line = offset[u] + slope[u] * s
            if t[u] == 1:  # and a tangent at an upper end of 0 is infinite
                return line
            near = min(max(s, low[u]), high[u])
            tangent = (-s * near.ln() if s > 0 else ZERO) + near - s
            return t[u] * line + (1 - t[u]) * tangent

        at_zero = [r(u, ZERO) for u in range(len(low))]
        none = sum(at_zero)
        tilt = [hide * one - other for one, other in zip(a, y, strict=True)]
        e = []
        for T_u, T_s, lam in zip(channel(form.U), channel(form.S), decimals(form.lam), strict=True):
            kept = none + sum((r(u, p) - at_zero[u] for u, p in T_u), ZERO)
            e.append(
                keep * kept - lam + sum((mu[u] * p for u, p in T_u), ZERO) + sum((tilt[s] * p for s, p in T_s), ZERO)
            )
        least = min(e)
        if gamma > 0:
            least -= gamma * sum((((least - one) / gamma).exp() for one in e), ZERO).ln()
        elif cell.by.nu is not None:
            nu = Decimal(cell.by.nu)
            least = nu + sum(
                min(ZERO, (one - nu) * most) for one, most in zip(e, decimals(form.most, form.lam), strict=True)
            )
        caps = zip(y, decimals(form.L, cell.by.y), decimals(form.upper, cell.by.y), strict=True)
        ranges = sum((min(one * l, one * b) for one, l, b in caps), ZERO)
        ranges -= sum(max(one * l, one * b) for one, l, b in zip(mu, low, high, strict=True))
        return least + ranges - hide * sum((one.exp() for one in a), ZERO).ln()
