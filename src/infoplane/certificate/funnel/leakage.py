"""The funnel with a cap on the leakage: the largest I(X;Z) with I(Y;Z) <= eps, exactly.

The linear programme over posteriors (`programme`) gets one more row, sum_k p_k H(Tq_k) >= H(Y) - eps. The multiplier of that row is
beta, and for any lambda with H(q) - beta H(Tq) - lambda.q >= m on the simplex

    I(X;Z) <= H(X) - lambda.p_x - m - beta (H(Y) - eps)    for every Z with I(Y;Z) <= eps.

It is a line in eps: what is proven at one cap holds at every other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ...formatting import counted
from ...information import Array, bits, entr, plane_point
from ...joint.joint import Support
from ...posterior.form import constant, posteriors
from ...posterior.merge_path import first_columns
from ...posterior.programme import Programme
from ...problem import MarkovLagrangian, funnel
from ...runtime.budget import Budget, Limits, Stopped
from ...solution import STATIONARY_TOL, TIE, Residuals, Run, Status, finished, judge, proven
from .generation import FreePosteriors, Outcome, cut_short, generate, simple_bound
from .privacy import ConstrainedFunnel


@dataclass(frozen=True, eq=False)
class CappedFunnel(ConstrainedFunnel):
    """The encoder of largest I(X;Z) with I(Y;Z) <= max_iyz; nats.

    ``solution`` is the encoder as a solution of beta I(Y;Z) - I(X;Z), with that problem's own lower bound.
    """

    max_iyz: float
    """The cap on I(Y;Z)."""
    beta: float
    """The slope of the largest I(X;Z) as a function of the cap, dI(X;Z)/dI(Y;Z); 0 if a larger cap changes nothing, infinite if
    the cap is 0 and perfect privacy answers: ``solution`` is then its own, of -I(X;Z), with a bound for I(Y;Z) = 0 only."""
    cells: int = field(repr=False)
    """Cells that branch and bound opened."""
    left: int = field(repr=False)
    """Cells still open when the search ended; 0 if it ran to its end."""

    def __str__(self) -> str:
        said = "certified" if self.certified else "not certified"
        if self.about:
            said = f"{self.about}.\n{said}"
        return (
            f"{said}: I(X;Z) {bits(self.ixz):.6f} bits with I(Y;Z) {round(bits(self.iyz), 15):.6g} <= {bits(self.max_iyz):.6g} "
            f"bits, at most {bits(self.gap):.1e} bits below the optimum; beta {self.beta:.4g}, {counted(self.clusters, 'cluster')}"
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
    no_multipliers = np.zeros(len(support.p_x))
    lines = [LeakageLine(beta, simple_bound(support, beta), no_multipliers) for beta in (0.0, 1.0)]
    # From large caps to small beta grows slowly, and each programme begins near its optimum.
    order = sorted(set(caps), reverse=True)
    for eps in order:
        found[eps] = _capped(support, programme, private, eps, limits.tol, limits.budget(budget), lines)
    # What a smaller cap has met, and what was dropped on the way, counts at all of them: one more programme each.
    if len(order) > 1 and not budget.stopped:
        for answer in found.values():
            programme.add(posteriors(support, answer.encoder[:, support.x]))
        found = {eps: _again(support, programme, private, answer, lines) for eps, answer in found.items()}
    return [found[eps] for eps in caps]


class LeakageLine(NamedTuple):
    """Lower <= beta I(Y;Z) - I(X;Z) for every encoder: a line in eps above the largest I(X;Z)."""

    beta: float
    lower: float
    lam: Array | None
    """The multipliers that prove it; any, where nothing had to be searched; None if another line does."""

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

    The answer is a solution of the Lagrangian at the slope of the frontier here: the proving line's, else the multiplier of the cap.
    """
    H_x = float(entr(support.p_x).sum())
    known = min(line.at(eps) for line in lines)
    outcome = generate(
        programme, FreePosteriors(programme), lambda: programme.at_leakage(eps), tol, budget, H_x - known
    )
    W = within(support, outcome.point.encoder, eps, private)
    lines.append(_line(support, programme, outcome, eps))
    upper = min(_lowest(lines, eps).at(eps), H_x - outcome.lower)
    run = Run(
        encoder=W,
        status=cut_short(budget),
        iterations=budget.rounds_spent,
        residuals=Residuals(0.0, 0.0, 0.0),  # as measured in `_answer`
        found_by="columns",
        advice="raise max_cells or max_seconds",
    )
    slope = outcome.point.beta if outcome.point.solved else None
    spent = _Spent(budget.seconds_spent, budget.cells_spent, outcome.left)
    return _answer(support, run, eps, upper, tol, lines, slope, spent)


class _Spent(NamedTuple):
    """What a cap has taken, and the cells it left open."""

    seconds: float
    cells: int
    left: int


