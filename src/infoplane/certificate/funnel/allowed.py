"""Posteriors that a cap on every cluster allows, Q = {q : L <= Tq <= U, q <= most}, as column generation searches them.

A cap on the lift, |log p(s|z)/p(s)| <= eps, is L = e^-eps p_s, U = e^eps p_s; on its upper side alone L = 0. A smallest group of N expected
records among n leaves q_x <= p_x n / N, since p(z) q_x <= p_x. Local searches go by successive linear programmes, the proof by branch and
bound (`kernels/funnel_proof/capped_boxes.py`).

Where a target U is kept, not X itself, g(q) = H(T_u q) - beta H(T_s q) - lambda.q. For a fixed T_s q the rest of g is concave: posteriors
on at most rank(T_s) letters suffice, as where X is kept. Boxes of u = T_u q are bounded (`kernels/funnel_proof/kept_boxes`), the one with
the lowest bound is cut next, along the u with the largest gap between h and its secant. For two letters of U boxes are intervals, and few;
for many the bound is as valid, and closes later.
"""

from __future__ import annotations

import heapq
import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...information import Array, entr
from ...kernels.common import EPS
from ...kernels.funnel_proof.capped_boxes import CappedBoxes, advance_capped, descend_within
from ...kernels.funnel_proof.kept_boxes import SHORT, descend_kept, weigh_kept_boxes
from ...kernels.funnel_proof.search import WORTH
from ...posterior.programme import MEMORY, RULES, Channel, Point, Programme
from ...runtime.budget import Budget
from .generation import GIVEN, CellSearch, Finder


class AllowedEffort(NamedTuple):
    """How posteriors within caps are looked for, and how a search over boxes of T_u q is paced."""

    smooth: float = 0.8
    """Share of the former multipliers in those that local searches look at: between two programmes the multipliers themselves jump about
    (halves the rounds on Adult 225 x 10)."""
    piece: int = 64
    """Local searches between two looks at the budget."""
    peels: int = 3
    """Times that p_x is taken apart for columns to begin with: without them the programme stays at a release that says nothing."""
    decimals: int = 9
    """Posteriors that agree so far are one."""
    random: int = 64
    """Local searches of a round that begin at random p(u|z); as many begin at columns in use, at most."""
    enough: int = 48
    """Violating posteriors at which a search ends: they change the multipliers."""
    batch: int = 32
    """Boxes that are cut at a time, those with the lowest bounds."""


EFFORT = AllowedEffort()


class Caps(NamedTuple):
    """What a cluster may be: L <= p(s|z) <= U, p(x|z) <= most."""

    L: Array
    U: Array
    most: Array

    def allows(self, T: Array, Q: Array, slack: float = 1e-12) -> NDArray[np.bool_]:
        """Which columns of Q are within them, up to some slack."""
        u = T @ Q
        outside = (u < self.L[:, None] - slack) | (u > self.U[:, None] + slack)
        return np.asarray(~(outside.any(axis=0) | (self.most[:, None] + slack < Q).any(axis=0)))

    def share_of_prior(self, u: Array, p_s: Array, slack: float = 0.0) -> Array:
        """The least t for each row of u = p(s|z) at which (1 - t) u + t p_s is within L and U, each widened by a share of itself."""
        with np.errstate(divide="ignore", invalid="ignore"):
            above = np.where(u > self.U * (1.0 + slack), (u - self.U) / (u - p_s), 0.0)
            below = np.where(u < self.L * (1.0 - slack), (self.L - u) / (p_s - u), 0.0)
        return np.asarray(np.minimum(np.maximum(above, below).max(axis=1), 1.0))


