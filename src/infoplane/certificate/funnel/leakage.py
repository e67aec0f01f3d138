"""The funnel with a cap on the leakage: the largest I(X;Z) with I(Y;Z) <= eps, exactly.

The linear programme over posteriors (`programme`) gets one more row, sum_k p_k H(Tq_k) >= H(Y) - eps. The dual value of that row is
beta, and for any lambda with H(q) - beta H(Tq) - lambda.q >= m on the simplex

    I(X;Z) <= H(X) - lambda.p_x - m - beta (H(Y) - eps)    for every Z with I(Y;Z) <= eps.

It is a line in eps: what is proven at one cap holds at every other.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...information import Array, bits, entr, plane_point
from ...joint.support import Support
from ...problem import MarkovLagrangian, funnel
from ...runtime.budget import Budget, Stopped
from ...solution import TIE, Run, finished
from ...status import STATIONARY_TOL, Residuals, judge, proven
from ..certificate import Limits
from ..merge_path import first_columns
from .bound import constant, simple_bound
from .constrained import ConstrainedFunnel
from .generation import Outcome, cut_short, generate
from .programme import Programme

ATTEMPTS = 8
"""Corrections of a share of time: the first meets the cap, a second makes up for rounding, and a cap that they all miss is below what
I(Y;Z) can be computed to, about 1e-30 nats."""


@dataclass(frozen=True, eq=False)
class CappedFunnel(ConstrainedFunnel):
    """The encoder of largest I(X;Z) with I(Y;Z) <= max_iyz; nats.

    ``solution`` is the encoder as a solution of beta I(Y;Z) - I(X;Z), with that problem's own lower bound.
    """

    max_iyz: float
    """The cap on I(Y;Z)."""
    beta: float
    """The slope of the largest I(X;Z) as a function of the cap, dI(X;Z)/dI(Y;Z); 0 if a larger cap changes nothing."""
    cells: int = field(repr=False)
    """Cells that branch and bound opened."""
    left: int = field(repr=False)
    """Cells still open when the search ended; 0 if it ran to its end."""

    def __str__(self) -> str:
        said = "certified" if self.certified else "not certified"
        return (
            f"{said}: I(X;Z) {bits(self.ixz):.6f} bits with I(Y;Z) {bits(self.iyz):.6g} <= {bits(self.max_iyz):.6g} "
            f"bits, at most {bits(self.gap):.1e} bits below the optimum; beta {self.beta:.4g}, {self.clusters} clusters"
        )


def first_programme(support: Support, budget: Budget) -> Programme:
    """Single letters, p_x, and the clusters of Merge-Two's path."""
    programme = Programme(support, budget)
    with suppress(Stopped):
        programme.add(first_columns(support, lambda *_: budget.look()))
    return programme


def capped_curve(
    support: Support,
    programme: Programme,
    caps: Sequence[float],
    limits: Limits,
    budget: Budget,
    private: Array | None = None,
) -> list[CappedFunnel]:
    """The largest I(X;Z) with I(Y;Z) <= eps for each cap eps in nats, in the order given, with upper bounds that prove it.

    The caps share the columns of the programme; the limits are for each. No answer is worse than an encoder within the cap whose posteriors
    are columns from the beginning, or than any time sharing of such encoders, or than ``private``, an encoder with I(Y;Z) = 0 (a constant Z
    if there is none). Once the budget is stopped, the caps that are left get the best mixture of the columns met so far.
    """
    found: dict[float, CappedFunnel] = {}
    private = np.ones((1, len(support.p_x))) if private is None else private
    # Always: I(X;Z) <= H(X), and <= I(Y;Z) + H(X|Y).
    no_prices = np.zeros(len(support.p_x))
    lines = [LeakageLine(beta, simple_bound(support, beta), no_prices) for beta in (0.0, 1.0)]
    # From large caps to small beta grows slowly, and each programme begins near its optimum.
    for eps in sorted(set(caps), reverse=True):
        found[eps] = _capped(support, programme, private, eps, limits.tol, limits.budget(budget), lines)
    return [found[eps] for eps in caps]


