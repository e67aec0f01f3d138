"""What the paper leaves open, chosen once and told in the report; and the differences in bits that count.

The paper's step, stopping rule, starts, grids, trials, penalties and relaxations are its own (Section V). It does not say with which
step length back-tracking begins, how many iterations are the limit, which c the 3 x 3 funnel planes use, how many betas lie in [1, 10],
nor which c the bottleneck shares cover. `OPEN` says what stands here for each, and why.
"""

from __future__ import annotations

from dataclasses import dataclass

SEED = 0
"""Seed of all random starts."""

FIRST_STEP = 0.01
"""xi at the start of back-tracking, for every gradient step."""

LIMIT = 20_000
"""Iteration limit of a run."""

SHARE_LIMIT = 1_000
"""The same in the funnel's convergence share, which has 32,000 runs."""

SHORT_LIMIT = 2_000
"""The same in the bottleneck's convergence shares and thresholds, and for exact steps at the paper's c, which may be very slow."""

LONG_LIMIT = 12_000
"""The same for exact steps of ib-2 in the bottleneck's convergence share, which need up to 10,000 iterations."""

FEW_TRIALS = 20
"""Trials of the runs with `LONG_LIMIT`."""

FUNNEL_PENALTY = 64.0
"""c of the 3 x 3 funnel planes."""

FUNNEL_SHARE_PENALTIES = tuple(float(c) for c in range(1000, 8001, 1000))
"""c of the funnel's convergence share: the paper's range."""

LOW_PENALTIES = tuple(2.0**k for k in range(3, 10))
"""Penalties below the paper's range, at which exact funnel steps are run as well."""

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
