"""What all pictures share: figures and axes, colours, and names beside points.

Figures are made without pyplot, so that nothing global is touched: they work without a display and in threads.

*Points* have names beside them that do not overlap each other, the points, or the lines, texts and legend of the picture. textalloc places
them, greedily and always the same way; without it every name stands to the right of its point, whatever is there.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import extra
from ..errors import InvalidOptionError
from ..formatting import counted
from ..information import Array
from ..storage.files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Okabe and Ito's palette, told apart with any common colour vision; markers differ too, for print in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#8a8a8a"
INK = "#333333"


def name_points(ax: Axes, xy: Array, names: Sequence[str], size: float) -> None:
    """Write a name beside each point (x, y), in data coordinates, in letters of so many points; the picture is otherwise finished."""
    style: dict[str, Any] = {"color": INK, "zorder": 23}
    try:
        import textalloc
    except ImportError:
        beside: dict[str, Any] = {"xytext": (5, 0), "textcoords": "offset points", "ha": "left", "va": "center"}
        for name, point in zip(names, xy, strict=True):
            ax.annotate(name, tuple(point), fontsize=size, **beside, **style)
        return
    lines = [*_lines(ax), *_boxes(ax)]
    limits = ax.get_xlim(), ax.get_ylim()
    placed: Any = []
    # How far from its point a name may stand, as a share of the axes: near if all can be near, else further off.
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
            linecolor=GREY,
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


SIZES: dict[str, tuple[float, float]] = {"page": (6.4, 4.6), "column": (3.4, 2.7)}
"""Inches: a picture of its own, and one that fits a column of a two-column paper at the size of its text."""


TITLE: dict[str, Any] = {"fontsize": "medium", "loc": "left", "color": INK}


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches, which a notebook shows as its picture: without pyplot, nothing else would draw it."""
    made: Figure = require_matplotlib().Figure(figsize=(width, height), layout="constrained")
    vars(made)["_repr_png_"] = partial(picture, made)
    return made


def new_axes(width: float, height: float) -> Axes:
    """The axes of a new figure of so many inches; a notebook shows them in the same way."""
    made: Axes = new_figure(width, height).add_subplot()
    vars(made)["_repr_png_"] = partial(picture, made)
    return made


def side_by_side(
    what: str,
    draw: Callable[[Any, Axes, str], object],
    items: Sequence[tuple[str, Any]],
    path: str | os.PathLike[str] | None,
    columns: int,
    size: tuple[float, float],
) -> Figure:
    """Titled pictures of ``what``, of so many inches each, so many in a row; written to ``path`` if given."""
    if not items:
        raise InvalidOptionError(f"there is no {what} to draw.")
    rows = math.ceil(len(items) / columns)
    figure = new_figure(size[0] * columns, size[1] * rows)
    # All axes first: where names fit depends on how wide each is in the end.
    axes = [figure.add_subplot(rows, columns, number) for number in range(1, len(items) + 1)]
    for ax, (title, item) in zip(axes, items, strict=True):
        draw(item, ax, title)
    if path is not None:
        save_figure(figure, path)
    return figure


def picture(drawn: Figure | Axes) -> bytes:
    """A figure, or that of an Axes, as PNG, on white whatever page shows it."""
    held = io.BytesIO()
    figure: Any = drawn.get_figure(root=True)
    figure.savefig(held, format="png", dpi=110, facecolor="white")
    return held.getvalue()


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure in the format of the path's extension; the file appears only once it is whole."""
    target = Path(path)
    kind = target.suffix.lstrip(".").lower()
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise InvalidOptionError(f"a picture is written as one of {', '.join(sorted(known))}; found {target.name!r}.")
    with whole_file(target) as file:
        figure.savefig(file, format=kind, dpi=160)


def require_matplotlib() -> Any:
    """The module of figures; `MissingExtraError` unless matplotlib can be imported."""
    return extra("matplotlib.figure", "plots need matplotlib", "plot")


def finish(ax: Axes, title: str, xlabel: str, ylabel: str = "") -> None:
    """Axes with their texts and without a frame."""
    ax.set_title(title, **TITLE)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.spines[["top", "right"]].set_visible(False)
