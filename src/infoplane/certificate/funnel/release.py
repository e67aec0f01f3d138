"""The best release under caps that hold for every released value: the largest I(X;Z) with p(s|z) in [L, U] and p(z) at least N/n.

    maximise I(X;Z) = H(X) - sum_k p_k H(q_k)   over   sum_k p_k q_k = p_x,  q_k in Q = {L <= Tq <= U, q <= most}  (, I(S;Z) <= r)

is a linear programme over the posteriors in Q; for any lambda, and beta >= 0 with an average cap r,

    I(X;Z) <= H(X) - lambda.p_x - beta (H(S) - r) - min over Q of [H(q) - beta H(Tq) - lambda.q].

Where a target U is kept, not X itself, H(X) is H(U) and H(q) is H(T_u q) everywhere (`AllowedTasks` searches those).
A smallest group is no convex constraint: the programme over q <= p_x n / N bounds it from above, and a release within it,

    maximise I(X;Z)   over   J[x, z] = p(x, z) >= 0,  sum_z J = p_x,  L p(z) <= T J_z <= U p(z),  p(z) >= least,

is made in three steps. Clusters are joined until all are large enough, which keeps every cap on p(s|z) and on I(S;Z). Of the columns that
were met a mixed-integer programme chooses some, p_k = 0 or p_k >= least. I(X;Z) is convex in J: from the better of the two its tangent is
maximised again and again, each time by a linear programme. Where U is kept, not X, J is T_u J in whatever is maximised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...information import Array, entr, plane_point
from ...joint.joint import Support
from ...posterior.programme import Point, Programme
from ...runtime.budget import Budget
from .allowed import EFFORT as SEARCH
from .allowed import AllowedPosteriors, AllowedTasks, Caps, peeled
from .generation import Outcome, generate

OVER_CAP = 1e-13
"""Share of a cap that p(s|z), computed, may be above it by: sums of a few hundred products are no more exact."""


class ReleaseEffort(NamedTuple):
    """How hard posteriors for a release, and one with a smallest group, are looked for."""

    apart: float = 0.1
    nearly: float = 0.05
    looks: int = 8
    pool: int = 150
    """Of posteriors that may be part of a release with a smallest group: how far apart, in nats, the multipliers lie for which they are
    looked for, the largest reduced cost, how often they are looked for, and how many are kept. Heart at a lift of 0.2 bits and groups of
    10: 2.7896 of at most 2.7907 bits from 0.05 to 0.3 nats and 150 to 600 posteriors alike; 2.7886 where only minima of g are taken."""
    groupless: float = 0.3
    """Share of the time that is left in which columns without a smallest group are looked for."""
    peel_noise: float = 0.7
    """Standard deviation, in nats, of the random slopes of all peels but the first."""
    tangents: int = 40
    """Linear programmes with a tangent of I(X;Z), at most."""
    floors: tuple[float, ...] = (1e-2, 1e-3, 1e-4, 1e-6)
    """Masses of p(x|z) below which the tangent grows no steeper, programme by programme: a letter that has left a cluster may come back."""
    largest: int = 400_000
    """Entries of J above which clusters are joined only: a programme would take minutes."""
    turns: int = 4
    """Times that both programmes take turns, each with what the other found, at most."""
    choosing: float = 10.0
    """Seconds for the mixed-integer programme, at most."""
    joining: int = 500_000
    """Entries of p(x, z) that are weighed at a time where clusters are joined: of more clusters than that the smallest are, first."""


EFFORT = ReleaseEffort()


class Terms(NamedTuple):
    """What a release must keep to."""

    caps: Caps
    leakage: float | None
    """The cap on I(S;Z) in nats, if there is one."""
    smallest: float
    """The least p(z); 0 if any will do."""
    kept: Array | None = None
    """T_u = p(u|x), a row per u, if U is kept and not X."""

    def seen(self, J: Array) -> Array:
        """p(u, z) if U is kept, else p(x, z)."""
        return J if self.kept is None else self.kept @ J

    def most_kept(self, support: Support) -> float:
        """H(X), or H(U)."""
        return float(entr(self.seen(support.p_x)).sum())

    def cost(self, J: Array) -> Array:
        """p(z) H(X|z), or p(z) H(U|z), of every cluster; what is kept is H(X), or H(U), less their sum."""
        cost: Array = entr(self.seen(J)).sum(axis=0) - entr(J.sum(axis=0))
        return cost

    def total(self, J: Array) -> float:
        """H(X|Z), or H(U|Z)."""
        return float(self.cost(J).sum())


class FoundRelease(NamedTuple):
    """A release within the terms, and what is proven of all of them; nats, encoders of the letters of positive mass."""

    encoder: Array
    upper: float
    outcome: Outcome


def best_release(
    support: Support, terms: Terms, tol: float, budget: Budget, rng: np.random.Generator, known: float
) -> FoundRelease:
    """The best release that column generation finds, with the upper bound that it proves; ``known`` is one that needs no search."""
    caps = terms.caps
    programme, finder, outcome = _generated(support, terms, tol, budget, rng, known)
    upper = min(known, terms.most_kept(support) - outcome.lower)
    W = within(support, outcome.point.encoder, terms)
    if terms.smallest > 0.0:
        begun, pool = [W], [_nearly_best(programme, finder, outcome.point, budget)]
        if not budget.spent:
            # Without a smallest group posteriors are sharper: some of them are held by enough records all the same.
            free = terms._replace(caps=caps._replace(most=np.ones(len(support.p_x))))
            part = budget.part(seconds=EFFORT.groupless * budget.seconds_left)
            others, other_finder, other = _generated(support, free, tol, part, rng, known)
            pool.append(_nearly_best(others, other_finder, other.point, part))
            begun.append(within(support, other.point.encoder, terms))
        W = within(support, with_smallest_group(support, begun, np.hstack(pool), terms, budget), terms)
    return FoundRelease(W, upper, outcome)


def _generated(
    support: Support, terms: Terms, tol: float, budget: Budget, rng: np.random.Generator, known: float
) -> tuple[Programme, AllowedPosteriors | AllowedTasks, Outcome]:
    """Column generation over the posteriors that the terms allow."""
    programme = _first_programme(support, terms, budget, rng)
    finder = (AllowedPosteriors if terms.kept is None else AllowedTasks)(programme, terms.caps, rng)
    master = partial(programme.at_beta, 0.0) if terms.leakage is None else partial(programme.at_leakage, terms.leakage)
    return programme, finder, generate(programme, finder, master, tol, budget, terms.most_kept(support) - known)


def _nearly_best(programme: Programme, finder: AllowedPosteriors | AllowedTasks, point: Point, budget: Budget) -> Array:
    """The `EFFORT.pool` columns of least reduced cost among those met and those that a few more local searches meet."""
    looks = [finder.around(point, EFFORT.apart, EFFORT.nearly, budget) for _ in range(EFFORT.looks)]
    Q = np.hstack([programme.Q, *looks])
    _, distinct = np.unique(Q.round(SEARCH.decimals), axis=1, return_index=True)
    Q = Q[:, distinct]
    return Q[:, np.argsort(programme.costs(Q, point.beta) - point.lam @ Q)[: EFFORT.pool]]


def _first_programme(support: Support, terms: Terms, budget: Budget, rng: np.random.Generator) -> Programme:
    """Single letters that may be released, p_x, and p_x taken apart in a few ways."""
    programme = Programme(support, budget, terms.caps.allows(support.T, np.eye(len(support.p_x))), terms.kept)
    for peel in range(SEARCH.peels):
        programme.add(peeled(support.T, support.p_x, terms.caps, rng, EFFORT.peel_noise if peel else 0.0))
    return programme


def simple_upper_bound(support: Support, largest_leakage: float) -> float:
    """I(X;Z) <= H(X), and <= I(S;Z) + H(X|S), with what the terms let I(S;Z) be at most."""
    H_x, H_s, H_xs = (float(entr(p).sum()) for p in (support.p_x, support.p_y, support.P))
    return min(H_x, H_xs - H_s + largest_leakage) * (1.0 + 1e-14) + 1e-14


def within(support: Support, W: Array, terms: Terms) -> Array:
    """The encoder mixed with a little of a release that says nothing, W <- (1 - t) W + t p_z 1', so that every cap holds as computed.

    It moves every p(s|z) towards p(s) and I(S;Z) towards 0, and leaves p(z) as it is. What it makes up for is the tolerance of HiGHS.
    """
    p_z = W @ support.p_x
    # Of a cluster so faint, p(s, z) of the faintest s would have no digits left: it joins the heaviest.
    faint = p_z * support.p_y.min() < 1e-290
    faint[p_z.argmax()] = False
    W = np.where(np.arange(len(W))[:, None] == p_z.argmax(), W + W[faint].sum(axis=0), W)[~faint]
    p_z = W @ support.p_x
    u = (W * support.p_x) @ support.T.T / p_z[:, None]
    t = float(terms.caps.share_of_prior(u, support.p_y, OVER_CAP).max())
    mixed = (1.0 - t) * W + t * p_z[:, None]
    if terms.leakage is not None:
        leaked = plane_point(support.joint, support.lift(mixed)).iyz
        if leaked > terms.leakage:
            # I(S;Z) is convex in W: (1 - t) of it is enough.
            t = 1.0 - terms.leakage / leaked * (1.0 - 1e-12)
            mixed = (1.0 - t) * mixed + t * p_z[:, None]
    return mixed


def lifts(support: Support, W: Array) -> Array:
    """log p(s|z)/p(s) in nats, a row per cluster of positive mass."""
    p_z = W @ support.p_x
    joint = (W * support.p_x) @ support.T.T
    with np.errstate(divide="ignore"):
        logs: Array = np.log(joint / p_z[:, None]) - np.log(support.p_y)
    return logs


def largest_terms_leakage(max_lift: float | None, two_sided: bool, all_values: bool, leakage: float | None) -> float:
    """What I(S;Z) can be at most, in nats, by the terms alone: r; eps; eps tanh(eps/2) if both sides of every value are capped."""
    known = [math.inf] if leakage is None else [leakage]
    if max_lift is not None and all_values:
        known.append(max_lift * math.tanh(max_lift / 2.0) if two_sided else max_lift)
    return min(known)


def with_smallest_group(
    support: Support, encoders: Sequence[Array], pool: Array, terms: Terms, budget: Budget
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


def joined(J: Array, terms: Terms) -> Array:
    """Join a small cluster with another, the pair that costs least, until all have a mass of at least ``least``, or one is left."""
    J, cost = J[:, J.sum(axis=0) > 0.0], terms.cost
    while J.shape[1] > 1 and (small := np.flatnonzero(J.sum(axis=0) < terms.smallest)).size:
        small = small[np.argsort(J[:, small].sum(axis=0), kind="stable")[: max(EFFORT.joining // J.size, 1)]]
        loss = np.stack([cost(J + J[:, [z]]) - cost(J) - cost(J[:, [z]]) for z in small])
        loss[np.arange(len(small)), small] = np.inf
        one, other = np.unravel_index(int(loss.argmin()), loss.shape)
        J[:, other] += J[:, small[one]]
        J = np.delete(J, small[one], axis=1)
    return J


def chosen(support: Support, Q: Array, J: Array, terms: Terms, budget: Budget) -> Array:
    """The best mixture of columns, those of J among them, each with a mass of 0 or of at least ``least``; J if none was found in time.

    minimise  sum_k p_k H(q_k)   subject to  Qp = p_x,  least y_k <= p_k <= most_k y_k,  y_k in {0, 1}
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    Q = np.hstack([J / J.sum(axis=0), Q])
    with np.errstate(divide="ignore"):
        most = (support.p_x[:, None] / Q).min(axis=0)
    Q, most = Q[:, most >= terms.smallest], most[most >= terms.smallest]
    k = Q.shape[1]
    one, none = sparse.identity(k), sparse.csr_array((len(support.p_x), k))
    rules = [
        LinearConstraint(sparse.hstack([sparse.csr_array(Q), none]), support.p_x, support.p_x),
        LinearConstraint(sparse.hstack([one, -sparse.diags(most)]), -np.inf, 0.0),
        LinearConstraint(sparse.hstack([one, -terms.smallest * one]), 0.0, np.inf),
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
    mixture: Array = (Q * p)[:, p > 0.5 * terms.smallest]
    return mixture


def improved(support: Support, J: Array, terms: Terms, budget: Budget) -> Array:
    """The same number of clusters with a larger I(X;Z), by successive linear programmes."""
    from scipy.optimize import linprog  # slow to import: paid by the first programme

    (caps, leakage, smallest, kept), (n, k) = terms, J.shape
    ones = np.ones((1, n))
    rows = np.vstack([support.T - caps.U[:, None] * ones, caps.L[:, None] * ones - support.T, -ones])
    bounds = np.tile(np.append(np.zeros(len(rows) - 1), -smallest), k)
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
