"""Is f(q) - lambda.q >= target for every q, f(q) = keep H(T_u q) - hide H(T_s q) - gamma H(q)? Boxes l <= T_u q <= b, bounded from below.

For each u take a concave r_u <= h on [l_u, b_u], h(t) = -t log t; any mu, any a. Then for every q with T_u q in the box

    f(q) - lambda.q >= B = -sum_u max(mu_u l_u, mu_u b_u) - hide log sum_s exp(a_s) + softmin_x e_x,
    e_x = keep sum_u r_u(T_ux) - lambda_x + mu.T_ux + hide a.T_sx,

softmin e = -gamma log sum_x exp(-e_x / gamma), the least e_x at gamma = 0: by Jensen's inequality, and -H(s) >= s.log c for c = softmax(a)
(docs/howto/verify.md). r_u = t_u (a line below h) + (1 - t_u) (h, with its tangents outside the box); Newton's method on a smoothed B looks
for good (mu, t, a), and whatever it finds is valid.
"""

from __future__ import annotations

import numpy as np

from .line import below
from .numbers import UNIT, Array, above, at_most, h
from .search import Cells, Closed, Examined, Multipliers

SMALLEST = 1e-12
"""An upper end below this is raised to it: a larger box is as good, and the tangent there stays finite."""

STAGES, STEPS = 9, 8
"""Smoothings, each a fifth of the last, and Newton's steps of each."""

STRIDES = (1.0, 0.3, 0.1, 0.02, 0.004, 0.0005)
"""Shares of a step that are tried."""

EDGE = 1e-3
"""t is kept so far inside of [0, 1] while Newton's method looks for it."""


