"""The posterior form of a problem that keeps U and hides S: with p(z) and q_z = p(x|z), sum_z p(z) q_z = p_x,

    L = gamma H(X) - keep H(U) + hide H(S) + sum_z p(z) f(q_z),    f(q) = keep H(T_u q) - hide H(T_s q) - gamma H(q),

so that its minimum is a constant plus the lower convex envelope of f at p_x. Letters with the same p(u|x) and p(s|x) are one letter, as
to the bottleneck (`Letters`).
"""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np

from ..information import Array, IntArray, entr
from ..joint.joint import Support
from ..kernels.task_proof.descents import descend
from ..task_problem import TaskLagrangian
from .form import Letters, dobrushin

TINY = 1e-300
"""The least probability whose logarithm is taken."""


class TaskForm:
    """A problem of tasks on classes of letters with equal columns; all in nats."""

    def __init__(self, support: Support, problem: TaskLagrangian) -> None:
        self.whole, self.problem = support, problem
        self.gamma, self.keep, self.hide = problem.price, problem.keep, problem.hide
        self.letters = Letters(support)
        merged = self.letters.support
        self.p_x = merged.p_x
        kept, hidden = support.joint.roles()
        seen = np.flatnonzero(support.y)
        self.T_u, self.T_s = (
            np.ascontiguousarray(merged.T[np.isin(seen, target.columns)] / target.weight) for target in (kept, hidden)
        )
        """p(u|x) and p(s|x), a row per letter of U or S of positive mass."""

    @property
    def classes(self) -> IntArray:
        """The class of every letter of the support."""
        return np.arange(len(self.whole.p_x)) if self.letters.classes is None else self.letters.classes

    def at(self, hide: float) -> TaskForm:
        """The same with another weight of I(S;Z); 0 is allowed."""
        other = copy(self)
        other.hide = hide
        for name in ("width", "constant"):
            other.__dict__.pop(name, None)
        return other

    @cached_property
    def width(self) -> float:
        """gamma + hide eta, eta = max over x, x' of TV(p(s|x), p(s|x')): the map's width that cannot raise L; a tiny one if that is 0."""
        return max(self.gamma + self.hide * dobrushin(self.T_s), 1e-9 * max(self.keep, self.hide))

    @cached_property
    def constant(self) -> float:
        """gamma H(X) - keep H(U) + hide H(S), of the classes: what turns a mean of f into L."""
        h_x, h_u, h_s = (float(entr(p).sum()) for p in (self.p_x, self.T_u @ self.p_x, self.T_s @ self.p_x))
        return self.gamma * h_x - self.keep * h_u + self.hide * h_s

    def f(self, Q: Array) -> Array:
        """f(q) of the columns of Q."""
        found = self.keep * entr(self.T_u @ Q).sum(axis=0) - self.hide * entr(self.T_s @ Q).sum(axis=0)
        return np.asarray(found - self.gamma * entr(Q).sum(axis=0) if self.gamma else found)

    def condensed(self, W: Array) -> Array:
        """The encoder of the classes: the mean over the letters of each, by mass."""
        if self.letters.classes is None:
            return W
        shares = self.whole.p_x / self.p_x[self.classes]
        found = np.zeros((len(W), len(self.p_x)))
        np.add.at(found.T, self.classes, (W * shares).T)
        return np.asarray(found / found.sum(axis=0))

    def expanded(self, W: Array) -> Array:
        """The encoder of the letters."""
        return np.ascontiguousarray(W[:, self.classes])

    def posteriors(self, W: Array) -> Array:
        """q_z = p(x|z), one column per cluster of positive mass, and of classes."""
        joint = (W * self.p_x).T
        joint = joint[:, joint.sum(axis=0) > 0.0]
        return np.asarray(joint / joint.sum(axis=0))

    def slopes(self, Q: Array) -> Array:
        """E_z(x) = -keep sum_u T_ux log (T_u q_z)_u + hide sum_s T_sx log (T_s q_z)_s, the slope of f + gamma H at each."""
        u, s = (np.log(np.maximum(T @ Q, TINY)) for T in (self.T_u, self.T_s))
        return np.asarray(self.hide * (s.T @ self.T_s) - self.keep * (u.T @ self.T_u))

    def multipliers(self, W: Array) -> Array:
        """lambda_x = min_z E_z(x) at gamma = 0, else gamma (log p(x) - log sum_z p(z) exp(-E_z(x)/gamma)); an encoder's own."""
        p_z = W @ self.p_x
        p_z = p_z[p_z > 0.0]
        E = self.slopes(self.posteriors(W))
        if self.gamma == 0.0:
            return np.asarray(E.min(axis=0))
        scores = np.log(p_z)[:, None] - E / self.gamma
        top = scores.max(axis=0)
        return np.asarray(self.gamma * (np.log(self.p_x) - top - np.log(np.exp(scores - top).sum(axis=0))))

    def descended(self, lam: Array, Q: Array, steps: int = 60) -> tuple[Array, Array]:
        """Posteriors with lower f(q) - lambda.q, by q <- prop. to q^(1 - gamma/k) exp((lambda - E)/k), which cannot raise it; and the
        values.

        k is the map's width: what is proven of the map holds for one posterior. At gamma = 0 the map ends, slowly, on few letters:
        there mass is moved between letters (`kernels/task_proof/descents`).
        """
        if self.gamma == 0.0:
            return self.pinned(lam, Q, np.full(Q.shape[1], -1))
        k = self.width
        for _ in range(steps):
            score = (lam[:, None] - self.slopes(Q).T) / k
            if self.gamma != k:
                score += (1.0 - self.gamma / k) * np.log(np.maximum(Q, TINY))
            new = np.exp(score - score.max(axis=0))
            new /= new.sum(axis=0)
            moved = float(np.abs(new - Q).max())
            Q = new
            if moved < 1e-9:
                break
        return Q, self.f(Q) - lam @ Q

    def pinned(self, lam: Array, Q: Array, pins: IntArray) -> tuple[Array, Array]:
        """At gamma = 0: lower posteriors, one letter of which, pins, keeps its mass; and the values."""
        rows = np.ascontiguousarray(Q.T)
        descend(self.T_u, self.T_s, self.keep, self.hide, lam, rows, pins)
        return rows.T, self.f(rows.T) - lam @ rows.T
