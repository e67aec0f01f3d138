"""Releases in which every value stands for enough records: p(z) >= N/n for every z.

    maximise I(X;Z)   over   J[x, z] = p(x, z) >= 0,  sum_z J = p_x,  L p(z) <= T J_z <= U p(z),  p(z) >= least

Three steps. Clusters are joined until all are large enough, which keeps every cap on p(s|z) and on I(S;Z). Of the columns that were met a
mixed-integer programme chooses some, p_k = 0 or p_k >= least. I(X;Z) is convex in J: from the better of the two its tangent is maximised
again and again, each time by a linear programme. Where U is kept, not X, J is T_u J in whatever is maximised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...information import Array, entr, plane_point
from ...joint.joint import Support
from ...runtime.work import Budget
from .allowed import Caps


class GroupEffort(NamedTuple):
    """How hard a release with a smallest group is looked for."""

    tangents: int = 40
    """Linear programmes, at most."""
    floors: tuple[float, ...] = (1e-2, 1e-3, 1e-4, 1e-6)
    """Masses of p(x|z) below which the tangent grows no steeper, programme by programme: a letter that has left a cluster may come back."""
    largest: int = 400_000
    """Entries of J above which clusters are joined only: a programme would take minutes."""
    turns: int = 4
    """Times that both programmes take turns, each with what the other found, at most."""
    choosing: float = 10.0
    """Seconds for it, at most."""
    joining: int = 500_000
    """Entries of p(x, z) that are weighed at a time where clusters are joined: of more clusters than that the smallest are, first."""


EFFORT = GroupEffort()


def with_smallest_group(
    support: Support, encoders: Sequence[Array], pool: Array, terms: GroupTerms, budget: Budget
) -> Array:
    """An encoder with p(z) >= least for every z, made of some that are within the other caps, and of the columns of a pool."""
    begun = [joined((W * support.p_x).T, terms) for W in encoders]
    if begun[0].size <= EFFORT.largest:
        begun += [improved(support, J, terms, budget) for J in begun]
    J = min(begun, key=terms.total)
    if J.size <= EFFORT.largest:
        pool = np.hstack([pool, *(one / one.sum(axis=0) for one in begun)])
        for _ in range(EFFORT.turns):
            following = improved(support, chosen(support, pool, J, terms, budget), terms, budget)
            if not terms.total(following) < terms.total(J) - 1e-6:
                break
            J = following
    W = (J / support.p_x[:, None]).T
    made: Array = W / W.sum(axis=0)
    return made


class GroupTerms(NamedTuple):
    """What a release must keep to."""

    caps: Caps
    leakage: float | None
    least: float
    """The least p(z)."""
    kept: Array | None = None
    """T_u, if U is kept and not X."""

    def seen(self, J: Array) -> Array:
        """p(u, z) if U is kept, else p(x, z)."""
        return J if self.kept is None else self.kept @ J

    def cost(self, J: Array) -> Array:
        """p(z) H(X|z), or p(z) H(U|z), of every cluster; what is kept is H(X), or H(U), less their sum."""
        cost: Array = entr(self.seen(J)).sum(axis=0) - entr(J.sum(axis=0))
        return cost

    def total(self, J: Array) -> float:
        """H(X|Z), or H(U|Z)."""
        return float(self.cost(J).sum())


def joined(J: Array, terms: GroupTerms) -> Array:
    """Join a small cluster with another, the pair that costs least, until all have a mass of at least ``least``, or one is left."""
    J, cost = J[:, J.sum(axis=0) > 0.0], terms.cost
    while J.shape[1] > 1 and (small := np.flatnonzero(J.sum(axis=0) < terms.least)).size:
        small = small[np.argsort(J[:, small].sum(axis=0), kind="stable")[: max(EFFORT.joining // J.size, 1)]]
        loss = np.stack([cost(J + J[:, [z]]) - cost(J) - cost(J[:, [z]]) for z in small])
        loss[np.arange(len(small)), small] = np.inf
        one, other = np.unravel_index(int(loss.argmin()), loss.shape)
        J[:, other] += J[:, small[one]]
        J = np.delete(J, small[one], axis=1)
    return J


def chosen(support: Support, Q: Array, J: Array, terms: GroupTerms, budget: Budget) -> Array:
    """The best mixture of columns, those of J among them, each with a mass of 0 or of at least ``least``; J if none was found in time.

    minimise  sum_k p_k H(q_k)   subject to  Qp = p_x,  least y_k <= p_k <= most_k y_k,  y_k in {0, 1}
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    Q = np.hstack([J / J.sum(axis=0), Q])
    with np.errstate(divide="ignore"):
        most = (support.p_x[:, None] / Q).min(axis=0)
    Q, most = Q[:, most >= terms.least], most[most >= terms.least]
    k = Q.shape[1]
    one, none = sparse.identity(k), sparse.csr_array((len(support.p_x), k))
    rules = [
        LinearConstraint(sparse.hstack([sparse.csr_array(Q), none]), support.p_x, support.p_x),
        LinearConstraint(sparse.hstack([one, -sparse.diags(most)]), -np.inf, 0.0),
        LinearConstraint(sparse.hstack([one, -terms.least * one]), 0.0, np.inf),
    ]
    if terms.leakage is not None:
        u = support.T @ Q
        leakage = -entr(u).sum(axis=0) - np.log(support.p_y) @ u
        rules.append(LinearConstraint(np.append(leakage, np.zeros(k))[None], -np.inf, terms.leakage))
    found = milp(
        np.append(entr(terms.seen(Q)).sum(axis=0), np.zeros(k)),
        constraints=rules,
        integrality=np.append(np.zeros(k), np.ones(k)),
        bounds=Bounds(0.0, np.append(most, np.ones(k))),
        options={"time_limit": max(min(EFFORT.choosing, budget.seconds_left), 0.1)},
    )
    if found.x is None:
        return J
    p = found.x[:k]
    mixture: Array = (Q * p)[:, p > 0.5 * terms.least]
    return mixture


