"""One target kept, another hidden, at gamma = 0: columns are met, and what is missing searched for, until a bound is proven.

    L  >=  -keep H(U) + hide H(S) + lambda.p_x + min_q (f(q) - lambda.q)     for every encoder and every lambda,

with lambda of a linear programme over posteriors, and hide given, or the multiplier of a cap r on I(S;Z), which makes a bound of I(U;Z)
under it: keep I(U;Z) <= hide r - (that bound of L). Of binary secrets columns have two letters: the search and the proof are on the edges
of the simplex (`generate`); of any other they are found by descents, and the proof is by boxes of u = T_u q (`generate_columns`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...errors import InfoplaneError
from ...information import Array, IntArray
from ...kernels.task_proof.pairs import rounding, search_edges
from ...posterior.task_form import TaskColumns, TaskForm, TaskPoint, edges, missing, on_edges
from ...runtime.budget import Budget, Stopped
from ..challenge import upheld
from .boxes import Asked, box_bound, search_boxes

MOST_LETTERS = 4_000
"""Classes of letters whose pairs are gone through: eight million, some ten seconds."""


class TaskColumnEffort(NamedTuple):
    """How edges, and columns for any other secret, are looked for, and when that ends."""

    edge_rounds: int = 80
    """Programmes for one parameter or cap; Adult takes ten to twenty."""
    per_round: int = 4_000
    per_letter: int = 8
    """New columns of a round, at most, and those that a letter is part of before it counts no more: the best partners of every letter."""
    edges_kept: float = 0.002
    """Nats of reduced cost beyond which an unused column is forgotten."""
    many_edges: int = 16
    """Columns for every letter up to which none is forgotten: among few the multipliers may swing, and bring back what was forgotten for
    ever."""
    roundings: float = 16.0
    """Times the rounding of a bound that edges are searched to, at least: as for the funnel's posteriors."""
    seeds: int = 6_000
    seeds_a_letter: int = 13
    """Random edges to begin with: fewer rounds on Adult (benchmarks/bench_tasks.py)."""
    most_violated: int = 200_000
    """Violated edges that a round looks at."""
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
    kept: float = 0.02
    """Nats of reduced cost beyond which an unused column is forgotten."""
    many: int = 6
    """Columns for every letter up to which none is forgotten."""
    misses: int = 5
    """Rounds in a row without such columns, and without a better bound, after which they are looked for at the programme's own."""


EFFORT = TaskColumnEffort()


class TaskOutcome(NamedTuple):
    """Where a proof has ended, after the challenge."""

    encoder: Array
    """Of the classes."""
    lower: float
    """The best bound of L at ``hide``, proven with ``lam``; minus infinity if it was contradicted."""
    hide: float
    lam: Array
    rounds: int
    contradiction: str = ""
    """What has contradicted the proof."""


class Best(NamedTuple):
    """The highest bound so far: of L, at its multiplier of a cap r, less that multiplier times r."""

    at_cap: float = -math.inf
    lower: float = -math.inf
    """Of L itself."""
    least: float = -math.inf
    """The least f(q) - lambda.q that it claims"""
    asked: Asked | None = None
    """of this."""

    def or_better(self, asked: Asked, least: float, cap: float | None) -> Best:
        """What a least f(q) - lambda.q proves, if that is higher; else what there is."""
        lower = box_bound(asked.form, asked.lam, least)
        at_cap = lower - asked.form.hide * (cap or 0.0)
        return Best(at_cap, lower, least, asked) if self.asked is None or at_cap > self.at_cap else self

    def outcome(self, encoder: Array, rounds: int, Q: Array) -> TaskOutcome:
        """After the challenge, from the columns of Q."""
        assert self.asked is not None
        said = upheld(self.asked, self.least, Q)
        lower = -math.inf if said else self.lower
        return TaskOutcome(encoder, lower, self.asked.form.hide, self.asked.lam, rounds, said)


