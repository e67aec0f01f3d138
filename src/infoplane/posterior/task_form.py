"""The posterior form of a problem that keeps U and hides S: with p(z) and q_z = p(x|z), sum_z p(z) q_z = p_x,

    L = gamma H(X) - keep H(U) + hide H(S) + sum_z p(z) f(q_z),    f(q) = keep H(T_u q) - hide H(T_s q) - gamma H(q),

so that its minimum is a constant plus the lower convex envelope of f at p_x. Letters with the same p(u|x) and p(s|x) are one letter, as
to the bottleneck (`Letters`). At gamma = 0 it is a linear programme over posteriors,

    minimise  sum_k p_k (keep H(T_u q_k) - hide H(T_s q_k))    subject to  sum_k p_k q_k = p_x,  p >= 0,

or, with a cap r on I(S;Z), sum_k p_k keep H(T_u q_k) subject to sum_k p_k D(T_s q_k || p_s) <= r as well, whose multiplier is then hide.
Posteriors of two letters suffice if the secret is binary (`kernels/task_proof/pairs`): columns are sparse, q = (1 - t) e_x + t e_y
(`edges`). For any other secret they have any number of letters, and descents lead to those that are lacking (`missing`).
"""

from __future__ import annotations

import math
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..information import Array, IntArray, entr
from ..joint.joint import Support
from ..joint.tables import dense
from ..kernels.task_proof.descents import descend
from ..runtime.budget import Budget
from ..task_problem import TaskLagrangian
from .form import Letters, dobrushin
from .programme import alike, leakage_row, linear_programme, repaired

TINY = 1e-300
"""The least probability whose logarithm is taken."""


class TaskForm:
    """A problem of tasks on classes of letters with equal columns; all in nats."""

    def __init__(self, support: Support, problem: TaskLagrangian) -> None:
        self.whole, self.problem = support, problem
        self.gamma, self.keep, self.hide = problem.settled_gamma, problem.keep, problem.hide
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

    def f(self, Q: Any) -> Array:
        """f(q) of the columns of Q, dense, or sparse at gamma = 0."""
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


def edges(letters: int, x: IntArray, y: IntArray, t: Array) -> sparse.csc_array:
    """Posteriors of two letters, q = (1 - t) e_x + t e_y, as sparse columns; of one, where x = y."""
    place = np.concatenate([x, y]), np.tile(np.arange(len(x)), 2)
    Q = sparse.csc_array((np.concatenate([1.0 - t, t]), place), shape=(letters, len(x)))
    Q.eliminate_zeros()
    return Q


def on_edges(Q: Array) -> sparse.csc_array:
    """Those of the columns of Q that have at most two letters."""
    order = np.argsort(-Q, axis=0, kind="stable")[:2]
    few = Q[order, np.arange(Q.shape[1])].sum(axis=0) > 1.0 - 1e-9
    x, y = order[0, few], order[-1, few]
    return edges(len(Q), x, y, Q[y, few] / (Q[x, few] + Q[y, few]))


class SearchEffort(NamedTuple):
    """How hard missing columns are looked for."""

    descents: int = 640
    """Posteriors from which descents begin in a round: those of the clusters, and letters."""
    free: int = 64
    """Of these, at gamma = 0, the most in which no letter is held."""
    apart: float = 1e-3
    """Total variation within which two new posteriors are one."""


EFFORT = SearchEffort()


MISSING = 1e-9
"""Nats by which a posterior must violate f(q) >= lambda.q to become a cluster."""


def missing(form: TaskForm, lam: Array, Q: Array, most: int, below: float = -MISSING) -> Array:
    """Posteriors with f(q) - lambda.q below, that descents lead to, lowest first, no two alike."""
    n = len(form.p_x)
    letters = np.argsort(-form.p_x, kind="stable")[: max(EFFORT.descents - Q.shape[1], 32)]
    if form.gamma > 0.0:
        begun = 0.98 * np.column_stack([Q, np.eye(n)[:, letters]]) + 0.02 * form.p_x[:, None]
        return lowest_apart(*form.descended(lam, begun), most, below)
    # All descents lead to few posteriors; those with a letter held lead to the best of that letter.
    held, ends = form.pinned(lam, Q[:, Q.argmax(axis=1)], np.arange(n)), form.descended(lam, Q[:, : EFFORT.free])
    both = np.column_stack([held[0], ends[0]]), np.concatenate([held[1], ends[1]])
    return lowest_apart(*both, most, below)


