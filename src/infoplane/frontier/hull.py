"""Points of a frontier in their order: the concave hull of (I(X;Z), I(Y;Z)) for the bottleneck, the convex one for the funnel.

What lies below the hull is no point of the frontier, since mixtures of its corners are better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidOptionError
from ..problem import MarkovLagrangian, bottleneck, deterministic_bottleneck, funnel, generalised_bottleneck
from ..solution import Solution

if TYPE_CHECKING:
    from .frontier import Frontier

Family = Callable[[float], MarkovLagrangian]


@dataclass(frozen=True)
class Point:
    """A run on the frontier and a parameter that it is optimal for."""

    run: Solution
    parameter: float

    def along(self, axis: str) -> float:
        """I(X;Z) or I(Y;Z), in nats."""
        return float(getattr(self.run, axis))


def vertices(frontier: Frontier) -> list[Point]:
    """The corners of the best runs of a frontier, which must be of one family."""
    best = [frontier.runs[row] for row in frontier.best_rows()]
    if not best:
        raise InvalidOptionError("a frontier without runs has no encoder to offer.")
    if len({kind(run.problem) for run in best}) > 1:
        raise InvalidOptionError("the best runs belong to several families of problems; a target needs one.")
    return corners([Point(run, run.parameter) for run in best], frontier.hides_y)


def corners(points: Iterable[Point], hides_y: bool) -> list[Point]:
    """Corners of the hull by I(X;Z), as far as it rises."""
    sign = -1.0 if hides_y else 1.0
    hull: list[Point] = []
    # Of two points above each other the better comes last, and the other goes.
    for c in sorted(points, key=lambda point: (point.run.ixz, sign * point.run.iyz)):
        while hull and sign * (c.run.iyz - hull[-1].run.iyz) >= 0.0 and c.run.ixz - hull[-1].run.ixz <= 1e-12:
            hull.pop()
        while len(hull) > 1 and sign * _turn(hull[-2].run, hull[-1].run, c.run) >= 0.0:
            hull.pop()
        hull.append(c)
    iyz = [point.run.iyz for point in hull]
    return hull[int(np.argmin(iyz)) :] if hides_y else hull[: 1 + int(np.argmax(iyz))]


def _turn(a: Solution, b: Solution, c: Solution) -> float:
    """Positive if the way a, b, c turns left."""
    return (b.ixz - a.ixz) * (c.iyz - a.iyz) - (c.ixz - a.ixz) * (b.iyz - a.iyz)


def bracket(hull: list[Point], axis: str, target: float) -> tuple[Point, Point]:
    """The corners before and after a target."""
    after = next((i for i, point in enumerate(hull) if point.along(axis) >= target), len(hull) - 1)
    return hull[max(after - 1, 0)], hull[after]


def family_of(problem: MarkovLagrangian) -> Family | None:
    """The function from a parameter to a problem that a problem came from; None if it has no name."""
    named: dict[str, Family] = {
        "bottleneck": bottleneck,
        "funnel": funnel,
        "deterministic_bottleneck": deterministic_bottleneck,
    }
    if problem.family == "generalised_bottleneck" and problem.parameter:
        return partial(generalised_bottleneck, a=-problem.rho_zx / problem.parameter)
    return named.get(problem.family)


def kind(problem: MarkovLagrangian) -> tuple[str, float]:
    """What two problems must share to differ in nothing but the parameter: the family's name, and its a."""
    a = -problem.rho_zx / problem.parameter if problem.family == "generalised_bottleneck" and problem.parameter else 1.0
    return problem.family, round(a, 12)