def _again(
    support: Support, programme: Programme, private: Array, answer: CappedFunnel, lines: list[LeakageLine]
) -> CappedFunnel:
    """The answer, or a better one among the columns that all caps together have met, with the lowest of all lines as its bound."""
    eps, old = answer.max_iyz, answer.solution
    point = programme.at_leakage(eps)
    W = within(support, point.encoder, eps, private)
    if not point.solved or plane_point(support.joint, support.lift(W)).ixz <= answer.ixz + TIE:
        W = answer.encoder[:, support.x]
    run = Run(W, old.status, old.iterations, old.residuals, found_by=old.solver, advice=old.advice)
    upper = min(answer.upper_bound, _lowest(lines, eps).at(eps))
    slope = point.beta if point.solved else answer.beta
    return _answer(support, run, eps, upper, answer.tol, lines, slope, _Spent(old.seconds, answer.cells, answer.left))


def _answer(
    support: Support,
    run: Run,
    eps: float,
    upper: float,
    tol: float,
    lines: list[LeakageLine],
    slope: float | None,
    spent: _Spent,
) -> CappedFunnel:
    """An encoder with its bound, as a solution at the slope."""
    ixz = plane_point(support.joint, support.lift(run.encoder)).ixz
    line = _lowest(lines, eps)
    if upper - ixz > tol and slope is not None:
        line = _at_slope(support, slope, lines)
    residuals = Residuals(0.0, 0.0, line.problem.stationarity(support.joint, support.lift(run.encoder)))
    otherwise = Status.ITERATION_LIMIT if run.status.converged else run.status
    judged = replace(
        run,
        status=proven(upper - ixz, tol, residuals, judge(residuals, STATIONARY_TOL, otherwise)),
        residuals=residuals,
        lower_bound=line.lower,
        multipliers=line.lam,
    )
    solution = finished(support, line.problem, judged, seconds=spent.seconds)
    return CappedFunnel(solution, upper, tol, eps, line.beta, spent.cells, spent.left)


def _lowest(lines: list[LeakageLine], eps: float) -> LeakageLine:
    """The line that is lowest at a cap; of equal ones the last."""
    return min(reversed(lines), key=lambda line: line.at(eps))


def _at_slope(support: Support, beta: float, lines: list[LeakageLine]) -> LeakageLine:
    """The Lagrangian at beta with the highest lower bound that is known of it.

    (beta - beta') I(Y;Z) >= 0, so that what bounds it at a smaller beta' bounds it here; such a bound has no multipliers of its own.
    """
    simple = LeakageLine(beta, simple_bound(support, beta), np.zeros(len(support.p_x)))
    below = [line if line.beta == beta else LeakageLine(beta, line.lower, None) for line in lines if line.beta <= beta]
    return max([simple, *below], key=lambda line: line.lower)


def _line(support: Support, programme: Programme, outcome: Outcome, eps: float) -> LeakageLine:
    """What a generation has proven."""
    beta = outcome.proof.beta
    lower = outcome.lower - beta * (programme.H_y - eps) + constant(support, beta)
    return LeakageLine(beta, max(lower, simple_bound(support, beta)), outcome.proof.lam)


def within(support: Support, W: Array, eps: float, private: Array) -> Array:
    """An encoder whose I(Y;Z), recomputed, is at most eps: W if it is one; else W time-shared with a release that leaks nothing.

    That release is a cluster which is independent of X, or perfect privacy, which may be the better one by itself: of equal ones the first
    counts, which has fewer clusters. Perfect privacy is within every cap, whatever rounding makes of its 0.
    """

    def leaks(one: Array) -> float:
        return plane_point(support.joint, support.lift(one)).iyz

    if leaks(W) <= eps:
        found = [W, private]
    else:
        others = np.ones((1, W.shape[1])), private
        found = [*(time_shared(leaks, W, other, eps) for other in others), private]
    ixz = np.array([plane_point(support.joint, support.lift(one)).ixz for one in found])
    return found[int(np.flatnonzero(ixz >= ixz.max() - TIE)[0])]


def time_shared(leaks: Callable[[Array], float], W: Array, other: Array, cap: float) -> Array:
    """(w W, (1 - w) other), the other leaking nothing, for the largest w that leaks at most the cap; the other alone if there is none.

    What leaks, I(Y;Z) or I(S;Z), is linear in w: w I_W + (1 - w) I_other.
    """
    share, mixed = 1.0, W
    # Of eight corrections the first meets the cap, a second makes up for rounding, and a cap that they all miss is below what
    # information can be computed to, about 1e-30 nats.
    for _ in range(8):
        leaked = leaks(mixed)
        if leaked <= cap:
            return mixed
        share *= (cap / leaked) * (1.0 - 1e-12)
        mixed = np.vstack([share * W, (1.0 - share) * other])
    return other
