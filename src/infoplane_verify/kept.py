"""Is g(q) >= target for every posterior q that caps allow, g(q) = H(T_u q) - beta H(T_s q) - lambda.q, where a target U is kept?

The caps: Q = {q : L <= T_s q <= U, q <= most}. Boxes l <= T_u q <= b: with lines o_u + c_u t below h(t) = -t log t on [l_u, b_u], a
distribution v of S, any number nu and any y, one for each value of S and of U, every q of Q in the box has

    g(q) = B + (terms that are at least 0),    B = sum_u o_u + nu + sum_x min(0, d_x most_x) + sum_r min(y_r low_r, y_r high_r),
    d_x = c.T_ux - lambda_x + beta sum_s T_sx log v_s - y.(T_sx, T_ux) - nu,

low and high being L and U of the values of S, l and b of those of U: h is above its lines, -H(s) = sum_s s log v_s + KL(s || v), and
y.(T_s q, T_u q) is at least its least value on the ranges. A linear programme over the box proposes y (`programme.py`); whatever it
proposes, B is computed by this formula. In an empty box some multiple of y has B as large as one likes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .line import below
from .numbers import UNIT, Array, above, at_most, h
from .programme import LATE, proposals
from .search import Cells, Closed, Examined, Multipliers
from .tasks import TaskBoxes

FARTHER = (1.0, 1e2, 1e4, 1e6, 1e8)
"""Multiples of y that are tried for a box in which the programme found no q."""


class KeptBoxes(TaskBoxes):
    """The boxes of one lambda within caps; T_u and T_s have a row per letter x."""

    def __init__(self, T_u: Array, T_s: Array, lam: Array, beta: float, L: Array, U: Array, most: Array) -> None:
        super().__init__(T_u, T_s, lam, 1.0, beta, 0.0)
        self.caps, self.most, self.rows = (L, U), most, np.hstack([T_s, T_u])

    def root(self) -> Cells:
        """One box that holds T_u q for every q."""
        return super().root()._replace(hint=np.full((1, self.letters), 1.0 / self.letters))

    def values(self, Q: Array) -> tuple[Array, float]:
        """g(q) of those rows that are within the caps, infinite for the others."""
        found, off = super().values(Q)
        s = Q @ self.S
        inside = ((s >= self.caps[0]) & (s <= self.caps[1])).all(axis=1) & (self.most >= Q).all(axis=1)
        return np.where(inside, found, np.inf), off

    def descended(self, Q: Array) -> Array:
        """A step of a local search would leave the caps."""
        return Q

    def examine(self, cells: Cells, target: float) -> Examined:
        """Bound each; what stays below the target is shrunk, if that can be, and cut in two."""
        found = Examined()
        for low, high, _ in zip(*cells, strict=True):
            low, high = self._tightened(low, high)
            if above(low, high).any():
                continue
            q, bound, e, by = self._bounded(low, high, target)
            if at_most(target, bound):
                found.close([Closed(low, high, bound, by)])
                continue
            found.met(q[None])
            if (self.most >= 1.0).all():
                low, high = self._shrunk(low, high, e, target - bound)
            found.cut(*self._halves(low, high, q, bound))
        return found

    def _bounded(self, low: Array, high: Array, target: float) -> tuple[Array, float, Array, Multipliers]:
        """A posterior that may be lowest, the best B of a few programmes less rounding, d + nu of it, and what it was computed from."""
        lower, upper = (np.concatenate(pair) for pair in zip(self.caps, (low, high), strict=True))
        line = below(low, high)
        c = self.U @ line[0] - self.lam
        best: Any = None
        late = 0
        for v, y, q in proposals(self.rows, self.S, c, self.hide, np.zeros(self.letters), self.most, lower, upper):
            t, late = q @ self.rows, late + 1
            empty = ((t < lower - 1e-9) | (t > upper + 1e-9)).any()
            for times in FARTHER if empty else FARTHER[:1]:
                bound, e, by = self._bound(line, v, y * times, lower, upper)
                if best is None or above(bound, best[1] + 1e-12):
                    best, late = (q, bound, e, by), 0
            if at_most(target, best[1]) or late > LATE:
                break
        found: tuple[Array, float, Array, Multipliers] = best
        return found

    def _bound(
        self, line: tuple[Array, Array], v: Array, y: Array, lower: Array, upper: Array
    ) -> tuple[float, Array, Multipliers]:
        """B of the formula, less more than what rounding may have done to it."""
        (slope, offset), m = line, len(y)
        e = self.U @ slope - self.lam + self.hide * (self.S @ np.log(v)) - self.rows @ y
        order = np.argsort(e, kind="stable")
        nu = float(e[order[min(int((np.cumsum(self.most[order]) < 1.0).sum()), self.letters - 1)]])
        least, ranges = np.minimum((e - nu) * self.most, 0.0), np.minimum(y * lower, y * upper)
        terms = (
            np.abs(slope).max() + np.abs(self.lam).max() + self.hide * np.abs(np.log(v)).max() + 2.0 * np.abs(y).max()
        )
        u = slice(m - self.outcomes, None)
        sums = np.abs(least).sum() + np.abs(ranges).sum() + abs(nu)
        sums += (h(lower[u]) + h(upper[u]) + 2.0 * np.abs(slope) * upper[u]).sum()
        margin = 4.0 * UNIT * ((2.0 * m + 40.0) * (terms + abs(nu)) + (self.letters + m + 40.0) * sums)
        B = float(offset.sum() + nu + least.sum() + ranges.sum() - margin)
        by = Multipliers(slope, -y[u], np.ones(self.outcomes), np.log(v), y[: u.start], nu + float(offset.sum()))
        return B, e, by

    def _halves(self, low: Array, high: Array, q: Array, bound: float) -> tuple[Cells, Array]:
        """The box cut along the u whose h is farthest above its line, nowhere if it is empty."""
        if above(low, high).any():
            return Cells(*(np.empty((0, size)) for size in (len(low), len(low), len(q)))), np.empty(0)
        slope, offset = below(low, high)
        u = np.clip(q @ self.U, low, high)
        missed = h(u) - offset - slope * u
        place = int(missed.argmax() if missed.max() > 1e-15 else (high - low).argmax())
        left, right = high.copy(), low.copy()
        left[place] = right[place] = (0.25 * (low + high) + 0.5 * u)[place]
        return Cells(np.stack([low, right]), np.stack([left, high]), np.stack([q, q])), np.full(2, bound)