class TaskBoxes:
    """The boxes of one lambda; T_u and T_s have a row per letter x."""

    batch = 8

    def __init__(self, T_u: Array, T_s: Array, lam: Array, keep: float, hide: float, gamma: float) -> None:
        self.U, self.S, self.lam, self.keep, self.hide, self.gamma = T_u, T_s, lam, keep, hide, gamma
        self.letters, self.outcomes = T_u.shape

    def root(self) -> Cells:
        """One box that holds T_u q for every q."""
        off = 4.0 * (self.outcomes + 4.0) * UNIT
        low, high = self.U.min(axis=0) * (1.0 - off), np.maximum(self.U.max(axis=0) * (1.0 + off), SMALLEST)
        n = self.outcomes
        return Cells(
            low[None], high[None], np.concatenate([np.zeros(n), np.full(n, 0.5), np.zeros(self.S.shape[1])])[None]
        )

    def values(self, Q: Array) -> tuple[Array, float]:
        """f(q) - lambda.q for the rows of Q, and what rounding may have done to it."""
        logs = 1.0 + np.log(self.letters + self.U.shape[1] + self.S.shape[1])
        size = np.abs(self.lam).max() + (self.keep + self.hide + self.gamma) * logs
        found: Array = self.keep * h(Q @ self.U).sum(axis=1) - self.hide * h(Q @ self.S).sum(axis=1) - Q @ self.lam
        if self.gamma > 0.0:
            found = found - self.gamma * h(Q).sum(axis=1)
        return found, 8.0 * (self.letters + self.U.shape[1] + self.S.shape[1] + 32.0) * UNIT * float(size)

    def descended(self, Q: Array) -> Array:
        """Posteriors that are lower, by q <- prop. to q^(1 - gamma/k) exp((lambda - slope)/k), k = gamma + hide, which never raises it."""
        k = self.gamma + self.hide
        for _ in range(200):
            u, s = (np.log(np.maximum(Q @ T, 1e-300)) @ T.T for T in (self.U, self.S))
            score = (self.lam + self.keep * u - self.hide * s) / k + (self.hide / k) * np.log(np.maximum(Q, 1e-300))
            Q = np.exp(score - score.max(axis=1, keepdims=True))
            Q = Q / Q.sum(axis=1, keepdims=True)
        return Q

    def examine(self, cells: Cells, target: float) -> Examined:
        """Bound each; what stays below the target is shrunk, if that can be, and cut in two."""
        found = Examined()
        for low, high, v in zip(*cells, strict=True):
            low, high = self._tightened(low, high)
            if above(low, high).any():
                continue
            box = _Box(self, low, high)
            v, bound, w = box.climbed(v, target)
            if not at_most(target, bound):  # what was good for a larger box may be a poor beginning
                v, bound, w = max((v, bound, w), box.climbed(self.root().hint[0], target), key=lambda one: one[1])
            if at_most(target, bound):
                mu, t, a = np.split(v, [len(low), 2 * len(low)])
                by = Multipliers(box.slope, mu, t, a, np.zeros(len(a)))
                found.close([Closed(low, high, float(bound), by)])
                continue
            found.met(np.stack([w, w**2 / (w**2).sum()]))
            low, high = self._shrunk(low, high, box.exponents(v), target - bound)
            if above(low, high).any():
                continue
            slope, offset = below(low, high)
            u = np.clip(w @ self.U, low, high)
            place = int((h(u) - offset - slope * u).argmax())
            at = (0.25 * (low + high) + 0.5 * u)[place]
            left, right = high.copy(), low.copy()
            left[place] = right[place] = at
            halves = Cells(np.stack([low, right]), np.stack([left, high]), np.stack([v, v]))
            found.cut(halves, np.full(2, bound))
        return found

    def _tightened(self, low: Array, high: Array) -> tuple[Array, Array]:
        """By sum_u u = 1."""
        off = 4.0 * (self.outcomes + 4.0) * UNIT
        low = np.maximum(low, 1.0 - (high.sum() - high) - off)
        return low, np.maximum(np.minimum(high, 1.0 - (low.sum() - low) + off), SMALLEST)

    def _shrunk(self, low: Array, high: Array, e: Array, missing: float) -> tuple[Array, Array]:
        """At gamma = 0 a q below the target has sum_x q_x (e_x - min e) <= rho, so u <= max_x (T_ux - theta (e_x - min e)) + theta rho."""
        if self.gamma > 0.0:
            return low, high
        slack = e - e.min()
        rho = missing + 1e-12 + 64.0 * UNIT * np.abs(e).max()
        theta = np.concatenate([[0.0], np.geomspace(1e-3, 1.0, 24) / max(rho, 1e-12)])[:, None, None]
        off = 64.0 * UNIT * (1.0 + theta[:, 0] * (2.0 * np.abs(e).max() + rho))
        top = ((self.U - theta * slack[:, None]).max(axis=1) + theta[:, 0] * rho + off).min(axis=0)
        bottom = -((-self.U - theta * slack[:, None]).max(axis=1) + theta[:, 0] * rho + off).min(axis=0)
        return np.maximum(low, bottom), np.maximum(np.minimum(high, top), SMALLEST)


