"""The tree of a greedy merging: letters are joined at the I(Y;Z) that has been lost once they are,

    height of merge t = I(X;Y) - I(Y;Z_t),  Z_t the partition after it,

which never falls along the path, so that no branch crosses another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..checks import whole_number
from ..errors import InvalidOptionError
from ..formatting import label_text
from ..information import NATS_PER_BIT
from .plot import COLOURS, INK, TITLE, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..posterior.merge_path import MergePath

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
    ax.set_xlabel("I(Y;Z) lost  [bits]")
    ax.set_title("Which letters are merged first", **TITLE)
    ax.tick_params(axis="y", length=0, labelcolor=INK)
    tidy(ax)
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
