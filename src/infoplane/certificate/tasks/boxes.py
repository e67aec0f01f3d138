"""Branch and bound over boxes of u = T_u q: how low can f(q) - lambda.q be, whatever the secret's size?

The box with the lowest bound is cut next, along the u with the largest gap between h and its secant; its halves are weighed
(`kernels/task_proof/box_weights`) until they reach the target, are empty, or cells run out. Only multipliers come from the kernel: what
closes or shrinks a box is computed here, by the plain formulas.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...information import Array, entr
from ...kernels.common import THIN, UNIT
from ...kernels.task_proof.box_weights import best_shares, rounding, weigh
from ...posterior.task_form import TaskForm
from ...runtime.budget import Budget


class BoxRules(NamedTuple):
    """When a search over boxes ends, and what of it is kept."""

    found: int = 12
    """Violating posteriors at which a search ends: they improve the encoder, and another lambda is judged."""
    rounds: int = 3
    """Times that a box is reduced and weighed again, at gamma = 0."""
    nearly: float = 0.5
    """A search ends, too, once a posterior was met that is this share as low as the lowest bound: no cut would tell more of this lambda."""
    surely: float = 0.8
    """A thorough search closes boxes whose bound is this share as low as the lowest posterior that was met."""
    worthwhile: float = 0.25
    """Share of the floor below which a posterior violates: it is worth another lambda, though the bound may hold as it is."""
    thinnest: float = 1e-9
    """A box is not cut along a side that is shorter; its bound stands."""
    dearest: float = 1e3
    """Nats that a unit of T_s q - p_s costs where it has to be 0: a box without such q still has multipliers, and a bound that closes
    it."""
    worth: float = 0.85
    """Share of its longest side that a reduction must leave less than for another weighing."""


RULES = BoxRules()


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


def secants(low: Array, high: Array) -> tuple[Array, Array]:
    """Slopes and offsets of lines below -t log t on the sides of a box."""
    h_low, h_high = entr(low), entr(high)
    flattest = -1.0 - np.log(high)
    slope = np.where(high > low, (h_high - h_low) / np.where(high > low, high - low, 1.0), flattest)
    slope = np.clip(slope, flattest, flattest + 1.0)
    return slope, np.minimum(h_low - slope * low, h_high - slope * high)


@dataclass(frozen=True)
class Asked:
    """f(q) - lambda.q over all q; or, if ``private``, over those that tell nothing of S, T_s q = p_s."""

    form: TaskForm
    lam: Array
    private: bool = False

    @cached_property
    def secret(self) -> tuple[Array, float]:
        """p(s|x) and hide as the bound sees them; p(s|x) - p(s) and 1 if private."""
        T_s = self.form.T_s
        if not self.private:
            return T_s, self.form.hide
        return np.ascontiguousarray(T_s - (T_s @ self.form.p_x / self.form.p_x.sum())[:, None]), 1.0

    @cached_property
    def largest(self) -> float:
        """The largest |lambda|."""
        return float(np.abs(self.lam).max())

    def weighed(self, low: Array, high: Array, target: float, v: Array, w: Array) -> None:
        """Multipliers v of a box, and weights w of x, such that its bound is high: any are valid."""
        form = self.form
        if self.private:
            self._by_programme(low, high, v, w)
        else:
            weigh(form.T_u, form.T_s, form.keep, form.hide, form.gamma, self.lam, low, high, target, v, w)

    def _by_programme(self, low: Array, high: Array, v: Array, w: Array) -> None:
        """The best for secants, where S is held: a linear programme over q with T_u q in the box, T_s q = p_s at a charge; w is its q."""
        from scipy.optimize import linprog

        form, (T_s, _), n = self.form, self.secret, len(w)
        slope, offset = secants(low, high)
        costs = form.keep * (slope @ form.T_u + offset.sum()) - self.lam
        apart = np.hstack([np.eye(len(T_s)), -np.eye(len(T_s))])
        none = np.zeros((2 * len(low), 2 * len(T_s)))
        found = linprog(
            np.concatenate([costs, np.full(2 * len(T_s), RULES.dearest)]),
            A_ub=np.hstack([np.vstack([form.T_u, -form.T_u]), none]), b_ub=np.concatenate([high, -low]),
            A_eq=np.vstack([np.hstack([T_s, apart]), np.append(np.ones(n), np.zeros(2 * len(T_s)))]),
            b_eq=np.append(np.zeros(len(T_s)), 1.0), method="highs-ds",
        )  # fmt: skip
        if found.x is None:
            return
        ends = found.ineqlin.marginals
        v[:] = np.concatenate([ends[len(low) :] - ends[: len(low)], np.ones(len(low)), -found.eqlin.marginals[:-1]])
        w[:] = np.maximum(found.x[:n], 0.0) / max(float(np.maximum(found.x[:n], 0.0).sum()), 1e-300)

    def bound(self, low: Array, high: Array, v: Array) -> tuple[float, Array]:
        """B of a box by the plain formula, less what rounding may do to it; and e_x = keep sum_u r_u(T_ux) - lambda_x + mu.T_ux
        + hide a.T_sx.
        """
        form, (T_s, hide), n_u = self.form, self.secret, len(low)
        T, mu, t, a = form.T_u, v[:n_u], v[n_u : 2 * n_u, None], v[2 * n_u :]
        slope, offset = secants(low, high)
        near = np.clip(T, low[:, None], high[:, None])
        tangent = np.where(near == T, entr(T), near + (-1.0 - np.log(np.where(near > 0.0, near, 1.0))) * T)
        minorant = t * (offset[:, None] + slope[:, None] * T) + (1.0 - t) * tangent
        e = form.keep * minorant.sum(axis=0) - self.lam + mu @ T + hide * (a @ T_s)
        least = float(e.min())
        if form.gamma > 0.0:
            softmin = least - form.gamma * math.log(float(np.exp((least - e) / form.gamma).sum()))
        else:
            softmin = least
        top = float(a.max(initial=-math.inf))
        secret = 0.0 if self.private or not len(a) else hide * (top + math.log(float(np.exp(a - top).sum())))
        steepest = float((np.abs(1.0 + np.log(high)) + np.abs(slope) + np.abs(offset)).max())
        off = rounding(T, T_s, form.keep, hide, form.gamma, self.largest, steepest, high, v)
        if self.private:  # p(s|x) - p(s) is right to so many units, not relatively
            off += 8.0 * UNIT * (T.shape[1] + len(T_s) + 64.0) * float(np.abs(a).sum())
        found = softmin - float(np.maximum(mu * low, mu * high).sum()) - secret - off
        return (found if math.isfinite(found) else -math.inf), np.asarray(e)

    def primal(self, low: Array, high: Array, v: Array, e: Array, missing: float) -> Array:
        """The posterior that the multipliers of a box speak of: on letters of nearly the least e, T_u q in the box, T_s q = softmax(a).

        By least squares; where the bound falls short for good, it is near the lowest posterior of the box.
        """
        from scipy.optimize import nnls

        form, n_u = self.form, len(low)
        a = v[2 * n_u :]
        s = np.exp(a - a.max()) / np.exp(a - a.max()).sum()
        on = np.flatnonzero(e - e.min() <= 10.0 * missing + 1e-8)
        rows = np.vstack([form.T_u[:, on], form.T_s[:, on], np.ones(len(on))])
        q = np.zeros(len(e))
        q[on] = nnls(rows, np.concatenate([0.5 * (low + high), s, [1.0]]))[0]
        total = float(q.sum())
        return q / total if total > 0.0 else form.p_x

    def values(self, Q: Array) -> Array:
        """f(q) - lambda.q of the columns of Q."""
        return np.asarray(self.form.f(Q) - self.lam @ Q)

    def descended(self, q: Array) -> Array | None:
        """A posterior that is lower, if one is found from here."""
        return self.form.descended(self.lam, q[:, None].copy())[0][:, 0]


def search_boxes(
    asked: Asked,
    floor: float,
    budget: Budget,
    descend: Callable[[Array], Array | None] | None = None,
    thorough: bool = False,
) -> BoxSearch:
    """Prove f(q) - lambda.q >= -floor for all q; or meet posteriors below; or end with what is proven when the budget is spent.

    ``descend`` makes posteriors that count, and are lower, from what a box suggests. ``thorough``: posteriors below do not end the search,
    which proves what holds in spite of them.
    """
    form = asked.form
    n_u = len(form.T_u)
    off = 8.0 * (n_u + 24.0) * UNIT
    low, high = form.T_u.min(axis=1) * (1.0 - off), np.clip(form.T_u.max(axis=1) * (1.0 + off), THIN, 1.0)
    first = np.zeros(len(form.T_s)) if asked.private else np.log(np.maximum(form.T_s @ form.p_x, 1e-12))
    v = np.concatenate([np.zeros(n_u), np.full(n_u, 0.5), first])
    order = itertools.count()
    heap: list[tuple[float, int, Array, Array, Array]] = [(-math.inf, next(order), low, high, v)]
    found = BoxSearch(math.inf, 0, 0)
    w: Array = np.empty(len(form.p_x))
    while heap and (thorough or len(found.violating) < RULES.found):
        target = min(-floor, found.lowest / RULES.surely) if thorough else -floor
        if (found.violating and not thorough and found.lowest < RULES.nearly * heap[0][0]) or (
            found.cells > 0 and (budget.over or budget.cells_spent >= budget.cells)
        ):
            break
        inherited, _, low, high, v = heapq.heappop(heap)
        found.cells += 1
        budget.cells_spent += 1
        low, high, bound, closed, e = _weighed(asked, low, high, v, target, w)
        bound = max(bound, inherited)
        if closed or bound >= target:
            found.least = min(found.least, target)
            continue
        suggested: list[Array] = [w] if asked.private else [w, asked.primal(low, high, v, e, target - bound)]
        _look(asked, suggested, floor, found, descend or asked.descended)
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
    asked: Asked, low: Array, high: Array, v: Array, target: float, w: Array
) -> tuple[Array, Array, float, bool, Array]:
    """The box, tightened, and its bound; whether nothing of it can lie below the target; and e. v and w are its multipliers and weights."""
    low, high, best, e = low.copy(), high.copy(), -math.inf, w
    for _ in range(RULES.rounds):
        if not _tightened(low, high):
            return low, high, best, True, e
        asked.weighed(low, high, target, v, w)
        bound, e = asked.bound(low, high, v)
        best = max(best, bound)
        if best >= target or asked.form.gamma > 0.0 or not math.isfinite(bound):
            break
        before = float((high - low).max())
        _reduce(asked.form.T_u, e, target - bound + 1e-12 + 64.0 * UNIT * float(np.abs(e).max()), low, high)
        if (low > high).any():
            return low, high, best, True, e
        if float((high - low).max()) > RULES.worth * before:
            break
    return low, high, best, not _tightened(low, high), e


def _reduce(T_u: Array, e: Array, rho: float, low: Array, high: Array) -> None:
    """u <= max_x (T_ux - theta (e_x - min e)) + theta rho, and the same from below, outward; theta of the kernel, which may be any."""
    least = float(e.min())
    thetas = np.zeros((2, len(T_u)))
    best_shares(T_u, e, least, rho, thetas)
    slack = e - least
    for sign, theta, ends, other in ((1.0, thetas[0], high, np.minimum), (-1.0, thetas[1], low, np.maximum)):
        off = 64.0 * UNIT * (1.0 + theta * (float(np.abs(e).max()) + abs(least) + rho))
        other(ends, sign * ((sign * T_u - theta[:, None] * slack).max(axis=1) + theta * rho + off), out=ends)
    np.maximum(high, THIN, out=high)


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


def _look(
    asked: Asked, suggested: list[Array], floor: float, found: BoxSearch, descend: Callable[[Array], Array | None]
) -> None:
    """Whether what a box suggests, or what it descends to, violates the bound asked for."""
    for q in suggested:
        if float(asked.values(q[:, None])[0]) >= -RULES.worthwhile * floor and found.cells % 8 != 1:
            continue
        lower = descend(q)
        value = math.inf if lower is None else float(asked.values(lower[:, None])[0])
        found.lowest = min(found.lowest, value)
        if (
            lower is not None
            and value < -RULES.worthwhile * floor
            and all(np.abs(lower - one).sum() > 1e-3 for one in found.violating)
        ):
            found.violating.append(lower)


def _cut(form: TaskForm, low: Array, high: Array, w: Array) -> tuple[int, float] | None:
    """Along the u with the largest gap between h and its secant at T_u w; None if all sides are too short."""
    wide = high - low
    at = np.clip(form.T_u @ w, low + 0.2 * wide, high - 0.2 * wide)
    share = (at - low) / np.where(wide > 0.0, wide, 1.0)
    gaps = np.where(wide > RULES.thinnest, entr(at) - (1.0 - share) * entr(low) - share * entr(high), -math.inf)
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
