"""Information planes of the bottleneck on the paper's 3 x 3 data (its two figures with ib-1, ib-2, ib-1v and Blahut-Arimoto)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ... import datasets
from ...information import bits
from ..figure import WAYS, Figure
from ..methods import KINDS, Method
from ..piece import Piece
from ..plane_figures import plane, plane_table, planes, proven_frontier, scatter_runs
from ..planes import higher, spans_more, stuck, trapped
from ..runs import Runs
from ..scale import Scale
from ..sensitivity import with_other_settings
from ..sweeps import Certified, Sweep
from ..verdict import Claim, Finding, with_evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

JOINTS = {"uniform": "paper_uniform", "non-uniform": "paper_nonuniform"}
LESS_TRIALS = 4
"""Trials under other settings."""
SOLVERS = {"ib-1": (16.0, 1.618), "ib-2": (64.0, 1.0), "ib-1v": (64.0, 1.0)}
"""Penalty and relaxation; the paper gives ib-1v no relaxation, 1 is ADMM."""
CLUSTERS, TRIALS, GAMMAS = 4, 16, (0.1, 1.0, 16)
OPTIMAL = 1e-4
"""Bits within which a loss counts as the optimum: about a hundred times the gap of the certificates."""


def sweeps(scale: Scale, title: str) -> list[Sweep]:
    """All methods on one joint."""
    grid, trials = scale.grid(*GAMMAS, JOINTS[title]), min(TRIALS, scale.trials)
    methods = [
        Method(solver, kind, c, alpha).within(scale.within(kind, JOINTS[title]))
        for solver, (c, alpha) in SOLVERS.items()
        for kind in KINDS
    ]
    methods.append(Method("blahut-arimoto", "exact").within(scale.limit))
    return [
        Sweep(f"{title}: {method.label}", JOINTS[title], "bottleneck", grid, method, CLUSTERS, trials)
        for method in methods
    ]


def pieces(scale: Scale) -> Sequence[Piece]:
    """For both joints all methods, the certified optima, and the gradient runs under other settings."""
    found: list[Piece] = []
    for title, joint in JOINTS.items():
        base = sweeps(scale, title)
        found.append(Certified(f"{title}: certified", joint, "bottleneck", scale.fine(*GAMMAS, joint)))
        found += [*base, *with_other_settings(base, scale, LESS_TRIALS, clusters=(2, 3))]
    return found


def draw(runs: Runs) -> Drawing:
    """One plane per joint and way of running."""
    figure, places = planes(list(JOINTS))
    for ax, title, words, kinds in places:
        certified = runs.points(f"{title}: certified")
        right, top = float(certified.ixz.max()), bits(datasets.load(JOINTS[title]).mutual_information)
        proven_frontier(ax, certified, "bottleneck", right)
        for solver in SOLVERS:
            for kind in kinds:
                scatter_runs(ax, runs.points(f"{title}: {solver}, {kind}"), solver, kind)
        scatter_runs(ax, runs.points(f"{title}: blahut-arimoto"), "blahut-arimoto")
        plane(ax, words, right, top)
    return figure


# -- claims ------------------------------------------------------------------------------------------------------------


def stuck_on(
    runs: Runs, way: str, title: str, solver: str, low: float, high: float, others: tuple[str, ...]
) -> Finding:
    """Whether one solver is off the frontier in an interval where others are on it."""
    certified = runs.points(f"{title}: certified")
    asked = {
        one: stuck(runs.points(f"{title}: {one}, {way}"), certified, "bottleneck", one, low, high)
        for one in (solver, *others)
    }
    answers = [finding.holds for finding in asked.values()]
    holds = None if None in answers else answers[0] and not any(answers[1:])
    said = "; ".join(finding.said for finding in asked.values())
    numbers = {f"{one}, {key}": value for one, finding in asked.items() for key, value in finding.numbers.items()}
    return with_evidence(Finding(holds, said, numbers), runs, f"{title}: {solver}, {way}", f"{title}: certified")


def is_trapped(runs: Runs, way: str) -> Finding:
    """Blahut-Arimoto against ib-1 at every gamma of the non-uniform data."""
    title = "non-uniform"
    found = trapped(
        runs.points(f"{title}: blahut-arimoto"),
        runs.points(f"{title}: ib-1, {way}"),
        runs.points(f"{title}: certified"),
        ("blahut-arimoto", "ib-1"),
        OPTIMAL,
    )
    return with_evidence(found, runs, f"{title}: blahut-arimoto", f"{title}: ib-1, {way}", f"{title}: certified")


def explores_more(runs: Runs, way: str, title: str) -> Finding:
    """Ib-1 against Blahut-Arimoto in [0, 0.4] bits."""
    names = f"{title}: ib-1, {way}", f"{title}: blahut-arimoto"
    certified = runs.points(f"{title}: certified")
    found = spans_more(runs.points(names[0]), runs.points(names[1]), certified, ("ib-1", "blahut-arimoto"), 0.0, 0.4)
    return with_evidence(found, runs, *names)


def is_higher(runs: Runs, way: str) -> Finding:
    """Ib-1 against Blahut-Arimoto near 1 bit on the uniform data."""
    names = f"uniform: ib-1, {way}", "uniform: blahut-arimoto"
    found = higher(runs.points(names[0]), runs.points(names[1]), ("ib-1", "blahut-arimoto"), 0.9, 1.1)
    return with_evidence(found, runs, *names)


FIGURE = Figure(
    name="bottleneck-planes",
    title="Information planes of the bottleneck, 3 x 3 data",
    paper="ib-1 (c 16, alpha 1.618), ib-2 (c 64, alpha 1) and ib-1v (c 64) mostly reach comparable points near the frontier; ib-1v has a "
    "local minimum near 0.8 bits (uniform) and in [0.85, 1.2] (non-uniform), ib-2 lies slightly low in [0.2, 0.6] (non-uniform). "
    "Blahut-Arimoto has points at local minima on the non-uniform data, and fewer points in [0, 0.4] bits.",
    pieces=pieces,
    draw=draw,
    table=plane_table,
    claims=(
        Claim(
            "ib-1v-stuck-uniform",
            "ib-1v is stuck near 0.8 bits on the uniform data, where ib-1 and ib-2 are not",
            "Section V-C",
            partial(stuck_on, title="uniform", solver="ib-1v", low=0.7, high=0.9, others=("ib-1", "ib-2")),
            WAYS,
        ),
        Claim(
            "ib-1v-stuck-nonuniform",
            "ib-1v is suboptimal in [0.85, 1.2] bits on the non-uniform data, where ib-1 is not",
            "Section V-C",
            partial(stuck_on, title="non-uniform", solver="ib-1v", low=0.85, high=1.2, others=("ib-1",)),
            WAYS,
        ),
        Claim(
            "ib-2-slightly-low",
            "ib-2 is slightly suboptimal in [0.2, 0.6] bits on the non-uniform data, where ib-1 is not",
            "Section V-C",
            partial(stuck_on, title="non-uniform", solver="ib-2", low=0.2, high=0.6, others=("ib-1",)),
            WAYS,
        ),
        Claim(
            "ba-trapped",
            "Blahut-Arimoto is trapped in local minima on the non-uniform data where ib-1 is not",
            "Section V-C",
            is_trapped,
            WAYS,
        ),
        Claim(
            "ib-1-explores-uniform",
            "ib-1 finds more of the frontier than Blahut-Arimoto in [0, 0.4] bits, uniform data",
            "Section V-C",
            partial(explores_more, title="uniform"),
            WAYS,
        ),
        Claim(
            "ib-1-explores-nonuniform",
            "ib-1 finds more of the frontier than Blahut-Arimoto in [0, 0.4] bits, non-uniform data",
            "Section V-C",
            partial(explores_more, title="non-uniform"),
            WAYS,
        ),
        Claim(
            "ib-1-higher-near-one-bit",
            "ib-1 finds points above Blahut-Arimoto's near I(X;Z) = 1 bit on the uniform data",
            "Section V-C",
            is_higher,
            WAYS,
        ),
    ),
    see="Converged runs are small faint marks, the best of each gamma a large one; the grey side of the line is proven to hold no encoder.",
)
