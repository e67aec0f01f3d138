"""The funnel with a cap on the leakage: the largest I(X;Z) with I(Y;Z) <= eps, exactly.

The linear programme over posteriors (`programme`) gets one more row, sum_k p_k H(Tq_k) >= H(Y) - eps. The dual value of that row is
beta, and for any lambda with H(q) - beta H(Tq) - lambda.q >= m on the simplex

    I(X;Z) <= H(X) - lambda.p_x - m - beta (H(Y) - eps)    for every Z with I(Y;Z) <= eps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...checks import number
from ...information import Array, bits, entr, plane_point
from ...joint.support import Support
from ...problem import MarkovLagrangian, funnel
from ...solution import Run, finished
from ...status import STATIONARY_TOL, Residuals, Status, judge
from ..certificate import Limits
from ..merge_path import first_columns
from .bound import constant, simple_bound, simple_rounding
from .constrained import ConstrainedFunnel
from .programme import Meter, Outcome, Programme, encoder_of, finish, generate

if TYPE_CHECKING:
    from ...joint.joint import Joint

GUIDES = (1.5, 4.0, 16.0)
"""Values of beta at which the programme is solved to 0.1 nats first: with their columns, the cap's dual value begins near its optimum."""


@dataclass(frozen=True)
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


def funnel_at_leakage(
    joint: Joint,
    max_iyz: float,
    *,
    tol: float = 1e-6,
    max_cells: int = 20_000_000,
    max_seconds: float = math.inf,
) -> CappedFunnel:
    """The largest I(X;Z) with I(Y;Z) <= max_iyz, with an upper bound that proves it.

    Parameters
    ----------
    joint
        p(x, y).
    max_iyz
        The cap on the leakage in **nats**, positive; for 0 see `perfect_privacy`.
    tol
        Gap in nats that counts as certified.
    max_cells, max_seconds
        When to stop proving; the bound reached by then is valid all the same.

    Returns
    -------
    CappedFunnel
        Answers like a `Solution` (``encoder``, ``ixz``, ``iyz``, ``encoder_frame()``, ``status``, ...), with ``upper_bound`` and ``gap``.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.funnel_at_leakage(ip.datasets.paper_uniform(), max_iyz=0.01)
    >>> found.certified, round(found.ixz, 5), found.iyz <= 0.01
    (True, 0.05754, True)
    """
    return funnel_curve(joint, [max_iyz], tol=tol, max_cells=max_cells, max_seconds=max_seconds)[0]


def funnel_curve(
    joint: Joint,
    leakages: Iterable[float],
    *,
    tol: float = 1e-6,
    max_cells: int = 20_000_000,
    max_seconds: float = math.inf,
) -> list[CappedFunnel]:
    """`funnel_at_leakage` for many caps in nats; one answer per cap, in the order given.

    The caps share the columns of one linear programme. ``max_cells`` and ``max_seconds`` are for each cap.
    """
    caps = [_checked(eps) for eps in leakages]
    limits = Limits(tol, max_cells, max_seconds)
    support = Support(joint)
    programme = Programme(support)
    programme.add(first_columns(support))
    first, rest = (Limits(tol, -(-part * max_cells // 4), part * max_seconds / 4) for part in (1, 3))
    meter = Meter(first)
    for beta in GUIDES:
        finish(generate(programme, lambda beta=beta: programme.at_beta(beta), 0.1, meter))  # type: ignore[misc]
    found: dict[float, CappedFunnel] = {}
    # From large caps to small beta grows slowly, and each programme begins near its optimum.
    for eps in sorted(set(caps), reverse=True):
        found[eps] = _capped(support, programme, eps, limits if found else rest)
    return [found[eps] for eps in caps]


def _checked(eps: float) -> float:
    return number(
        "max_iyz", eps, lambda nats: nats > 0.0, "a positive number of nats (for no leakage at all use perfect_privacy)"
    )


def _capped(support: Support, programme: Programme, eps: float, limits: Limits) -> CappedFunnel:
    meter = Meter(limits)
    outcome = finish(generate(programme, lambda: programme.at_leakage(eps), limits.tol, meter))
    W = _within(support, encoder_of(programme.Q, outcome.point.weights), eps)
    upper, beta, problem, lower = _proven(support, programme, outcome, eps)
    ixz = plane_point(support.joint, support.lift(W)).ixz
    residuals = Residuals(0.0, 0.0, problem.stationarity(support.joint, support.lift(W)))
    certified = upper - ixz <= limits.tol
    run = Run(
        encoder=W,
        status=Status.CERTIFIED if certified else judge(residuals, STATIONARY_TOL, Status.ITERATION_LIMIT),
        iterations=meter.rounds,
        residuals=residuals,
        found_by="columns",
        lower_bound=lower,
        advice="raise max_cells or max_seconds",
    )
    solution = finished(support, problem, run, seconds=meter.seconds)
    return CappedFunnel(solution, upper, limits.tol, eps, beta, meter.cells, outcome.left)


def _proven(
    support: Support, programme: Programme, outcome: Outcome, eps: float
) -> tuple[float, float, MarkovLagrangian, float]:
    """The upper bound of I(X;Z); beta; the Lagrangian of that beta, and a lower bound of it."""
    H_x, H_y, H_xy = (float(entr(p).sum()) for p in (support.p_x, support.p_y, support.P))
    beta = outcome.proof.beta
    upper = H_x - outcome.lower
    # Always: I(X;Z) <= I(Y;Z) + H(X|Y), and <= H(X).
    simple = min(H_x, eps + H_xy - H_y) + simple_rounding(support, 1.0)
    problem = funnel(beta) if beta > 0.0 else MarkovLagrangian(-1.0, 1.0, 0.0, "funnel", 0.0)
    lower = outcome.lower - beta * (programme.H_y - eps) + constant(support, beta)
    return min(upper, simple), beta, problem, max(lower, simple_bound(support, beta))


def _within(support: Support, W: Array, eps: float) -> Array:
    """The encoder if its I(Y;Z), recomputed, is at most eps; else its mixture with one cluster that is independent of X, so that it is."""
    share = 1.0
    mixed = W
    while (iyz := plane_point(support.joint, support.lift(mixed)).iyz) > eps:
        # I(Y;Z) is linear in the share; the factor makes up for rounding.
        share *= (eps / iyz) * (1.0 - 1e-12)
        mixed = np.vstack([share * W, np.full((1, W.shape[1]), 1.0 - share)])
    return mixed