class AllowedPosteriors(Finder):
    """The posteriors within caps; letters with equal columns of T are one as long as only Tq is capped."""

    def __init__(self, programme: Programme, caps: Caps, rng: np.random.Generator) -> None:
        self.programme, self.caps, self.rng = programme, caps, rng
        channel = programme.channel
        grouped = bool((caps.most >= 1.0).all())
        self.channel = channel if grouped else _Apart(channel)
        # The cap on Tq alone is kept when a posterior is spread over fewer letters; one on q is not.
        self.rank = self.channel.rank if grouped else len(self.channel.T)
        self.most: Array = np.ones(len(self.channel.T)) if grouped else np.minimum(caps.most * (1.0 + 8.0 * EPS), 1.0)
        # T is within |S| + 1 roundings of p(s|x), and the caps within a few: what is proven is proven of a little more than they allow.
        wider = 4.0 * (len(caps.U) + 8) * EPS
        self.L, self.U = caps.L * (1.0 - wider), np.minimum(caps.U * (1.0 + wider), 1.0 + wider)
        # Up to |X| |S| = 300 large stages do.
        self.few = self.channel.T.size <= 300
        self.centre: Array | None = None

    # -- local searches ---------------------------------------------------------------------------------------------------

    def columns(self, aim: Point, used: Array, below: float, budget: Budget) -> Array:
        """Local minima of g from the columns in use and from random slopes; at smoothed multipliers first, then as they are."""
        if self.centre is not None:
            self.centre = EFFORT.smooth * self.centre + (1.0 - EFFORT.smooth) * aim.lam
            new = self._descended(self.centre, aim, used, below, budget)
            if new.shape[1]:
                return new
        self.centre = aim.lam.copy()
        return self._descended(aim.lam, aim, used, below, budget)

    def around(self, point: Point, apart: float, below: float, budget: Budget) -> Array:
        """Posteriors with g < below where local searches end at multipliers that lie so far apart, in nats: not only minima of g itself."""
        lam = point.lam + apart * self.rng.standard_normal(len(point.lam))
        return self._descended(lam, point, point.used, below, budget)

    def _descended(self, lam: Array, aim: Point, used: Array, below: float, budget: Budget) -> Array:
        """Where local searches at multipliers lam end, those with g < below at the multipliers of the aim; each posterior once."""
        Q = self._ends(lam, aim.beta, used, budget)
        g = self.programme.costs(Q, aim.beta) - aim.lam @ Q
        _, distinct = np.unique(Q.round(EFFORT.decimals), axis=1, return_index=True)
        good = distinct[g[distinct] < below]
        return Q[:, good[np.argsort(g[good])][: RULES.most_found]]

    def _ends(self, lam: Array, beta: float, used: Array, budget: Budget) -> Array:
        """Where descents end that begin from the relaxations with the slopes of tangents at the columns in use, and random ones."""
        gathered, letter = self.channel.gather(lam)
        slopes = np.vstack([self._tangents(gathered, used), self._random(gathered)])
        self.rng.shuffle(slopes)
        found, values = np.zeros_like(slopes), np.full(len(slopes), np.inf)
        lower = np.concatenate([np.zeros(len(gathered)), self.caps.L])
        upper = np.concatenate([self.most, self.caps.U])
        for first in range(0, len(slopes), EFFORT.piece):
            part = slice(first, first + EFFORT.piece)
            descend_within(self.channel.T, gathered, beta, lower, upper, slopes[part], found[part], values[part])
            if budget.spent:
                break
        rows = found[np.isfinite(values)]
        Q = np.zeros((self.channel.letters, len(rows)))
        Q[letter] = rows.T
        return np.asarray(Q / Q.sum(axis=0))

    def _tangents(self, gathered: Array, used: Array) -> Array:
        """Slopes of g's tangents at the columns in use, floored at masses between 0.3 and 0.001."""
        floors = 10.0 ** (-0.5 - 2.5 * self.rng.random(used.shape[1]))
        rows = np.zeros((used.shape[1], len(gathered)))
        np.add.at(rows.T, self.channel.group, used)
        return -gathered - np.log(np.maximum(rows, floors[:, None])) - 1.0

    def _random(self, gathered: Array) -> Array:
        """Random slopes; each letter is in favour once."""
        # Local searches of a round, at least; else two for each letter.
        count = max(2 * len(gathered), 100)
        # Random slopes of a local search: their largest standard deviation, and what a letter in favour gets besides, in nats.
        slopes = -gathered + 1.5 * self.rng.random((count, 1)) * self.rng.standard_normal((count, len(gathered)))
        slopes[np.arange(len(gathered)), np.arange(len(gathered))] -= 3.0
        return slopes

    # -- the proof --------------------------------------------------------------------------------------------------------

    def search(self, aim: Point, floor: float) -> CellSearch | KeptSearch:
        """By boxes."""
        return CappedSearch(self, aim, floor)

    def challenge(self, proof: Point, claim: float) -> tuple[Array, float] | None:
        """By the local searches, at the multipliers of the proof.

        Their programmes keep a cap up to 1e-10 only, which is none for a value of the secret of mass 1e-11: what they find is mixed
        with p_x until it is within the caps to the last digit.
        """
        below = claim - self.error(proof)
        Q = self._descended(proof.lam, proof, self.programme.Q, below, Budget())
        if not Q.shape[1]:
            return None
        T, p_x = self.programme.T, self.programme.p_x
        with np.errstate(divide="ignore", invalid="ignore"):
            crowded = np.where(self.caps.most < Q.T, (Q.T - self.caps.most) / (Q.T - p_x), 0.0).max(axis=1)
        t = np.minimum(np.maximum(self.caps.share_of_prior(Q.T @ T.T, T @ p_x), crowded), 1.0)
        Q = (1.0 - t) * Q + t * p_x[:, None]
        g = self.programme.costs(Q, proof.beta) - proof.lam @ Q
        return (Q[:, int(g.argmin())], float(g.min())) if g.min() < below else None


class _Apart(Channel):
    """A channel in which no letters count as one."""

    def __init__(self, channel: Channel) -> None:
        self.letters = channel.letters
        self.T = self.full = channel.full
        self.first = self.group = np.arange(channel.letters)
        self.rank, self.apart = channel.letters, 0.0


