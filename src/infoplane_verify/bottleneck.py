"""Is f(q) - lambda.q >= target for every distribution q, f(q) = H(Tq) - gamma H(q)? Boxes l <= Tq <= b, bounded from below.

For each y take a concave r_y <= h on [l_y, b_y], h(t) = -t log t; R_x = sum_y r_y(T_yx); any mu; w(x) prop. to exp((lambda_x - R_x -
mu.T_x) / gamma). Then for every q with Tq in the box

    f(q) - lambda.q  >=  B + gamma KL(q || w),
    B = -sum_y max(mu_y l_y, mu_y b_y) - gamma log sum_x exp((lambda_x - R_x - mu.T_x) / gamma)

by Jensen's inequality (docs/howto/verify.md has the proof). r_y = t_y (a line below h) + (1 - t_y) (h, with its tangents outside the box),
0 <= t_y <= 1; Newton's method looks for good mu and t, and whatever it finds is valid. If B < target, a q below target has
KL(q || w) <= rho = (target - B) / gamma, hence sum_x q_x g_x <= (rho + log sum_x w_x exp(c g_x)) / c for all g and c > 0: with g = T_y
and -T_y the box shrinks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .line import below
from .numbers import UNIT, Array, Which, above, at_most, h
from .search import Cells, Closed, Examined, Multipliers

STEPS, STRIDES = 8, (1.0, 0.5, 0.2, 0.05)
"""Newton's steps for one box, and the shares of each that are tried."""

ROUNDS, WORTHWHILE = 6, 0.85
"""A box is shrunk and bounded again so often, as long as what is missing falls to this share."""

SMALLEST = 1e-12
"""An upper end below this is raised to it: a larger box is as good, and the tangent there stays finite."""

STEEPEST = 300.0
"""Largest exponent in the bounds of ranges."""


class Lines(NamedTuple):
    """Of n boxes: the lines below h, the sum over y of h with tangents, (n, |X|), and lines minus that by y, (n, |X|, |Y|)."""

    slope: Array
    offset: Array
    base: Array
    change: Array

    def of(self, which: Which) -> Lines:
        """Of some boxes."""
        return Lines(*(one[which] for one in self))


