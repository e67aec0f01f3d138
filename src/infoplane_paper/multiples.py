"""Pictures from tables alone: small multiples, one solver a panel over the proven frontier; shares with their intervals.

A plane's table has, for every method and parameter, its best converged run; a table of shares has 95% intervals. Both are in the .csv files
beside the report, so that the pictures can be drawn again without a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

import infoplane as ip

from .drawing import COLOUR, GREY, INK, Axes, Drawing, dress, panels, plain_numbers
from .methods import BASELINE, load
from .piece import Array
from .settings import NATS_PER_BIT
from .verdict import Row

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
    x, y = frontier(plane.joint, plane.family)
    ax.plot(x, y, color=GREY, linewidth=1.4, zorder=1)
    side = y.max() * 1.5 if plane.family == "bottleneck" else -y.max()
    ax.fill_between(x, y, side, color=GREY, alpha=0.12, linewidth=0, zorder=0)
    for kind, mark in KIND_MARK.items():
        name = f"{plane.title}: {solver}" if solver == BASELINE else f"{plane.title}: {solver}, {kind}"
        here = [row for row in rows if row["runs"] == name and np.isfinite(row["ixz_bits"])]
        if not here or (solver == BASELINE and kind != "majorise"):
            continue
        colour: dict[str, Any] = {"edgecolors": COLOUR[solver]} if "facecolors" in mark else {"color": COLOUR[solver]}
        ax.scatter(
            [row["ixz_bits"] for row in here],
            [row["iyz_bits"] for row in here],
            zorder=3,
            label=KIND_WORDS[kind],
            **mark,
            **colour,
        )
    dress(ax, f"{plane.title}: {solver}", "I(X;Z), bits", "I(Y;Z), bits")
    ax.set_xlim(-0.03 * x.max(), 1.03 * x.max())
    ax.set_ylim(-0.04 * y.max(), 1.08 * y.max())


def draw_share_rows(rows: Sequence[Row], enough: float, base: int) -> Drawing:
    """Shares of converged trials against c with their 95% intervals, one panel per solver and way of running; no line joins the points."""
    parts = [str(row["runs"]).split(", ") for row in rows]
    keys = [*dict.fromkeys((part[0], ", ".join(part[2:])) for part in parts)]
    columns = min(len(keys), 3)
    figure, axes = panels(columns, -(-len(keys) // columns), width=3.6, height=3.0)
    for ax in axes[len(keys) :]:
        ax.set_visible(False)
    for ax, (solver, kind) in zip(axes, keys, strict=False):
        here = [
            (part, row)
            for part, row in zip(parts, rows, strict=True)
            if (part[0], ", ".join(part[2:])) == (solver, kind)
        ]
        alphas = [*dict.fromkeys(part[1] for part, _ in here)]
        for shift, (alpha, colour) in enumerate(zip(alphas, ("#0072B2", "#D55E00", "#009E73"), strict=False)):
            some = [row for part, row in here if part[1] == alpha]
            c = np.array([row["c"] for row in some]) * (1.0 + 0.06 * shift)
            share = np.array([row["converged"] for row in some])
            low = share - np.array([row["interval_low"] for row in some])
            high = np.array([row["interval_high"] for row in some]) - share
            errors = np.maximum([low, high], 0.0)
            ax.errorbar(c, share, errors, fmt="o", markersize=3.5, color=colour, linewidth=1.0, capsize=2, label=alpha)
        ax.axhline(enough, color=INK, linewidth=0.7, linestyle=":")
        ax.set_xscale("log", base=base)
        penalties = [row["c"] for _, row in here]
        if base == 10 and max(penalties) < 100.0 * min(penalties):
            plain_numbers(ax.xaxis)
        dress(ax, f"{solver}, {kind}", "penalty c", "share converged (95%)")
        ax.set_ylim(-0.05, 1.05)
        ax.legend(fontsize="x-small", frameon=False)
    return figure
