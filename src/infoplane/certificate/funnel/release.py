"""The best release under caps that hold for every released value: the largest I(X;Z) with p(s|z) in [L, U] and p(z) at least N/n.

    maximise I(X;Z) = H(X) - sum_k p_k H(q_k)   over   sum_k p_k q_k = p_x,  q_k in Q = {L <= Tq <= U, q <= most}  (, I(S;Z) <= r)

is a linear programme over the posteriors in Q; for any lambda, and beta >= 0 with an average cap r,

    I(X;Z) <= H(X) - lambda.p_x - beta (H(S) - r) - min over Q of [H(q) - beta H(Tq) - lambda.q].

Where a target U is kept, not X itself, H(X) is H(U) and H(q) is H(T_u q) everywhere (`kept` searches those).
A smallest group is no convex constraint: the programme over q <= p_x n / N bounds it from above, and a release within it is made by joining
clusters, then by successive linear programmes in p(x, z) (`smallest_groups`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ...information import Array, entr, plane_point
from ...joint.joint import Support
from ...posterior.programme import Point, Programme
from ...runtime.work import Budget
from .allowed import DECIMALS, PEELS, AllowedPosteriors, Caps, conditional_entropy, peeled
from .generation import Outcome, generate
from .kept import AllowedTasks
from .smallest_groups import GroupTerms, with_smallest_group

ROUNDING = 1e-13
"""Share of a cap that p(s|z), computed, may be above it by: sums of a few hundred products are no more exact."""


class PoolEffort(NamedTuple):
    """How hard posteriors for a release are looked for."""

    apart: float = 0.1
    nearly: float = 0.05
    looks: int = 8
    pool: int = 150
    """Of posteriors that may be part of a release with a smallest group: how far apart, in nats, the prices lie at which they are looked
    for, the largest reduced cost, how often they are looked for, and how many are kept. Heart at a lift of 0.2 bits and groups of 10:
    2.7896 of at most 2.7907 bits from 0.05 to 0.3 nats and 150 to 600 posteriors alike; 2.7886 where only minima of g are taken."""
    groupless: float = 0.3
    """Share of the time that is left in which columns without a smallest group are looked for."""
    peel_noise: float = 0.7
    """Standard deviation, in nats, of the random slopes of all peels but the first."""


EFFORT = PoolEffort()


@dataclass(frozen=True)
class Terms:
    """What a release must keep to."""

    caps: Caps
    leakage: float | None
    """The cap on I(S;Z) in nats, if there is one."""
    smallest: float
    """The least p(z); 0 if any will do."""
    kept: Array | None = None
    """T_u = p(u|x), a row per u, if U is kept and not X."""

    def most_kept(self, support: Support) -> float:
        """H(X), or H(U)."""
        return float(entr(support.p_x if self.kept is None else self.kept @ support.p_x).sum())


@dataclass(frozen=True)
class FoundRelease:
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
        group = GroupTerms(caps, terms.leakage, terms.smallest, terms.kept)
        begun, pool = [W], [_nearly_best(programme, finder, outcome.point, budget)]
        if not budget.spent:
            # Without a smallest group posteriors are sharper: some of them are held by enough records all the same.
            free = replace(terms, caps=caps._replace(most=np.ones(len(support.p_x))))
            part = budget.part(seconds=EFFORT.groupless * budget.seconds_left)
            others, other_finder, other = _generated(support, free, tol, part, rng, known)
            pool.append(_nearly_best(others, other_finder, other.point, part))
            begun.append(within(support, other.point.encoder, terms))
        W = within(support, with_smallest_group(support, begun, np.hstack(pool), group, budget), terms)
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
    _, distinct = np.unique(Q.round(DECIMALS), axis=1, return_index=True)
    Q = Q[:, distinct]
    return Q[:, np.argsort(programme.costs(Q, point.beta) - point.lam @ Q)[: EFFORT.pool]]


def _first_programme(support: Support, terms: Terms, budget: Budget, rng: np.random.Generator) -> Programme:
    """Single letters that may be released, p_x, and p_x taken apart in a few ways."""
    programme = Programme(support, budget, terms.caps.allows(support.T, np.eye(len(support.p_x))), terms.kept)
    for peel in range(PEELS):
        programme.add(peeled(support.T, support.p_x, terms.caps, rng, EFFORT.peel_noise if peel else 0.0))
    return programme


def simple_upper_bound(support: Support, largest_leakage: float) -> float:
    """I(X;Z) <= H(X), and <= I(S;Z) + H(X|S), with what the terms let I(S;Z) be at most."""
    H_x = float(entr(support.p_x).sum())
    return min(H_x, conditional_entropy(support.P) + largest_leakage) * (1.0 + 1e-14) + 1e-14


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
    t = float(terms.caps.share_of_prior(u, support.p_y, ROUNDING).max())
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