def seeded(form: TaskForm, private: Any = None, posteriors: Array | None = None) -> TaskColumns:
    """Single letters, edges that tell nothing of S, random edges, and those of some posteriors that have two letters."""
    rng, n = np.random.default_rng(0), len(form.p_x)
    columns = TaskColumns(form, edges(n, np.arange(n), np.arange(n), np.zeros(n)))
    if private is not None:
        columns.add(private)
        columns.first = columns.Q.shape[1]
    many = min(EFFORT.seeds, EFFORT.seeds_a_letter * n)
    x, y = rng.integers(0, n, many), rng.integers(0, n, many)
    apart = x != y
    columns.add(edges(n, x[apart], y[apart], rng.random(int(apart.sum()))))
    if posteriors is not None:
        columns.add(on_edges(posteriors))
    return columns


def generate(form: TaskForm, columns: TaskColumns, tol: float, budget: Budget, cap: float | None = None) -> TaskOutcome:
    """Columns until the programme's value is within ``tol`` of the bound, or the budget is spent; under a cap if one is given.

    Values and bounds are of keep (I(U;Z) - ...) up to the same constant: with a cap r, L's bound at its multiplier less hide r.
    """
    finest, floor, best, n = tol / 4.0, 1e-3, Best(), len(form.p_x)
    found: TaskPoint | None = None
    pairs, met = np.empty((EFFORT.most_violated, 2), dtype=np.int64), np.empty((EFFORT.most_violated, 2))
    for rounds in range(1, EFFORT.edge_rounds + 1):  # noqa: B007
        try:
            found = columns.solve(cap)
        except InfoplaneError:
            if found is None:
                raise
            break
        budget.rounds_spent += 1
        encoder, used = columns.encoder(found), columns.used(found)
        if math.isfinite(best.at_cap):
            floor = min(floor, max((found.value - best.at_cap) / 50.0, finest))
        asked = Asked(form.at(found.hide), found.lam)
        least, count, cells = searched_edges(asked, floor, pairs, met)
        budget.cells_spent += cells
        best = best.or_better(asked, least if count else min(least, 0.0), cap)
        if found.value - best.at_cap <= tol or budget.over or (count == 0 and floor <= finest):
            break
        if count == 0:
            floor = max(floor / 30.0, finest)
            continue
        columns.trim(found, EFFORT.edges_kept, EFFORT.many_edges * n + 500)
        columns.add(edges(n, *chosen(pairs[:count], met[:count], n)))
    return best.outcome(encoder, rounds, used)


def searched_edges(asked: Asked, floor: float, pairs: IntArray, met: Array) -> tuple[float, int, int]:
    """The least f(q) - lambda.q of all edges, as far as it is below -floor; how many are well on the way, and intervals gone through.

    To less than some multiple of its rounding, which grows with the multiplier of a cap of nearly 0, nothing is proven: no interval would
    ever be closed.
    """
    form = asked.form
    floor = max(floor, EFFORT.roundings * rounding(form.T_u, form.T_s, form.keep, form.hide, asked.largest))
    return search_edges(form.T_u, form.T_s, form.keep, form.hide, asked.lam, floor, -0.25 * floor, pairs, met)


def chosen(pairs: IntArray, met: Array, letters: int) -> tuple[IntArray, IntArray, Array]:
    """The most violated edges, of each letter a few."""
    seen = np.zeros(letters, dtype=np.int64)
    picked: list[int] = []
    for k in np.argsort(met[:, 0], kind="stable")[: 4 * EFFORT.per_round].tolist():
        x, y = pairs[k]
        if seen[x] < EFFORT.per_letter or seen[y] < EFFORT.per_letter:
            picked.append(k)
            seen[x] += 1
            seen[y] += 1
            if len(picked) == EFFORT.per_round:
                break
    return pairs[picked, 0], pairs[picked, 1], met[picked, 1]


