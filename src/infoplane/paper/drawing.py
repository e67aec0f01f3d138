"""What the pictures share: colours a solver, markers a way of running, the proven frontier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..information import Array
from ..plot import COLOURS, GREY, INK, require_matplotlib
from .points import Points, leakage_bound, relevance_bound

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

COLOUR = {
    "ib-1": COLOURS[0],
    "pf-2": COLOURS[0],
    "ib-1v": COLOURS[1],
    "pf-2v": COLOURS[1],
    "ib-2": COLOURS[2],
    "admm-ib": COLOURS[3],
    "blahut-arimoto": "#000000",
}
"""One colour a solver, in every picture."""

MARK: Mapping[str, dict[str, Any]] = {
    "gradient": {"marker": "o", "facecolors": "none", "s": 40, "linewidths": 1.1},
    "exact": {"marker": "s", "facecolors": "none", "s": 90, "linewidths": 0.8},
    "auto": {"marker": "x", "s": 30, "linewidths": 1.1},
    "baseline": {"marker": "+", "s": 90, "linewidths": 1.1},
}
"""One marker a way of running."""

LINE = {"gradient": "--", "exact": "-", "auto": ":"}


def panels(columns: int, rows: int = 1, width: float = 5.6, height: float = 4.3) -> tuple[Drawing, list[Axes]]:
    """A figure without pyplot, and its axes in reading order."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel())


def dress(ax: Axes, title: str, x: str, y: str) -> None:
    """Title, labels, no box."""
    ax.set_title(title, fontsize="medium", loc="left", color=INK)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)


def logarithmic(ax: Axes, *, x: bool = False) -> None:
    """A logarithmic y axis, and x axis if asked; where nothing positive was drawn it stays as it is, since matplotlib refuses those."""
    for wanted, read, scale in (
        (True, "get_ydata", ax.set_yscale),
        (x, "get_xdata", ax.set_xscale),
    ):
        drawn = [np.asarray(getattr(line, read)(), dtype=float).ravel() for line in ax.lines]
        values = np.concatenate([np.zeros(1), *drawn])
        if wanted and (np.isfinite(values) & (values > 0)).any():
            scale("log")


def scatter_runs(ax: Axes, points: Points, solver: str, kind: str = "baseline") -> None:
    """The best converged run of every parameter; the other converged ones faintly."""
    ended = points.ended()
    label = solver if kind == "baseline" else f"{solver}, {kind}"
    style = dict(MARK[kind])
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
    """The line that no encoder crosses."""
    u: Array = np.linspace(0.0, right, 400)
    bound = leakage_bound(certified, u) if family == "funnel" else np.maximum(relevance_bound(certified, u), 0.0)
    ax.plot(u, np.minimum(bound, u), color=GREY, linewidth=1.3, zorder=1, label="proven bound")
    side = bound.min() - 1.0 if family == "funnel" else bound.max() + 1.0
    ax.fill_between(u, np.minimum(bound, u), side, color=GREY, alpha=0.10, linewidth=0, zorder=0)


def plane(ax: Axes, title: str, right: float, top: float) -> None:
    """Labels and limits of an information plane."""
    dress(ax, title, "I(X;Z)  [bits]", "I(Y;Z)  [bits]")
    ax.set_xlim(-0.02 * right, 1.03 * right)
    ax.set_ylim(-0.03 * top, 1.06 * top)
    ax.legend(fontsize="x-small", frameon=False, loc="best")