class _Box:
    """One box: e = base + features v, v = (mu, t, a)."""

    def __init__(self, of: TaskBoxes, low: Array, high: Array) -> None:
        self.of, self.low, self.high = of, low, high
        self.slope, offset = below(low, high)
        a = np.clip(of.U, low, high)
        tangents = -of.U * np.log(np.where(a > 0.0, a, 1.0)) + a - of.U
        change = of.keep * (offset + self.slope * of.U - tangents)
        self.base = of.keep * tangents.sum(axis=1) - of.lam
        self.features = np.hstack([of.U, change, of.hide * of.S])
        self.terms = (
            np.abs(of.lam).max()
            + of.keep
            * (2.0 * np.abs(self.slope).max() + np.abs(offset).sum() + 2.0 * np.abs(np.log(high)).max() + 10.0)
            + of.keep * 2.0 * np.log(of.outcomes)
        )

    def exponents(self, v: Array) -> Array:
        """e."""
        found: Array = self.base + self.features @ v
        return found

    def _parts(self, v: Array, wide: float) -> tuple[float, Array]:
        """Softmin of e of that width, its least value at 0; and the weights."""
        e = self.exponents(v)
        least = e.min()
        if wide <= 0.0:
            return float(least), (e == least) / (e == least).sum()
        w = np.exp((least - e) / wide)
        return float(least - wide * np.log(w.sum())), w / w.sum()

    def _secret(self, v: Array) -> tuple[float, Array]:
        a = v[2 * self.of.outcomes :]
        c = np.exp(a - a.max())
        return float(self.of.hide * (a.max() + np.log(c.sum()))), c / c.sum()

    def safe(self, v: Array) -> float:
        """B, less more than what rounding can do to it; t is clipped to [0, 1] before."""
        n = self.of.outcomes
        mu, a = v[:n], v[2 * n :]
        soft, _ = self._parts(v, self.of.gamma)
        B = soft - np.maximum(mu * self.low, mu * self.high).sum() - self._secret(v)[0]
        m = n + self.of.S.shape[1]
        terms = self.terms + np.abs(mu).max() + 2.0 * self.of.hide * (np.abs(a).max() + np.log(m) + 1.0)
        sums = self.of.gamma * (2.0 * self.of.letters + 40.0 + 9.0 * np.log(self.of.letters))
        margin = 4.0 * UNIT * ((5.0 * m + 80.0) * terms + (n + 8.0) * (np.abs(mu) * self.high).sum() + sums)
        return float(B - margin)

    def climbed(self, v: Array, target: float) -> tuple[Array, float, Array]:
        """Multipliers with a high B, the B, and weights of x."""
        n, gamma = self.of.outcomes, self.of.gamma
        best, top = v, self.safe(v)
        soft = max(0.2 * (target - top), 1e-9) if np.isfinite(top) else 0.1
        v = np.concatenate([v[:n], np.clip(v[n : 2 * n], 0.05, 0.95), v[2 * n :]])
        w = self._parts(v, max(gamma, soft))[1]
        for _ in range(STAGES):
            if at_most(target, top):
                break
            value, slope, curvature, w = self._smooth(v, soft)
            for _ in range(STEPS):
                ridge = 1e-9 * np.diag(curvature).max() + 1e-12
                step = np.linalg.solve(curvature + ridge * np.eye(len(v)), slope)
                step *= min(1.0, 20.0 / max(np.abs(step).max(), 1e-300))
                for stride in STRIDES:
                    tried = v + stride * step
                    tried[n : 2 * n] = np.clip(tried[n : 2 * n], EDGE, 1.0 - EDGE)
                    higher = self._smooth(tried, soft)
                    if above(higher[0], value):
                        break
                else:
                    break
                gained = higher[0] - value
                v, (value, slope, curvature, w) = tried, higher
                for way in (v, np.concatenate([v[:n], np.ones(n), v[2 * n :]])):
                    bound = self.safe(way)
                    if above(bound, top):
                        best, top = way, bound
                if at_most(target, top) or gained < 0.01 * soft:
                    break
            soft = max(0.2 * soft, 1e-11)
        return best, top, w

    def _smooth(self, v: Array, soft: float) -> tuple[float, Array, Array, Array]:
        """B with its kinks smoothed, its slope, minus its curvature, and the weights of x."""
        n, wide = self.of.outcomes, max(self.of.gamma, soft)
        value, w = self._parts(v, wide)
        mu, t = v[:n], v[n : 2 * n]
        mean = w @ self.features
        centred = self.features - mean
        curvature = (centred * w[:, None]).T @ centred / wide
        slope = mean.copy()
        middle, half, round_mu = (
            0.5 * (self.low + self.high),
            0.5 * (self.high - self.low),
            np.sqrt(mu**2 + 9.0 * soft**2),
        )
        value -= float((middle * mu + half * round_mu).sum())
        slope[:n] -= middle + half * mu / round_mu
        each = np.arange(len(v))
        curvature[each[:n], each[:n]] += half * 9.0 * soft**2 / round_mu**3
        weight = 0.02 * soft * self.of.keep
        value += weight * float((np.log(np.maximum(t, 1e-300)) + np.log(np.maximum(1.0 - t, 1e-300))).sum())
        slope[n : 2 * n] += weight * (1.0 / t - 1.0 / (1.0 - t))
        curvature[each[n : 2 * n], each[n : 2 * n]] += weight * (1.0 / t**2 + 1.0 / (1.0 - t) ** 2)
        secret, c = self._secret(v)
        slope[2 * n :] -= self.of.hide * c
        curvature[2 * n :, 2 * n :] += self.of.hide * (np.diag(c) - np.outer(c, c))
        return value - secret, slope, curvature, w