class CappedSearch(CellSearch):
    """One search for posteriors within caps with g(q) < floor, or a proof that there are none.

    It makes no mistakes: what closes a cell is computed once, by the plain formulas (`kernels/funnel_proof/capped_cell.py`).
    """

    def __init__(self, allowed: AllowedPosteriors, aim: Point, floor: float) -> None:
        channel = allowed.channel
        super().__init__(channel, aim.lam, aim.beta, floor, -GIVEN * floor, allowed.rank)
        n, m = channel.T.shape
        cells = max(min(MEMORY // (17 * n + 9 * m + 64), RULES.most_cells), 2)
        # np.empty: pages that no cell ever reaches are never touched.
        boxes = CappedBoxes(
            channel.T,
            self.gathered,
            np.bincount(channel.group, allowed.programme.p_x).astype(float),
            allowed.L,
            allowed.U,
            allowed.most,
            self.number,
            self.tally,
            np.arange(cells),
            np.empty(cells),
            np.empty((cells, n)),
            np.empty((cells, n)),
            np.empty((cells, m + 1), np.int64),
            np.empty((cells, n + m), np.uint8),
            np.empty(cells, np.int64),
            np.empty((cells, 2)),
            np.empty((RULES.most_found, n)),
            np.zeros(2**14, np.int64),
        )
        self.begin(boxes, advance_capped)


def peeled(T: Array, p_x: Array, caps: Caps, rng: np.random.Generator, noise: float) -> Array:
    """Posteriors within caps whose mixture is p_x: a vertex of low H, as much of it as leaves a rest that the caps allow, and so on.

    What stops it, a letter that is used up or a row of the rest that meets its cap, holds for every posterior after it.
    """
    n = len(p_x)
    rest, mass = p_x.copy(), 1.0
    rows = np.ascontiguousarray(T.T)
    lower, upper = np.concatenate([np.zeros(n), caps.L]), np.concatenate([np.minimum(caps.most, 1.0), caps.U])
    columns = [p_x / p_x.sum()]
    for _ in range(n + 2 * len(T)):
        slopes = noise * rng.standard_normal((1, n)) - np.log(np.maximum(rest / mass, 1e-6))
        q, value = np.zeros((1, n)), np.empty(1)
        descend_within(rows, np.zeros(n), 0.0, lower, upper, slopes, q, value)
        if not np.isfinite(value[0]):
            break
        columns.append(q[0])
        u, left = T @ q[0], T @ rest
        with np.errstate(divide="ignore", invalid="ignore"):
            by_letter = np.where(q[0] > 0.0, rest / q[0], np.inf)
            above = np.where(caps.U - u > 1e-11, np.maximum(caps.U * mass - left, 0.0) / (caps.U - u), np.inf)
            below = np.where(u - caps.L > 1e-11, np.maximum(left - caps.L * mass, 0.0) / (u - caps.L), np.inf)
        t = min(by_letter.min(), above.min(), below.min(), mass)
        rest, mass = np.maximum(rest - t * q[0], 0.0), mass - t
        if mass < 1e-9:
            break
        met = t * (1.0 + 1e-9) + 1e-15
        rest[by_letter <= met] = 0.0
        upper[:n][rest <= 1e-14] = 0.0
        lower[n:] = np.where(above <= met, caps.U, lower[n:])
        upper[n:] = np.where((below <= met) & (above > met), caps.L, upper[n:])
    return np.column_stack(columns)


def lift_caps(p_s: Array, chosen: NDArray[np.bool_], eps: float, two_sided: bool) -> tuple[Array, Array]:
    """L and U of a cap of eps nats on the lift log p(s|z)/p(s), on both sides or above only, of the chosen values of the secret."""
    U = np.where(chosen, np.minimum(np.exp(min(eps, 700.0)) * p_s, 1.0), 1.0)
    L = np.where(chosen, np.exp(-eps) * p_s, 0.0) if two_sided else np.zeros(len(p_s))
    return L, U


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
        for first in range(0, len(begun), EFFORT.piece):
            part = slice(first, first + EFFORT.piece)
            descend_kept(self.rows, len(self.T_s), lam, beta, *self.within, begun[part], found[part], values[part])
            if budget.over:
                break
        return np.ascontiguousarray(found[np.isfinite(values)].T)

    def search(self, aim: Point, floor: float) -> KeptSearch:
        """By boxes of T_u q."""
        return KeptSearch(self, aim, floor)


class KeptSearch:
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
    def multipliers(self) -> Array:
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
        return (side, float(low[side] + 0.5 * width[side])) if width[side] > SHORT else (-1, 0.0)
    u = np.clip(u, low, high)
    secant = entr(low) + (entr(high) - entr(low)) * (u - low) / np.where(width > SHORT, width, 1.0)
    missed = np.where(width > SHORT, entr(u) - secant, -1.0)
    side = int(missed.argmax() if missed.max() > EPS else np.where(width > SHORT, width, -1.0).argmax())
    if width[side] <= SHORT:
        return -1, 0.0
    near = min(u[side] - low[side], high[side] - u[side]) < 0.1 * width[side]
    return side, float(low[side] + 0.5 * width[side] if near else u[side])
