"""Any secret at gamma = 0: columns found by descents, and a proof by boxes of u = T_u q.

    L  >=  -keep H(U) + hide H(S) + lambda.p_x + min_q (f(q) - lambda.q)     for every encoder and every lambda,

with lambda of a linear programme over posteriors, and hide given, or the price of a cap on I(S;Z) (`posterior/task_columns`). A posterior
that violates the bound becomes a column.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...errors import InfoplaneError
from ...information import Array, entr
from ...kernels.task_proof.pairs import price_edges
from ...posterior.task_columns import TaskColumns, missing
from ...posterior.task_form import TaskForm
from ...runtime.work import Budget, Stopped
from .boxes import Asked, box_bound, search_boxes
from .challenge import TaskOutcome, upheld
from .edges import ROOM, chosen


class TaskColumnEffort(NamedTuple):
    """How columns are looked for, and when that ends."""

    rounds: int = 300
    """Programmes for one parameter or cap."""
    new: int = 400
    """Columns that a round adds, at most."""
    most_letters: int = 1_500
    """Classes of letters whose pairs are gone through for columns: a million, a second."""
    pairs: int = 600
    """Columns of two letters that a round adds, at most: of each letter the best."""
    first_floor: float = 1e-3
    """Nats that the first search proves f(q) - lambda.q to."""
    near: float = 0.6
    """Share of the best proven multipliers in those that columns are looked for at; the programme's own swing, and their columns are of no
    use at the optimum. Adult, 225 x (2, 7), after a minute: caps to 1e-6 or 1e-5, instead of no proof at all."""
    helps: float = 0.3
    """Share of the gap by which a column must violate the programme's multipliers; if none does, columns are looked for nearer to those."""
    misses: int = 5
    """Rounds in a row without such columns, and without a better bound, after which they are looked for at the programme's own."""


EFFORT = TaskColumnEffort()


def generate_columns(
    form: TaskForm, columns: TaskColumns, tol: float, budget: Budget, cap: float | None = None
) -> TaskOutcome:
    """Columns until the programme's value is within ``tol`` of the bound, or the budget is spent; under a cap if one is given."""
    h_u, h_s = (math.fsum(entr(T @ form.p_x).tolist()) for T in (form.T_u, form.T_s))
    floor, top, best, found, misses = EFFORT.first_floor, -math.inf, None, None, 0
    for rounds in range(1, EFFORT.rounds + 1):  # noqa: B007
        try:
            found = columns.solve(cap, budget)
        except (InfoplaneError, Stopped):
            if found is None:
                raise
            break
        budget.rounds_spent += 1
        value = found.value - form.keep * h_u + (found.hide * h_s if cap is None else 0.0)
        gap, share = value - top, 1.0 if best is None else EFFORT.near * 0.5**misses if misses < EFFORT.misses else 0.0
        lam, hide = found.lam, found.hide
        if columns.near is not None:
            lam, hide = lam + share * (columns.near[0] - lam), hide + share * (columns.near[1] - hide)
        here = form.at(hide)
        new = np.column_stack(
            [
                _edges(here, lam, floor),
                missing(here, lam, columns.Q[:, found.weights > 0.0], EFFORT.new, min(0.5 * gap, floor)),
            ]
        )
        # Lowered until nothing that was met lies below.
        asked = Asked(here, lam + min(float((here.f(new) - lam @ new).min(initial=0.0)), 0.0))
        better, left = False, 0
        if best is None or box_bound(here, asked.lam, 0.0) - hide * (cap or 0.0) > top or budget.over:
            searched = search_boxes(asked, floor, budget, thorough=True)
            lower, left = box_bound(here, asked.lam, searched.least), searched.left
            new = np.column_stack([new, *searched.violating])
            better = best is None or lower - hide * (cap or 0.0) > top
            if better:
                top, best = lower - hide * (cap or 0.0), (lower, asked, searched.least)
                columns.near = asked.lam, hide
        gap = value - top
        cuts = form.at(found.hide).f(new) - found.lam @ new
        lowest = float(cuts.min(initial=0.0))
        if gap <= tol or budget.over or (not (better or share or lowest < 0.0) and (left or floor <= 0.2 * tol)):
            break
        misses = max(misses - 1, 0) if better or lowest < -EFFORT.helps * gap else misses + 1
        floor = max(min(floor, gap / 20.0), 0.2 * tol)
        columns.trim(found, 30.0 * gap)
        columns.add(new[:, cuts < 0.5 * gap])
    assert found is not None
    assert best is not None
    lower, asked, claim = best
    said = upheld(asked, claim, columns.Q)
    return TaskOutcome(found.encoder, -math.inf if said else lower, asked.form.hide, asked.lam, rounds, said)


def _edges(form: TaskForm, lam: Array, floor: float) -> Array:
    """Posteriors of two letters with f(q) < lambda.q, of each letter the best."""
    n = len(form.p_x)
    if n > EFFORT.most_letters:
        return np.empty((n, 0))
    pairs, met = np.empty((ROOM, 2), dtype=np.int64), np.empty((ROOM, 2))
    _, count, _ = price_edges(form.T_u, form.T_s, form.keep, form.hide, lam, floor, -0.25 * floor, pairs, met)
    x, y, t = (one[: EFFORT.pairs] for one in chosen(pairs[:count], met[:count], n))
    Q = np.zeros((n, len(x)))
    Q[x, np.arange(len(x))], Q[y, np.arange(len(x))] = 1.0 - t, t
    return Q
