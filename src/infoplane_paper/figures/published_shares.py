"""The authors' way here against the published scripts: how many runs of ib-1 converge, and where they end.

The scripts (drs-pfib, revised version, method admm1ms) were run at gamma = 0.2, alpha = 1, from 20 random starts of their own, with at most
2,000 iterations. What they gave is cited in `PUBLISHED`; the same settings are run here from other random starts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..drawing import BLACK, COLOUR, Drawing, Row, dress, legend, panels
from ..methods import WAYS, Method
from ..pieces import Piece, Sweep
from ..points import Array
from ..runs import Runs
from ..settings import SHORT_LIMIT, Scale
from ..shares import interval, share
from ..verdict import Claim, Figure, Finding

JOINT, GAMMA, TRIALS, CHUNKS = "paper_uniform", 0.2, 100, 4
SEEDS = 20
"""Runs of the scripts per cell."""

PUBLISHED = {
    (2, 4.0): 0.95,
    (2, 16.0): 1.0,
    (2, 64.0): 1.0,
    (3, 4.0): 0.65,
    (3, 16.0): 0.85,
    (3, 64.0): 0.8,
    (4, 4.0): 0.3,
    (4, 16.0): 0.6,
    (4, 64.0): 0.6,
}
"""The share of the scripts' runs that converge, by |Z| and c."""

MINIMUM = (-0.327, -0.324)
"""Bits between which about half of the scripts' converged runs with |Z| = 3 end: the paper's minimum."""


def name(clusters: int, c: float) -> str:
    """The name of a piece."""
    return f"ib-1, gradient, |Z| = {clusters}, c {c:g}"


def pieces(scale: Scale) -> Sequence[Piece]:
    """One sweep per |Z| and c."""
    trials = max(min(TRIALS, scale.many) // CHUNKS, 1)
    return [
        Sweep(
            name(clusters, c),
            JOINT,
            "bottleneck",
            (GAMMA,) * CHUNKS,
            Method("ib-1", "gradient", c).within(min(SHORT_LIMIT, scale.gradient_limit)),
            clusters,
            trials,
        )
        for clusters, c in PUBLISHED
    ]


def draw(runs: Runs) -> Drawing:
    """Shares here with their intervals, beside the scripts'."""
    figure, (ax,) = panels(1, width=7.4)
    for place, (clusters, c) in enumerate(PUBLISHED):
        points = runs.points(name(clusters, c))
        low, high = interval(points)
        words = ("here, 95% interval", "here", "published scripts") if place == 0 else (None,) * 3
        ax.plot([place] * 2, [low, high], color=COLOUR["ib-1"], linewidth=1.2, label=words[0])
        ax.plot(place, share(points), "o", color=COLOUR["ib-1"], label=words[1])
        ax.plot(place, PUBLISHED[clusters, c], "x", color=BLACK, label=words[2])
    ax.set_xticks(range(len(PUBLISHED)), [f"|Z| {clusters}\nc {c:g}" for clusters, c in PUBLISHED])
    title = f"ib-1 in the authors' way, gamma = {GAMMA:g}, {SHORT_LIMIT:,} iterations"
    dress(ax, title, "", "share of runs that converge")
    ax.set_ylim(-0.03, 1.05)
    legend(ax, ncols=3)
    return figure


def table(runs: Runs) -> list[Row]:
    """One row per |Z| and c."""
    rows: list[Row] = []
    for (clusters, c), published in PUBLISHED.items():
        points = runs.points(name(clusters, c))
        losses = points.ended().loss
        low, high = interval(points)
        rows.append(
            {
                "clusters": clusters,
                "c": c,
                "published": published,
                "here": share(points),
                "interval_low": low,
                "interval_high": high,
                "within_sampling_error": float(_agree(points.converged, published)),
                "best_bits": float(losses.min(initial=np.inf)),
                "at_the_papers_minimum": _at_minimum(losses),
            }
        )
    return rows


SCRIPTS_AT_MINIMUM = (9, 17)
"""Of the converged runs of the published scripts with |Z| = 3, c = 16: those that end at the paper's minimum."""


def _at_minimum(losses: Array) -> float:
    """The share of losses at the paper's minimum; NaN of none."""
    return float(((losses > MINIMUM[0]) & (losses < MINIMUM[1])).mean()) if len(losses) else np.nan


def _agree(converged: Array, published: float) -> bool:
    """Whether the two shares may be the same: Fisher's exact test does not refuse it at the level of 5%."""
    from scipy.stats import fisher_exact  # half a second, for this one number

    here, there = int(converged.sum()), round(published * SEEDS)
    both = np.array([[here, len(converged) - here], [there, SEEDS - there]])
    return bool(fisher_exact(both).pvalue >= 0.05)


def agrees(runs: Runs, _way: str) -> Finding:
    """Whether the shares of all nine cells agree within sampling error."""
    cells = {cell: runs.points(name(*cell)) for cell in PUBLISHED}
    agreeing = [cell for cell, points in cells.items() if _agree(points.converged, PUBLISHED[cell])]
    apart = [
        f"|Z| {clusters}, c {c:g}: {share(cells[clusters, c]):.0%} here, {PUBLISHED[clusters, c]:.0%} there"
        for clusters, c in cells
        if (clusters, c) not in agreeing
    ]
    losses = {cell: points.ended().loss for cell, points in cells.items()}
    known = losses[3, 16.0]
    two = np.concatenate([loss for (clusters, _), loss in losses.items() if clusters == 2])
    return Finding(
        not apart,
        f"{len(agreeing)} of {len(cells)} shares agree within sampling error (Fisher's exact test, 5%)"
        + (f" ({'; '.join(apart)})" if apart else "")
        + f"; of the {len(known)} converged runs with |Z| = 3, c = 16 {_at_minimum(known):.0%} end between {MINIMUM[0]:g} and "
        f"{MINIMUM[1]:g} bits (the scripts: {SCRIPTS_AT_MINIMUM[0]} of {SCRIPTS_AT_MINIMUM[1]}); with |Z| = 2 the lowest is "
        f"{two.min(initial=np.inf):.6f}, so that runs which stop on their way end above that interval",
    ).on(name(3, 16.0))


FIGURE = Figure(
    name="published-shares",
    title="The authors' way here against the published scripts",
    paper="The authors' scripts, run as they are: shares of converged runs of ib-1 at gamma = 0.2 for |Z| = 2, 3, 4 and c = 4, 16, 64.",
    where="drs-pfib, revised version",
    pieces=pieces,
    draw=draw,
    table=table,
    claims=(
        Claim(
            "published-shares",
            "the authors' way is run here as their scripts run it",
            agrees,
            {"gradient": WAYS["gradient"]},
            of_paper=False,
        ),
    ),
    see="A cross within a bar, or near its end, is the same share within the error of 20 and 100 runs.",
)
