"""The bottleneck's self-consistent equations u = T(u) by Newton's method, u = log q(z, y): for tables too large for the compiled step.

    (I - T'(u)) d = q'/q - 1,    T' = diag(1 / q) B C,    (C d)_zy = (d_zy - (1 - gamma) sum_y q(y|z) d_zy) / gamma,
    B[(z, y), (z', y')] = sum_x p(x) p(y|x) p(y'|x) W[z, x] (1[z = z'] - W[z', x])

T' is self-adjoint in <d, e> = sum q d C e, where its eigenvalues are in [0, 1] at a minimum, so that the step is found by conjugate
gradients. A product with T' costs what an evaluation of T does, two matrix products; they are BLAS's, and nothing here is compiled.

A step is kept only if it does not raise the Lagrangian of W(u), which T does not either, and is shortened, or replaced by T(u), otherwise.
(The bound J(u) above it that the compiled map goes by rises on long steps along a curved valley, where T(u + d) lies on its floor again.)
Clusters that are all but equal are merged on the same terms, and those that a step makes vanish are left out: towards a transition the
equations become singular along their difference, or their mass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...information import Array
from ...joint.support import Support
from ...runtime.budget import Budget
from .coarse_space import CoarseSpace, LocalFunctions

TINY, LOG_TINY = 1e-300, -690.0
FIRM, LOOSE = 1e-2, 1e-1
"""How far conjugate gradients lower the residual of a step: least and most."""

MOST_PRODUCTS = 200
"""Products with T' for one step."""

MANY_PRODUCTS = 20
"""... above which the coarse space is made anew for the next step."""

MOST_STEPS = 25
"""Steps of Newton's method; what has not converged then is left to the accelerated map."""

LONGEST = 2.0
"""No logarithm moves by more in one step."""

SHARES = (1.0, 0.4, 0.1)
"""Of a step, tried one after another."""

DEAD = 1e-14
"""Mass of a cluster that is left out at once."""

VANISHING = -2.0
"""Change of log p(z) below which a cluster is left out, if that raises no loss."""

LEAST_WORK = 1_000_000
"""|X| |Y| |Z| from which it is tried; below, the compiled map has ended before."""

LARGEST_SIDE = 2_000
"""Letters of X, and of Y, whose square matrices are inverted."""

SLACK = 1e-14
"""Relative rise of J that may be rounding."""

CHEAP = 1e-6
"""Nats of I(Y;Z) up to which a merge is tried."""


@dataclass(frozen=True)
class Evaluation:
    """T evaluated at u: the encoder W that u implies, its loss (plus H(Y)), q = exp(u), q' = W P, and f = T(u) - u."""

    u: Array
    loss: float
    W: Array
    q: Array
    q_new: Array
    f: Array

    @property
    def norm(self) -> float:
        """The root of sum q f^2."""
        return float(np.sqrt(np.vdot(self.q, self.f**2)))

    def below(self, other: Evaluation) -> bool:
        """Whether the loss is lower, or the same to rounding while the residual does not double."""
        slack = SLACK * max(1.0, abs(other.loss))
        fall = other.loss - self.loss
        return fall > slack or (fall >= -slack and self.norm <= 2.0 * other.norm)


class Equations:
    """u = T(u) for one joint and one gamma."""

    def __init__(self, support: Support, gamma: float) -> None:
        self.P, self.T, self.p_x, self.p_y = support.P, support.T, support.p_x, support.p_y
        self.gamma, self.evaluations = gamma, 0

    def at(self, u: Array) -> Evaluation:
        """Everything that is known of a point, once it is scaled to total mass 1."""
        self.evaluations += 1
        u = np.maximum(u - u.max(), LOG_TINY)
        q = np.exp(u)
        total = q.sum()
        q, u = q / total, u - np.log(total)
        A = self._features(u, q)
        score = A @ self.T
        top = score.max(axis=0)
        W = np.exp(score - top, out=score)
        m = W.sum(axis=0)
        W /= m
        q_new = W @ self.P
        log_q, mass = np.log(np.maximum(q_new, TINY)), q_new.sum(axis=1)
        h_zx = float(self.p_x @ (top + np.log(m))) - float(np.vdot(A, q_new))
        h_z = -float(mass @ np.log(np.maximum(mass, TINY)))
        loss = (self.gamma - 1.0) * h_z - self.gamma * h_zx - float(np.vdot(q_new, log_q))
        return Evaluation(u, loss, W, q, q_new, log_q - u)

    def _features(self, u: Array, q: Array) -> Array:
        """A[z, y] = (log q(y|z) + gamma log q(z)) / gamma."""
        A: Array = (u - (1.0 - self.gamma) * np.log(q.sum(axis=1, keepdims=True))) / self.gamma
        return A

    def scaled(self, d: Array, point: Evaluation) -> Array:
        """C d."""
        mean = (point.q * d).sum(axis=1, keepdims=True) / point.q.sum(axis=1, keepdims=True)
        C_d: Array = (d - (1.0 - self.gamma) * mean) / self.gamma
        return C_d

    def pulled(self, scaled: Array, point: Evaluation) -> Array:
        """T' d = diag(1 / q) B C d, from C d."""
        self.evaluations += 1
        a = scaled @ self.T
        a -= np.einsum("zx,zx->x", point.W, a)
        a *= point.W
        out: Array = a @ self.P
        out /= np.maximum(point.q, TINY)
        return out

    def step(self, point: Evaluation, goal: float, coarse: CoarseSpace) -> Array:
        """d by conjugate gradients, to ``goal`` times the residual; where T' has an eigenvalue above 1, what was found until then."""
        d = np.zeros_like(point.u)
        # q'/q - 1, the gradient of the loss in this product, to first order T(u) - u; long steps are cut short
        r, q = np.expm1(np.minimum(point.f, 1.0)), point.q
        C_r = q * self.scaled(r, point)
        first = float(np.vdot(r, C_r))
        p = coarse.corrected(r, C_r)
        left = float(np.vdot(p, C_r))
        for number in range(MOST_PRODUCTS):
            C_p = self.scaled(p, point)
            A_p = p - self.pulled(C_p, point)
            C_p *= q
            curvature = float(np.vdot(A_p, C_p))
            if curvature <= 0.0:
                return d if number else p
            length = left / curvature
            d += length * p
            A_p *= length
            r -= A_p
            C_r = q * self.scaled(r, point)
            if float(np.vdot(r, C_r)) <= goal * goal * first:
                break
            s = coarse.corrected(r, C_r)
            before, left = left, float(np.vdot(s, C_r))
            p *= left / before
            p += s
        return d

    def residual(self, point: Evaluation) -> float:
        """Max |q' - q| / p(y), which is at most max |W' - W|."""
        return float((np.abs(point.q_new - point.q) / self.p_y).max())


