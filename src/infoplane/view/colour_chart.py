"""Systems of colour terms drawn on the chart of chips: 8 rows of 40 hues, and the greys to their left.

A cluster z has the colour of its centroid sum_x p(x|z) lab_x, a chip x the mixture sum_z p(z|x) of them, so that a hard system is a map of
flat regions and a soft one fades between them. Thin lines are where the most probable z changes. This is the picture that the field
publishes, after Zaslavsky, Kemp, Regier, Tishby (PNAS 2018).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..datasets import colours
from ..datasets.colour_chips import chips, cielab, srgb
from ..information import Array, IntArray
from ..systems.given import read_systems
from .drawing import INK, TITLE, new_axes, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROWS = "ABCDEFGHIJ"
WIDTH = 42
"""Columns of the chart: the greys, one that is empty, and forty hues."""


def plot_chart(system: Any = None, ax: Axes | None = None, *, title: str | None = None, counts: bool = False) -> Axes:
    """One system on the chart; the chips' own colours without one.

    Parameters
    ----------
    system
        A `Solution`, an encoder (|Z|, 330), a frame with the chips' labels, hard labels, or counts of words per chip, as `efficiency` takes
        them; None draws the chips themselves.
    ax
        Where to draw; a new figure by default.
    title
        Above the chart.
    counts
        Whether a table holds counts.

    Examples
    --------
    >>> ax = plot_chart(["light" if label < "F" else "dark" for label in colours().x_labels], title="two terms")
    >>> ax.get_title(loc="left")
    'two terms'
    """
    if ax is None:
        ax = new_axes(7.2, 1.9)
    held = _cells()
    shades, modal = srgb(cielab()), np.arange(len(chips()))
    if system is not None:
        joint = getattr(system, "joint", None) or colours()
        (read,) = read_systems(joint, {"of the chart": system}, counts)
        shades, modal = _shades(read.encoder, joint.p_x), read.encoder.argmax(axis=0)
    picture = np.ones((len(ROWS), WIDTH, 3))
    picture[held >= 0] = shades[held[held >= 0]]
    ax.imshow(picture, interpolation="nearest", aspect="auto", extent=(0.0, WIDTH, len(ROWS), 0.0))
    if system is not None:
        for x, y in _borders(np.where(held >= 0, modal[held], -1)):
            ax.plot(x, y, color=INK, linewidth=0.5, solid_capstyle="butt")
    _letter(ax)
    if title is not None:
        ax.set_title(title, **TITLE)
    return ax


def plot_charts(
    systems: Sequence[tuple[str, Any]],
    path: str | os.PathLike[str] | None = None,
    *,
    columns: int = 2,
    counts: bool = False,
) -> Figure:
    """Several charts with their titles, ``columns`` side by side; written to ``path`` if given (.png, .svg, .pdf)."""

    def draw(system: Any, ax: Axes, title: str) -> None:
        plot_chart(system, ax, title=title, counts=counts)

    return side_by_side("system", draw, systems, path, columns, size=(5.2, 1.55))


def _cells() -> IntArray:
    """The chip of each cell of the chart, row by row; -1 where there is none."""
    held = np.full((len(ROWS), WIDTH), -1)
    for number, chip in enumerate(chips()):
        held[ROWS.index(chip.row), chip.column + (chip.column > 0)] = number
    return held


def _shades(W: Array, p_x: Array) -> Array:
    """(330, 3): the colour of each chip under an encoder."""
    p_zx = W * p_x
    p_z = p_zx.sum(axis=1, keepdims=True)
    centroids = p_zx @ cielab() / np.where(p_z > 0.0, p_z, 1.0)
    return srgb(W.T @ centroids)


def _borders(modal: IntArray) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The sides between neighbouring chips that have different z."""
    beside = (modal[:, 1:] != modal[:, :-1]) & (modal[:, 1:] >= 0) & (modal[:, :-1] >= 0)
    below = (modal[1:] != modal[:-1]) & (modal[1:] >= 0) & (modal[:-1] >= 0)
    upright = [((x + 1.0, x + 1.0), (y, y + 1.0)) for y, x in np.argwhere(beside).tolist()]
    return upright + [((x, x + 1.0), (y + 1.0, y + 1.0)) for y, x in np.argwhere(below).tolist()]


def _letter(ax: Axes) -> None:
    """Rows by letter, every fifth column by number."""
    ax.set_yticks(np.arange(len(ROWS)) + 0.5, list(ROWS))
    hues = [1, *range(5, 41, 5)]
    ax.set_xticks([0.5, *(hue + 1.5 for hue in hues)], ["0", *map(str, hues)])
    ax.tick_params(length=0, labelsize="x-small", pad=1, colors=INK)
    ax.spines[:].set_visible(False)
