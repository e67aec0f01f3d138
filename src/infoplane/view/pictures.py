"""Pictures of releases, of an encoded column, and of a greedy merging.

*Releases*: what a worst case costs, for each cap on the average; and several releases on one plane.

*An encoded column*: H(Z) against I(Y;Z) for each number of groups of the denoised joint, and the point that was chosen. The band is the 95%
interval of I(Y;Z) in the population, from training rows whose groups were found without them (cross-fitting): only `fit_transform` has it.

*A merging*: letters are joined at the I(Y;Z) that has been lost once they are,

    height of merge t = I(X;Y) - I(Y;Z_t),  Z_t the partition after it,

which never falls along the path, so that no branch crosses another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import whole_number
from ..errors import InvalidOptionError
from ..formatting import counted, label_text
from ..information import NATS_PER_BIT, Array, bits, plane_point
from ..sampling.intervals import interval_of, relevance
from ..table.partition import partition_curve
from .drawing import COLOURS, GREY, INK, SIZES, TITLE, finish, name_points, new_axes, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..posterior.merge_path import MergePath
    from ..table.compare_releases import ReleaseComparison, ReleaseFrontier
    from ..table.encoded_feature import EncodedFeature

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
        columns = ([bits(value or 0.0) for value in (one.max_lift, one.ixz, one.gap)] for one in some)
        _draw_caps(ax, np.array([*columns]).reshape(-1, 3), color=colour, label=name)
        ax.axhline(bits(frontier.without_lift_cap(average)), color=colour, linestyle="--", linewidth=1.0)
    ax.set_xlim(left=0.0)
    title = "What a worst case costs; dashed: without a cap on the lift"
    finish(ax, title, "cap on the lift of every released value, bits", "utility I(X;Z), bits")
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    return ax


def plot_caps(frame: pd.DataFrame, title: str) -> Figure:
    """What is kept under each cap on what is told, with a bar up to what is proven; thin lines only lead the eye."""
    figure = new_figure(6.4, 4.2)
    ax = figure.subplots()
    rows = frame.sort_values("max_leakage_bits")
    caps, kept = rows.iloc[:, 0].to_numpy(), rows.iloc[:, 1].to_numpy()
    _draw_caps(ax, np.column_stack([caps, kept, rows.upper_bound_bits.to_numpy() - kept]), color=COLOURS[0])
    name, secret = (column[1].upper() for column in rows.columns[1:3])
    ax.set_xlim(left=0.0)
    title = f"The most that a release of {title} keeps; bars: up to what is proven"
    finish(ax, title, f"cap on I({secret};Z), bits", f"I({name};Z), bits")
    return figure


def _draw_caps(ax: Axes, found: Array, **style: Any) -> None:
    """Each cap, what is kept under it, and by how much that may miss the most."""
    caps, kept, missed = found.T
    bars = [np.zeros(len(kept)), np.maximum(missed, 0.0)]
    ax.errorbar(caps, kept, yerr=bars, marker="o", linewidth=0.8, capsize=3, **style)


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
        ax.margins(0.12)
        finish(ax, "", label)
    title = "Up and to the left is better; hollow: another dominates it"
    first.set_title(title + (", not named" if len(named) < len(colours) else ""), **TITLE)
    first.set_ylabel(f"utility I({found.kept};Z), bits")
    # Names are placed within the axes as they will be drawn.
    figure.draw_without_rendering()
    for ax, told in zip(both, sides.values(), strict=True):
        points = np.column_stack([told, utility])
        name_points(ax, points[named], [found.releases[at].name for at in named], 8.0)
    return figure


def plot_feature(feature: EncodedFeature, cross_fitted: Array | None = None, ax: Axes | None = None) -> Axes:
    """Draw it; ``cross_fitted`` are the counts of each group and class with groups that the rows themselves had no part in."""
    ax = new_axes(*SIZES["page"]) if ax is None else ax
    joint = feature.joint
    curve = partition_curve(joint, clusters=max(feature.clusters, 2))
    ax.plot(curve.ixz / NATS_PER_BIT, curve.iyz / NATS_PER_BIT, "o-", color=GREY, markersize=3, label="best for each k")
    ax.axhline(bits(joint.mutual_information), color=GREY, linestyle=":", linewidth=1, label="I(X;Y), denoised")
    ixz, iyz = map(bits, plane_point(joint, feature.encoder))
    ax.plot([ixz], [iyz], "D", color=COLOURS[1], label=counted(feature.clusters, "group"))
    if cross_fitted is not None and len(cross_fitted) > 1:
        band = interval_of([relevance(np.eye(len(cross_fitted)), cross_fitted)], 0.95)
        ax.plot(
            [ixz, ixz],
            [bits(band.low), bits(band.high)],
            "-",
            color=COLOURS[1],
            linewidth=3,
            alpha=0.4,
            label="95%, cross-fitted rows",
        )
    ax.legend(frameon=False)
    finish(ax, label_text(feature.name, 60), "H(Z), bits", "I(Y;Z), bits")
    return ax


LEAVES = 60
"""Leaves up to which every letter is drawn: a picture of about ten inches."""


def plot_merges(path: MergePath, ax: Axes | None = None, *, leaves: int = LEAVES) -> Axes:
    """The dendrogram of a merge path, with the labels of x; heights in bits.

    Parameters
    ----------
    path
        Of `infoplane.agglomerative_bottleneck` or `infoplane.merge_two`, with two letters or more.
    ax
        Where to draw; a new figure, as high as its leaves need, by default.
    leaves
        Most leaves. With more letters the path's last so many clusters are leaves: each is called by its most frequent letter and how
        many more it holds.
    """
    from scipy.cluster.hierarchy import dendrogram

    leaves = whole_number("leaves", leaves, least=2)
    rows = path.to_linkage()
    n = len(rows) + 1
    if n < 2:
        raise InvalidOptionError("a path of one letter has no merge to draw.")
    shown = min(n, leaves)
    if ax is None:
        # Inches; a leaf and its label take 0.17, a line of small letters.
        ax = new_axes(6.4, 1.0 + 0.17 * shown)
    rows[:, 2] /= NATS_PER_BIT
    names = _names(path, n - shown)
    dendrogram(
        rows,
        ax=ax,
        orientation="right",
        p=shown,
        truncate_mode="lastp",
        leaf_label_func=names.__getitem__,
        leaf_font_size=8,
        link_color_func=lambda _: COLOURS[0],
    )
    for line in ax.collections:
        line.set_linewidth(1.1)
    ax.set_xlim(left=0.0)
    ax.tick_params(axis="y", length=0, labelcolor=INK)
    finish(ax, "Which letters are merged first", "I(Y;Z) lost  [bits]")
    return ax


def _names(path: MergePath, done: int) -> dict[int, str]:
    """What each leaf is called, by its number in the linkage: a letter, or after so many merges a cluster by its most frequent letter."""
    letters = np.flatnonzero(path.p_x > 0)
    held = {number: [int(x)] for number, x in enumerate(letters)}
    for t, (i, j) in enumerate(path.to_linkage()[:done, :2].astype(int).tolist()):
        held[len(letters) + t] = held.pop(i) + held.pop(j)
    named = {}
    for number, xs in held.items():
        first = label_text(path.x_labels[max(xs, key=lambda x: (path.p_x[x], -x))], 40)
        named[number] = first if len(xs) == 1 else f"{first} and {len(xs) - 1:,} more"
    return named
