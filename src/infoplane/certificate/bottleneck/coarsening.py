"""A bound for many letters of Y from problems with few: merge the letters into groups Y' = g(Y).

Y' is a function of Y, and Y -> X -> Z. So I(X;Z) = I(Y';Z) + I(X;Z|Y') and I(Y;Z) = I(Y';Z) + I(Y;Z|Y'), and for any share 0 <= s <= gamma

    gamma I(X;Z) - I(Y;Z)  =  [(gamma - s) I(X;Z) - (1 - s) I(Y';Z)]  +  sum_y' p(y') [s I(X;Z|y') - I(Y;Z|y')]
                           >=  (1 - s) L*_{Y'}((gamma - s) / (1 - s))  +  sum_y' p(y') L*_{y'}(s),

where L*_{Y'} is the optimum of the bottleneck of X and Y', and L*_{y'} that of X and Y given Y' = y': chains like any other, with few
letters each. Both terms are concave in s; the best s is searched for with unproven values, and what is returned is proven at that s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...information import Array, entr, mutual_information
from ...joint.joint import Joint, Support
from ...kernels.common.numerics import UNIT
from ...posterior.form import imbalance
from ...posterior.mixture import Mixture
from ...problem import bottleneck
from ...runtime.budget import Budget
from .proof import Proof


class CoarseningEffort(NamedTuple):
    """When letters of Y are grouped, and how long groups are searched, set by `benchmarks/bench_certificate.py`."""

    groups: int = 4
    widest: int = 24
    """Letters that Y' has, unless a group would have more than so many."""
    looks: int = 10
    """Steps of the search for the share s."""
    rough: float = 1e-5
    """Nats to which an estimate is made."""
    few: int = 1_000
    """Cells below which it is not worth beginning."""
    long: int = 200_000_000
    """Entries of T, times cells, of the direct search after which the coarsened bound is worth its time."""


EFFORT = CoarseningEffort()


