"""One linear programme over posteriors, solved by HiGHS, whose answer is not trusted.

minimise  costs.p   subject to  Qp = p_x,  p >= 0,  and, with a cap, row.p >= least
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from ..errors import InfoplaneError
from ..information import Array
from ..runtime.work import Budget


class HighsLimits(NamedTuple):
    """What HiGHS is asked for."""

    tightest: float = 1e-10
    """HiGHS's smallest tolerances."""
    short: int = 20_000
    """Entries of a programme's matrix, stored or not, up to which nobody has to wait for HiGHS: milliseconds."""
    fewest_iterations: int = 10_000
    iterations_per_row: int = 8
    """Iterations that an attempt may take, at least and for every row: those that end take up to 7 per row."""


LIMITS = HighsLimits()


Method = Literal["highs", "highs-ds", "highs-ipm"]

ATTEMPTS: tuple[tuple[Method, float], ...] = (
    ("highs", LIMITS.tightest),
    ("highs", 1e-8),
    ("highs-ipm", 1e-8),
    ("highs-ds", 1e-7),
)
"""Method and tolerance of each attempt at a linear programme."""


LARGEST = 1e300
"""Largest price of a letter: any price proves a bound, and one that is infinite proves nothing."""


class ColumnMixture(NamedTuple):
    """An optimal basis of a linear programme over posteriors."""

    weights: Array
    """p_k."""
    lam: Array
    """Dual values of the equations."""
    dual: float
    """Dual value of the row `cap`."""


def linear_programme(
    Q: Array, costs: Array, p_x: Array, cap: tuple[Array, float] | None = None, budget: Budget | None = None
) -> ColumnMixture:
    """Minimise costs.p subject to Qp = p_x, p >= 0 and, for cap = (row, least), row.p >= least."""
    # In units of what a column can carry at most, and of p_x, every entry is an encoder's: in [0, 1], however small a letter.
    with np.errstate(divide="ignore", over="ignore"):
        most = (p_x[:, None] / Q).min(axis=0)
    row = None if cap is None else (cap[0] * most, cap[1])
    scaled = costs * most
    # Costs of 10^5 and more, from a large beta, would outgrow HiGHS's absolute tolerances: in units of the largest.
    found = solved(scaled, Q * most / p_x[:, None], max(float(np.abs(scaled).max()), 1.0), row, budget=budget)
    if found is None:
        raise InfoplaneError(
            f"HiGHS did not solve the linear programme over {len(most)} posteriors, by {len(ATTEMPTS)} ways. Masses p(x) here go from "
            f"{p_x.min():.1e} to {p_x.max():.1e} and costs to {np.abs(costs).max():.1e}: group rare letters, or take a smaller beta or a "
            "larger cap."
        )
    with np.errstate(over="ignore"):  # a letter of 5e-324
        lam = np.clip(found.lam / p_x, -LARGEST, LARGEST)
    return ColumnMixture(found.weights * most, lam, found.dual)


def solved(
    costs: Array,
    A: Any,
    unit: float = 1.0,
    row: tuple[Array, float] | None = None,
    attempts: Sequence[tuple[Method, float]] = ATTEMPTS,
    budget: Budget | None = None,
) -> ColumnMixture | None:
    """Minimise costs.p subject to Ap = 1, p >= 0 and row.p >= least, A in [0, 1], dense or sparse; None if all attempts fail.

    HiGHS sees the costs in the unit given. An attempt that cycles is given up after so many iterations, not seconds, so that the same
    programme has the same answer. A budget that is over ends the waiting for HiGHS with `Stopped`, unless the programme is a
    short one.
    """
    from scipy.optimize import linprog  # slow to import: paid by the first programme

    beside = {} if row is None else {"A_ub": -row[0][None], "b_ub": [-row[1]]}
    iterations = max(LIMITS.fewest_iterations, LIMITS.iterations_per_row * A.shape[0])
    for method, tolerance in attempts:
        work = partial(
            linprog,
            costs / unit,
            A_eq=A,
            b_eq=np.ones(A.shape[0]),
            **beside,
            method=method,
            options={
                "primal_feasibility_tolerance": tolerance,
                "dual_feasibility_tolerance": tolerance,
                "maxiter": iterations,
            },
        )
        found = budget.awaited(work) if budget is not None and A.size > LIMITS.short else work()
        if found.x is not None and found.eqlin.marginals is not None and np.isfinite(found.eqlin.marginals).all():
            dual = 0.0 if row is None else max(-unit * float(found.ineqlin.marginals[0]), 0.0)
            return ColumnMixture(np.maximum(found.x, 0.0), unit * found.eqlin.marginals, dual)
    return None


def repaired(lam: Array, Q: Array, costs: Array, p_x: Array) -> Array:
    """HiGHS's lambda, lowered where that costs least until no column has costs < lambda.q."""
    lam = lam.copy()
    for k in np.flatnonzero(costs - lam @ Q < 0.0):
        short = costs[k] - lam @ Q[:, k]
        if short < 0.0:
            with np.errstate(divide="ignore", over="ignore"):
                x = int((p_x / Q[:, k]).argmin())
                lam[x] = max(lam[x] + short / Q[x, k], -LARGEST)
    return lam
