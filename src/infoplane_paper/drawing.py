"""What all pictures share: one colour per solver, one marker and line style per way of running, axes; and pictures from tables alone.

A plane's table has, for every method and parameter, its best converged run; a table of shares has 95% intervals. Both are in the .csv files
beside the report, so that small multiples, one solver a panel over the proven frontier, can be drawn again without a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import infoplane as ip

from .pieces import BASELINE, load
from .points import Array
from .settings import NATS_PER_BIT

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    from matplotlib.axis import Axis

    Axes = matplotlib.axes.Axes
    Drawing = matplotlib.figure.Figure
else:  # matplotlib is an extra
    Axes = Drawing = object

Row = Mapping[str, Any]
"""One row of a figure's table, by column."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
"""Okabe and Ito's palette, told apart with any common colour vision."""

BLACK, GREY, INK = "#000000", "#8a8a8a", "#333333"

COLOUR = {
    "ib-1": COLOURS[0],
    "pf-2": COLOURS[0],
    "ib-1v": COLOURS[1],
    "pf-2v": COLOURS[1],
    "ib-2": COLOURS[2],
    "admm-ib": COLOURS[3],
    "blahut-arimoto": BLACK,
}
"""One colour per solver, in every picture."""

LINE = {"gradient": "--", "majorise": "-", "auto": ":"}
"""One line style per way of running."""


def panels(columns: int, rows: int = 1, width: float = 5.6, height: float = 4.3) -> tuple[Drawing, list[Axes]]:
    """A figure without pyplot, and its axes in reading order."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel())


def dress(ax: Axes, title: str, x: str, y: str) -> None:
    """Title and labels; no frame at the top and on the right."""
    ax.set_title(title, fontsize="medium", loc="left", color=INK)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)


def legend(ax: Axes, **options: Any) -> None:
    """A legend below the axes, where it covers no curve."""
    ax.legend(
        fontsize="x-small", frameon=False, loc="upper left", bbox_to_anchor=(0.0, -0.16), borderaxespad=0.0, **options
    )


def close_up(ax: Axes) -> None:
    """The axes end where the curves do, with plain numbers along a logarithmic y axis of less than two decades.

    Where nothing has fallen the axis still spans a factor of two, so that a reader sees a flat line and not its rounding.
    """
    low, high = ax.get_ylim()
    if ax.get_yscale() == "log" and high < 2.0 * low:
        middle = (low * high) ** 0.5
        low, high = ax.set_ylim(middle / 2.0**0.5, middle * 2.0**0.5)
    if ax.get_yscale() == "log" and high < 100.0 * low:
        plain_numbers(ax.yaxis)


def plain_numbers(axis: Axis) -> None:
    """0.1, 0.2, 0.5 along a logarithmic axis of a decade or two, instead of powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    between = (1.0, 2.0, 5.0) if high >= 10.0 * low else (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
    axis.set_major_locator(LogLocator(base=10.0, subs=between))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def logarithmic(ax: Axes, *, x: bool = False) -> None:
    """A logarithmic y axis, and x axis if asked; an axis along which nothing positive was drawn stays linear, as matplotlib demands."""
    for axis in "yx" if x else "y":
        drawn = [np.asarray(getattr(line, f"get_{axis}data")(), dtype=float).ravel() for line in ax.lines]
        values = np.concatenate([np.zeros(1), *drawn])
        if (np.isfinite(values) & (values > 0)).any():
            getattr(ax, f"set_{axis}scale")("log")


KIND_MARK: Mapping[str, dict[str, Any]] = {
    "gradient": {"marker": "o", "facecolors": "none", "s": 34, "linewidths": 1.1},
    "majorise": {"marker": "s", "s": 12},
    "auto": {"marker": "x", "s": 22, "linewidths": 1.0},
}
KIND_WORDS = {"gradient": "authors' way", "majorise": "our steps, the paper's c", "auto": "our steps, automatic c"}


@cache
def frontier(joint: str, family: str) -> tuple[Array, Array]:
    """A curve that no encoder of a joint crosses, in bits: the lowest of proven lines, I(Y;Z) <= gamma I(X;Z) - bound or, for the funnel,
    I(X;Z) <= beta I(Y;Z) - bound, and what perfect privacy allows. Near enough to each other, so that optima lie on it.
    """
    given = load(joint)
    if family == "bottleneck":
        found = ip.sweep(given, ip.bottleneck, np.geomspace(0.02, 1.0, 40), certify=True, rng=0).enclosure()
        return found.ixz_bits, found.high_bits
    most = given.mutual_information
    iyz = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 400) * most])
    curve = ip.funnel_curve(given, (np.geomspace(1e-3, 1.0, 24) * most).tolist())
    proven = [(one.beta, one.solution.lower_bound) for one in curve]
    ixz = np.min([beta * iyz - bound for beta, bound in proven if bound is not None], axis=0)
    ixz[0] = min(ixz[0], ip.perfect_privacy(given).upper_bound)
    return ixz / NATS_PER_BIT, iyz / NATS_PER_BIT


