"""Loss decrease of ib-1 and ib-2 from one start at gamma = 0.2 on the uniform data; the fastest c and alpha of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..drawing import COLOUR, panels
from ..figure import WAYS, Figure, Row
from ..methods import KINDS, Method
from ..piece import Piece
from ..points import optimum
from ..rate_figures import draw_descents, linear, minimum, rate_table
from ..runs import Runs
from ..scale import Scale
from ..settings import BOTTLENECK_PENALTIES
from ..sweeps import Certified, Sweep
from ..traces import Descent
from ..verdict import Claim, Finding, with_evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

JOINT, GAMMA, CLUSTERS = "paper_uniform", 0.2, 4
SOLVERS = ("ib-1", "ib-2")
MINIMUM = -0.324
"""What the paper calls the minimum loss among the two solvers."""


def name(solver: str, kind: str) -> str:
    """The name of a piece."""
    return f"{solver}, {kind}"


def pieces(scale: Scale) -> Sequence[Piece]:
    """One piece per solver and way of running, over every c and alpha of the convergence shares; the optimum, also with two clusters."""
    found: list[Piece] = [
        Certified("certified", JOINT, "bottleneck", (GAMMA,)),
        Sweep("two clusters", JOINT, "bottleneck", (GAMMA,), Method("ib-1", "auto", relaxation=1.618), 2, 16),
    ]
    for solver in SOLVERS:
        for kind in KINDS:
            penalties = (1.0,) if kind == "auto" else scale.some(BOTTLENECK_PENALTIES)
            methods = tuple(
                Method(solver, kind, c, alpha).within(scale.within(kind, JOINT))
                for c in penalties
                for alpha in (1.0, 2.0)
            )
            found.append(Descent(name(solver, kind), JOINT, "bottleneck", GAMMA, methods, CLUSTERS))
    return found


def draw(runs: Runs) -> Drawing:
    """Both solvers in all ways of running."""
    figure, (ax,) = panels(1, width=7.4)
    names = {name(solver, kind): COLOUR[solver] for solver in SOLVERS for kind in KINDS}
    draw_descents(ax, runs, names, f"Loss decrease, gamma = {GAMMA:g}, uniform data")
    return figure


def table(runs: Runs) -> list[Row]:
    """One row per run."""
    _, bound = optimum(runs.points("certified"), GAMMA)
    return rate_table(runs, [name(solver, kind) for solver in SOLVERS for kind in KINDS], bound)


def is_linear(runs: Runs, way: str) -> Finding:
    """Whether both solvers' losses decrease linearly near the end."""
    return linear(runs, [name(solver, way) for solver in SOLVERS])


def is_minimum(runs: Runs, way: str) -> Finding:
    """The paper's minimum against the proven optimum; and against the best encoder with two clusters."""
    names = [name(solver, way) for solver in SOLVERS]
    found = minimum(runs, names, MINIMUM, *optimum(runs.points("certified"), GAMMA))
    two = float(runs.points("two clusters").best().loss[0])
    said = f"{found.said}; the best encoder with only two clusters has {two:.4f} bits"
    more = Finding(found.holds, said, {**found.numbers, "two_clusters_bits": two})
    return with_evidence(more, runs, *names, "two clusters", "certified")


FIGURE = Figure(
    name="bottleneck-rate",
    title="Loss decrease of the bottleneck solvers, gamma = 0.2, uniform data",
    paper="From one start, the fastest configuration of ib-1 and of ib-2: first sub-linear, then linear near a stationary point. The "
    "minimum loss among the two is -0.324.",
    pieces=pieces,
    draw=draw,
    table=table,
    claims=(
        Claim(
            "linear-bottleneck",
            "ib-1 and ib-2: the loss decreases linearly near the end",
            "Section V-C",
            is_linear,
            WAYS,
        ),
        Claim(
            "minimum-bottleneck",
            f"the loss that distances are measured from, {MINIMUM:g}, is the minimum at gamma = {GAMMA:g}",
            "Section V-C",
            is_minimum,
            {"gradient": WAYS["gradient"]},
        ),
    ),
)
