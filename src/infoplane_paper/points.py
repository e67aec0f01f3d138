"""Runs as points of the information plane, in bits; the least leakage of a set of runs, and how far runs lie from a proven bound.

A certified lower bound LB of L(parameter) is a straight line that no encoder crosses:

    funnel      beta I(Y;Z) - I(X;Z) >= LB    so    I(Y;Z) >= (I(X;Z) + LB) / beta      the highest line counts
    bottleneck  gamma I(X;Z) - I(Y;Z) >= LB   so    I(Y;Z) <= gamma I(X;Z) - LB         the lowest line counts
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.special import entr

from .settings import NATS_PER_BIT

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


Arrays = dict[str, np.ndarray[Any, Any]]
"""What a piece yields and a file holds: arrays by name."""


def information(table: Array) -> float:
    """I(U;V) = H(U) + H(V) - H(U,V) of a joint p(u, v), in bits."""
    return float(entr(table.sum(axis=0)).sum() + entr(table.sum(axis=1)).sum() - entr(table).sum()) / NATS_PER_BIT


@dataclass(frozen=True)
class Points:
    """Arrays of equal length, one row per run; informations and losses are in bits."""

    parameter: Array
    start: Array
    ixz: Array
    iyz: Array
    loss: Array
    converged: Array
    """1 where the run ended by its method's own rule, else 0."""
    stationary: Array
    """1 where primal, dual and stationarity residual are all small, else 0."""
    stationarity: Array
    """The stationarity residual max |W - fixed_point(W)|; 0 where the Lagrangian is stationary."""
    iterations: Array
    lower_bound: Array
    """Proven lower bound of the loss at that parameter; NaN where nothing was proven."""

    def __len__(self) -> int:
        return len(self.parameter)

    def columns(self) -> Arrays:
        """Arrays by the names of the columns."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def where(self, rows: Any) -> Points:
        """Some of the rows."""
        return Points(**{name: column[rows] for name, column in self.columns().items()})

    def ended(self) -> Points:
        """The runs that converged by their own rule: what the paper plots."""
        return self.where(self.converged > 0)

    def within(self, limit: float) -> Points:
        """The same runs as if the iteration limit had been lower: those that took longer count as divergent."""
        return replace(self, converged=self.converged * (self.iterations < limit))

    def best(self) -> Points:
        """The run with the lowest loss of every parameter."""
        order = np.lexsort((self.loss, self.parameter))
        return self.where(order[np.unique(self.parameter[order], return_index=True)[1]])

    def between(self, low: float, high: float) -> Points:
        """The runs with I(X;Z) in [low, high] bits."""
        return self.where((self.ixz >= low) & (self.ixz <= high))

    def leakage(self, utility: Array) -> Array:
        """The least I(Y;Z) of a run with I(X;Z) >= u, for every u."""
        return least_leakage(self.ixz, self.iyz, utility)


def least_leakage(ixz: Array, iyz: Array, utility: Array) -> Array:
    """The least I(Y;Z) over points with I(X;Z) >= u, for every u; infinite where no point has that utility."""
    order = np.argsort(ixz)
    floor = np.append(np.minimum.accumulate(iyz[order][::-1])[::-1], np.inf)
    found: Array = floor[np.searchsorted(ixz[order], utility - 1e-9)]
    return found


def excess(points: Points, certified: Points, family: str) -> Array:
    """Bits of I(Y;Z) between each point and the proven bound at its own I(X;Z), as said above; 0 on the frontier."""
    u, parameter, bound = points.ixz[:, None], certified.parameter, certified.lower_bound
    found: Array = (
        points.iyz - np.maximum(((u + bound) / parameter).max(axis=1), 0.0)
        if family == "funnel"
        else (u * parameter - bound).min(axis=1) - points.iyz
    )
    return found


def optimum(certified: Points, parameter: float) -> tuple[float, float]:
    """Loss and lower bound of the certified run at a parameter; LookupError if nothing was certified there."""
    row = int(np.argmin(np.abs(certified.parameter - parameter)))
    if not np.isclose(certified.parameter[row], parameter):
        raise LookupError(f"nothing was certified at the parameter {parameter:g}.")
    return float(certified.loss[row]), float(certified.lower_bound[row])