def draw_multiples(rows: Sequence[Row], planes: Sequence[Any]) -> Drawing:
    """One line of panels per plane, one panel per solver, the proven frontier in grey behind each; marks tell the ways of running."""
    columns = [*dict.fromkeys(solver for plane in planes for solver in plane.solvers)]
    if any(plane.family == "bottleneck" for plane in planes):
        columns.append(BASELINE)
    figure, axes = panels(len(columns), len(planes), width=3.5, height=3.0)
    places = [(plane, solver) for plane in planes for solver in columns]
    for ax, (plane, solver) in zip(axes, places, strict=True):
        _panel(ax, rows, plane, solver)
    figure.legend(handles=_legend(axes), loc="outside lower center", ncols=5, fontsize="small", frameon=False)
    return figure


def _legend(axes: Sequence[Axes]) -> list[Any]:
    """What the marks mean, once for all panels and in no panel's colour."""
    from matplotlib.lines import Line2D

    drawn = {words for ax in axes for words in ax.get_legend_handles_labels()[1]}
    found: list[Any] = [Line2D([], [], color=GREY, linewidth=1.4, label="proven: never crossed")]
    for kind, mark in KIND_MARK.items():
        if KIND_WORDS[kind] in drawn:
            face = mark.get("facecolors", INK)
            shape: dict[str, Any] = {"marker": mark["marker"], "markersize": 5, "markerfacecolor": face}
            found.append(Line2D([], [], color=INK, linestyle="", label=KIND_WORDS[kind], **shape))
    return found


def _panel(ax: Axes, rows: Sequence[Row], plane: Any, solver: str) -> None:
    ixz, iyz = frontier(plane.joint, plane.family)
    ax.plot(ixz, iyz, color=GREY, linewidth=1.4, zorder=1)
    side = iyz.max() * 1.5 if plane.family == "bottleneck" else -iyz.max()
    ax.fill_between(ixz, iyz, side, color=GREY, alpha=0.12, linewidth=0, zorder=0)
    for kind, mark in KIND_MARK.items():
        name = plane.run(solver, kind)
        here = [row for row in rows if row["runs"] == name and np.isfinite(row["ixz_bits"])]
        if not here or (solver == BASELINE and kind != "majorise"):
            continue
        colour: dict[str, Any] = {"edgecolors": COLOUR[solver]} if "facecolors" in mark else {"color": COLOUR[solver]}
        x, y = ([row[name] for row in here] for name in ("ixz_bits", "iyz_bits"))
        ax.scatter(x, y, zorder=3, label=KIND_WORDS[kind], **mark, **colour)
    dress(ax, f"{plane.title}: {solver}", "I(X;Z), bits", "I(Y;Z), bits")
    ax.set_xlim(-0.03 * ixz.max(), 1.03 * ixz.max())
    ax.set_ylim(-0.04 * iyz.max(), 1.08 * iyz.max())


def draw_share_rows(rows: Sequence[Row], enough: float, base: int) -> Drawing:
    """Shares of converged trials against c with their 95% intervals, one panel per solver and way of running; no line joins the points."""
    panes: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        solver, alpha, way = str(row["runs"]).split(", ", 2)
        panes.setdefault(f"{solver}, {way}", {}).setdefault(alpha, []).append(row)
    columns = min(len(panes), 3)
    figure, axes = panels(columns, -(-len(panes) // columns), width=3.6, height=3.0)
    for ax in axes[len(panes) :]:
        ax.set_visible(False)
    for ax, (title, alphas) in zip(axes, panes.items(), strict=False):
        for shift, (alpha, some) in enumerate(alphas.items()):
            names = ("c", "converged", "interval_low", "interval_high")
            c, share, low, high = (np.array([row[name] for row in some]) for name in names)
            errors = np.maximum([share - low, high - share], 0.0)
            mark: dict[str, Any] = {"fmt": "o", "markersize": 3.5, "color": COLOURS[shift], "capsize": 2}
            ax.errorbar(c * (1.0 + 0.06 * shift), share, errors, linewidth=1.0, label=alpha, **mark)
        ax.axhline(enough, color=INK, linewidth=0.7, linestyle=":")
        ax.set_xscale("log", base=base)
        penalties = [row["c"] for some in alphas.values() for row in some]
        if base == 10 and max(penalties) < 100.0 * min(penalties):
            plain_numbers(ax.xaxis)
        dress(ax, title, "penalty c", "share converged (95%)")
        ax.set_ylim(-0.05, 1.05)
        ax.legend(fontsize="x-small", frameon=False)
    return figure