class LeakageLine(NamedTuple):
    """Lower <= beta I(Y;Z) - I(X;Z) for every encoder: a line in eps above the largest I(X;Z)."""

    beta: float
    lower: float
    lam: Array
    """The prices that prove it; any, where nothing had to be searched."""

    def at(self, eps: float) -> float:
        """Beta eps - lower, rounded up: no Z with I(Y;Z) <= eps has a larger I(X;Z)."""
        return self.beta * eps - self.lower + 1e-15 * (self.beta * eps + abs(self.lower))

    @property
    def problem(self) -> MarkovLagrangian:
        """The Lagrangian that it bounds."""
        return funnel(self.beta) if self.beta > 0.0 else MarkovLagrangian(-1.0, 1.0, 0.0, "funnel", 0.0)


def _capped(
    support: Support,
    programme: Programme,
    private: Array,
    eps: float,
    tol: float,
    budget: Budget,
    lines: list[LeakageLine],
) -> CappedFunnel:
    """One cap; lines are those of the caps before, and this one's is added. ``private`` is an encoder that leaks nothing.

    The answer is a solution of the Lagrangian whose line is lowest here: its gap there is that of the cap, or less.
    """
    H_x = float(entr(support.p_x).sum())
    known = min(line.at(eps) for line in lines)
    outcome = generate(programme, lambda: programme.at_leakage(eps), tol, budget, H_x - known)
    W = _within(support, outcome.point.encoder, eps, private)
    lines.append(_line(support, programme, outcome, eps))
    best = min(reversed(lines), key=lambda line: line.at(eps))
    upper = min(best.at(eps), H_x - outcome.lower)
    ixz = plane_point(support.joint, support.lift(W)).ixz
    residuals = Residuals(0.0, 0.0, best.problem.stationarity(support.joint, support.lift(W)))
    run = Run(
        encoder=W,
        status=proven(upper - ixz, tol, residuals, judge(residuals, STATIONARY_TOL, cut_short(budget))),
        iterations=budget.rounds_spent,
        residuals=residuals,
        found_by="columns",
        lower_bound=best.lower,
        multipliers=best.lam,
        advice="raise max_cells or max_seconds",
    )
    solution = finished(support, best.problem, run, seconds=budget.seconds_spent)
    return CappedFunnel(solution, upper, tol, eps, best.beta, budget.cells_spent, outcome.left)


def _line(support: Support, programme: Programme, outcome: Outcome, eps: float) -> LeakageLine:
    """What a generation has proven."""
    beta = outcome.proof.beta
    lower = outcome.lower - beta * (programme.H_y - eps) + constant(support, beta)
    return LeakageLine(beta, max(lower, simple_bound(support, beta)), outcome.proof.lam)


def _within(support: Support, W: Array, eps: float, private: Array) -> Array:
    """An encoder whose I(Y;Z), recomputed, is at most eps: W if it is one; else W time-shared with a release that leaks nothing.

    That release is a cluster which is independent of X, or perfect privacy, which may be the better one by itself: of equal ones the first
    counts, which has fewer clusters. Perfect privacy is within every cap, whatever rounding makes of its 0.
    """
    if plane_point(support.joint, support.lift(W)).iyz <= eps:
        found = [W, private]
    else:
        nothing = np.ones((1, W.shape[1]))
        found = [_shared(support, W, nothing, eps), _shared(support, W, private, eps), private]
    ixz = np.array([plane_point(support.joint, support.lift(one)).ixz for one in found])
    return found[int(np.flatnonzero(ixz >= ixz.max() - TIE)[0])]


def _shared(support: Support, W: Array, other: Array, eps: float) -> Array:
    """(w W, (1 - w) other), the other leaking nothing, for the largest w with I(Y;Z) <= eps; the other alone if rounding allows no w.

    I(Y;Z) = w I_W(Y;Z) + (1 - w) I_other(Y;Z).
    """
    share, mixed = 1.0, W
    for _ in range(ATTEMPTS):
        iyz = plane_point(support.joint, support.lift(mixed)).iyz
        if iyz <= eps:
            return mixed
        share *= (eps / iyz) * (1.0 - 1e-12)
        mixed = np.vstack([share * W, (1.0 - share) * other])
    return other
