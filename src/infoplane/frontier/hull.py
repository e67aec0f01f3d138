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
    """The corners of the hull of the best encoders of a frontier; the runs must be of one family."""
    best = [answer.run for answer in frontier.best_answers()]
    if not best:
        raise InvalidOptionError("a frontier without runs has no encoder at any target.")
    if len({siblings(run.problem).key for run in best}) > 1:
        raise InvalidOptionError("the best runs belong to several families of problems; a target needs one.")
    return corners([FrontierPoint(run, run.parameter) for run in best], frontier.hides_y)


def corners(points: Iterable[FrontierPoint], hides_y: bool) -> list[FrontierPoint]:
    """The corners of the hull by I(X;Z): up to the largest I(Y;Z), or with ``hides_y`` from the smallest on."""
    found = list(points)
    sign = -1.0 if hides_y else 1.0
    hull = [
        found[i] for i in concave_hull([point.run.ixz for point in found], [sign * point.run.iyz for point in found])
    ]
    iyz = [point.run.iyz for point in hull]
    return hull[int(np.argmin(iyz)) :] if hides_y else hull[: 1 + int(np.argmax(iyz))]


def concave_hull(across: Sequence[float], up: Sequence[float]) -> list[int]:
    """The points that are corners of the least concave curve above all, from left to right.

    Examples
    --------
    >>> concave_hull([0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 1.0, 3.0])
    [0, 1, 3]
    """
    hull: list[int] = []
    # Of two points with the same place the higher one comes last, and the other is removed.
    for c in sorted(range(len(across)), key=lambda i: (across[i], up[i])):
        while hull and up[c] >= up[hull[-1]] and across[c] - across[hull[-1]] <= 1e-12:
            hull.pop()
        while len(hull) > 1 and _turn(across, up, hull[-2], hull[-1], c) >= 0.0:
            hull.pop()
        hull.append(c)
    return hull


def _turn(across: Sequence[float], up: Sequence[float], a: int, b: int, c: int) -> float:
    """Positive if the path a, b, c turns left."""
    return (across[b] - across[a]) * (up[c] - up[a]) - (across[c] - across[a]) * (up[b] - up[a])


def bracket(hull: list[FrontierPoint], axis: str, target: float) -> tuple[FrontierPoint, FrontierPoint]:
    """The neighbouring corners between which a target lies."""
    after = next((i for i, point in enumerate(hull) if point.along(axis) >= target), len(hull) - 1)
    return hull[max(after - 1, 0)], hull[after]


def pareto_rows(runs: Sequence[Solution], hides_y: bool) -> list[int]:
    """The runs that no other dominates on their plane: more I(Y;Z) at no more I(X;Z), or for ``hides_y`` less at no less."""
    sign = -1.0 if hides_y else 1.0
    points = [run.plane for run in runs]
    order = sorted(range(len(runs)), key=lambda row: (sign * points[row].ixz, -sign * points[row].iyz))
    kept: list[int] = []
    best = -math.inf
    for row in order:
        if sign * points[row].iyz > best + 1e-12:
            kept.append(row)
            best = sign * points[row].iyz
    return sorted(kept, key=lambda row: points[row].ixz)
