"""Least c.q - beta H(S'q) over {low <= q <= high, sum q = 1, L <= Tq <= U}: proposals for bounds, of which nothing is proven here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .numbers import UNIT, Array, h

PIVOTS = 200
"""Steps of one linear programme, at most."""

TANGENTS = 24
"""Linear programmes for one box, at most, each at another v."""

NEWTON = 20
"""Newton's steps for one mixture, at most."""

LATE = 4
"""Programmes without a better bound after which a box is given up."""


class Proposal(NamedTuple):
    """What a bound may be computed from."""

    v: Array
    """A distribution of S, or a little less: -H(s) >= s.log v."""
    y: Array
    """Multipliers of the rows Tq = u."""
    q: Array
    """Where the minimum may be."""


def proposals(
    T: Array, S: Array, c: Array, beta: float, low: Array, high: Array, L: Array, U: Array
) -> Iterator[Proposal]:
    """For min c.q - beta H(S'q) on the same set: better and better ones, by a linear programme at each tangent, v = S'q.

    The next q is the best mixture of the solutions so far (simplicial decomposition), which few of them suffice for.
    """
    met, weights, basis = np.zeros((0, len(c))), c[:0], None
    v: Array = np.full(S.shape[1], 1.0 / S.shape[1])
    for _ in range(TANGENTS if beta > 0.0 else 1):
        v = np.maximum(v, 1e-12)
        v = v / v.sum() * (1.0 - 8.0 * (len(v) + 4.0) * UNIT)
        tangent = c + beta * (S @ np.log(v))
        q, y, basis = programme(T, tangent, low, high, L, U, basis)
        if len(met) and tangent @ q > tangent @ (weights @ met) - 1e-11:
            yield Proposal(v, y, weights @ met)
            return
        met, weights = np.vstack([met, q]), np.append(0.9 * weights, 0.1 if len(met) else 1.0)
        weights = _mixed(met @ c, met @ S, beta, weights)
        met, weights = met[weights > 0.0], weights[weights > 0.0]
        yield Proposal(v, y, weights @ met)
        v = weights @ met @ S


def _mixed(line: Array, points: Array, beta: float, w: Array) -> Array:
    """Weights, none below 0 and 1 together, with a low line.w - beta H(points'w): Newton's method on those that are not 0."""
    if beta <= 0.0 or len(w) == 1:
        return w
    for _ in range(NEWTON):
        on = np.flatnonzero(w > 0.0)
        s, k = np.maximum(w @ points, 1e-300), len(on)
        A = np.ones((k + 1, k + 1))
        A[:k, :k] = beta * (points[on] / s) @ points[on].T
        A[:k, :k] += 1e-12 * A[:k, :k].max() * np.eye(k)
        A[k, k] = 0.0
        slope = line[on] + beta * (points[on] @ np.log(s))
        step = np.zeros(len(w))
        step[on] = np.linalg.solve(A, np.append(-slope, 0.0))[:k]
        if not (np.isfinite(step).all() and slope @ step[on] < -1e-15):
            break
        step /= max(1.0, float(np.abs(step).max()))  # along what changes no p(s) it is as long as the ridge is small
        falls = step < 0.0
        far = min(1.0, float((w[falls] / -step[falls]).min()))
        last = falls & (w + far * step <= 1e-15)
        value = line @ w - beta * h(s).sum()
        while (
            far > 1e-9
            and not line @ (w + far * step) - beta * h(np.maximum((w + far * step) @ points, 0.0)).sum() < value
        ):
            far, last = 0.5 * far, np.zeros_like(last)
        if far <= 1e-9:
            break
        w = np.where(last, 0.0, np.maximum(w + far * step, 0.0))
        w = w / w.sum()
    return w


def programme(T: Array, c: Array, low: Array, high: Array, L: Array, U: Array, basis: Any) -> tuple[Array, Array, Any]:
    """Minimise c.q over {low <= q <= high, sum q = 1, L <= Tq <= U}: q, and multipliers y of the rows Tq = u with B's sign.

    The simplex method with bounded variables, q and u, rows T'q - u = 0 and sum q = 1, from the basis of u and one letter. Variables of the
    basis that are out of their ranges are driven back by a cost of their own, larger than the others. Nothing here is proven.
    """
    n, m = T.shape
    A = np.zeros((m + 1, n + m))
    A[:m, :n], A[m, :n] = T.T, 1.0
    A[:m, n:] = -np.eye(m)
    lower, upper = np.concatenate([low, L]), np.concatenate([high, U])
    cost = np.concatenate([c, np.zeros(m)])
    b = np.append(np.zeros(m), 1.0)
    if basis is None:
        wide = int(np.argmax(high - low))
        basis = ([*range(n, n + m), wide], np.zeros(n + m, dtype=bool))
    members, at_upper = [*basis[0]], basis[1].copy()
    heavy = 1e3 * (1.0 + float(np.abs(c).max()))
    y: Any = np.zeros(m + 1)
    point: Array = lower.copy()
    for pivot in range(PIVOTS):
        point = np.where(at_upper, upper, lower)
        point[members] = 0.0
        B = A[:, members]
        try:
            values = np.linalg.solve(B, b - A @ point)
            short, long = values < lower[members] - 1e-10, values > upper[members] + 1e-10
            bad = short | long
            y = np.linalg.solve(
                B.T, np.where(bad, 0.0, cost[members]) * (not bad.any()) + heavy * (long * 1.0 - short * 1.0)
            )
        except np.linalg.LinAlgError:
            break
        point[members] = values
        reduced = (cost if not bad.any() else 0.0) - y @ A
        reduced[members] = 0.0
        free = upper > lower
        gain = np.where(free, np.where(at_upper, reduced, -reduced), 0.0)
        enter = int(gain.argmax()) if pivot < PIVOTS // 2 else int(np.argmax(gain > 1e-9))
        if gain[enter] <= 1e-11 * (1.0 + float(np.abs(y).max())):
            break
        sign = -1.0 if at_upper[enter] else 1.0
        w = sign * np.linalg.solve(B, A[:, enter])
        limit, leave, end = upper[enter] - lower[enter], -1, False
        for i, place in enumerate(members):
            if abs(w[i]) < 1e-11:
                continue
            falls = w[i] > 0.0
            # Out of its range, a variable stops where it comes back into it.
            stop = (upper if (long[i] and falls) else lower)[place] if falls else (lower if short[i] else upper)[place]
            if (short[i] and falls) or (long[i] and not falls):
                continue
            t = max((values[i] - stop) / w[i], 0.0)
            if t < limit - 1e-13:
                limit, leave, end = t, i, bool(stop == upper[place])
        if leave < 0:
            at_upper[enter] = not at_upper[enter]
            continue
        at_upper[members[leave]] = end
        members[leave] = enter
    q = np.maximum(point[:n], 0.0)
    total = q.sum()
    return (q / total if total > 0.0 else q), y[:m], (members, at_upper)
