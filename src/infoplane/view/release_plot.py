"""A picture of what a worst case costs: utility against the cap on the lift, for each cap on the average."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..information import bits
from .plot import new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..frontier.release_frontier import ReleaseFrontier

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b5568f", "#b97f00", "#3f9bd0")
"""Of the average caps: told apart by people who do not see all colours, and on a printed page."""


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
