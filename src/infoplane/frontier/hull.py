"""Corners of a frontier in order: the concave hull of (I(X;Z), I(Y;Z)) for the bottleneck, the convex one for the funnel.

A point inside the hull is not on the frontier, since mixtures of the corners are better.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidOptionError
from ..problem import siblings
from ..solution import Solution

if TYPE_CHECKING:
    from .frontier import Frontier


@dataclass(frozen=True)
class FrontierPoint:
    """A run on the frontier and a parameter that it is optimal for."""

    run: Solution
    parameter: float

    def along(self, axis: str) -> float:
        """I(X;Z) or I(Y;Z), in nats."""
        return float(getattr(self.run, axis))


def vertices(frontier: Frontier) -> list[FrontierPoint]:
    """The corners of the hull of the best runs of a frontier; the runs must be of one family."""
    best = [frontier.runs[row] for row in frontier.best_rows()]
    if not best:
        raise InvalidOptionError("a frontier without runs has no encoder at any target.")
    if len({siblings(run.problem).key for run in best}) > 1:
        raise InvalidOptionError("the best runs belong to several families of problems; a target needs one.")
    return corners([FrontierPoint(run, run.parameter) for run in best], frontier.hides_y)


def corners(points: Iterable[FrontierPoint], hides_y: bool) -> list[FrontierPoint]:
    """The corners of the hull by I(X;Z): up to the largest I(Y;Z), or with ``hides_y`` from the smallest on."""
    sign = -1.0 if hides_y else 1.0
    hull: list[FrontierPoint] = []
    # Of two points with the same I(X;Z) the better one comes last, and the other is removed.
    for c in sorted(points, key=lambda point: (point.run.ixz, sign * point.run.iyz)):
        while hull and sign * (c.run.iyz - hull[-1].run.iyz) >= 0.0 and c.run.ixz - hull[-1].run.ixz <= 1e-12:
            hull.pop()
        while len(hull) > 1 and sign * _turn(hull[-2].run, hull[-1].run, c.run) >= 0.0:
            hull.pop()
        hull.append(c)
    iyz = [point.run.iyz for point in hull]
    return hull[int(np.argmin(iyz)) :] if hides_y else hull[: 1 + int(np.argmax(iyz))]


def _turn(a: Solution, b: Solution, c: Solution) -> float:
    """Positive if the path a, b, c turns left."""
    return (b.ixz - a.ixz) * (c.iyz - a.iyz) - (c.ixz - a.ixz) * (b.iyz - a.iyz)


def bracket(hull: list[FrontierPoint], axis: str, target: float) -> tuple[FrontierPoint, FrontierPoint]:
    """The neighbouring corners between which a target lies."""
    after = next((i for i, point in enumerate(hull) if point.along(axis) >= target), len(hull) - 1)
    return hull[max(after - 1, 0)], hull[after]


def pareto_rows(runs: Sequence[Solution], hides_y: bool) -> list[int]:
    """The runs that no other dominates, by I(X;Z): more I(Y;Z) at no more I(X;Z), or for ``hides_y`` less at no less."""
    sign = -1.0 if hides_y else 1.0
    order = sorted(range(len(runs)), key=lambda row: (sign * runs[row].ixz, -sign * runs[row].iyz))
    kept: list[int] = []
    best = -math.inf
    for row in order:
        if sign * runs[row].iyz > best + 1e-12:
            kept.append(row)
            best = sign * runs[row].iyz
    return sorted(kept, key=lambda row: runs[row].ixz)
