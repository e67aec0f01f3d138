"""Branch and bound over boxes of u = T_u q: how low can f(q) - lambda.q be, whatever the secret's size?

The box with the lowest bound is cut next, along the u with the largest gap between h and its secant; its halves are weighed
(`kernels/task_proof/box_weights`) until they reach the target, are empty, or cells run out.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass, field

import numpy as np

from ...information import Array, entr
from ...kernels.task_proof.box_weights import THIN, UNIT, reduced, weigh
from ...posterior.task_form import TaskForm
from ...runtime.budget import Budget

FOUND = 12
"""Violating posteriors at which a search ends: they improve the encoder, and another lambda is judged."""

NEARLY = 0.5
"""A search ends, too, once a posterior was met that is this share as low as the lowest bound: no cut would tell more of this lambda."""

THINNEST = 1e-9
"""A box is not cut along a side that is shorter; its bound stands."""

ROUNDS = 3
"""Times that a box is reduced and weighed again, at gamma = 0."""

WORTH = 0.85
"""Share of its longest side that a reduction must leave less than for another weighing."""


@dataclass
class BoxSearch:
    """What a search has proven, and met."""

    least: float
    """f(q) - lambda.q is nowhere below this."""
    cells: int
    left: int
    """Boxes still open."""
    lowest: float = 0.0
    """The lowest value met."""
    violating: list[Array] = field(default_factory=list, repr=False)
    """Posteriors with f(q) - lambda.q well below 0."""


def search_boxes(form: TaskForm, lam: Array, floor: float, budget: Budget) -> BoxSearch:
    """Prove f(q) - lambda.q >= -floor for all q; or meet posteriors below; or end with what is proven when the budget is spent."""
    n_u, n_s = len(form.T_u), len(form.T_s)
    off = 8.0 * (n_u + 24.0) * UNIT
    low, high = form.T_u.min(axis=1) * (1.0 - off), np.clip(form.T_u.max(axis=1) * (1.0 + off), THIN, 1.0)
    v = np.concatenate([np.zeros(n_u), np.full(n_u, 0.5), np.log(np.maximum(form.T_s @ form.p_x, 1e-12))])
    order = itertools.count()
    heap: list[tuple[float, int, Array, Array, Array]] = [(-math.inf, next(order), low, high, v)]
    found = BoxSearch(math.inf, 0, 0)
    w = np.empty(len(lam))
    assert v.shape == (2 * n_u + n_s,)
    while heap and len(found.violating) < FOUND:
        if found.lowest < NEARLY * heap[0][0] or (
            found.cells > 0 and (budget.over or budget.cells_spent >= budget.cells)
        ):
            break
        inherited, _, low, high, v = heapq.heappop(heap)
        found.cells += 1
        budget.cells_spent += 1
        low, high, v, bound, closed = _weighed(form, lam, low, high, v, -floor, w)
        bound = max(bound, inherited)
        if closed or bound >= -floor:
            found.least = min(found.least, -floor)
            continue
        _look(form, lam, w, floor, found)
        cut = _cut(form, low, high, w)
        if cut is None:
            found.least = min(found.least, bound)
            continue
        u, at = cut
        left, right = high.copy(), low.copy()
        left[u] = right[u] = at
        heapq.heappush(heap, (bound, next(order), low, left, v.copy()))
        heapq.heappush(heap, (bound, next(order), right, high, v.copy()))
    found.left = len(heap)
    if heap:
        found.least = min(found.least, heap[0][0])
    return found


def _weighed(
    form: TaskForm, lam: Array, low: Array, high: Array, v: Array, target: float, w: Array
) -> tuple[Array, Array, Array, float, bool]:
    """The box, tightened, its multipliers and its bound; and whether nothing of it can lie below the target."""
    low, high, best = low.copy(), high.copy(), -math.inf
    for _ in range(ROUNDS):
        if not _tightened(low, high):
            return low, high, v, best, True
        bound = weigh(form.T_u, form.T_s, form.keep, form.hide, form.gamma, lam, low, high, target, v, w)
        best = max(best, bound)
        if best >= target or form.gamma > 0.0 or not math.isfinite(bound):
            break
        before = float((high - low).max())
        e = _exponents(form, lam, low, high, v)
        reduced(form.T_u, e, float(e.min()), target - bound + 1e-12 + 64.0 * UNIT * float(np.abs(e).max()), low, high)
        if (low > high).any():
            return low, high, v, best, True
        if float((high - low).max()) > WORTH * before:
            break
    return low, high, v, best, not _tightened(low, high)


def _exponents(form: TaskForm, lam: Array, low: Array, high: Array, v: Array) -> Array:
    """The e of a box, by the plain formula: keep sum_u r_u(T_ux) - lambda_x + mu.T_ux + hide a.T_sx."""
    n_u = len(low)
    h_low, h_high = entr(low), entr(high)
    flattest = -1.0 - np.log(high)
    slope = np.where(high > low, (h_high - h_low) / np.where(high > low, high - low, 1.0), flattest)
    slope = np.clip(slope, flattest, flattest + 1.0)
    offset = np.minimum(h_low - slope * low, h_high - slope * high)
    T = form.T_u
    near = np.clip(T, low[:, None], high[:, None])
    tangent = np.where(near == T, entr(T), near + (-1.0 - np.log(np.where(near > 0.0, near, 1.0))) * T)
    t = v[n_u : 2 * n_u, None]
    minorant = t * (offset[:, None] + slope[:, None] * T) + (1.0 - t) * tangent
    return np.asarray(form.keep * minorant.sum(axis=0) - lam + v[:n_u] @ T + form.hide * (v[2 * n_u :] @ form.T_s))


def _tightened(low: Array, high: Array) -> bool:
    """Tighten by sum u = 1, outward; False if nothing is left."""
    margin = 8.0 * (len(low) + 24.0) * UNIT
    for _ in range(2):
        np.minimum(high, 1.0 - (low.sum() - low) + margin, out=high)
        np.maximum(high, THIN, out=high)
        np.maximum(low, 1.0 - (high.sum() - high) - margin, out=low)
        np.maximum(low, 0.0, out=low)
        if (low > high).any():
            return False
    return True


def _look(form: TaskForm, lam: Array, w: Array, floor: float, found: BoxSearch) -> None:
    """Whether the weights of a box, or what they descend to, violate the bound asked for."""
    value = float((form.f(w[:, None]) - lam @ w[:, None])[0])
    if value < -floor or found.cells % 8 == 1:
        Q, values = form.descended(lam, w[:, None].copy())
        found.lowest = min(found.lowest, float(values[0]))
        if values[0] < -floor and all(np.abs(Q[:, 0] - one).sum() > 1e-3 for one in found.violating):
            found.violating.append(Q[:, 0])


def _cut(form: TaskForm, low: Array, high: Array, w: Array) -> tuple[int, float] | None:
    """Along the u with the largest gap between h and its secant at T_u w; None if all sides are too short."""
    wide = high - low
    at = np.clip(form.T_u @ w, low + 0.2 * wide, high - 0.2 * wide)
    share = (at - low) / np.where(wide > 0.0, wide, 1.0)
    gaps = np.where(wide > THINNEST, entr(at) - (1.0 - share) * entr(low) - share * entr(high), -math.inf)
    u = int(gaps.argmax())
    return None if not math.isfinite(gaps[u]) else (u, float(at[u]))


def box_bound(form: TaskForm, lam: Array, least: float) -> float:
    """gamma H(X) - keep H(U) + hide H(S) + lambda.p_x + least, of the classes, rounded down: a bound of every encoder's loss."""
    entropies = [math.fsum(entr(p).tolist()) for p in (form.p_x, form.T_u @ form.p_x, form.T_s @ form.p_x)]
    weights = (form.gamma, -form.keep, form.hide)
    products = (lam * form.p_x).tolist()
    n = len(form.whole.p_x) + len(form.T_u) + len(form.T_s)
    size = (
        sum(abs(a) * (h + 1.0) for a, h in zip(weights, entropies, strict=True))
        + math.fsum(map(abs, products))
        + abs(least)
    )
    bound = math.fsum([*(a * h for a, h in zip(weights, entropies, strict=True)), *products, least])
    return bound - 8.0 * (n + 64.0) * UNIT * size - form.letters.rounding(form.gamma)
