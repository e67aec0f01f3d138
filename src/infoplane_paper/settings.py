"""What the paper leaves open, chosen once and told in the report; and the differences in bits that count.

The paper's step, stopping rule, starts, grids, trials, penalties and relaxations are its own (Section V). Details that it leaves open are
those of its authors' published scripts where these have them. `OPEN` says what stands here for each, and why.

How much of the evaluation is run: all of it (`FULL`, the paper's own numbers), or a preview in minutes (`QUICK`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

NATS_PER_BIT = math.log(2.0)
"""infoplane speaks in nats, the paper in bits."""

PAPER_TOLERANCE = 1e-6
"""The paper's stopping rule: half the absolute sum of Ap - Bq, in every column, is below it."""

SEED = 0
"""Seed of all random starts."""

FIRST_STEP = 0.01
"""xi at the start of back-tracking, for every gradient step."""

LIMIT = 20_000
"""Iteration limit of a run."""

SHARE_LIMIT = 1_000
"""The same in the funnel's convergence share, which has 32,000 runs."""

SHORT_LIMIT = 2_000
"""The same for our steps at the paper's c, which may be very slow."""

LONG_LIMIT = 12_000
"""The same in the bottleneck's convergence shares and thresholds: our steps of ib-2 need up to 10,000 iterations."""

FEW_TRIALS = 20
"""Trials of our steps in the bottleneck's convergence shares."""

FUNNEL_PENALTY = 64.0
"""c of the 3 x 3 funnel planes."""

FUNNEL_SHARE_PENALTIES = tuple(float(c) for c in range(1000, 8001, 1000))
"""c of the funnel's convergence share: the paper's range."""

FUNNEL_FINE_PENALTIES = tuple(500.0 * 2.0 ** (k / 8) for k in range(33))
"""The same range and an octave below it, with 8 values an octave."""

LOW_PENALTIES = tuple(2.0**k for k in range(3, 10))
"""Penalties below the paper's range, at which our funnel steps are run as well."""

BOTTLENECK_PENALTIES = tuple(2.0**k for k in range(11))
"""c of the bottleneck's convergence share: 1, 2, ..., 1024."""

HEART_BETAS = 20
"""Points of beta in [1, 10] on the heart data."""

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
    others: tuple[str, ...] = ()
    """Its other values, by the names that `runs` gives them."""


OPEN = (
    Open(
        "first step length of back-tracking",
        f"{FIRST_STEP:g}",
        "default of the authors' published scripts (drs-pfib, revised version)",
        "1 and 0.001",
        ("first step 1", "first step 0.001"),
    ),
    Open(
        "back-tracking",
        "by quarters; sufficient decrease 1e-4; if no step decreases enough, the longest valid one",
        "as in the published scripts",
        "not varied; with halves instead of quarters 10 of 12 converged runs of the scripts became 6 of 12",
    ),
    Open(
        "entries near zero",
        "those below 1e-9 are held where they leave no valid step; 1e-9 is added and the columns are normalised",
        "as in the published scripts, where an entry once held stays held",
        "not varied",
    ),
    Open(
        "stopping",
        "half the absolute sum of Ap - Bq below 1e-6 in every column",
        "as in the published scripts; the paper says total variation, and neither the columns nor whether to take half",
        "not varied",
    ),
    Open(
        "order of ib-1v and pf-2v",
        "Solver II's",
        "their conditions are Theorem 5's",
        "Solver I's at alpha 1, as in the published scripts",
        ("the order of the published scripts",),
    ),
    Open(
        "iteration limit",
        f"{LIMIT:,}; {LONG_LIMIT:,} in the bottleneck's convergence shares and thresholds, with {FEW_TRIALS} trials of our steps; "
        f"{SHORT_LIMIT:,} for our steps at the paper's c elsewhere; {SHARE_LIMIT:,} in the funnel's convergence share",
        "default of the published scripts for planes; in the bottleneck's shares more change nothing; the shorter ones bound the time",
        "a quarter of each: runs that ended later count as divergent",
        ("a quarter of the iteration limit",),
    ),
    Open(
        "c of the 3 x 3 funnel planes",
        f"{FUNNEL_PENALTY:g}",
        "the paper's c of ib-2 on the same data",
        "a quarter, and four times",
        ("0.25 times c", "4 times c"),
    ),
    Open("points of beta in [1, 10]", f"{HEART_BETAS}, geometric", "as in the paper's other funnel grid", "not varied"),
    Open(
        "c of the bottleneck's convergence shares",
        f"powers of 2 from {BOTTLENECK_PENALTIES[0]:g} to {BOTTLENECK_PENALTIES[-1]:g}; areas under the curves around the crossing decide",
        "covers every c that the paper names for this data",
        "not varied",
    ),
    Open(
        "c of the funnel's convergence share",
        "1,000, 2,000, ..., 8,000; beside it 8 values an octave from 500 on, with 100 trials each",
        "the paper's range; its grid is not said",
        "the finer grid",
    ),
    Open(
        "starts",
        "random, as the paper says",
        "Section V",
        "near-deterministic with 1e-5, which the published scripts use beside random ones",
        ("near-deterministic starts",),
    ),
    Open(
        "|Z|",
        "4 and 17, the paper's upper bounds",
        "the published scripts have 3 by default on the 3 x 3 data",
        "2 and 3 on the 3 x 3 data, 16 on heart",
        ("|Z| = 2", "|Z| = 3", "|Z| = 16"),
    ),
    Open(
        "smoothing of the heart data",
        "1e-3 added to the counts: I(X;Y) = 0.293 bits",
        "the paper says 1e-3, and not to what",
        "added to the probabilities: 0.230 bits",
        ("smoothing on probabilities",),
    ),
)


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

    def grid(self, low: float, high: float, points: int, joint: str, *, fine: bool = False) -> tuple[float, ...]:
        """A geometric grid with the paper's number of points, or as many as the scale allows; ``fine``: with three more in every gap."""
        n = min(points, self.heart if joint == "heart" else self.points)
        return tuple(np.geomspace(low, high, 4 * n - 3 if fine else n).tolist())

    def within(self, kind: str, joint: str, exact: int = SHORT_LIMIT) -> int:
        """Iteration limit of one way of running on one joint; at most ``exact`` for our steps at the paper's c."""
        if kind == "auto":
            return self.limit
        usual = self.heart_limit if joint == "heart" else self.gradient_limit if kind == "gradient" else self.limit
        return min(usual, exact) if kind == "majorise" else usual

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
