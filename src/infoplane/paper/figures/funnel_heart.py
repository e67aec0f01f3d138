"""Information plane of the funnel on the heart data (pf-2 with c = 7000, pf-2v with c = 128, Merge-Two)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ... import datasets
from ...information import bits, entropy
from ...plot import COLOURS
from ..figure import WAYS, Figure
from ..methods import KINDS, Method
from ..piece import Piece
from ..plane_figures import (
    EVERYWHERE,
    against_merging,
    compared,
    plane,
    plane_table,
    planes,
    proven_frontier,
    scatter_runs,
)
from ..planes import left_their_start
from ..references import Merges, Private, Starts
from ..runs import Runs
from ..scale import Scale
from ..sensitivity import with_other_settings
from ..settings import HEART_BETAS, VISIBLE
from ..sweeps import Certified, Sweep
from ..verdict import Claim, Finding, with_evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

JOINT, TITLE = "heart", "heart"
SOLVERS = {"pf-2": (7000.0, 1.618), "pf-2v": (128.0, 1.0)}
"""Penalty, which the paper gives, and relaxation, which are those of its other funnel planes."""
CLUSTERS, TRIALS, BETAS = 17, 20, (1.0, 10.0, HEART_BETAS)
LESS_TRIALS = 2
"""Trials under other settings."""


def pieces(scale: Scale) -> Sequence[Piece]:
    """The two solvers in all ways of running, Merge-Two, the certified optima and the reference points."""
    base = [
        Sweep(
            f"{TITLE}: {solver}, {kind}",
            JOINT,
            "funnel",
            scale.grid(*BETAS, JOINT),
            Method(solver, kind, c, alpha).within(scale.within(kind, JOINT)),
            CLUSTERS,
            min(TRIALS, scale.trials),
        )
        for solver, (c, alpha) in SOLVERS.items()
        for kind in KINDS
    ]
    found: list[Piece] = [
        Certified(f"{TITLE}: certified", JOINT, "funnel", scale.grid(*BETAS, JOINT)),
        Private(f"{TITLE}: without leakage", JOINT),
        Merges(f"{TITLE}: Merge-Two", JOINT),
        Starts(f"{TITLE}: starts", JOINT, CLUSTERS, TRIALS),
        *base,
    ]
    return [*found, *with_other_settings(found, scale, LESS_TRIALS, clusters=(16,))]


def draw(runs: Runs) -> Drawing:
    """The whole plane, and its corner of little leakage, in each way of running."""
    data = datasets.load(JOINT)
    whole = bits(entropy(data.p_x)), bits(data.mutual_information)
    parts = {"whole plane": whole, "little leakage": (3.1, 0.02)}
    figure, places = planes(list(parts))
    for ax, part, words, kinds in places:
        proven_frontier(ax, runs.points(f"{TITLE}: certified"), "funnel", whole[0])
        for solver in SOLVERS:
            for kind in kinds:
                scatter_runs(ax, runs.points(f"{TITLE}: {solver}, {kind}"), solver, kind)
        merges = runs[f"{TITLE}: Merge-Two"]
        ax.scatter(merges["ixz"], merges["iyz"], marker="D", s=14, color="#000000", zorder=4, label="Merge-Two")
        private = runs[f"{TITLE}: without leakage"]["utility"][0]
        ax.scatter(
            [private], [0.0], marker="*", s=110, color=COLOURS[4], zorder=5, label="best without leakage, proven"
        )
        plane(ax, words, *parts[part])
    return figure


def perfectly_private(runs: Runs, way: str) -> Finding:
    """Whether both solvers have a converged run with leakage below `VISIBLE` and utility above that of all random starts.

    Runs that never left their random start do not count: such a start has little of both informations.
    """
    said: list[str] = []
    numbers: dict[str, float] = {}
    answers: list[bool | None] = []
    starts = runs[f"{TITLE}: starts"]
    begun = float(starts["ixz"].max())
    for solver in SOLVERS:
        ended = runs.points(f"{TITLE}: {solver}, {way}").ended()
        left = left_their_start(ended, starts)
        private = left.where((left.iyz <= VISIBLE) & (left.ixz > begun + VISIBLE))
        utility = float(private.ixz.max(initial=0.0))
        answers.append(len(private) > 0 if len(left) else None)
        numbers[f"{solver}, utility_bits"] = utility
        least = f"; the least leakage of those is {left.iyz.min():.4f} bits" if len(left) else ""
        said.append(
            f"{solver}: of {len(ended)} converged runs {len(left)} have left their start, {len(private)} of which leak at most {VISIBLE:g} "
            f"bits with more utility than a start, up to {utility:.3f} bits{least}"
        )
    exact = runs[f"{TITLE}: without leakage"]["utility"][0]
    said.append(
        f"random starts themselves have utility {starts['ixz'].mean():.3f} (at most {begun:.3f}) and leakage "
        f"{starts['iyz'].mean():.4f} bits; with no "
        f"leakage at all {exact:.4f} bits are possible, and proven"
    )
    holds = False if False in answers else None if None in answers else True
    names = [f"{TITLE}: {solver}, {way}" for solver in SOLVERS]
    return with_evidence(Finding(holds, "; ".join(said), numbers), runs, *names)


FIGURE = Figure(
    name="funnel-heart",
    title="Information plane of the funnel, heart data",
    paper="pf-2 (c 7000) leaks less than pf-2v (c 128); both reach perfect privacy, I(X;Z) > 0 with I(Y;Z) near 0; against Merge-Two the "
    "same trend as on the synthetic data: its points are recovered, and less leaks between them.",
    pieces=pieces,
    draw=draw,
    table=plane_table,
    claims=(
        Claim(
            "pf-2-leaks-less-heart",
            "pf-2 performs better than pf-2v on the heart data",
            "Section V-B",
            partial(compared, title=TITLE, solvers=("pf-2", "pf-2v"), low=0.0, high=EVERYWHERE),
            WAYS,
        ),
        Claim(
            "perfect-privacy",
            "pf-2 and pf-2v both reach perfect privacy with positive utility on the heart data",
            "Section V-B",
            perfectly_private,
            WAYS,
        ),
        Claim(
            "funnel-recovers-heart",
            "pf-2 recovers Merge-Two's points on the heart data and leaks less elsewhere",
            "Section V-B",
            partial(against_merging, title=TITLE, solver="pf-2", high=EVERYWHERE),
            WAYS,
        ),
    ),
    see="The star is the most utility that is possible without any leakage; marks near the origin are runs that stopped where they began.",
)
