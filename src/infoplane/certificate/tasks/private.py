"""Nothing of a binary secret: the largest I(U;Z) with I(S;Z) = 0, by transport between letters on the two sides of p(s).

Every posterior has T_s q = p_s, and H(T_u q) - lambda.q is concave, so that vertices of {q >= 0, sum q = 1, T_s q = p_s} suffice:
letters with p(s|x) = p(s), and pairs of letters on either side of it, q = (d_y e_x + d_x e_y) / (d_x + d_y), d = |p(s|x) - p(s)|. In
units of p(x) d the programme over them is a transport problem, with cost (1/d_x + 1/d_y) H(T_u q). Any lambda proves

    keep I(U;Z) <= keep H(U) - lambda.p_x - min over vertices of (keep H(T_u q) - lambda.q).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...information import Array, IntArray, entr
from ...kernels.common.numerics import UNIT
from ...posterior.edge_columns import EdgeColumns
from ...posterior.task_form import TaskForm
from ...runtime.budget import Budget


class TransportEffort(NamedTuple):
    """How columns of the transport are added."""

    rounds: int = 60
    """Most times that columns are added."""
    partners: int = 4
    """Cheapest partners of every letter, on the other side, to begin with."""
    new: int = 6_000
    """Columns that a round adds, at most."""


EFFORT = TransportEffort()


class PrivateRelease(NamedTuple):
    """An encoder with I(S;Z) = 0 and a bound that none exceeds; nats."""

    encoder: Array
    """Of the classes."""
    upper: float
    """Of I(U;Z)."""
    lam: Array
    edges: tuple[IntArray, IntArray, Array] | None
    """Of a binary secret its posteriors (x, y, t), q = (1 - t) e_x + t e_y, before those that say the same were joined: columns for
    every cap."""
    posteriors: Array | None
    """Of others posteriors as columns, of which it is a mixture."""
    rounds: int


class Sides:
    """The letters on the two sides of p(s), and those on it; a letter that rounding leaves undecided is on both sides."""

    def __init__(self, form: TaskForm) -> None:
        s = form.T_s[-1]
        away = s - float(s @ form.p_x)
        self.off = 8.0 * (len(form.p_x) + len(form.T_s) + 24.0) * UNIT
        """More than what rounding does to a distance."""
        self.above, self.below = np.flatnonzero(away > -self.off), np.flatnonzero(away < self.off)
        self.on = np.flatnonzero(np.abs(away) <= self.off)
        self.d = np.abs(away)


def private_release(form: TaskForm, tol: float, budget: Budget) -> PrivateRelease:
    """The release, and its bound; S has two letters."""
    sides = Sides(form)
    x, y = sides.above, sides.below
    d_x, d_y = sides.d[x][:, None], sides.d[y][None]
    total = np.maximum(d_x + d_y, 1e-300)
    t = d_x / total
    # t is off by no more than this; the cost is concave in t, so that its least value nearby is at an end.
    wide = np.minimum(2.0 * sides.off / total, 1.0)
    costs = _entropies(form, x, y, t)
    ends = [np.clip(t - wide, 0.0, 1.0), np.clip(t + wide, 0.0, 1.0)]
    least_costs = [_entropies(form, x, y, end) for end in ends]
    columns = EdgeColumns(form)
    columns.x = columns.y = sides.on
    columns.t = np.zeros(len(sides.on))
    usable = (d_x > sides.off) & (d_y > sides.off)
    chosen = _first(costs / np.where(usable, d_x * d_y, 1.0) * total, usable, form, sides)
    best: tuple[float, Array] = (math.inf, np.zeros(len(form.p_x)))
    h_u, h_s = (math.fsum(entr(T @ form.p_x).tolist()) for T in (form.T_u, form.T_s))
    known = np.zeros(costs.shape, dtype=bool)
    weights: Array = np.zeros(0)
    rounds = 0
    for _ in range(EFFORT.rounds):
        rows, others = np.nonzero(chosen & ~known)
        columns.add(x[rows], y[others], t[rows, others])
        known |= chosen
        found = columns.solve()
        # The programme's costs are less by hide H(S), the same for all.
        lam = found.lam + form.hide * h_s
        weights, rounds = found.weights, rounds + 1
        reduced = np.minimum(
            *(
                form.keep * h - (1.0 - end) * lam[x][:, None] - end * lam[y][None]
                for h, end in zip(least_costs, ends, strict=True)
            )
        )
        single = form.keep * entr(form.T_u[:, sides.on]).sum(axis=0) - lam[sides.on]
        least = min(float(reduced.min(initial=math.inf)), float(single.min(initial=math.inf)))
        upper = _upper(form, h_u, lam, least)
        best = min(best, (upper, lam), key=lambda one: one[0])
        value = h_u - float(weights @ entr(columns.at(form.T_u)).sum(axis=0))
        if best[0] - value <= tol or budget.over:
            break
        violated = np.where(usable & ~known, reduced, math.inf)
        count = min(EFFORT.new, int((violated < 0.0).sum()))
        if not count:
            break
        chosen = violated <= np.partition(violated.ravel(), count - 1)[count - 1]
    used = weights > 0.0
    own = columns.x[used], columns.y[used], columns.t[used]
    return PrivateRelease(columns.encoder(weights), *best, own, None, rounds)


def _upper(form: TaskForm, h_u: float, lam: Array, least: float) -> float:
    """The bound of I(U;Z), rounded up."""
    size = form.keep * (h_u + 1.0) * len(form.T_u) + float(np.abs(lam).max()) + abs(least)
    off = 8.0 * (len(form.whole.p_x) + len(form.T_u) + 400.0) * UNIT * size
    return (form.keep * h_u - math.fsum((lam * form.p_x).tolist()) - least + off) / form.keep


def _entropies(form: TaskForm, x: Any, y: Any, t: Array) -> Array:
    """H(T_u q) of every pair."""
    found = np.zeros(t.shape)
    for row in form.T_u:
        found += entr((1.0 - t) * row[x][:, None] + t * row[y][None])
    return found


def _first(costs: Array, usable: Array, form: TaskForm, sides: Sides) -> Array:
    """Pairs to begin with: the cheapest partners of every letter, and a feasible plan in the order of the first letter of U."""
    chosen = np.zeros(costs.shape, dtype=bool)
    if not costs.size:
        return chosen
    order = np.where(usable, costs, math.inf)
    few = min(EFFORT.partners, *costs.shape)
    chosen[np.argsort(order, axis=0)[:few], np.arange(costs.shape[1])] = True
    chosen[np.arange(costs.shape[0])[:, None], np.argsort(order, axis=1)[:, :few]] = True
    x, y = (side[np.argsort(form.T_u[0, side], kind="stable")] for side in (sides.above, sides.below))
    places = (
        {int(letter): place for place, letter in enumerate(sides.above)},
        {int(letter): place for place, letter in enumerate(sides.below)},
    )
    left, right = form.p_x * sides.d, form.p_x * sides.d
    i = j = 0
    while i < len(x) and j < len(y):
        chosen[places[0][int(x[i])], places[1][int(y[j])]] = True
        moved = min(left[x[i]], right[y[j]])
        left[x[i]] -= moved
        right[y[j]] -= moved
        if left[x[i]] <= right[y[j]]:
            i += 1
        else:
            j += 1
    return np.asarray(chosen & usable)