def lowest_apart(Q: Array, values: Array, most: int, below: float = -MISSING) -> Array:
    """The columns of Q whose values are below, lowest first, no two alike."""
    found: list[Array] = []
    for k in np.argsort(values, kind="stable"):
        if values[k] > below or len(found) == most:
            break
        if all(np.abs(Q[:, k] - one).sum() > 2.0 * EFFORT.apart for one in found):
            found.append(Q[:, k])
    return np.column_stack([np.empty((len(Q), 0)), *found])


class TaskPoint(NamedTuple):
    """What the programme over the present columns says."""

    weights: Array
    lam: Array
    """Multipliers of f at ``hide``, such that no column has f(q) < lambda.q."""
    hide: float
    """The weight of I(S;Z): as given, or the multiplier of the cap."""
    value: float
    """L of the mixture, or with a cap -keep I(U;Z)."""


class TaskColumns:
    """Columns q, dense or sparse, kept from one parameter or cap to the next; the first are never forgotten, and meet every cap."""

    def __init__(self, form: TaskForm, first: Any) -> None:
        self.form, self.Q, self.first = form, first, first.shape[1]
        self.p_s = form.T_s @ form.p_x
        self.near: tuple[Array, float] | None = None
        """Multipliers and hide that are nearly optimal, where columns are looked for."""

    def add(self, Q: Any) -> None:
        """More columns."""
        both = [self.Q, Q]
        self.Q = sparse.csc_array(sparse.hstack(both)) if sparse.issparse(self.Q) else np.column_stack(both)

    def solve(self, cap: float | None = None, budget: Budget | None = None) -> TaskPoint:
        """The programme at the form's hide, or under a cap, however long it takes; InfoplaneError if HiGHS does not solve it."""
        form, Q, log_s = self.form, self.Q, np.log(self.p_s)
        s, h_u = form.T_s @ Q, form.keep * entr(form.T_u @ Q).sum(axis=0)
        h_s, cost_of_s, row, unit = entr(s).sum(axis=0), form.hide, None, 1.0
        if cap is not None:
            cost_of_s, (row, unit) = 0.0, leakage_row(np.maximum(-h_s - log_s @ s, 0.0), cap)
        costs = h_u - cost_of_s * h_s
        # A binary secret's costs are small: in units of the largest HiGHS is right to more digits.
        least = 1e-3 if sparse.issparse(Q) else 1.0
        patience = None if budget is None else budget.part(seconds=math.inf)
        found = linear_programme(Q, costs, form.p_x, row, patience, least)
        hide = form.hide if cap is None else found.of_cap / unit
        lam = found.lam if cap is None else found.lam + hide * (log_s @ form.T_s)
        if not sparse.issparse(Q):  # all edges are looked at, these among them
            lam = repaired(lam, Q, h_u - hide * h_s, form.p_x)
        known = cost_of_s * float(entr(self.p_s).sum()) - form.keep * float(entr(form.T_u @ form.p_x).sum())
        return TaskPoint(found.weights, lam, hide, float(found.weights @ costs) + known)

    def used(self, point: TaskPoint) -> Array:
        """The columns with mass, dense."""
        return np.asarray(dense(self.Q[:, np.flatnonzero(point.weights > 0.0)]))

    def encoder(self, point: TaskPoint) -> Array:
        """p(z|x) = p_k q_k(x) / p(x) of the classes; clusters that say the same of U and S are one, which changes nothing at gamma = 0."""
        on = np.flatnonzero(point.weights > 0.0)
        Q = self.Q[:, on]
        owner = alike(np.vstack([self.form.T_u @ Q, self.form.T_s @ Q]))
        W = dense(sparse.csr_array((point.weights[on], (owner, np.arange(len(on))))) @ Q.T)
        return np.asarray(W / W.sum(axis=0))

    def trim(self, point: TaskPoint, slack: float, most: int) -> None:
        """Forget columns, once there are more than so many beside the first, that are neither used nor within ``slack`` of being used."""
        if self.Q.shape[1] <= self.first + most:
            return
        reduced = self.form.at(point.hide).f(self.Q) - point.lam @ self.Q
        kept = (reduced < slack) | (point.weights > 0.0) | (np.arange(len(reduced)) < self.first)
        self.Q = self.Q[:, np.flatnonzero(kept)]
