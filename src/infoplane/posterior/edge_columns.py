"""The linear programme over posteriors with two letters, which suffice if the secret is binary and gamma = 0 (`kernels/task_proof/pairs`).

    minimise  sum_k p_k (keep H(T_u q_k) - hide H(T_s q_k))    subject to  sum_k p_k q_k = p_x,  p >= 0,

or, with a cap r on I(S;Z), sum_k p_k keep H(T_u q_k) subject to sum_k p_k D(T_s q_k || p_s) <= r as well, whose dual value is then hide.
A column is (x, y, t), q = (1 - t) e_x + t e_y: the programme is sparse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..errors import InfoplaneError
from ..information import Array, IntArray, entr
from .linear import LARGEST, LIMITS, solved
from .task_form import TaskForm

SMALLEST_UNIT = 1e-6
"""Smaller caps, in nats, are not scaled up to 1: the row would outgrow the others."""


class EdgePoint(NamedTuple):
    """What the programme over the present columns says."""

    weights: Array
    lam: Array
    """Multipliers, such that no column has a cost below lambda.q."""
    hide: float
    """The weight of I(S;Z): as given, or the price of the cap."""


class EdgeColumns:
    """Columns (x, y, t), kept from one parameter or cap to the next; single letters are the first."""

    def __init__(self, form: TaskForm) -> None:
        n = len(form.p_x)
        self.form = form
        self.x: IntArray = np.arange(n)
        self.y: IntArray = np.arange(n)
        self.t: Array = np.zeros(n)
        self.first = n
        """So many columns are never forgotten: single letters, and those by which every cap can be met."""
        self.log_s = np.log(form.T_s @ form.p_x)

    def add(self, x: IntArray, y: IntArray, t: Array) -> None:
        """More columns."""
        self.x, self.y, self.t = np.append(self.x, x), np.append(self.y, y), np.append(self.t, t)

    def add_posteriors(self, Q: Array) -> None:
        """Those of the columns of Q that have at most two letters."""
        if len(Q) < 2:  # one letter is a column from the beginning
            return
        order = np.argsort(-Q, axis=0, kind="stable")
        few = Q[order[:2], np.arange(Q.shape[1])].sum(axis=0) > 1.0 - 1e-9
        x, y = order[0, few], order[1, few]
        self.add(x, y, Q[y, few] / (Q[x, few] + Q[y, few]))

    def at(self, T: Array) -> Array:
        """Tq of every column."""
        return np.asarray(T[:, self.x] * (1.0 - self.t) + T[:, self.y] * self.t)

    def solve(self, cap: float | None = None) -> EdgePoint:
        """The programme at the form's hide, or under a cap; InfoplaneError if HiGHS does not solve it."""
        form, m, p = self.form, len(self.x), self.form.p_x
        u, s = self.at(form.T_u), self.at(form.T_s)
        h_u, h_s = entr(u).sum(axis=0), entr(s).sum(axis=0)
        with np.errstate(divide="ignore"):
            most = np.minimum(p[self.x] / (1.0 - self.t), np.where(self.t > 0.0, p[self.y] / self.t, np.inf))
        rows, columns = np.concatenate([self.x, self.y]), np.tile(np.arange(m), 2)
        entries = np.concatenate([(1.0 - self.t) * most / p[self.x], self.t * most / p[self.y]])
        A = sparse.csr_array((entries, (rows, columns)), shape=(len(p), m))
        if cap is None:
            costs = form.keep * h_u - form.hide * h_s
            found = solved(costs * most, A, max(float(np.abs(costs * most).max()), 1e-3))
        else:
            unit = max(cap, SMALLEST_UNIT)
            leakage = np.maximum(-h_s - self.log_s @ s, 0.0)
            row = -leakage * most / unit, -cap / unit + min(3.0 * LIMITS.tightest, 0.5 * cap / unit)
            found = solved(form.keep * h_u * most, A, max(float((form.keep * h_u * most).max()), 1e-3), row)
        if found is None:
            raise InfoplaneError(f"HiGHS did not solve the linear programme over {m} posteriors of two letters.")
        hide = form.hide if cap is None else found.dual / unit
        lam = np.clip(found.lam / p, -LARGEST, LARGEST)
        if cap is not None:
            lam = lam + hide * (self.log_s @ form.T_s)
        return EdgePoint(found.weights * most, lam, hide)

    def posteriors(self, weights: Array) -> Array:
        """The columns in use, as posteriors (|X|, k)."""
        on = np.flatnonzero(weights > 0.0)
        Q = np.zeros((len(self.form.p_x), len(on)))
        np.add.at(Q, (self.x[on], np.arange(len(on))), 1.0 - self.t[on])
        np.add.at(Q, (self.y[on], np.arange(len(on))), self.t[on])
        return Q

    def reduced(self, point: EdgePoint) -> Array:
        """Cost less lambda.q of every column."""
        costs = self.form.keep * entr(self.at(self.form.T_u)).sum(axis=0) - point.hide * entr(
            self.at(self.form.T_s)
        ).sum(axis=0)
        return np.asarray(costs - point.lam[self.x] * (1.0 - self.t) - point.lam[self.y] * self.t)

    def trim(self, point: EdgePoint, slack: float) -> None:
        """Forget columns that are neither used, nor among the first, nor within ``slack`` of being used."""
        kept = (self.reduced(point) < slack) | (point.weights > 0.0) | (np.arange(len(self.x)) < self.first)
        self.x, self.y, self.t = self.x[kept], self.y[kept], self.t[kept]

    def encoder(self, weights: Array) -> Array:
        """p(z|x) = p_k q_k(x) / p(x) of the classes; clusters that say the same of U and S are one, which changes nothing at gamma = 0."""
        on = np.flatnonzero(weights > 0.0)
        u, s = self.at(self.form.T_u)[:, on], self.at(self.form.T_s)[:, on]
        _, owner = np.unique(np.round(np.vstack([u, s]).T, 7), axis=0, return_inverse=True)
        owner = owner.reshape(-1)
        W = np.zeros((int(owner.max()) + 1, len(self.form.p_x)))
        np.add.at(W, (owner, self.x[on]), weights[on] * (1.0 - self.t[on]))
        np.add.at(W, (owner, self.y[on]), weights[on] * self.t[on])
        return np.asarray(W / W.sum(axis=0))
