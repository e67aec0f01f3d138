"""The linear programme over posteriors of any number of letters, for any secret, at gamma = 0.

    minimise  sum_k p_k (keep H(T_u q_k) - hide H(T_s q_k))    subject to  sum_k p_k q_k = p_x,  p >= 0,

or, with a cap r on I(S;Z), sum_k p_k keep H(T_u q_k) subject to sum_k p_k D(T_s q_k || p_s) <= r as well, whose dual value is then hide;
and descents to the posteriors that it lacks.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..information import Array, entr
from ..runtime.work import Budget
from .edge_columns import SMALLEST_UNIT
from .linear import LIMITS, linear_programme, repaired
from .programme import encoder_of
from .task_form import TaskForm


class SearchEffort(NamedTuple):
    """How hard missing columns are looked for."""

    descents: int = 640
    """Posteriors from which descents begin in a round: those of the clusters, and letters."""
    free: int = 64
    """Of these, at gamma = 0, the most in which no letter is held."""
    apart: float = 1e-3
    """Total variation within which two new posteriors are one."""
    kept: float = 0.02
    """Nats of reduced cost beyond which an unused column is forgotten."""
    many: int = 6
    """Columns for every letter up to which none is forgotten."""


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
    """The weight of I(S;Z): as given, or the price of the cap."""
    value: float
    """sum_k p_k (keep H(T_u q_k) - hide H(T_s q_k)); with a cap sum_k p_k keep H(T_u q_k)."""
    encoder: Array
    """Of the classes."""


class TaskColumns:
    """Columns q, kept from one parameter or cap to the next; the first are never forgotten, and meet every cap."""

    def __init__(self, form: TaskForm, first: Array) -> None:
        self.form, self.Q, self.first = form, first, first.shape[1]
        self.log_s = np.log(form.T_s @ form.p_x)
        self.near: tuple[Array, float] | None = None
        """Multipliers and hide that are nearly optimal, where columns are looked for."""

    def add(self, Q: Array) -> None:
        """More columns."""
        self.Q = np.column_stack([self.Q, Q])

    def solve(self, cap: float | None, budget: Budget) -> TaskPoint:
        """The programme at the form's hide, or under a cap, however long it takes; InfoplaneError if HiGHS does not solve it."""
        form, Q, p_x, budget = self.form, self.Q, self.form.p_x, budget.part(seconds=math.inf)
        s, h_u = form.T_s @ Q, form.keep * entr(form.T_u @ Q).sum(axis=0)
        if cap is None:
            costs, hide, shift = h_u - form.hide * entr(s).sum(axis=0), form.hide, np.zeros(len(p_x))
            found = linear_programme(Q, costs, p_x, budget=budget)
        else:
            unit = max(cap, SMALLEST_UNIT)
            told = np.maximum(-entr(s).sum(axis=0) - self.log_s @ s, 0.0)
            least = -cap / unit + min(3.0 * LIMITS.tightest, 0.5 * cap / unit)
            found = linear_programme(Q, h_u, p_x, (-told / unit, least), budget)
            hide, shift = found.dual / unit, found.dual / unit * (self.log_s @ form.T_s)
        lam = repaired(found.lam + shift, Q, h_u - hide * entr(s).sum(axis=0), p_x)
        value = float(found.weights @ (costs if cap is None else h_u))
        return TaskPoint(found.weights, lam, hide, value, encoder_of(Q, found.weights))

    def trim(self, point: TaskPoint, slack: float = EFFORT.kept) -> None:
        """Forget columns, once there are many, that are neither used, nor among the first, nor within ``slack`` of being used."""
        if self.Q.shape[1] <= self.first + EFFORT.many * len(self.Q):
            return
        reduced = self.form.at(point.hide).f(self.Q) - point.lam @ self.Q
        kept = (reduced < min(slack, EFFORT.kept)) | (point.weights > 0.0) | (np.arange(self.Q.shape[1]) < self.first)
        self.Q = self.Q[:, kept]