def generate_columns(
    form: TaskForm, columns: TaskColumns, tol: float, budget: Budget, cap: float | None = None
) -> TaskOutcome:
    """Columns until the programme's value is within ``tol`` of the bound, or the budget is spent; under a cap if one is given."""
    floor, best, found, misses = EFFORT.first_floor, Best(), None, 0
    for rounds in range(1, EFFORT.rounds + 1):  # noqa: B007
        try:
            found = columns.solve(cap, budget)
        except (InfoplaneError, Stopped):
            if found is None:
                raise
            break
        budget.rounds_spent += 1
        encoder, share = columns.encoder(found), _share_of_best(best, misses)
        new, asked = _met(form, columns, found, share, floor, found.value - best.at_cap)
        before, left = best, 0
        if best.asked is None or best.or_better(asked, 0.0, cap) is not best or budget.over:
            searched = search_boxes(asked, floor, budget, thorough=True)
            left, new = searched.left, np.column_stack([new, *searched.violating])
            best = best.or_better(asked, searched.least, cap)
        better, gap = best is not before, found.value - best.at_cap
        if better:
            columns.near = asked.lam, asked.form.hide
        cuts = form.at(found.hide).f(new) - found.lam @ new
        lowest = float(cuts.min(initial=0.0))
        if gap <= tol or budget.over or (not (better or share or lowest < 0.0) and (left or floor <= 0.2 * tol)):
            break
        misses = max(misses - 1, 0) if better or lowest < -EFFORT.helps * gap else misses + 1
        floor = max(min(floor, gap / 20.0), 0.2 * tol)
        columns.trim(found, min(30.0 * gap, EFFORT.kept), EFFORT.many * len(form.p_x))
        columns.add(new[:, cuts < 0.5 * gap])
    return best.outcome(encoder, rounds, columns.Q)


def _share_of_best(best: Best, misses: int) -> float:
    """Of the best proven multipliers in those that columns are looked for at: less after every miss, none after many."""
    if best.asked is None:
        return 1.0
    return EFFORT.near * 0.5**misses if misses < EFFORT.misses else 0.0


def _met(
    form: TaskForm, columns: TaskColumns, found: TaskPoint, share: float, floor: float, gap: float
) -> tuple[Array, Asked]:
    """New columns, looked for between the programme's multipliers and the best proven; and these, lowered until none of them lies below."""
    lam, hide = found.lam, found.hide
    if columns.near is not None:
        lam, hide = lam + share * (columns.near[0] - lam), hide + share * (columns.near[1] - hide)
    here = form.at(hide)
    new = np.column_stack(
        [_edges(here, lam, floor), missing(here, lam, columns.used(found), EFFORT.new, min(0.5 * gap, floor))]
    )
    return new, Asked(here, lam + min(float((here.f(new) - lam @ new).min(initial=0.0)), 0.0))


def generate_any(form: TaskForm, Q: Array, tol: float, budget: Budget) -> TaskOutcome:
    """From the columns of Q: on edges if the secret is binary and pairs of letters are not too many, else by boxes."""
    if len(form.T_s) <= 2 and len(form.p_x) <= MOST_LETTERS:
        return generate(form, seeded(form, posteriors=Q), tol, budget)
    return generate_columns(form, TaskColumns(form, np.column_stack([Q, np.eye(len(form.p_x))])), tol, budget)


def _edges(form: TaskForm, lam: Array, floor: float) -> Array:
    """Posteriors of two letters with f(q) < lambda.q, of each letter the best."""
    n = len(form.p_x)
    if n > EFFORT.most_letters:
        return np.empty((n, 0))
    pairs, met = np.empty((EFFORT.most_violated, 2), dtype=np.int64), np.empty((EFFORT.most_violated, 2))
    _, count, _ = searched_edges(Asked(form, lam), floor, pairs, met)
    return np.asarray(edges(n, *chosen(pairs[:count], met[:count], n))[:, : EFFORT.pairs].toarray())
