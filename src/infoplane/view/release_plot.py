"""Pictures of releases: what a worst case costs, for each cap on the average; and several releases on one plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..information import bits
from .names import name_points
from .plot import new_axes, new_figure, tidy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..table.compare_releases import ReleaseComparison, ReleaseFrontier

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b5568f", "#b97f00", "#3f9bd0")
"""Of the average caps: told apart by people who do not see all colours, and on a printed page."""

NAMED = 12
"""Releases up to which all are named in the picture; of more, such as all levels of a hierarchy, those that nothing dominates."""


def plot_releases(frontier: ReleaseFrontier, ax: Axes | None = None) -> Axes:
    """Points are releases, with a bar up to what is proven; thin lines only lead the eye, as nothing is known between two caps."""
    ax = new_axes(6.4, 4.2) if ax is None else ax
    averages = list(dict.fromkeys(one.max_leakage for one in frontier.releases))
    for at, average in enumerate(averages):
        colour = COLOURS[at % len(COLOURS)]
        some = [one for one in frontier.releases if one.max_leakage == average and one.max_lift is not None]
        name = "no average cap" if average is None else f"average at most {bits(average):g} bits"
        lifts, utility = [bits(one.max_lift or 0.0) for one in some], [bits(one.ixz) for one in some]
        missed = [max(bits(one.gap), 0.0) for one in some]
        ax.errorbar(
            lifts,
            utility,
            yerr=[[0.0] * len(some), missed],
            color=colour,
            marker="o",
            linewidth=0.8,
            capsize=3,
            label=name,
        )
        ax.axhline(bits(frontier.without_lift_cap(average)), color=colour, linestyle="--", linewidth=1.0)
    ax.set_xlabel("cap on the lift of every released value, bits")
    ax.set_ylabel("utility I(X;Z), bits")
    ax.set_title("What a worst case costs; dashed: without a cap on the lift", fontsize="medium", loc="left")
    ax.set_xlim(left=0.0)
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    tidy(ax)
    return ax


def plot_caps(frame: pd.DataFrame, title: str) -> Figure:
    """What is kept under each cap on what is told, with a bar up to what is proven; thin lines only lead the eye."""
    figure = new_figure(6.4, 4.2)
    ax = figure.subplots()
    rows = frame.sort_values("max_leakage_bits")
    caps, kept = rows.iloc[:, 0].to_numpy(), rows.iloc[:, 1].to_numpy()
    missed = np.maximum(rows.upper_bound_bits.to_numpy() - kept, 0.0)
    ax.errorbar(caps, kept, yerr=[np.zeros(len(kept)), missed], color=COLOURS[0], marker="o", linewidth=0.8, capsize=3)
    name, secret = (column[1].upper() for column in rows.columns[1:3])
    ax.set_xlabel(f"cap on I({secret};Z), bits")
    ax.set_ylabel(f"I({name};Z), bits")
    ax.set_title(f"The most that a release of {title} keeps; bars: up to what is proven", fontsize="medium", loc="left")
    ax.set_xlim(left=0.0)
    tidy(ax)
    return figure


def plot_comparison(found: ReleaseComparison) -> Figure:
    """Utility against leakage, and against the worst lift; better is up and to the left. Hollow: another release dominates it."""
    figure = new_figure(10.4, 4.4)
    colours = [COLOURS[0] if found.dominated_by(one) is None else "none" for one in found.releases]
    utility = [bits(one.utility) for one in found.releases]
    named = [at for at, colour in enumerate(colours) if colour != "none" or len(colours) <= NAMED]
    sides = {
        "leakage I(S;Z), bits": [bits(one.leakage) for one in found.releases],
        "worst lift of a released value, bits": [bits(one.worst_lift) for one in found.releases],
    }
    first: Axes = figure.add_subplot(1, 2, 1)
    both = (first, figure.add_subplot(1, 2, 2, sharey=first))
    for ax, (label, told) in zip(both, sides.items(), strict=True):
        ax.scatter(told, utility, c=colours, edgecolors=COLOURS[0], s=36, zorder=3)
        ax.set_xlabel(label)
        ax.margins(0.12)
        tidy(ax)
    first.set_ylabel(f"utility I({found.kept};Z), bits")
    title = "Up and to the left is better; hollow: another dominates it"
    first.set_title(title + (", not named" if len(named) < len(colours) else ""), fontsize="medium", loc="left")
    # Names are placed within the axes as they will be drawn.
    figure.draw_without_rendering()
    for ax, told in zip(both, sides.values(), strict=True):
        points = np.column_stack([told, utility])
        name_points(ax, points[named], [found.releases[at].name for at in named], 8.0)
    return figure