def prove(proof: Proof) -> None:
    """The direct proof; once it is long, or half of a limit is spent, with the coarsened bound beside it.

    The highest of all bounds stands in ``proof.lower_bound``.
    """
    budget, due = proof.budget, len(proof.support.p_y) > EFFORT.groups  # else Y' would be Y
    long = EFFORT.long // (proof.support.T.size + 200)

    def beside(share: float = 0.5) -> None:
        """The coarsened bound, once, in a share of what is left."""
        nonlocal due
        cells = proof.most_cells - budget.cells_spent
        many = 2 * budget.cells_spent >= min(proof.most_cells, 2 * long)
        halfway = many or budget.seconds_spent >= 0.5 * budget.seconds
        if not due or proof.refuted or budget.stopped or not (halfway or share > 0.5):
            return
        due = False
        if cells >= EFFORT.few and budget.seconds_spent < 0.9 * budget.seconds:
            rest = budget.part(cells=cells // 2, seconds=share * budget.seconds_left)
            bound = coarsened_bound(proof.whole, proof.gamma, proof.tol, rest)
            bound = proof.problem.rho_zy * bound - imbalance(proof.whole, proof.problem)
            proof.lower_bound = max(proof.lower_bound, bound)
            budget.cells_spent += rest.cells_spent

    for _ in proof.pieces():
        beside()
    if not proof.complete:  # all of what is left, if the direct search has given up
        beside(0.95)


def groups_of(P: Array, groups: int | None = None) -> list[list[int]]:
    """Letters of Y merged greedily, the pair that costs I(X;Y) least first; no group much larger than the average.

    `EFFORT.groups` of them, or as many as it takes for none to be much larger than `EFFORT.widest`. Columns a, b of P, masses A, B, cost
    H(a + b) - H(a) - H(b) - H(A + B) + H(A) + H(B), H the sum of -t log t.
    """
    n_y = P.shape[1]
    groups = max(EFFORT.groups, math.ceil(n_y / EFFORT.widest)) if groups is None else groups
    most = math.ceil(n_y / groups) + 1
    columns = np.ascontiguousarray(P.T)
    found = [[y] for y in range(n_y)]
    costs = np.full((n_y, n_y), np.inf)
    for y in range(n_y):
        costs[y, :y] = _costs(columns[y], columns[:y])
    left = n_y
    while left > groups and costs.min() < np.inf:
        i, j = (int(place) for place in np.unravel_index(costs.argmin(), costs.shape))  # j < i
        found[j], found[i] = found[j] + found[i], []
        columns[j] += columns[i]
        left -= 1
        fits = np.array([0 < len(one) <= most - len(found[j]) for one in found])
        fits[j] = False
        costs[[i, j]], costs[:, [i, j]] = np.inf, np.inf
        others = np.flatnonzero(fits)
        costs[np.maximum(others, j), np.minimum(others, j)] = _costs(columns[j], columns[others])
    return [sorted(group) for group in found if group]


def _costs(one: Array, others: Array) -> Array:
    """The fall of I(X;Y) when a letter becomes one with each of some others."""
    rows = entr(one + others).sum(axis=1) - entr(one).sum() - entr(others).sum(axis=1)
    mass, masses = one.sum(), others.sum(axis=1)
    return np.asarray(rows - entr(mass + masses) + entr(np.asarray(mass)) + entr(masses))


@dataclass
class _Part:
    """One of the small problems: weight (L* at its own gamma)."""

    weight: float
    support: Support
    known: Mixture

    @classmethod
    def of(cls, table: Array) -> _Part:
        support = Support(Joint.from_counts(table))
        return cls(float(table.sum()), support, Mixture(np.ones(1), support.p_y[None]))

    def value(self, gamma: float, budget: Budget, tol: float | None = None) -> float:
        """L*(gamma), within a budget: an estimate from above; with a tolerance, a lower bound of it."""
        if gamma <= 0.0 or gamma >= 1.0:
            return -mutual_information(self.support.P) if gamma <= 0.0 else 0.0
        proof = Proof(self.support, bottleneck(gamma), self.known, tol or EFFORT.rough, budget)
        if tol is not None:
            proof.search()
            return proof.lower_bound
        proof.estimate()
        self.known = proof.mixture
        return min(proof.value(), 0.0)


def coarsened_bound(
    support: Support, gamma: float, tol: float, budget: Budget, groups: list[list[int]] | None = None
) -> float:
    """A lower bound of gamma I(X;Z) - I(Y;Z) over all encoders, by way of groups of Y's letters."""

    def left() -> float:
        return max(budget.seconds_left, 1e-3)

    P = support.P
    groups = groups_of(P) if groups is None else groups
    merged = _Part.of(np.column_stack([P[:, group].sum(axis=1) for group in groups]))
    within = [_Part.of(P[:, group]) for group in groups if len(group) > 1]
    look = 0.5 * left() / ((EFFORT.looks + 3) * (len(within) + 1))

    def value(s: float) -> float:
        total = (1.0 - s) * merged.value((gamma - s) / (1.0 - s), budget.part(seconds=look))
        return total + sum(part.weight * part.value(s, budget.part(seconds=look)) for part in within)

    low, high = 0.0, min(gamma, 1.0 - 1e-6)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    one, two = high - ratio * (high - low), low + ratio * (high - low)
    at_one, at_two = value(one), value(two)
    for _ in range(EFFORT.looks):
        if left() < 0.5 * budget.seconds:
            break
        if at_one >= at_two:
            high, two, at_two = two, one, at_one
            one = high - ratio * (high - low)
            at_one = value(one)
        else:
            low, one, at_one = one, two, at_two
            two = low + ratio * (high - low)
            at_two = value(two)
    s = max([(at_one, one), (at_two, two), (value(0.0), 0.0)])[1]
    half, parts = max(budget.cells // 2, 1), max(len(within), 1)

    def proven(part: _Part, gamma: float, cells: float, seconds: float) -> float:
        share = budget.part(cells=cells, seconds=seconds)
        bound = part.value(gamma, share, tol)
        budget.cells_spent += share.cells_spent
        return bound

    total = (1.0 - s) * proven(merged, (gamma - s) / (1.0 - s), half, 0.5 * left())
    for number, part in enumerate(within):
        total += part.weight * proven(part, s, max(half // parts, 1), left() / (parts - number))
    n_x, n_y = P.shape
    # Sums, quotients and the tables of the parts are rounded, each entry by at most (|X| + |Y|) units relatively.
    return total - 16.0 * (n_x + n_y) * UNIT * (2.0 + math.log(n_x) + math.log(n_y))
