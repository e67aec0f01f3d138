"""Information planes of the bottleneck on the paper's 3 x 3 data (its two figures with ib-1, ib-2, ib-1v and Blahut-Arimoto)."""

from __future__ import annotations

from functools import partial

from ..methods import BASELINE, WAYS
from ..plane_figures import (
    Plane,
    are_comparable,
    asked,
    asked_of_losses,
    is_best,
    is_lower_somewhere,
    plane_figure,
    stuck_on,
)
from ..planes import higher, spans_more, trapped
from ..runs import Runs
from ..verdict import Claim, Finding

SOLVERS = {"ib-1": (16.0, 1.618), "ib-2": (64.0, 1.0), "ib-1v": (64.0, 1.0)}
"""Penalty and relaxation; the paper gives ib-1v no relaxation, 1 is ADMM."""

PLANES = {
    title: Plane(title, joint, "bottleneck", SOLVERS, clusters=4, trials=16, grid=(0.1, 1.0, 16), less=4, others=(2, 3))
    for title, joint in (("uniform", "paper_uniform"), ("non-uniform", "paper_nonuniform"))
}
"""By title; Section V's clusters, trials and grid of gamma."""

OPTIMAL = 1e-4
"""Bits within which a loss counts as the optimum: about a hundred times the gap of the certificates."""


def is_trapped(runs: Runs, way: str) -> Finding:
    """Blahut-Arimoto against ib-1 at every gamma of the non-uniform data."""
    names = [f"non-uniform: {one}" for one in (BASELINE, f"ib-1, {way}", "certified")]
    theirs, ours, certified = (runs.points(name) for name in names)
    return trapped(theirs, ours, certified, (BASELINE, "ib-1"), OPTIMAL).on(*names)


FIGURE = plane_figure(
    [*PLANES.values()],
    name="bottleneck-planes",
    title="Information planes of the bottleneck, 3 x 3 data",
    paper="ib-1 (c 16, alpha 1.618), ib-2 (c 64, alpha 1) and ib-1v (c 64) mostly reach comparable points near the frontier; ib-1v has a "
    "local minimum near 0.8 bits (uniform) and in [0.85, 1.2] (non-uniform), ib-2 lies slightly low in [0.2, 0.6] (non-uniform). "
    "Blahut-Arimoto has points at local minima on the non-uniform data, and fewer points in [0, 0.4] bits.",
    where="Section V-C",
    claims=(
        Claim(
            "comparable-frontiers",
            "ib-1, ib-2 and ib-1v mostly obtain comparable frontiers on the uniform data",
            asked_of_losses(are_comparable, "uniform", ("ib-1", "ib-2", "ib-1v")),
        ),
        Claim(
            "ib-1-best-nonuniform",
            "ib-1 is the best of the three on the non-uniform data",
            asked_of_losses(is_best, "non-uniform", ("ib-1", "ib-2", "ib-1v"), "ib-1"),
        ),
        Claim(
            "ba-better-in-places",
            "Blahut-Arimoto is slightly better than ib-1 in places, non-uniform data",
            asked_of_losses(is_lower_somewhere, "non-uniform", (BASELINE, "ib-1"), BASELINE, "ib-1"),
        ),
        Claim(
            "mean-subtraction",
            "the mean-subtracted gradient is more efficient than other projections",
            lambda _runs, _way: Finding(None, "no number is given"),
            {"gradient": WAYS["gradient"]},
            where="Section V",
            undecidable="The paper names neither the other projections nor a measure of efficiency.",
        ),
        Claim(
            "ib-1v-stuck-uniform",
            "ib-1v is stuck near 0.8 bits on the uniform data, where ib-1 and ib-2 are not",
            partial(stuck_on, plane=PLANES["uniform"], solver="ib-1v", low=0.7, high=0.9, others=("ib-1", "ib-2")),
        ),
        Claim(
            "ib-1v-stuck-nonuniform",
            "ib-1v is suboptimal in [0.85, 1.2] bits on the non-uniform data, where ib-1 is not",
            partial(stuck_on, plane=PLANES["non-uniform"], solver="ib-1v", low=0.85, high=1.2, others=("ib-1",)),
        ),
        Claim(
            "ib-2-slightly-low",
            "ib-2 is slightly suboptimal in [0.2, 0.6] bits on the non-uniform data, where ib-1 is not",
            partial(stuck_on, plane=PLANES["non-uniform"], solver="ib-2", low=0.2, high=0.6, others=("ib-1",)),
        ),
        Claim(
            "ba-trapped",
            "Blahut-Arimoto is trapped in local minima on the non-uniform data where ib-1 is not",
            is_trapped,
        ),
        *(
            Claim(
                f"ib-1-explores-{title.replace('-', '')}",
                f"ib-1 finds more of the frontier than Blahut-Arimoto in [0, 0.4] bits, {title} data",
                asked(spans_more, title, ("ib-1", BASELINE), "certified", low=0.0, high=0.4),
            )
            for title in PLANES
        ),
        Claim(
            "ib-1-higher-near-one-bit",
            "ib-1 finds points above Blahut-Arimoto's near I(X;Z) = 1 bit on the uniform data",
            asked(higher, "uniform", ("ib-1", BASELINE), low=0.9, high=1.1),
        ),
    ),
)
