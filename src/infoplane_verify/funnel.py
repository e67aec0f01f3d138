"""Is g(q) = H(q) - beta H(Tq) - lambda.q >= target for every distribution q? Boxes l <= q <= b, bounded from below.

Let a_x + s_x t be a line below h(t) = -t log t on [l_x, b_x], v a distribution on Y and nu a number,
d_x = s_x - lambda_x + beta sum_y T_yx log v_y - nu and m_x = min(d_x l_x, d_x b_x). Then for every q in the box, exactly,

    g(q) = B + sum_x e_x(q_x) + beta KL(Tq || v),    B = nu + sum_x (a_x + m_x),    e_x(t) = d_x t - m_x + h(t) - a_x - s_x t,

every term after B at least 0 (docs/howto/verify.md has the proof). A q below the target has e_x(q_x) <= rho = target - B; e_x is concave,
so q_x lies near an end of its interval, which shrinks it or lets a cut leave out the middle. And some q of least g has no more letters than
there are y: for given Tq the rest of g is concave, so least at a vertex of {q >= 0, Tq = u}. For beta <= 1 g itself is concave, as
H(q) - H(Tq) = H(X|Y) - H(Y|X) is: one letter is enough.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .line import below
from .numbers import UNIT, Array, Which, above, at_most, h
from .search import Cells, Closed, Examined, Multipliers

STEPS, LINE_STEPS = 60, 8
"""Pairwise steps towards the lowest q of a box's relaxation, and Newton's steps along the line of each."""

ROUNDS, WORTHWHILE = 6, 0.95
"""A box is shrunk and bounded again so often, as long as some interval falls to this share."""

CHORDS = 8
"""Chords that lead to the end of an interval where e_x exceeds rho."""

SMOOTH = 1e-12
"""Share of the uniform distribution in v: no log 0."""


class Bound(NamedTuple):
    """Of n boxes."""

    safe: Array
    """B, less what rounding may have done to it."""
    margin: Array
    slope: Array
    offset: Array
    d: Array
    m: Array
    v: Array
    nu: Array

    def of(self, which: Any) -> Bound:
        """Of some boxes, or of one."""
        return Bound(*(one[which] for one in self))

    def excess(self, t: Array) -> Array:
        """e_x(t)."""
        e: Array = self.d * t - self.m + h(t) - self.offset - self.slope * t
        return e


class FunnelBoxes:
    """The boxes of one lambda; T has a row per letter x."""

    def __init__(self, T: Array, lam: Array, beta: float) -> None:
        self.T, self.lam, self.beta = T, lam, beta
        self.letters, self.outcomes = T.shape
        self.most = min(T.shape) if beta > 1.0 else 1
        """Letters that a posterior needs."""
        self.off = 8.0 * (self.letters + 4.0) * UNIT
        self.batch = int(np.clip(1_000_000 // T.size, 1, 512))

    def root(self) -> Cells:
        """All of the simplex."""
        n = self.letters
        return Cells(np.zeros((1, n)), np.ones((1, n)), np.full((1, n), 1.0 / n))

    def values(self, Q: Array) -> tuple[Array, float]:
        """g(q) for the rows of Q, and what rounding may have done to it."""
        size = np.abs(self.lam).max() + np.log(self.letters) + self.beta * (1.0 + np.log(self.outcomes)) + 1.0
        found: Array = h(Q).sum(axis=1) - self.beta * h(Q @ self.T).sum(axis=1) - Q @ self.lam
        return found, 8.0 * (self.letters + self.outcomes + 32.0) * UNIT * float(size)

    def descended(self, Q: Array) -> Array:
        """Posteriors that are lower, by pairwise steps on g with H(q) replaced by its tangent, which lies above it."""
        for _ in range(8):
            slope = -np.log(np.maximum(Q, 1e-300)) - 1.0
            Q = self._relaxed(slope - self.lam, np.zeros_like(Q), np.where(Q > 0.0, 1.0, 0.0), Q)
        return Q

    def examine(self, cells: Cells, target: float) -> Examined:
        """Bound, shrink, and bound again; what stays below the target is cut in two."""
        found = Examined()
        for rounds_left in reversed(range(ROUNDS)):
            cells = self._propagated(cells)
            if not len(cells.low):
                break
            cells, bound = self.bounded(cells)
            done = at_most(target, bound.safe)
            found.close(
                Closed(cells.low[i], cells.high[i], float(bound.safe[i]), self._by(bound.of(i)))
                for i in np.flatnonzero(done)
            )
            cells, bound = cells.of(~done), bound.of(~done)
            found.met(cells.hint)
            rho = target - bound.safe + bound.margin
            left, right, tall = self.ends(cells, bound, rho)
            near_low, near_high = (~above(bound.excess(end), rho[:, None]) for end in (cells.low, cells.high))
            empty = np.any(tall & ~near_low & ~near_high, axis=1)
            smaller = Cells(
                np.where(tall & ~near_low, right, cells.low), np.where(tall & ~near_high, left, cells.high), cells.hint
            )
            shrunk = np.any((smaller.high - smaller.low) < WORTHWHILE * (cells.high - cells.low), axis=1)
            again = ~empty & shrunk if rounds_left else np.zeros_like(empty)
            cut = ~empty & ~again
            gaps = np.where((tall & near_low & near_high)[:, :, None], np.stack([left, right], axis=2), np.nan)
            found.cut(*self.halves(smaller.of(cut), bound.of(cut), gaps[cut]))
            cells = smaller.of(again)
        return found

    def _by(self, bound: Bound) -> Multipliers:
        """Of one box."""
        return Multipliers(bound.slope, -bound.d, np.ones(self.letters), np.log(bound.v), np.zeros(self.outcomes))

    # -- the bound -----------------------------------------------------------------------------------------------------

    def bounded(self, cells: Cells) -> tuple[Cells, Bound]:
        """The cells with the posteriors of their relaxations, and what the relaxations prove."""
        slope, offset = below(cells.low, cells.high)
        q = self._relaxed(slope - self.lam, cells.low, cells.high, _completed(cells))
        v = q @ self.T + SMOOTH / self.outcomes
        v = v / v.sum(axis=1, keepdims=True) * (1.0 - 8.0 * (self.outcomes + 4.0) * UNIT)  # sums to no more than 1
        log_v = np.log(v)
        c = slope - self.lam + self.beta * (log_v @ self.T.T)
        nu = self._multiplier(cells, c)
        d = c - nu[:, None]
        m = np.minimum(d * cells.low, d * cells.high)
        inside = cells.high > 0.0
        # Rounding of d_x moves B by no more than its largest, as sum_x q_x = 1; the other terms are those of a sum over x.
        terms = (
            np.abs(np.where(inside, slope, 0.0)).max(axis=1)
            + np.abs(self.lam).max()
            + self.beta * (np.abs(log_v) @ self.T.T).max(axis=1)
            + np.abs(nu)
        )
        sums = (np.abs(m) + h(cells.low) + h(cells.high) + 2.0 * np.abs(slope) * cells.high).sum(axis=1) + np.abs(nu)
        margin = 4.0 * UNIT * ((2.0 * self.outcomes + 40.0) * terms + (self.letters + 40.0) * sums)
        B = nu + (offset + m).sum(axis=1)
        return cells._replace(hint=q), Bound(B - margin, margin, slope, offset, d, m, v, nu)

    def _multiplier(self, cells: Cells, c: Array) -> Array:
        """The nu with the largest B: c at the letter that is filled in part when mass 1 goes to the cheapest letters first."""
        order = np.argsort(c, axis=1, kind="stable")
        filled = np.cumsum(np.take_along_axis(cells.high - cells.low, order, axis=1), axis=1)
        short = filled < 1.0 - cells.low.sum(axis=1, keepdims=True)
        place = np.minimum(short.sum(axis=1), self.letters - 1)
        nu: Array = np.take_along_axis(c, np.take_along_axis(order, place[:, None], axis=1), axis=1)[:, 0]
        return nu

    def _relaxed(self, linear: Array, low: Array, high: Array, q: Array) -> Array:
        """Towards the least linear.q - beta H(Tq) in each box: mass from the letter of steepest slope to that of the lowest."""
        each = np.arange(len(q))
        q = q.copy()
        for _ in range(STEPS):
            u = q @ self.T
            slope = linear + self.beta * (np.log(np.maximum(u, 1e-300)) @ self.T.T)
            to = np.where(q < high, slope, np.inf).argmin(axis=1)
            fro = np.where(q > low, slope, -np.inf).argmax(axis=1)
            most = np.minimum(high[each, to] - q[each, to], q[each, fro] - low[each, fro])
            most = np.where(slope[each, to] < slope[each, fro] - 1e-13, most, 0.0)
            if not (most > 0.0).any():
                break
            moved = self._step(u, self.T[to] - self.T[fro], linear[each, to] - linear[each, fro], most)
            q[each, to] += moved
            q[each, fro] -= moved
            q = np.clip(q, low, high)
        return q

    def _step(self, u: Array, direction: Array, slope: Array, most: Array) -> Array:
        """The least of slope s - beta H(u + s direction) for 0 <= s <= most, by Newton's method between brackets."""
        low, high, s = np.zeros_like(most), most.copy(), most.copy()
        for _ in range(LINE_STEPS):
            at = np.maximum(u + s[:, None] * direction, 1e-300)
            first = slope + self.beta * (direction * np.log(at)).sum(axis=1)
            second = self.beta * (direction**2 / at).sum(axis=1)
            high, low = np.where(first > 0.0, s, high), np.where(first > 0.0, low, s)
            newton = s - first / np.maximum(second, 1e-300)
            s = np.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
            s = np.where(low >= most, most, s)
        return s

    # -- the box -------------------------------------------------------------------------------------------------------

    def _propagated(self, cells: Cells) -> Cells:
        """By sum_x q_x = 1 and by the number of letters; without the boxes that are *seen* to be empty."""
        low, high = cells.low, cells.high
        full = (low > 0.0).sum(axis=1, keepdims=True) >= self.most
        high = np.where(full & (low <= 0.0), 0.0, high)
        high = np.minimum(high, np.maximum(1.0 - (low.sum(axis=1, keepdims=True) - low), 0.0) + self.off * (high > 0.0))
        low = np.maximum(low, 1.0 - (high.sum(axis=1, keepdims=True) - high) - self.off)
        held = (low > 0.0).sum(axis=1)
        empty = above(low, high).any(axis=1) | (held > self.most) | above(1.0 - self.off, high.sum(axis=1))
        return Cells(low, high, cells.hint).of(~empty)

    def ends(self, cells: Cells, bound: Bound, rho: Array) -> tuple[Array, Array, Which]:
        """Where e_x exceeds rho: from ``left`` to ``right`` at least, if ``tall``.

        e_x is concave with its peak at exp(d_x - 1 - s_x), so a chord from an end of the interval to a point above rho crosses rho
        where e_x is already above it.
        """
        level = rho[:, None]
        peak = np.clip(np.exp(np.clip(bound.d - 1.0 - bound.slope, -700.0, 1.0)), cells.low, cells.high)
        tall = above(bound.excess(peak), level)
        ends = []
        for end in (cells.low, cells.high):
            base, point = bound.excess(end), peak
            for _ in range(CHORDS):
                top = bound.excess(point)
                share = (level - base) / np.where(top > base, top - base, 1.0)
                point = np.where(tall & (top > level), end + np.clip(share, 0.0, 1.0) * (point - end), point)
            # Towards the peak by more than rounding, and not at all unless e_x is seen to be above rho there.
            point = point + 1e-9 * (peak - point)
            ends.append(np.where(tall & at_most(level, bound.excess(point)), point, peak))
        return ends[0], ends[1], tall

    def halves(self, cells: Cells, bound: Bound, gaps: Array) -> tuple[Cells, Array]:
        """Each box cut at the letter whose h is farthest above its line; the gap between the halves holds no q below the target."""
        q = np.clip(cells.hint, cells.low, cells.high)
        missed = h(q) - bound.offset - bound.slope * q
        widest = (cells.high - cells.low).argmax(axis=1)
        each = np.arange(len(q))
        x = missed.argmax(axis=1)
        x = np.where(missed[each, x] > 1e-15, x, widest)
        middle = (0.25 * (cells.low + cells.high) + 0.5 * q)[each, x]
        left, right = np.moveaxis(np.where(np.isnan(gaps[each, x]), middle[:, None], gaps[each, x]), 1, 0)
        upper, lower = cells.high.copy(), cells.low.copy()
        upper[each, x], lower[each, x] = left, right
        halves = Cells(
            np.concatenate([cells.low, lower]), np.concatenate([upper, cells.high]), np.tile(cells.hint, (2, 1))
        )
        return halves, np.tile(bound.safe, 2)


def _completed(cells: Cells) -> Array:
    """The hints, moved into their boxes so that they sum to 1."""
    q = np.clip(cells.hint, cells.low, cells.high)
    missing = 1.0 - q.sum(axis=1, keepdims=True)
    room = np.where(missing > 0.0, cells.high - q, q - cells.low)
    share = missing / np.maximum(room.sum(axis=1, keepdims=True), 1e-300)
    filled: Array = q + room * np.clip(share, -1.0, 1.0)
    return filled
