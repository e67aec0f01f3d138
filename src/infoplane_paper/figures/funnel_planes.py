"""Information planes of the funnel on the paper's 3 x 3 data (its two figures with pf-2, pf-2v and Merge-Two)."""

from __future__ import annotations

from functools import partial

from ..plane_figures import Plane, asked, plane_figure, stuck_on
from ..planes import leaks_less, less_than_merging, more_points, recovers
from ..settings import FUNNEL_PENALTY
from ..verdict import Claim

SOLVERS = {"pf-2": (FUNNEL_PENALTY, 1.618), "pf-2v": (FUNNEL_PENALTY, 1.0)}
"""Penalty, which is open, and relaxation."""

GRID = (0.5, 20.0, 20)
PLANES = {
    title: Plane(
        title, joint, "funnel", SOLVERS, clusters=4, trials=10, grid=GRID, less=5, others=(2, 3), open_penalty=True
    )
    for title, joint in (("uniform", "paper_uniform"), ("non-uniform", "paper_nonuniform"))
}
"""By title; Section V's clusters, trials and grid of beta."""


FIGURE = plane_figure(
    [*PLANES.values()],
    name="funnel-planes",
    title="Information planes of the funnel, 3 x 3 data",
    paper="On the uniform data pf-2 (alpha 1.618) leaks less than pf-2v (alpha 1); on the non-uniform data pf-2v does, for I(X;Z) in [0.8, "
    "1.2] bits. Against Merge-Two the better solver has its points and leaks less between them; on the uniform data pf-2 has a "
    "local minimum near 0.9 bits.",
    where="Section V-B",
    claims=(
        Claim(
            "pf-2-leaks-less-uniform",
            "pf-2 leaks less than pf-2v on the uniform data",
            asked(leaks_less, "uniform", ("pf-2", "pf-2v")),
        ),
        Claim(
            "pf-2v-leaks-less-nonuniform",
            "pf-2v leaks less than pf-2 on the non-uniform data for I(X;Z) in [0.8, 1.2] bits",
            asked(leaks_less, "non-uniform", ("pf-2v", "pf-2"), low=0.8, high=1.2),
        ),
        Claim(
            "funnel-below-merging-uniform",
            "pf-2 leaks less than Merge-Two in [0, 0.9] bits on the uniform data",
            asked(less_than_merging, "uniform", ("pf-2",), "Merge-Two", low=0.0, high=0.9),
        ),
        Claim(
            "funnel-recovers-nonuniform",
            "pf-2v recovers Merge-Two's points on the non-uniform data and leaks less elsewhere",
            asked(recovers, "non-uniform", ("pf-2v",), "Merge-Two"),
        ),
        Claim(
            "pf-2-stuck-uniform",
            "pf-2 is stuck in a local minimum near I(X;Z) = 0.9 bits on the uniform data",
            partial(stuck_on, plane=PLANES["uniform"], solver="pf-2", low=0.8, high=1.0),
        ),
        Claim(
            "funnel-more-points-uniform",
            "pf-2 has more points than Merge-Two in [0, 0.9] bits on the uniform data",
            asked(more_points, "uniform", ("pf-2",), "Merge-Two", low=0.0, high=0.9),
        ),
    ),
)
