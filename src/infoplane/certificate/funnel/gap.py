"""Certificates for the privacy funnel: how far is an encoder from the best one there is?

    L = a (beta I(Y;Z) - I(X;Z)) = a (beta H(Y) - H(X) + sum_z p(z) f(q_z)),   f(q) = H(q) - beta H(Tq),   q_z = p(x|z)

so that min L is a constant plus the lower convex envelope of f at p_x. Any lambda with f(q) - lambda.q >= m on the whole simplex proves
min sum p(z) f(q_z) >= lambda.p_x + m; some optimal posteriors live on at most rank(T) letters (docs/explanation/exact_funnel.md).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...information import entr
from ...joint.joint import Joint, Support
from ...joint.tables import dense
from ...posterior.channel import EPS, Channel
from ...posterior.form import constant, scaled
from ...posterior.merge_path import agglomerative_bottleneck
from ...posterior.programme import Programme
from ...problem import MarkovLagrangian
from ...runtime.budget import Budget, Limits
from .free import FreePosteriors
from .generation import Outcome, generate


class GapRules(NamedTuple):
    """How a gap is looked for, set by `benchmarks/bench_columns.py`."""

    coarse: int = 3
    """Letters y of the coarser problem: few enough for its search to end."""
    easy_rank: int = 4
    """Up to this rank of T, or"""
    easy_size: int = 300
    """up to so many letters x times this rank, searches were measured to end (docs/explanation/exact_funnel.md)."""


RULES = GapRules()


def simple_bound(support: Support, beta: float) -> float:
    """Beta I(Y;Z) - I(X;Z) >= min(0, beta - 1) I(X;Y) - H(X|Y), with nothing to search.

    I(X;Z) = I(Y;Z) + I(X;Z|Y) <= I(Y;Z) + H(X|Y), and 0 <= I(Y;Z) <= I(X;Y).
    """
    H_x, H_y, H_xy = (float(entr(p).sum()) for p in (support.p_x, support.p_y, support.P))
    bound = min(0.0, beta - 1.0) * (H_x + H_y - H_xy) - (H_xy - H_y)
    return bound - simple_rounding(support, beta)


def simple_rounding(support: Support, beta: float) -> float:
    """What entropies of the joint, weighted by 1 and beta, may be off by."""
    return (support.P.size + 16) * EPS * (1.0 + beta) * (1.0 + math.log(support.P.size))


def coarser(joint: Joint, letters: int) -> Joint:
    """The joint with Y merged to so many letters, greedily, at the smallest loss of I(X;Y).

    Y' is a function of Y, so that I(Y';Z) <= I(Y;Z) for every encoder, and a lower bound of beta I(Y';Z) - I(X;Z) is one of
    beta I(Y;Z) - I(X;Z).
    """
    P = dense(joint.p_xy)
    labels = agglomerative_bottleneck(Joint.from_counts(P.T)).labels_at(letters)
    merged = np.zeros((P.shape[0], letters))
    for y, label in enumerate(labels):
        if label >= 0:
            merged[:, label] += P[:, y]
    return Joint.from_matrix(merged)


def proven_bound(
    support: Support, beta: float, programme: Programme, tol: float, budget: Budget
) -> tuple[Outcome, float]:
    """Column generation for beta, and the best lower bound of beta I(Y;Z) - I(X;Z) that was met on the way.

    With more than `RULES.coarse` letters y, the last quarter of the limits is kept for a bound by a coarser Y, should the search end before
    it has proven anything to its first tolerance.
    """
    coarse = len(support.p_y) > RULES.coarse
    share = 0.75 if coarse else 1.0
    first = budget.part(cells=math.ceil(share * budget.cells), seconds=share * budget.seconds)
    simple = simple_bound(support, beta)
    known = simple - constant(support, beta)
    outcome = generate(programme, FreePosteriors(programme), lambda: programme.at_beta(beta), tol, first, known)
    budget.cells_spent, budget.rounds_spent = first.cells_spent, first.rounds_spent
    bound = max(outcome.lower + constant(support, beta), simple)
    if coarse and outcome.left and outcome.floor == math.inf and not (budget.stopped or outcome.contradiction):
        small = Support(coarser(Joint.from_counts(support.P), RULES.coarse))
        rough = Programme(small, budget)
        rough.add(outcome.point.used)
        rougher = generate(rough, FreePosteriors(rough), lambda: rough.at_beta(beta), tol, budget)
        bound = max(bound, rougher.lower + constant(small, beta) - simple_rounding(support, beta))
    return outcome, bound


def forecast(support: Support, problem: MarkovLagrangian, limits: Limits) -> str | None:
    """A sentence if a proof may not end within the limits, with what it would have to go through; or None."""
    channel = Channel(support.T)
    if (
        scaled(problem).beta <= channel.concave_up_to
        or channel.rank <= RULES.easy_rank
        or len(channel.T) * channel.rank <= RULES.easy_size
    ):
        return None
    return (
        f"the exact funnel searches posteriors on up to {channel.rank} of {len(channel.T)} letters: within max_cells = "
        f"{limits.max_cells:,} and max_seconds = {limits.max_seconds:g} it may end with a proven bound and a gap above {limits.tol:.0e} "
        "nats, without a certificate."
    )
