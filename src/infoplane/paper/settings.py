"""What the paper leaves open, chosen once and said in the report; how much of it a scale runs; what counts as different.

The paper's step, stopping rule, starts, grids, trials, penalties and relaxations are its own (Section V). It does not say with which
step length back-tracking begins, how many iterations are the limit, which c the 3 x 3 funnel planes use, how many betas lie in [1, 10],
nor which c the bottleneck shares cover. `OPEN` says what stands here for each, and why.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SEED = 0
"""Root of all randomness."""

FIRST_STEP = 0.01
"""xi at the start of back-tracking, for every gradient step."""

LIMIT = 20_000
"""Iterations a run."""

SHARE_LIMIT = 1_000
"""The same in the funnel's convergence share, which has 32,000 runs."""

SHORT_LIMIT = 2_000
"""The same in the bottleneck's convergence shares and thresholds, and for exact steps at the paper's c, which may crawl."""

LONG_LIMIT = 12_000
"""The same for exact steps of ib-2 in the bottleneck's convergence share, which need up to 10,000; with fewer trials."""

FEW_TRIALS = 20
"""Trials of those."""

FUNNEL_PENALTY = 64.0
"""c of the 3 x 3 funnel planes."""

FUNNEL_SHARE_PENALTIES = tuple(float(c) for c in range(1000, 8001, 1000))
LOW_PENALTIES = tuple(2.0**k for k in range(3, 10))
"""Penalties below the paper's range at which exact funnel steps are run, too."""

BOTTLENECK_PENALTIES = tuple(2.0**k for k in range(11))
"""c of the bottleneck's convergence share: 1, 2, ..., 1024."""

HEART_BETAS = 20

VISIBLE = 0.01
"""Bits that can be told apart in a printed plane; the authors' published scripts also round I(Z;X) to 0.01."""

SLIGHT = 0.001
"""Bits that count as slightly worse."""


@dataclass(frozen=True)
class Open:
    """A setting that the paper leaves open."""

    what: str
    chosen: str
    why: str
    varied: str


OPEN = (
    Open(
        "first step length of back-tracking",
        f"{FIRST_STEP:g}",
        "default of the authors' published scripts (drs-pfib); those take the funnel's step as soon as it is valid, the paper also asks "
        "for sufficient decrease",
        "1, 0.1 and 0.001",
    ),
    Open(
        "iteration limit",
        f"{LIMIT:,}; {SHORT_LIMIT:,} in the bottleneck's convergence shares and thresholds and for exact steps at the paper's c; "
        f"{LONG_LIMIT:,} for exact steps of ib-2 in the share, with {FEW_TRIALS} trials; {SHARE_LIMIT:,} in the funnel's convergence share",
        "default of the authors' published scripts for planes; the shorter ones bound the time",
        "a quarter of each: runs that ended later count as divergent",
    ),
    Open(
        "c of the 3 x 3 funnel planes",
        f"{FUNNEL_PENALTY:g}",
        "the paper's c of ib-2 on the same data",
        "a quarter, and four times",
    ),
    Open("points of beta in [1, 10]", f"{HEART_BETAS}, geometric", "as in the paper's other funnel grid", "not varied"),
    Open(
        "c of the bottleneck's convergence shares",
        f"powers of 2 from {BOTTLENECK_PENALTIES[0]:g} to {BOTTLENECK_PENALTIES[-1]:g}",
        "covers every c that the paper names for this data",
        "not varied",
    ),
    Open(
        "starts",
        "random, as the paper says",
        "Section V",
        "near-deterministic, which the published scripts use beside random ones",
    ),
    Open("|Z|", "4 and 17, the paper's upper bounds", "clusters may die on the way", "not varied"),
)


@dataclass(frozen=True)
class Scale:
    """At most so much of everything; the paper's own numbers are below it in the full run."""

    name: str
    points: int
    """Parameters a grid on the 3 x 3 data."""
    heart: int
    """Parameters a grid on the heart data."""
    trials: int
    """Trials a parameter on a plane."""
    many: int
    """Trials in a convergence share."""
    few: int
    """Trials in a convergence share of exact funnel steps, the dearest of all."""
    limit: int
    """Iterations with exact steps."""
    gradient_limit: int
    """Iterations with gradient steps on the 3 x 3 data, where they cost least."""
    heart_limit: int
    """Iterations on the heart data with gradient steps, or with exact ones at the paper's c."""
    penalties: int
    """Penalties a convergence share."""
    sensitivity: bool
    """Whether open settings are varied."""

    def grid(self, low: float, high: float, points: int, joint: str) -> tuple[float, ...]:
        """Geometric, the paper's number of points or as many as the scale allows."""
        return tuple(float(value) for value in np.geomspace(low, high, self._points(points, joint)))

    def fine(self, low: float, high: float, points: int, joint: str) -> tuple[float, ...]:
        """The same grid with three more points in every gap: straight lines that bound a frontier leave less between them."""
        return tuple(float(value) for value in np.geomspace(low, high, 4 * (self._points(points, joint) - 1) + 1))

    def within(self, kind: str, joint: str, exact: int = SHORT_LIMIT) -> int:
        """Iterations for one way of running on one joint; at most so many with exact steps at the paper's c."""
        if kind == "auto":
            return self.limit
        usual = self.heart_limit if joint == "heart" else self.gradient_limit if kind == "gradient" else self.limit
        return min(usual, exact) if kind == "exact" else usual

    def _points(self, points: int, joint: str) -> int:
        return min(points, self.heart if joint == "heart" else self.points)

    def some(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """As many of the values as the scale allows, ends included."""
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
    penalties=16,
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
