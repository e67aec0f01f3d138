"""How much of the evaluation is run: all of it (`FULL`, the paper's own numbers), or a preview in minutes (`QUICK`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .settings import LIMIT, SHORT_LIMIT


@dataclass(frozen=True)
class Scale:
    """Upper limits of grids, trials, iterations and penalties; a figure runs the paper's own number or the limit, whichever is less."""

    name: str
    points: int
    """Parameters per grid on the 3 x 3 data."""
    heart: int
    """Parameters per grid on the heart data."""
    trials: int
    """Trials per parameter of an information plane."""
    many: int
    """Trials in a convergence share."""
    few: int
    """Trials in a convergence share of our funnel steps, which cost most."""
    limit: int
    """Iterations with our steps."""
    gradient_limit: int
    """Iterations with gradient steps on the 3 x 3 data, where they cost least."""
    heart_limit: int
    """Iterations on the heart data with gradient steps, or with exact ones at the paper's c."""
    penalties: int
    """Penalties per convergence share."""
    sensitivity: bool
    """Whether the settings that the paper leaves open are varied."""

    def grid(self, low: float, high: float, points: int, joint: str) -> tuple[float, ...]:
        """A geometric grid with the paper's number of points, or as many as the scale allows."""
        return tuple(float(value) for value in np.geomspace(low, high, self._points(points, joint)))

    def fine(self, low: float, high: float, points: int, joint: str) -> tuple[float, ...]:
        """The same grid with three more points in every gap: the more certified parameters, the tighter the bound on the frontier."""
        return tuple(float(value) for value in np.geomspace(low, high, 4 * (self._points(points, joint) - 1) + 1))

    def within(self, kind: str, joint: str, exact: int = SHORT_LIMIT) -> int:
        """Iteration limit of one way of running on one joint; at most ``exact`` for our steps at the paper's c."""
        if kind == "auto":
            return self.limit
        usual = self.heart_limit if joint == "heart" else self.gradient_limit if kind == "gradient" else self.limit
        return min(usual, exact) if kind == "majorise" else usual

    def _points(self, points: int, joint: str) -> int:
        return min(points, self.heart if joint == "heart" else self.points)

    def some(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """As many of the values as the scale allows penalties, evenly chosen, the first and last included."""
        places = np.unique(np.linspace(0, len(values) - 1, min(len(values), self.penalties)).round().astype(int))
        return tuple(values[place] for place in places)


FULL = Scale(
    "full",
    points=64,
    heart=64,
    trials=20,
    many=2_000,
    few=20,
    limit=LIMIT,
    gradient_limit=LIMIT,
    heart_limit=LIMIT,
    penalties=40,
    sensitivity=True,
)
QUICK = Scale(
    "quick",
    points=20,
    heart=5,
    trials=4,
    many=24,
    few=4,
    limit=1_500,
    gradient_limit=6_000,
    heart_limit=600,
    penalties=6,
    sensitivity=False,
)

SCALES = {scale.name: scale for scale in (FULL, QUICK)}
"""By name."""
