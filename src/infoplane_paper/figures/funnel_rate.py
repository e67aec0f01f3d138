"""Loss decrease of pf-2 at beta = 3.5 and c = 7000 on the heart data, alpha 1.618 and 2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..drawing import COLOURS
from ..methods import KINDS, WAYS, Method
from ..pieces import Certified, Descent, Piece
from ..points import optimum
from ..rates import linear, lowest_met, minimum, rate_figure
from ..runs import Runs
from ..settings import Scale
from ..verdict import Claim, Finding

JOINT, BETA, CLUSTERS, PENALTY = "heart", 3.5, 17, 7000.0
ALPHAS = {1.618: COLOURS[0], 2.0: COLOURS[1]}
MINIMUM = -2.46
"""What the paper calls the minimum loss."""


def name(alpha: float, kind: str) -> str:
    """The name of a piece."""
    return f"pf-2, alpha {alpha:g}, {kind}"


def pieces(scale: Scale) -> Sequence[Piece]:
    """One run per relaxation and way of running, and the optimum."""
    descents = [
        Descent(
            name(alpha, kind),
            JOINT,
            "funnel",
            BETA,
            (Method("pf-2", kind, PENALTY, alpha).within(scale.within(kind, JOINT)),),
            CLUSTERS,
        )
        for alpha in ALPHAS
        for kind in KINDS
    ]
    return [Certified("certified", JOINT, "funnel", (BETA,)), *descents]


PANES = {
    f"{words}: pf-2, beta = {BETA:g}, heart data": {
        name(alpha, kind): colour for alpha, colour in ALPHAS.items() for kind in kinds
    }
    for words, kinds in {"(a) the authors' way": ("gradient",), "(b) our steps": ("majorise", "auto")}.items()
}


def is_linear(runs: Runs, way: str) -> Finding:
    """Whether the losses of both relaxations decrease linearly near the end."""
    return linear(runs, [name(alpha, way) for alpha in ALPHAS])


def is_minimum(runs: Runs, way: str) -> Finding:
    """The paper's minimum against the lowest that these runs meet."""
    names = [name(alpha, way) for alpha in ALPHAS]
    lowest = {one: met for one in names if np.isfinite(met := lowest_met(runs, one))}
    return minimum(MINIMUM, lowest, *optimum(runs.points("certified"), BETA)).on(*names, "certified")


FIGURE = rate_figure(
    PANES,
    [name(alpha, kind) for alpha in ALPHAS for kind in KINDS],
    BETA,
    name="funnel-rate",
    title="Loss decrease of pf-2, beta = 3.5, c = 7000, heart data",
    paper="alpha = 1.618 and alpha = 2 at c = 7000: the loss decreases linearly; the minimum loss is -2.46.",
    where="Section V-B",
    pieces=pieces,
    claims=(
        Claim("linear-funnel", "pf-2: the loss decreases linearly near the end", is_linear),
        Claim(
            "minimum-funnel",
            f"the minimum loss, augmented Lagrangian included, is {MINIMUM:g} at beta = {BETA:g}",
            is_minimum,
            {"gradient": WAYS["gradient"]},
        ),
    ),
    see="The authors' way stops after few iterations near where it began, or goes on without end; our steps at its c crawl, and the "
    "automatic penalty comes down to L*, the lowest loss of all runs.",
)
