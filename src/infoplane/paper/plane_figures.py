"""What the four figures of information planes share: the proven frontier, the runs as points, the table, and two claims about funnels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..information import Array
from ..plot import GREY
from .drawing import COLOUR, MARK, SIZE, dress, legend, panels
from .figure import Row
from .planes import leaks_less, left_their_start, less_than_merging, more_points, recovers
from .points import Points, leakage_bound, relevance_bound
from .runs import Runs
from .sensitivity import SEPARATOR
from .sweeps import Certified, Sweep
from .verdict import Finding, with_evidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

EVERYWHERE = float("inf")
"""The upper end of an interval of I(X;Z) that has none."""


def scatter_runs(ax: Axes, points: Points, solver: str, kind: str = "baseline") -> None:
    """The best converged run of every parameter; the other converged runs small and faint."""
    ended = points.ended()
    label = solver if kind == "baseline" else f"{solver}, {kind}"
    style = dict(MARK[kind])
    style["s"] *= SIZE.get(solver, 1.0)
    if "facecolors" not in style:
        style["color"] = COLOUR[solver]
    else:
        style["edgecolors"] = COLOUR[solver]
    ax.scatter(ended.ixz, ended.iyz, alpha=0.18, zorder=2, **{**style, "s": style["s"] / 3})
    if len(ended):
        best = ended.best()
        ax.scatter(best.ixz, best.iyz, zorder=3, label=label, **style)
    else:
        ax.scatter([], [], label=f"{label}: none converged", **style)


def proven_frontier(ax: Axes, certified: Points, family: str, right: float) -> None:
    """The proven bound as a line, and the side of it where no encoder lies shaded."""
    u: Array = np.linspace(0.0, right, 400)
    bound = leakage_bound(certified, u) if family == "funnel" else np.maximum(relevance_bound(certified, u), 0.0)
    ax.plot(u, np.minimum(bound, u), color=GREY, linewidth=1.3, zorder=1, label="proven bound")
    side = bound.min() - 1.0 if family == "funnel" else bound.max() + 1.0
    ax.fill_between(u, np.minimum(bound, u), side, color=GREY, alpha=0.10, linewidth=0, zorder=0)


WAYS = {"the paper's way": ("gradient",), "our improved ways": ("exact", "auto")}
"""The rows of a figure of planes, each with its kinds of steps."""


def planes(columns: Sequence[str]) -> tuple[Drawing, list[tuple[Axes, str, str, tuple[str, ...]]]]:
    """A figure with one column per plane, and the paper's way above ours; every panel with its column, title and kinds of steps."""
    figure, axes = panels(len(columns), len(WAYS))
    places = [(column, words, kinds) for words, kinds in WAYS.items() for column in columns]
    letters = "abcdefgh"
    return figure, [
        (ax, column, f"({letters[place]}) {column}: {words}", kinds)
        for place, (ax, (column, words, kinds)) in enumerate(zip(axes, places, strict=True))
    ]


def plane(ax: Axes, title: str, right: float, top: float) -> None:
    """Labels and limits of an information plane."""
    dress(ax, title, "I(X;Z)  [bits]", "I(Y;Z)  [bits]")
    ax.set_xlim(-0.02 * right, 1.03 * right)
    ax.set_ylim(-0.03 * top, 1.06 * top)
    legend(ax, ncols=3)


def plane_table(runs: Runs) -> list[Row]:
    """One row per method and parameter: its best converged run, beside the lower bound proven there."""
    certified = {piece.joint: runs.points(name) for name, piece in runs.pieces.items() if isinstance(piece, Certified)}
    rows: list[Row] = []
    for name, piece in runs.pieces.items():
        if not isinstance(piece, Sweep) or SEPARATOR in name:
            continue
        points = runs.points(name)
        for parameter in np.unique(points.parameter):
            rows.append(_row(name, points.where(points.parameter == parameter), certified[piece.joint]))
    return rows


def _row(name: str, here: Points, certified: Points) -> Row:
    parameter = here.parameter[0]
    proven = certified.where(np.isclose(certified.parameter, parameter))
    bound = float(proven.lower_bound[0]) if len(proven) else np.nan
    row: dict[str, Any] = {
        "runs": name,
        "parameter": parameter,
        "trials": len(here),
        "converged": float(here.converged.mean()),
        "stationary": float(here.stationary.mean()),
        "median_iterations": float(np.median(here.iterations)),
    }
    ended = here.ended()
    best = ended.best() if len(ended) else None
    for column in ("ixz", "iyz", "loss"):
        row[f"{column}_bits"] = float(getattr(best, column)[0]) if best is not None else np.nan
    row["lower_bound_bits"] = bound
    row["gap_bits"] = row["loss_bits"] - bound
    return row


def moved(runs: Runs, title: str, name: str) -> Points:
    """The converged runs of a piece; those that stopped where they began are left out where the figure has the starts."""
    starts = f"{title}: starts"
    points = runs.points(name)
    return left_their_start(points, runs[starts]) if starts in runs.pieces else points.ended()


def _compared(runs: Runs, title: str, names: Sequence[str], ask: Callable[..., Finding]) -> Finding:
    """What the moved runs of some pieces say; not decided where none of a piece has left its start."""
    used = {name: moved(runs, title, name) for name in names}
    before = {name: len(runs.points(name).ended()) for name in names}
    still = [name for name in names if before[name] and not len(used[name])]
    if still:
        said = "; ".join(
            f"none of the {before[name]} converged runs of {name} has left its random start" for name in still
        )
        return with_evidence(Finding(None, said), runs, *names)
    return with_evidence(ask(*used.values()), runs, *names)


def compared(runs: Runs, way: str, title: str, solvers: tuple[str, str], low: float, high: float) -> Finding:
    """Whether the first solver leaks less than the second."""
    names = [f"{title}: {solver}, {way}" for solver in solvers]
    return _compared(runs, title, names, partial(leaks_less, names=solvers, low=low, high=high))


def against_merging(runs: Runs, way: str, title: str, solver: str, high: float) -> Finding:
    """Whether a solver reaches Merge-Two's points, and leaks less between them."""
    ask = partial(recovers, merges=runs[f"{title}: Merge-Two"], name=solver, high=high)
    return _compared(runs, title, [f"{title}: {solver}, {way}"], ask)


def below_merging(runs: Runs, way: str, title: str, solver: str, high: float) -> Finding:
    """Whether a solver leaks less than Merge-Two in a range."""
    ask = partial(less_than_merging, merges=runs[f"{title}: Merge-Two"], name=solver, low=0.0, high=high)
    return _compared(runs, title, [f"{title}: {solver}, {way}"], ask)


def more_than_merging(runs: Runs, way: str, title: str, solver: str, high: float) -> Finding:
    """Whether a solver has more points of the plane than Merge-Two."""
    name = f"{title}: {solver}, {way}"
    return with_evidence(more_points(runs.points(name), runs[f"{title}: Merge-Two"], solver, 0.0, high), runs, name)
