"""The funnel with a cap on the leakage: the largest I(X;Z) with I(Y;Z) <= eps, exactly.

One more row of the linear programme, sum_k p_k H(Tq_k) >= H(Y) - eps. Its dual value is beta, and for any lambda with
H(q) - beta H(Tq) - lambda.q >= m on the simplex

    I(X;Z) <= H(X) - lambda.p_x - m - beta (H(Y) - eps)    for every Z with I(Y;Z) <= eps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InvalidOptionError
from ...information import Array, bits, entr, plane_point
from ...joint.support import Support
from ...problem import MarkovLagrangian, funnel
from ...solution import Run, Solution, finished
from ...status import STATIONARY_TOL, Residuals, Status, judge
from ..certificate import Limits
from ..merge_path import first_columns
from .bound import constant, simple_bound, simple_rounding
from .programme import Meter, Outcome, Programme, encoder_of, finish, generate

if TYPE_CHECKING:
    from ...joint.joint import Joint

GUIDES = (1.5, 4.0, 16.0)
"""Values of beta at which the programme is solved roughly first, so that the cap's dual value is sensible from the start."""


@dataclass(frozen=True)
class CappedFunnel:
    """The release of largest utility I(X;Z) with leakage I(Y;Z) <= max_iyz; nats."""

    solution: Solution
    """Its encoder meets the cap. As a Lagrangian it belongs to ``beta``, with a lower bound of its own."""
    max_iyz: float
    upper_bound: float
    """No encoder with I(Y;Z) <= max_iyz has a larger I(X;Z)."""
    beta: float
    """The slope of the frontier at the cap: one more nat of leakage buys so many of utility, at first; 0 if the cap does not bind."""
    tol: float
    cells: int = field(repr=False)
    left: int = field(repr=False)
    """Cells still open when the search ended."""

    @property
    def gap(self) -> float:
        """upper_bound - I(X;Z)."""
        return self.upper_bound - self.solution.ixz

    @property
    def certified(self) -> bool:
        """Gap <= tol."""
        return self.gap <= self.tol

    def __str__(self) -> str:
        said = "certified" if self.certified else "not certified"
        return (
            f"{said}: I(X;Z) {bits(self.solution.ixz):.6f} bits with I(Y;Z) {bits(self.solution.iyz):.6g} <= {bits(self.max_iyz):.6g} "
            f"bits, at most {bits(self.gap):.1e} bits below the optimum; beta {self.beta:.4g}, {self.solution.clusters} clusters"
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
        When to give up proving; the bound reached by then holds all the same.

    Examples
    --------
    >>> import infoplane as ip
    >>> from infoplane.certificate.leakage import funnel_at_leakage
    >>> found = funnel_at_leakage(ip.datasets.paper_uniform(), max_iyz=0.01)
    >>> found.certified, round(found.solution.ixz, 5), found.solution.iyz <= 0.01
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
    """`funnel_at_leakage` for many caps in nats, in the order given; they share their columns. Limits are for each of them."""
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
    # From large caps to small: beta grows slowly, and each programme begins near its optimum.
    for eps in sorted(set(caps), reverse=True):
        found[eps] = _capped(support, programme, eps, limits if found else rest)
    return [found[eps] for eps in caps]


def _checked(eps: float) -> float:
    if not isinstance(eps, Real) or not 0.0 < eps < math.inf:
        raise InvalidOptionError(
            f"max_iyz must be a positive number of nats, found {eps!r}. For no leakage at all use perfect_privacy."
        )
    return float(eps)


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
    )
    solution = finished(support, problem, run, seconds=meter.seconds)
    return CappedFunnel(solution, eps, upper, beta, limits.tol, meter.cells, outcome.left)


def _proven(
    support: Support, programme: Programme, outcome: Outcome, eps: float
) -> tuple[float, float, MarkovLagrangian, float]:
    """The upper bound of I(X;Z); beta, the Lagrangian that it belongs to, and that one's lower bound."""
    H_x, H_y, H_xy = (float(entr(p).sum()) for p in (support.p_x, support.p_y, support.P))
    beta = outcome.proof.beta
    upper = H_x - outcome.lower
    # Always: I(X;Z) <= I(Y;Z) + H(X|Y), and <= H(X).
    simple = min(H_x, eps + H_xy - H_y) + simple_rounding(support, 1.0)
    problem = funnel(beta) if beta > 0.0 else MarkovLagrangian(-1.0, 1.0, 0.0, "funnel", 0.0)
    lower = outcome.lower - beta * (programme.H_y - eps) + constant(support, beta)
    return min(upper, simple), beta, problem, max(lower, simple_bound(support, beta))


def _within(support: Support, W: Array, eps: float) -> Array:
    """The encoder, or a mixture of it with a cluster that says nothing, so that I(Y;Z), recomputed, is at most eps."""
    share = 1.0
    mixed = W
    while (iyz := plane_point(support.joint, support.lift(mixed)).iyz) > eps:
        # I(Y;Z) is linear in the share; the factor outruns rounding.
        share *= (eps / iyz) * (1.0 - 1e-12)
        mixed = np.vstack([share * W, np.full((1, W.shape[1]), 1.0 - share)])
    return mixed