class Newton:
    """Newton's method for one joint."""

    def __init__(self, support: Support) -> None:
        self.support = support
        self.functions = LocalFunctions(support)

    def serves(self, W: Array) -> bool:
        """Whether it is worth its price from this encoder."""
        return len(W) > 1 and W.size * len(self.support.p_y) >= LEAST_WORK

    def solved(self, gamma: float, W: Array, tol: float, most: int, budget: Budget) -> tuple[Array, int]:
        """From W to one stationary to tol, unless the method does not get there in ``most`` evaluations; and how many it took."""
        equations, coarse = Equations(self.support, gamma), None
        q = W @ self.support.P
        now = equations.at(np.log(np.maximum(q[q.sum(axis=1) > DEAD], TINY)))
        for _ in range(MOST_STEPS):
            now = _merged(equations, now)
            residual = equations.residual(now)
            if residual <= tol:
                after = equations.at(now.u + now.f)
                if np.abs(after.W - now.W).max() <= 0.5 * tol:
                    return after.W, equations.evaluations
                now = after
            if coarse is None or coarse.clusters != len(now.q):
                coarse = CoarseSpace(self.support, gamma, now.q, now.W, self.functions)
            before = equations.evaluations
            d = equations.step(now, min(max(0.1 * tol / max(residual, tol), FIRM), LOOSE), coarse)
            if equations.evaluations - before > MANY_PRODUCTS:
                coarse = None
            now = _advanced(equations, now, d)
            if equations.evaluations > most or budget.over:
                break
        return now.W, equations.evaluations


def newton_for(support: Support) -> Newton | None:
    """Newton's method, where it can be worth its price."""
    letters, outcomes = len(support.p_x), len(support.p_y)
    fits = not support.sparse and max(letters, outcomes) <= LARGEST_SIDE and letters**2 * outcomes >= LEAST_WORK
    return Newton(support) if fits else None


def _advanced(equations: Equations, now: Evaluation, d: Array) -> Evaluation:
    """The point u + d, or a shorter step, or T(u); without clusters that d makes vanish, if that raises no loss."""
    longest = float(np.abs(d).max())
    mean = (now.q * d).sum(axis=1) / now.q.sum(axis=1)
    d = d * min(1.0, LONGEST / longest)
    staying = mean >= VANISHING
    if 0 < staying.sum() < len(d):
        there = equations.at((now.u + d)[staying])
        if there.below(now):
            return there
    for share in SHARES:
        there = equations.at(now.u + share * d)
        if there.below(now):
            return there
    return equations.at(now.u + now.f)


def _merged(equations: Equations, now: Evaluation) -> Evaluation:
    """With clusters merged that are all but equal, if the loss does not rise by it.

    Merging z and z' loses about 2 m m' / (m + m') |sqrt p(y|z) - sqrt p(y|z')|^2 nats of I(Y;Z).
    """
    mass = now.q_new.sum(axis=1)
    root = np.sqrt(now.q_new / np.maximum(mass, TINY)[:, None])
    apart = np.maximum(2.0 - 2.0 * (root @ root.T), 0.0)
    cost = 2.0 * mass[:, None] * mass / (mass[:, None] + mass) * apart
    pairs = np.argwhere(np.triu(cost < CHEAP, 1))
    if not len(pairs):
        return now
    q = now.q_new.copy()
    gone: set[int] = set()
    for z, other in pairs[np.argsort(cost[pairs[:, 0], pairs[:, 1]], kind="stable")].tolist():
        if z not in gone and other not in gone:
            q[z] += q[other]
            gone.add(other)
    kept = np.setdiff1d(np.arange(len(q)), list(gone))
    fewer = equations.at(np.log(np.maximum(q[kept], TINY)))
    return fewer if fewer.below(now) else now
