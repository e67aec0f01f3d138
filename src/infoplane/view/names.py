"""What a picture calls its runs and points.

*Runs* in a legend: a reader knows which solvers were asked for, not which of a portfolio's ways ended lowest. All runs of one call that
named one solver are its own. Of several calls, runs of a solver that was asked for by name are its own, and runs that a search found in
some other way are the "best found". Systems that were brought along are "given". Where nothing is known of the call, runs go by the solver
that they name.

*Points* have names beside them that do not overlap each other, the points, or the lines, texts and legend of the picture.

textalloc places them, greedily and always the same way; without it every name stands to the right of its point, whatever is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formatting import counted
from ..information import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..frontier.frontier import Frontier

INK = "#333333"


def name_points(ax: Axes, xy: Array, names: Sequence[str], size: float) -> None:
    """Write a name beside each point (x, y), in data coordinates, in letters of so many points; the picture is otherwise finished."""
    style: dict[str, Any] = {"color": INK, "zorder": 23}
    try:
        import textalloc
    except ImportError:
        for name, place in zip(names, xy, strict=True):
            beside: dict[str, Any] = {"xytext": (5, 0), "textcoords": "offset points", "ha": "left", "va": "center"}
            ax.annotate(name, tuple(place), fontsize=size, **beside, **style)
        return
    lines = [*_lines(ax), *_boxes(ax)]
    limits = ax.get_xlim(), ax.get_ylim()
    placed: Any = []
    # Shares of the axes within which a name is sought a place, one after the other: near its point if all can be near, else further off.
    for reach in (0.08, 0.2, 0.35):
        for made in placed:
            made.remove()
        *_, texts, strokes = textalloc.allocate(
            ax,
            xy[:, 0],
            xy[:, 1],
            list(names),
            x_scatter=xy[:, 0],
            y_scatter=xy[:, 1],
            x_lines=[line[:, 0] for line in lines],
            y_lines=[line[:, 1] for line in lines],
            textsize=size,
            textcolor=INK,
            linecolor="#8a8a8a",
            linewidth=0.5,
            max_distance=reach,
            draw_all=False,
            avoid_label_lines_overlap=True,
            zorder=style["zorder"],
        )
        placed = [made for made in (*texts, *strokes) if made is not None]
        missing = sum(text is None for text in texts)
        if not missing:
            break
    else:
        said = f"{counted(missing, 'name')} left out for want of room"
        ax.annotate(said, (0.01, 0.99), xycoords="axes fraction", ha="left", va="top", fontsize=size, **style)
    # A name near the edge does not move the axes.
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])


def _lines(ax: Axes) -> list[Array]:
    """The lines of the picture, in data coordinates."""
    drawn = [np.asarray(line.get_xydata(), dtype=float) for line in ax.lines]
    return [line for line in drawn if len(line) > 1 and np.isfinite(line).all()]


def _boxes(ax: Axes) -> list[Array]:
    """The edges and diagonals of the legend and of every text, as lines that no name crosses; data coordinates."""
    figure: Any = ax.get_figure(root=True)
    figure.draw_without_rendering()
    legend = ax.get_legend()
    found = []
    for drawn in (*ax.texts, *(() if legend is None else (legend,))):
        corners = ax.transData.inverted().transform(drawn.get_window_extent().corners())
        found += [corners[[0, 1, 3, 2, 0]], corners[[0, 3]], corners[[1, 2]]]
    return found


BEST, GIVEN = "best found", "given"
"""The runs of a search that has many ways, and systems from elsewhere."""


def groups(frontier: Frontier) -> list[str]:
    """What a legend calls each run, in the order of the runs."""
    asked = _asked(frontier.provenance)
    if len(asked) == 1 and "parts" not in frontier.provenance and asked & {run.solver for run in frontier.runs}:
        return [GIVEN if run.solver.startswith(f"{GIVEN}: ") else next(iter(asked)) for run in frontier.runs]
    return [_group(run.solver, asked) for run in frontier.runs]


def _group(solver: str, asked: set[str]) -> str:
    if solver.startswith(f"{GIVEN}: "):
        return GIVEN
    return solver if solver in asked or not asked else BEST


def _asked(provenance: dict[str, Any]) -> set[str]:
    """The solvers that the calls behind a frontier named."""
    return {
        str(call["solver"])
        for part in provenance.get("parts", [provenance])
        for call in (part, *part.get("solvers", ()))
        if isinstance(call, dict) and call.get("solver")
    }
