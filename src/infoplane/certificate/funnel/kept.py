"""Posteriors that caps allow where a target U is kept, not X itself: min over Q of g(q) = H(T_u q) - beta H(T_s q) - lambda.q.

Q = {q : L <= T_s q <= U, q <= most}. For a fixed T_s q the rest of g is concave: posteriors on at most rank(T_s) letters suffice, as where
X is kept. Boxes of u = T_u q are bounded (`kernels/funnel_proof/kept_boxes`), the one with the lowest bound is cut next, along the u with
the largest gap between h and its secant. For two letters of U boxes are intervals, and few; for many the bound is as valid, and closes
later.
"""

from __future__ import annotations

import heapq
import itertools
import math
from typing import NamedTuple

import numpy as np

from ...information import Array, entr
from ...kernels.funnel_proof.kept_boxes import THIN, descend_kept, weigh_kept_boxes
from ...kernels.funnel_proof.search import WORTH
from ...posterior.channel import EPS
from ...posterior.programme import Point, Programme
from ...runtime.budget import Budget
from .allowed import PIECE, AllowedPosteriors, Caps


class BoxEffort(NamedTuple):
    """How a search over boxes of T_u q is paced."""

    random: int = 64
    """Local searches of a round that begin at random p(u|z); as many begin at columns in use, at most."""
    enough: int = 48
    """Violating posteriors at which a search ends: they change the prices."""
    batch: int = 32
    """Boxes that are cut at a time, those with the lowest bounds."""


EFFORT = BoxEffort()


class AllowedTasks(AllowedPosteriors):
    """The posteriors within caps, where ``programme.kept`` is T_u."""

    def __init__(self, programme: Programme, caps: Caps, rng: np.random.Generator) -> None:
        super().__init__(programme, caps, rng)
        assert programme.kept is not None
        self.T_u, self.T_s = programme.kept, programme.T
        self.rows = np.ascontiguousarray(np.vstack([self.T_s, self.T_u]).T)
        self.most = np.minimum(caps.most * (1.0 + 8.0 * EPS), 1.0)
        nothing, all_of_it = np.zeros(len(self.T_u)), np.ones(len(self.T_u))
        self.lower = np.concatenate([np.zeros(len(self.most)), self.L, nothing])
        self.upper = np.concatenate([self.most, self.U, all_of_it])
        self.within = (
            np.concatenate([np.zeros(len(self.most)), caps.L, nothing]),
            np.concatenate([np.minimum(caps.most, 1.0), caps.U, all_of_it]),
        )
        self.few = len(self.T_u) <= 2

    def error(self, aim: Point) -> float:
        """Rounding of a bound."""
        return self.channel.error(aim.lam, aim.beta + 1.0)[0]

    def _ends(self, lam: Array, beta: float, used: Array, budget: Budget) -> Array:
        """Where descents from the tangents of H(T_u q) end, at columns in use and at random p(u|z)."""
        some = self.rng.permutation(used.shape[1])[: EFFORT.random]
        begun = np.vstack([(self.T_u @ used[:, some]).T, self.rng.dirichlet(np.ones(len(self.T_u)), EFFORT.random)])
        found, values = np.zeros((len(begun), len(lam))), np.full(len(begun), np.inf)
        for first in range(0, len(begun), PIECE):
            part = slice(first, first + PIECE)
            descend_kept(self.rows, len(self.T_s), lam, beta, *self.within, begun[part], found[part], values[part])
            if budget.over:
                break
        return np.ascontiguousarray(found[np.isfinite(values)].T)

    def search(self, aim: Point, floor: float) -> TaskPricing:  # type: ignore[override]
        """By boxes of T_u q."""
        return TaskPricing(self, aim, floor)


