"""Information planes of the funnel on the paper's 3 x 3 data (its two figures with pf-2, pf-2v and Merge-Two)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ... import datasets
from ...information import bits, entropy
from ..figure import WAYS, Figure
from ..methods import KINDS, Method
from ..piece import Piece
from ..plane_figures import (
    EVERYWHERE,
    against_merging,
    below_merging,
    compared,
    more_than_merging,
    plane,
    plane_table,
    planes,
    proven_frontier,
    scatter_runs,
)
from ..planes import stuck
from ..references import Merges
from ..runs import Runs
from ..scale import Scale
from ..sensitivity import with_other_settings
from ..settings import FUNNEL_PENALTY
from ..sweeps import Certified, Sweep
from ..verdict import Claim, Finding, with_evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

JOINTS = {"uniform": "paper_uniform", "non-uniform": "paper_nonuniform"}
SOLVERS = {"pf-2": 1.618, "pf-2v": 1.0}
"""Relaxation; the penalty is open."""
CLUSTERS, TRIALS, BETAS = 4, 10, (0.5, 20.0, 20)
LESS_TRIALS = 5
"""Trials under other settings."""


def pieces(scale: Scale) -> Sequence[Piece]:
    """For both joints both solvers, Merge-Two, the certified optima, and the gradient runs under other settings."""
    found: list[Piece] = []
    for title, joint in JOINTS.items():
        base = [
            Sweep(
                f"{title}: {solver}, {kind}",
                joint,
                "funnel",
                scale.grid(*BETAS, joint),
                Method(solver, kind, FUNNEL_PENALTY, alpha).within(scale.within(kind, joint)),
                CLUSTERS,
                min(TRIALS, scale.trials),
            )
            for solver, alpha in SOLVERS.items()
            for kind in KINDS
        ]
        found.append(Certified(f"{title}: certified", joint, "funnel", scale.fine(*BETAS, joint)))
        found.append(Merges(f"{title}: Merge-Two", joint))
        found += [*base, *with_other_settings(base, scale, LESS_TRIALS, penalties=True, clusters=(2, 3))]
    return found


def draw(runs: Runs) -> Drawing:
    """One plane per joint and way of running."""
    figure, places = planes(list(JOINTS))
    for ax, title, words, kinds in places:
        data = datasets.load(JOINTS[title])
        right, top = bits(entropy(data.p_x)), bits(data.mutual_information)
        proven_frontier(ax, runs.points(f"{title}: certified"), "funnel", right)
        for solver in SOLVERS:
            for kind in kinds:
                scatter_runs(ax, runs.points(f"{title}: {solver}, {kind}"), solver, kind)
        merges = runs[f"{title}: Merge-Two"]
        ax.scatter(merges["ixz"], merges["iyz"], marker="D", s=26, color="#000000", zorder=4, label="Merge-Two")
        plane(ax, words, right, top)
    return figure


# -- claims ------------------------------------------------------------------------------------------------------------


def stuck_near(runs: Runs, way: str, title: str, solver: str, low: float, high: float) -> Finding:
    """Whether a solver is off the frontier in an interval."""
    name = f"{title}: {solver}, {way}"
    found = stuck(runs.points(name), runs.points(f"{title}: certified"), "funnel", solver, low, high)
    return with_evidence(found, runs, name, f"{title}: certified")


FIGURE = Figure(
    name="funnel-planes",
    title="Information planes of the funnel, 3 x 3 data",
    paper="On the uniform data pf-2 (alpha 1.618) leaks less than pf-2v (alpha 1); on the non-uniform data pf-2v does, for I(X;Z) in [0.8, "
    "1.2] bits. Against Merge-Two the better solver has its points and leaks less between them; on the uniform data pf-2 has a "
    "local minimum near 0.9 bits.",
    pieces=pieces,
    draw=draw,
    table=plane_table,
    claims=(
        Claim(
            "pf-2-leaks-less-uniform",
            "pf-2 leaks less than pf-2v on the uniform data",
            "Section V-B",
            partial(compared, title="uniform", solvers=("pf-2", "pf-2v"), low=0.0, high=EVERYWHERE),
            WAYS,
        ),
        Claim(
            "pf-2v-leaks-less-nonuniform",
            "pf-2v leaks less than pf-2 on the non-uniform data for I(X;Z) in [0.8, 1.2] bits",
            "Section V-B",
            partial(compared, title="non-uniform", solvers=("pf-2v", "pf-2"), low=0.8, high=1.2),
            WAYS,
        ),
        Claim(
            "funnel-below-merging-uniform",
            "pf-2 leaks less than Merge-Two in [0, 0.9] bits on the uniform data",
            "Section V-B",
            partial(below_merging, title="uniform", solver="pf-2", high=0.9),
            WAYS,
        ),
        Claim(
            "funnel-recovers-nonuniform",
            "pf-2v recovers Merge-Two's points on the non-uniform data and leaks less elsewhere",
            "Section V-B",
            partial(against_merging, title="non-uniform", solver="pf-2v", high=EVERYWHERE),
            WAYS,
        ),
        Claim(
            "pf-2-stuck-uniform",
            "pf-2 is stuck in a local minimum near I(X;Z) = 0.9 bits on the uniform data",
            "Section V-B",
            partial(stuck_near, title="uniform", solver="pf-2", low=0.8, high=1.0),
            WAYS,
        ),
        Claim(
            "funnel-more-points-uniform",
            "pf-2 has more points than Merge-Two in [0, 0.9] bits on the uniform data",
            "Section V-B",
            partial(more_than_merging, title="uniform", solver="pf-2", high=0.9),
            WAYS,
        ),
    ),
    see="Below the line lies no encoder: a mark on the line leaks as little as is possible at its I(X;Z). pf-2v's marks are larger "
    "and hollow, so that those of pf-2 within them can be seen.",
)