class BottleneckBoxes:
    """The boxes of one lambda; T has a row per letter x."""

    def __init__(self, T: Array, lam: Array, gamma: float) -> None:
        self.T, self.lam, self.gamma = T, lam, gamma
        self.letters, self.outcomes = T.shape
        self.batch = int(np.clip(400_000 // T.size, 1, 256))

    def root(self) -> Cells:
        """One box that holds Tq for every q."""
        off = 4.0 * (self.outcomes + 4.0) * UNIT
        low, high = self.T.min(axis=0) * (1.0 - off), np.maximum(self.T.max(axis=0) * (1.0 + off), SMALLEST)
        return Cells(low[None], high[None], np.zeros((1, 2 * self.outcomes)))

    def values(self, Q: Array) -> tuple[Array, float]:
        """f(q) - lambda.q for the rows of Q, and what rounding may have done to it."""
        size = np.abs(self.lam).max() + np.log(self.letters) + np.log(self.outcomes) + 1.0
        found: Array = h(Q @ self.T).sum(axis=1) - self.gamma * h(Q).sum(axis=1) - Q @ self.lam
        return found, 8.0 * (self.letters + self.outcomes + 32.0) * UNIT * float(size)

    def descended(self, Q: Array) -> Array:
        """Posteriors that are lower, by q <- prop. to exp((lambda + log(Tq).T) / gamma), which never raises f(q) - lambda.q."""
        for _ in range(100):
            score = (self.lam + np.log(np.maximum(Q @ self.T, 1e-300)) @ self.T.T) / self.gamma
            Q = np.exp(score - score.max(axis=1, keepdims=True))
            Q = Q / Q.sum(axis=1, keepdims=True)
        return Q

    def examine(self, cells: Cells, target: float) -> Examined:
        """Bound, shrink, and bound again; what stays below the target is cut in two."""
        found = Examined()
        missing = np.full(len(cells.low), np.inf)
        for _ in range(ROUNDS):
            cells, kept = self.tightened(cells)
            missing = missing[kept]
            if not len(cells.low):
                break
            bound, w, v, lines, margin = self.bounded(cells, target)
            cells = cells._replace(hint=v)
            safe = bound - margin
            done = at_most(target, safe)
            found.close(
                Closed(cells.low[i], cells.high[i], float(safe[i]), self._by(lines.slope[i], v[i]))
                for i in np.flatnonzero(done)
            )
            found.met(w[~done])
            better = ~done & (target - safe < WORTHWHILE * missing)
            stalled = ~done & ~better
            found.cut(*self.halves(cells.of(stalled), w[stalled], safe[stalled]))
            cells, w, margin, missing = cells.of(better), w[better], margin[better], (target - safe)[better]
            cells = self.shrunk(cells, w, (missing + margin) / self.gamma)
            last = safe[better]
        if len(cells.low):
            found.cut(*self.halves(cells, w, last))
        return found

    def _by(self, slope: Array, v: Array) -> Multipliers:
        return Multipliers(slope, v[: self.outcomes], v[self.outcomes :], np.zeros(1), np.zeros(1))

    # -- the bound -----------------------------------------------------------------------------------------------------

    def _lines(self, cells: Cells) -> Lines:
        slope, offset = below(cells.low, cells.high)
        t = self.T[None]
        # h and its tangents: -t log a + a - t, a the point of the interval that is nearest to t.
        a = np.clip(t, cells.low[:, None], cells.high[:, None])
        tangents = -t * np.log(np.where(a > 0.0, a, 1.0)) + a - t
        return Lines(slope, offset, tangents.sum(axis=2), offset[:, None] + slope[:, None] * t - tangents)

    def _value(self, cells: Cells, lines: Lines, v: Array) -> tuple[Array, Array]:
        """B for v = (mu, t), and w."""
        mu, t = v[:, : self.outcomes], v[:, self.outcomes :]
        exponent = (
            self.lam - lines.base - mu @ self.T.T - np.matmul(lines.change, t[:, :, None])[:, :, 0]
        ) / self.gamma
        top = exponent.max(axis=1, keepdims=True)
        w = np.exp(exponent - top)
        total = w.sum(axis=1, keepdims=True)
        edges = np.maximum(mu * cells.low, mu * cells.high).sum(axis=1)
        return -edges - self.gamma * (top + np.log(total))[:, 0], w / total

    def bounded(self, cells: Cells, target: float) -> tuple[Array, Array, Array, Lines, Array]:
        """The best B that was met, w, (mu, t), the lines, and the margin for rounding."""
        lines = self._lines(cells)
        plain = np.zeros_like(cells.hint)
        plain[:, self.outcomes :] = 1.0
        v, (bound, w) = cells.hint, self._value(cells, lines, cells.hint)
        v, bound, w = _best(v, bound, w, plain, *self._value(cells, lines, plain))
        for _ in range(STEPS):
            going = np.flatnonzero(~at_most(target, bound))
            if not len(going):
                break
            some, few, v_old, w_old = cells.of(going), lines.of(going), v[going], w[going]
            step, side = self._newton(some, few, v_old, w_old)
            found = v_old, bound[going], w_old
            for stride in STRIDES:
                found = _best(*found, *self._at(some, few, v_old + stride * step, side))
                if (found[1] > bound[going]).all():
                    break
            gained = found[1] - bound[going]
            v[going], bound[going], w[going] = found
            if not (gained > 0.02 * (target - found[1])).any():
                break
        return bound, w, v, lines, self._margin(cells, lines, v)

    def _at(self, cells: Cells, lines: Lines, v: Array, side: Array) -> tuple[Array, Array, Array]:
        """B where mu keeps to its side of 0, and t to [0, 1]."""
        mu, t = v[:, : self.outcomes], v[:, self.outcomes :]
        allowed = np.concatenate([np.where(mu * side > 0.0, mu, 0.0), np.clip(t, 0.0, 1.0)], axis=1)
        return allowed, *self._value(cells, lines, allowed)

    def _newton(self, cells: Cells, lines: Lines, v: Array, w: Array) -> tuple[Array, Array]:
        """A step for (mu, t), and the sign that each mu may have.

        B's slopes are the means under w of (T_x, line - tangents at T_x), less l or b; its curvature is their covariance over gamma. An
        entry at a limit that its slope points beyond is held.
        """
        n = self.outcomes
        features = np.concatenate([np.broadcast_to(self.T, (len(w), *self.T.shape)), lines.change], axis=2)
        mean = np.matmul(w[:, None], features)[:, 0]
        centred = features - mean[:, None]
        curvature = np.matmul((centred * w[:, :, None]).transpose(0, 2, 1), centred) / self.gamma
        mu, t, u = v[:, :n], v[:, n:], mean[:, :n]
        beyond = np.maximum(u - cells.high, 0.0) + np.minimum(u - cells.low, 0.0)
        slope = np.concatenate(
            [np.where(mu > 0.0, u - cells.high, np.where(mu < 0.0, u - cells.low, beyond)), mean[:, n:]], axis=1
        )
        side = np.where(mu != 0.0, np.sign(mu), np.sign(beyond))
        inside = ((t > 0.0) | (slope[:, n:] > 0.0)) & ((t < 1.0) | (slope[:, n:] < 0.0))
        free = np.concatenate([side != 0.0, inside], axis=1)
        system = np.where(free[:, :, None] & free[:, None, :], curvature, 0.0)
        diagonal = np.einsum("nii->ni", system)  # a view
        ridge = 1e-9 * diagonal.max(axis=1, keepdims=True) + 1e-14
        diagonal[:] = np.where(free, diagonal + ridge, 1.0)
        try:
            return np.linalg.solve(system, np.where(free, slope, 0.0)[:, :, None])[:, :, 0], side
        except np.linalg.LinAlgError:  # singular to rounding: no step, and the bounds that there are
            return np.zeros_like(v), side

    def _margin(self, cells: Cells, lines: Lines, v: Array) -> Array:
        """More than what rounding can do to B (docs/howto/verify.md)."""
        n = self.outcomes
        mu = np.abs(v[:, :n])
        terms = (
            np.abs(self.lam).max()
            + mu.max(axis=1)
            + np.abs(lines.slope).max(axis=1)
            + np.abs(lines.offset).sum(axis=1)
            + 2.0 * np.abs(np.log(cells.high)).max(axis=1)
            + 2.0 * np.log(n)
            + 10.0
        )
        edges = (mu * cells.high).sum(axis=1)
        sums = self.gamma * (2.0 * self.letters + 40.0 + 9.0 * np.log(self.letters))
        margin: Array = 4.0 * UNIT * ((5.0 * n + 80.0) * terms + (n + 8.0) * edges + sums)
        return margin

    # -- the box -------------------------------------------------------------------------------------------------------

    def tightened(self, cells: Cells) -> tuple[Cells, Which]:
        """By sum_y u_y = 1; and which boxes are not empty, where a box is empty if an end is *seen* to lie above the other."""
        low, high, off = cells.low, cells.high, 4.0 * (self.outcomes + 4.0) * UNIT
        low = np.maximum(low, 1.0 - (high.sum(axis=1, keepdims=True) - high) - off)
        high = np.maximum(np.minimum(high, 1.0 - (low.sum(axis=1, keepdims=True) - low) + off), SMALLEST)
        kept = ~above(low, high).any(axis=1)
        return Cells(low, high, cells.hint).of(kept), kept

    def shrunk(self, cells: Cells, w: Array, rho: Array) -> Cells:
        """The part of each box that may hold a q below the target: u_y +- (rho + log sum_x w_x exp(+-c (T_yx - u_y))) / c."""
        u = w @ self.T
        away = self.T[None] - u[:, None]
        variance = np.maximum(np.matmul(w[:, None], away**2)[:, 0], 1e-14)
        widest = np.abs(away).max(axis=1) + UNIT
        # w itself is rounded: its logarithms by no more than what rho has been raised by.
        rho = rho[:, None] + 16.0 * (self.letters + 16.0 + 4.0 * STEEPEST) * UNIT
        c = np.clip(np.sqrt(2.0 * rho / variance), 1e-6, STEEPEST / widest)
        off = 8.0 * (self.letters + self.outcomes + 24.0) * UNIT
        tilted = [np.log(np.matmul(w[:, None], np.exp(sign * c[:, None] * away))[:, 0]) for sign in (1.0, -1.0)]
        high, low = u + (rho + tilted[0]) / c + off, u - (rho + tilted[1]) / c - off
        return Cells(
            np.where(above(low, cells.low), low, cells.low),
            np.where(above(cells.high, high), np.maximum(high, SMALLEST), cells.high),
            cells.hint,
        )

    def halves(self, cells: Cells, w: Array, bound: Array) -> tuple[Cells, Array]:
        """Each box cut at the y with the largest gap between h and its line, between the middle and Tw."""
        slope, offset = below(cells.low, cells.high)
        u = np.clip(w @ self.T, cells.low, cells.high)
        y = (h(u) - offset - slope * u).argmax(axis=1)
        each = np.arange(len(y))
        at = (0.25 * (cells.low + cells.high) + 0.5 * u)[each, y]
        left, right = cells.high.copy(), cells.low.copy()
        left[each, y], right[each, y] = at, at
        halves = Cells(
            np.concatenate([cells.low, right]), np.concatenate([left, cells.high]), np.tile(cells.hint, (2, 1))
        )
        return halves, np.tile(bound, 2)


def _best(v: Array, bound: Array, w: Array, v_new: Array, bound_new: Array, w_new: Array) -> tuple[Array, Array, Array]:
    """Box by box, whichever has the larger bound, of those that are numbers."""
    new = above(bound_new, bound) | (np.isfinite(bound_new) & ~np.isfinite(bound))
    return np.where(new[:, None], v_new, v), np.where(new, bound_new, bound), np.where(new[:, None], w_new, w)