class TaskPricing:
    """One search for posteriors within caps with g(q) < floor, or a proof that there are none."""

    mistakes = 0  # what closes a box is computed once, by the plain formula

    def __init__(self, allowed: AllowedTasks, aim: Point, floor: float) -> None:
        self.allowed, self.aim, self.floor = allowed, aim, floor
        off = 8.0 * (len(allowed.T_u) + 24) * EPS
        low, high = allowed.T_u.min(axis=1) * (1.0 - off), np.minimum(allowed.T_u.max(axis=1) * (1.0 + off), 1.0)
        self.order = itertools.count()
        self.heap: list[tuple[float, int, Array, Array, int, float]] = []
        """Boxes that wait: their bounds, and where they are cut."""
        self.cells, self.given_up, self.lowest_given_up = 0, 0, math.inf
        self.found: list[Array] = []
        self._weigh(low[None], high[None], np.array([-math.inf]))

    @property
    def prices(self) -> Array:
        """The lambda that `least` is about."""
        return self.aim.lam

    @property
    def left(self) -> int:
        """Boxes that wait, or were given up."""
        return len(self.heap) + self.given_up

    def least(self) -> float:
        """Proven: g(q) >= this for every q within the caps."""
        return min(self.floor, self.lowest_given_up, self.heap[0][0] if self.heap else math.inf)

    def violating(self) -> Array:
        """Posteriors (|X|, k) well on the way to the floor."""
        return np.column_stack(self.found) if self.found else np.empty((len(self.aim.lam), 0))

    def advance(self, cells: int) -> bool:
        """Bound at most so many boxes, in pairs; False once none waits, or enough violations have been met."""
        last = self.cells + cells
        while self.heap and self.cells + 2 <= last and len(self.found) < EFFORT.enough:
            cut = [heapq.heappop(self.heap) for _ in range(min(EFFORT.batch, len(self.heap), (last - self.cells) // 2))]
            low, high = (np.repeat(np.array([one[place] for one in cut]), 2, axis=0) for place in (2, 3))
            for at, (_, _, _, _, side, where) in enumerate(cut):
                high[2 * at, side] = low[2 * at + 1, side] = where
            self._weigh(low, high, np.repeat([one[0] for one in cut], 2))
        return bool(self.heap) and len(self.found) < EFFORT.enough

    def _weigh(self, low: Array, high: Array, known: Array) -> None:
        """Close boxes, or say where they are cut; known are the bounds of those that they were cut from."""
        allowed, lam, beta = self.allowed, self.aim.lam, self.aim.beta
        # p(u|z) sums to 1: what the others leave.
        slack = 16.0 * (low.shape[1] + 4) * EPS
        high = np.minimum(high, 1.0 - low.sum(axis=1, keepdims=True) + low + slack)
        low = np.maximum(low, 1.0 - high.sum(axis=1, keepdims=True) + high - slack)
        some = (low <= high).all(axis=1)
        low, high, known = low[some], high[some], known[some]
        bounds, Q = np.empty(len(low)), np.empty((len(low), len(lam)))
        weigh_kept_boxes(allowed.rows, len(allowed.T_s), lam, beta, allowed.lower, allowed.upper, low, high, bounds, Q)
        self.cells += len(low)
        bounds = np.maximum(bounds - allowed.error(self.aim), known)
        g = allowed.programme.costs(Q.T, beta) - Q @ lam
        inside = allowed.caps.allows(allowed.T_s, Q.T, slack=1e-9)
        for box in np.flatnonzero(~(bounds >= self.floor)):
            met = bool(Q[box].any())
            if met and inside[box] and g[box] < WORTH * self.floor:
                self.found.append(Q[box])
            side, where = _cut(low[box], high[box], allowed.T_u @ Q[box] if met else None)
            if side < 0:
                self.given_up += 1
                self.lowest_given_up = min(self.lowest_given_up, float(bounds[box]))
            else:
                heapq.heappush(self.heap, (float(bounds[box]), next(self.order), low[box], high[box], side, where))


def _cut(low: Array, high: Array, u: Array | None) -> tuple[int, float]:
    """The side along which a box is cut, -1 if all are too short, and where: at p(u|z) of its relaxation, unless that is near an end."""
    width = high - low
    if u is None:
        side = int(width.argmax())
        return (side, float(low[side] + 0.5 * width[side])) if width[side] > THIN else (-1, 0.0)
    u = np.clip(u, low, high)
    secant = entr(low) + (entr(high) - entr(low)) * (u - low) / np.where(width > THIN, width, 1.0)
    missed = np.where(width > THIN, entr(u) - secant, -1.0)
    side = int(missed.argmax() if missed.max() > EPS else np.where(width > THIN, width, -1.0).argmax())
    if width[side] <= THIN:
        return -1, 0.0
    near = min(u[side] - low[side], high[side] - u[side]) < 0.1 * width[side]
    return side, float(low[side] + 0.5 * width[side] if near else u[side])
