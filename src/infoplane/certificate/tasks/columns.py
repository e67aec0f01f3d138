"""Any secret at gamma = 0: columns found by descents, and a proof by boxes of u = T_u q.

    L  >=  -keep H(U) + hide H(S) + lambda.p_x + min_q (f(q) - lambda.q)     for every encoder and every lambda,

with lambda of a linear programme over posteriors, and hide given, or the price of a cap on I(S;Z) (`posterior/task_columns`). A posterior
that violates the bound becomes a column.
"""

from __future__ import annotations

import math

import numpy as np

from ...errors import InfoplaneError
from ...information import Array, entr
from ...kernels.task_proof.pairs import price_edges
from ...posterior.task_columns import TaskColumns, missing
from ...posterior.task_form import TaskForm
from ...runtime.budget import Budget, Stopped
from .boxes import Asked, box_bound, search_boxes
from .challenge import TaskOutcome, upheld
from .edges import ROOM, chosen

ROUNDS = 300
"""Programmes for one parameter or cap."""

NEW = 400
"""Columns that a round adds, at most."""

MOST_LETTERS = 1_500
"""Classes of letters whose pairs are gone through for columns: a million, a second."""

PAIRS = 600
"""Columns of two letters that a round adds, at most: of each letter the best."""

FEW = 40
"""New columns of two letters below which others are looked for."""

FIRST_FLOOR = 1e-3
"""Nats that the first search proves f(q) - lambda.q to."""


def generate_columns(
    form: TaskForm, columns: TaskColumns, tol: float, budget: Budget, cap: float | None = None
) -> TaskOutcome:
    """Columns until the programme's value is within ``tol`` of the bound, or the budget is spent; under a cap if one is given."""
    h_u, h_s = (math.fsum(entr(T @ form.p_x).tolist()) for T in (form.T_u, form.T_s))
    floor, top, best, found = FIRST_FLOOR, -math.inf, None, None
    for rounds in range(1, ROUNDS + 1):
        try:
            found = columns.solve(cap, budget)
        except (InfoplaneError, Stopped):
            if found is None:
                raise
            break
        budget.rounds_spent += 1
        here = form.at(found.hide)
        value = found.value - form.keep * h_u + (found.hide * h_s if cap is None else 0.0)
        new = _edges(here, found.lam, floor)
        if new.shape[1] < FEW:
            new = np.column_stack(
                [new, missing(here, found.lam, columns.Q[:, found.weights > 0.0], NEW, -0.05 * floor)]
            )
        if not new.shape[1] or (rounds % 4 == 0 and new.shape[1] < FEW) or budget.over:
            asked = Asked(here, found.lam)
            searched = search_boxes(asked, floor, budget)
            lower = box_bound(here, found.lam, searched.least)
            at_cap = lower - found.hide * (cap or 0.0)
            if best is None or at_cap > top:
                top, best = at_cap, (lower, asked, searched.least)
            new = np.column_stack([new, *searched.violating])
            if value - top <= tol or budget.over or (not new.shape[1] and (searched.left or floor <= 0.4 * tol)):
                break
            floor = max(min(floor / (1.0 if new.shape[1] else 30.0), (value - top) / 50.0), 0.4 * tol)
        columns.trim(found)
        columns.add(new)
    assert found is not None
    assert best is not None
    lower, asked, claim = best
    said = upheld(asked, claim, columns.Q)
    return TaskOutcome(found.encoder, -math.inf if said else lower, asked.form.hide, asked.lam, rounds, said)


def _edges(form: TaskForm, lam: Array, floor: float) -> Array:
    """Posteriors of two letters with f(q) < lambda.q, of each letter the best."""
    n = len(form.p_x)
    if n > MOST_LETTERS:
        return np.empty((n, 0))
    pairs, met = np.empty((ROOM, 2), dtype=np.int64), np.empty((ROOM, 2))
    _, count, _ = price_edges(form.T_u, form.T_s, form.keep, form.hide, lam, floor, -0.25 * floor, pairs, met)
    x, y, t = (one[:PAIRS] for one in chosen(pairs[:count], met[:count], n))
    Q = np.zeros((n, len(x)))
    Q[x, np.arange(len(x))], Q[y, np.arange(len(x))] = 1.0 - t, t
    return Q
