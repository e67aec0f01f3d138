"""The bounds of closed cells once more, with `DIGITS` decimal digits (`decimal`, of the standard library), from the stored table."""

from __future__ import annotations

from decimal import Decimal, localcontext

from .numbers import Array
from .search import Closed

DIGITS = 50
"""Three times those of a floating-point number, and more."""

ZERO = Decimal(0)


def _h(t: Decimal) -> Decimal:
    return -t * t.ln() if t > 0 else ZERO


def exact(values: Array) -> list[Decimal]:
    """Floating-point numbers as they are, every digit."""
    return [Decimal(value) for value in values.tolist()]


def channel(P: Array) -> list[list[Decimal]]:
    """T_x = p(y|x), a row per x."""
    rows = [exact(row) for row in P]
    return [[value / sum(row) for value in row] for row in rows]


def offsets(low: list[Decimal], high: list[Decimal], slope: list[Decimal]) -> list[Decimal]:
    """Of the lines with the slopes given, nowhere above h on the intervals."""
    return [min(_h(l) - s * l, _h(b) - s * b) for l, b, s in zip(low, high, slope, strict=True)]


def bottleneck_bound(P: Array, lam: Array, gamma: float, cell: Closed) -> Decimal:
    """B of a box of `BottleneckBoxes`; P on its letters of positive mass."""
    with localcontext() as context:
        context.prec = DIGITS
        T, g, prices = channel(P), Decimal(gamma), exact(lam)
        low, high, slope, v = (exact(one) for one in (cell.low, cell.high, cell.by["slope"], cell.by["v"]))
        mu, t = v[: len(low)], v[len(low) :]
        offset = offsets(low, high, slope)

        def r(y: int, s: Decimal) -> Decimal:
            a = min(max(s, low[y]), high[y])
            tangent = (-s * a.ln() if s > 0 else ZERO) + a - s
            return t[y] * (offset[y] + slope[y] * s) + (1 - t[y]) * tangent

        each = range(len(low))
        exponents = [
            (price - sum(r(y, row[y]) + mu[y] * row[y] for y in each)) / g for price, row in zip(prices, T, strict=True)
        ]
        top = max(exponents)
        total = sum(((one - top).exp() for one in exponents), ZERO)
        return -sum(max(mu[y] * low[y], mu[y] * high[y]) for y in each) - g * (top + total.ln())


def task_bound(U: Array, S: Array, lam: Array, weights: tuple[float, float, float], cell: Closed) -> Decimal:
    """B of a box of `TaskBoxes`; U and S are p(x, u) and p(x, s), weights keep, hide and gamma."""
    with localcontext() as context:
        context.prec = DIGITS
        T_u, T_s, prices = channel(U), channel(S), exact(lam)
        keep, hide, gamma = (Decimal(one) for one in weights)
        low, high, slope, v = (exact(one) for one in (cell.low, cell.high, cell.by["slope"], cell.by["v"]))
        n = len(low)
        mu, t, a = v[:n], v[n : 2 * n], v[2 * n :]
        offset = offsets(low, high, slope)

        def r(u: int, s: Decimal) -> Decimal:
            near = min(max(s, low[u]), high[u])
            tangent = (-s * near.ln() if s > 0 else ZERO) + near - s
            return t[u] * (offset[u] + slope[u] * s) + (1 - t[u]) * tangent

        if any(not 0 <= one <= 1 for one in t):
            return Decimal("-Infinity")
        e = [
            keep * sum(r(u, row[u]) for u in range(n))
            - price
            + sum(mu[u] * row[u] for u in range(n))
            + hide * sum(one * p for one, p in zip(a, other, strict=True))
            for row, other, price in zip(T_u, T_s, prices, strict=True)
        ]
        least = min(e)
        if gamma > 0:
            least -= gamma * sum((((least - one) / gamma).exp() for one in e), ZERO).ln()
        secret = hide * sum((one.exp() for one in a), ZERO).ln()
        return least - secret - sum(max(m * l, m * b) for m, l, b in zip(mu, low, high, strict=True))


def funnel_bound(P: Array, lam: Array, beta: float, cell: Closed) -> Decimal:
    """B of a box of `FunnelBoxes`; -infinity unless its v is a distribution or less."""
    with localcontext() as context:
        context.prec = DIGITS
        T, b, prices = channel(P), Decimal(beta), exact(lam)
        low, high, slope, v = (exact(one) for one in (cell.low, cell.high, cell.by["slope"], cell.by["v"]))
        (nu,) = exact(cell.by["nu"])
        if sum(v) > 1:
            return Decimal("-Infinity")
        logs = [one.ln() for one in v]
        total = nu
        for x, offset in enumerate(offsets(low, high, slope)):
            d = slope[x] - prices[x] + b * sum(p * log for p, log in zip(T[x], logs, strict=True)) - nu
            total += offset + min(d * low[x], d * high[x])
        return total
