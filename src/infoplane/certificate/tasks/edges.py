"""Binary secrets at gamma = 0: columns of two letters, priced and proven on the edges of the simplex.

    L  >=  -keep H(U) + hide H(S) + lambda.p_x + min_q (f(q) - lambda.q)     for every encoder and every lambda,

and hide, if a cap is its price, makes a bound of I(U;Z) under I(S;Z) <= r: keep I(U;Z) <= hide r - (that bound of L).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...errors import InfoplaneError
from ...information import Array, IntArray, entr
from ...kernels.common.numerics import UNIT
from ...kernels.task_proof.pairs import price_edges
from ...posterior.edge_columns import EdgeColumns, EdgePoint
from ...posterior.task_form import TaskForm
from ...runtime.budget import Budget
from .boxes import Asked
from .challenge import TaskOutcome, upheld

MOST_LETTERS = 4_000
"""Classes of letters whose pairs are gone through: eight million, some ten seconds."""


class EdgeEffort(NamedTuple):
    """How hard edges are looked for."""

    rounds: int = 80
    """Programmes for one parameter or cap; Adult takes ten to twenty."""
    per_round: int = 4_000
    per_letter: int = 8
    """New columns of a round, at most, and those that a letter is part of before it counts no more: the best partners of every letter."""
    kept: float = 0.002
    """Nats of reduced cost beyond which an unused column is forgotten."""
    many: int = 16
    """Columns for every letter up to which none is forgotten: among few the prices may swing, and bring back what was forgotten for
    ever."""
    seeds: int = 6_000
    seeds_a_letter: int = 13
    """Random edges to begin with: fewer rounds on Adult (benchmarks/tasks.py)."""


EFFORT = EdgeEffort()


ROOM = 200_000
"""Violated edges that a round looks at."""


def lagrangian_bound(form: TaskForm, hide: float, lam: Array, least: float) -> float:
    """-keep H(U) + hide H(S) + lambda.p_x + least, rounded down."""
    h_u, h_s = (math.fsum(entr(T @ form.p_x).tolist()) for T in (form.T_u, form.T_s))
    n = len(form.whole.p_x) + len(form.T_u) + len(form.T_s)
    size = form.keep * (h_u + 1.0) + hide * (h_s + 1.0) + float(np.abs(lam) @ form.p_x) + abs(least)
    bound = -form.keep * h_u + hide * h_s + math.fsum((lam * form.p_x).tolist()) + least
    return bound - 8.0 * (n + 64.0) * UNIT * size


def seeded(
    form: TaskForm, private: tuple[IntArray, IntArray, Array] | None = None, posteriors: Array | None = None
) -> EdgeColumns:
    """Single letters, edges (x, y, t) that tell nothing of S, random edges, and those of some posteriors that have two letters."""
    columns, rng, n = EdgeColumns(form), np.random.default_rng(0), len(form.p_x)
    if private is not None:
        columns.add(*private)
        columns.first = len(columns.x)
    many = min(EFFORT.seeds, EFFORT.seeds_a_letter * n)
    x, y = rng.integers(0, n, many), rng.integers(0, n, many)
    apart = x != y
    columns.add(x[apart], y[apart], rng.random(int(apart.sum())))
    if posteriors is not None:
        columns.add_posteriors(posteriors)
    return columns


def generate(form: TaskForm, columns: EdgeColumns, tol: float, budget: Budget, cap: float | None = None) -> TaskOutcome:
    """Columns until the programme's value is within ``tol`` of the bound, or the budget is spent; under a cap if one is given.

    Values and bounds are of keep (I(U;Z) - ...) up to the same constant: with a cap r, L's bound at its price less hide r.
    """
    finest, floor, rounds = tol / 4.0, 1e-3, 0
    best: tuple[float, EdgePoint, float] | None = None
    found: EdgePoint | None = None
    pairs, met = np.empty((ROOM, 2), dtype=np.int64), np.empty((ROOM, 2))
    T_u, T_s = np.ascontiguousarray(form.T_u), np.ascontiguousarray(form.T_s)
    top = -math.inf
    encoder: Array = np.ones((1, len(form.p_x)))
    h_u = math.fsum(entr(T_u @ form.p_x).tolist())
    for _ in range(EFFORT.rounds):
        try:
            found = columns.solve(cap)
        except InfoplaneError:
            if found is None:
                raise
            break
        rounds += 1
        budget.rounds_spent += 1
        value = -form.keep * h_u + float(found.weights @ (form.keep * entr(columns.at(T_u)).sum(axis=0)))
        if cap is None:
            s = columns.at(T_s)
            value += found.hide * float(found.weights @ (-entr(s).sum(axis=0) - columns.log_s @ s))
        encoder = columns.encoder(found.weights)
        if math.isfinite(top):
            floor = min(floor, max((value - top) / 50.0, finest))
        least, count, some = price_edges(T_u, T_s, form.keep, found.hide, found.lam, floor, -0.25 * floor, pairs, met)
        budget.cells_spent += some
        least = min(least, 0.0) if count == 0 and least > 0.0 else least
        bound = lagrangian_bound(form, found.hide, found.lam, least)
        at_cap = bound - found.hide * (cap or 0.0)
        if at_cap > top:
            top, best = at_cap, (bound, found, least)
        if value - top <= tol or budget.over:
            break
        if count == 0:
            if floor <= finest:
                break
            floor = max(floor / 30.0, finest)
            continue
        if len(columns.x) > columns.first + EFFORT.many * len(form.p_x) + 500:
            columns.trim(found, EFFORT.kept)
        columns.add(*chosen(pairs[:count], met[:count], len(form.p_x)))
    assert found is not None
    assert best is not None
    lower, proof, claim = best
    said = upheld(Asked(form.at(proof.hide), proof.lam), claim, columns.posteriors(found.weights))
    return TaskOutcome(encoder, -math.inf if said else lower, proof.hide, proof.lam, rounds, said)


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
