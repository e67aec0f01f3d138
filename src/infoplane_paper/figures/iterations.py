"""Iterations to convergence against gamma on the uniform data: ib-1, ib-2, ib-1v and Blahut-Arimoto."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..drawing import COLOUR, LINE, Drawing, Row, dress, legend, logarithmic, panels, plain_numbers
from ..methods import BASELINE, KINDS
from ..pieces import Piece
from ..runs import Runs
from ..settings import Scale
from ..shares import fewest_iterations, median_iterations
from ..verdict import Claim, Figure, Finding
from . import bottleneck_planes

TITLE, SOLVERS = "uniform", ("ib-1", "ib-2", "ib-1v")
LOOSE = f"uniform: {BASELINE}, tol 1e-6"
"""Blahut-Arimoto with the tolerance at which the paper stops its solvers, 1e-6."""


def pieces(scale: Scale) -> Sequence[Piece]:
    """The sweeps of the bottleneck planes, which are shared with that figure, and Blahut-Arimoto with the paper's threshold."""
    base = bottleneck_planes.PLANES[TITLE].sweeps(scale)
    exact = base[-1]
    return [*base, replace(exact, name=LOOSE, method=replace(exact.method, tol=1e-6))]


def counted(kind: str) -> dict[str, str]:
    """The sweeps that are compared in one way of running, by solver."""
    names = {solver: f"{TITLE}: {solver}, {kind}" for solver in SOLVERS}
    return {**names, BASELINE: LOOSE if kind == "gradient" else f"{TITLE}: {BASELINE}"}


def draw(runs: Runs) -> Drawing:
    """Median iterations of converged runs."""
    figure, axes = panels(2, height=5.0)
    top, bottom = 1.0, np.inf
    for kind in KINDS:
        ax = axes[kind != "gradient"]
        for solver, name in counted(kind).items():
            if kind == "auto" and solver == BASELINE:
                continue
            points = runs.points(name)
            medians = median_iterations(points)
            gammas = np.unique(points.parameter)
            # No line across a gamma without a converged run.
            ax.plot(
                gammas,
                [medians.get(float(gamma), np.nan) for gamma in gammas],
                LINE[kind],
                color=COLOUR[solver],
                marker="o",
                markersize=3.5,
                label=name.partition(": ")[2],
            )
            top, bottom = max([top, *medians.values()]), min([bottom, *medians.values()])
    for ax, words in zip(axes, ("(a) the authors' way", "(b) our steps"), strict=True):
        logarithmic(ax, x=True)
        plain_numbers(ax.xaxis)
        ax.set_ylim(min(bottom, top) / 1.4, top * 1.4)
        dress(ax, words, "gamma", "median iterations of converged runs")
        legend(ax, ncols=2, handlelength=4)
    return figure


def table(runs: Runs) -> list[Row]:
    """One row per method and gamma."""
    rows: list[Row] = []
    for name in runs.pieces:
        points = runs.points(name)
        for gamma, median in median_iterations(points).items():
            converged = float(points.converged[points.parameter == gamma].mean())
            rows.append({"runs": name, "gamma": gamma, "converged": converged, "median_iterations": median})
    return rows


def is_fastest(runs: Runs, way: str) -> Finding:
    """Blahut-Arimoto against the two solvers."""
    names = counted(way)
    points = {solver: runs.points(name) for solver, name in names.items()}
    return fewest_iterations(points, BASELINE).on(*names.values())


FIGURE = Figure(
    name="iterations",
    title="Iterations to convergence, uniform data",
    paper="Over gamma in [0.1, 1], Blahut-Arimoto needs the fewest iterations, ib-1, ib-2 and ib-1v more.",
    where="Section V-C",
    pieces=pieces,
    draw=draw,
    table=table,
    claims=(
        Claim(
            "ba-fewest-iterations",
            "Blahut-Arimoto needs fewer iterations than ib-1, ib-2 and ib-1v",
            is_fastest,
        ),
    ),
    see="Both panels have the same axis: the black lines are Blahut-Arimoto's, and the lower, the fewer iterations. A gap in a line is a "
    "gamma at which no run converged.",
)