def improved(support: Support, J: Array, terms: GroupTerms, budget: Budget) -> Array:
    """The same number of clusters with a larger I(X;Z), by successive linear programmes."""
    from scipy.optimize import linprog  # slow to import: paid by the first programme

    (caps, leakage, least, kept), (n, k) = terms, J.shape
    ones = np.ones((1, n))
    rows = np.vstack([support.T - caps.U[:, None] * ones, caps.L[:, None] * ones - support.T, -ones])
    bounds = np.tile(np.append(np.zeros(len(rows) - 1), -least), k)
    A_ub = sparse.block_diag([sparse.csr_array(rows)] * k, format="csr")
    A_eq = sparse.hstack([sparse.identity(n)] * k, format="csr")
    best = terms.total(J)
    for tangent in range(EFFORT.tangents):
        if budget.spent:
            break
        floor = EFFORT.floors[min(tangent, len(EFFORT.floors) - 1)]
        slopes = -np.log(np.maximum(terms.seen(J) / J.sum(axis=0), floor))
        slopes = slopes if kept is None else kept.T @ slopes
        found = linprog(slopes.T.ravel(), A_ub=A_ub, b_ub=bounds, A_eq=A_eq, b_eq=support.p_x, method="highs")
        if found.x is None:
            break
        moved = np.maximum(found.x, 0.0).reshape(k, n).T
        cost = terms.total(moved)
        if cost < best - 1e-9 and _leaks_no_more(support, moved, leakage):
            J, best = moved, cost
        elif tangent >= len(EFFORT.floors):
            break
    return J


def _leaks_no_more(support: Support, J: Array, leakage: float | None) -> bool:
    """Whether I(S;Z) is within its cap."""
    if leakage is None:
        return True
    W = (J / support.p_x[:, None]).T
    return plane_point(support.joint, support.lift(W)).iyz <= leakage
