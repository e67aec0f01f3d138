"""What all pictures share: one colour per solver, one marker and line style per way of running, axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    from matplotlib.axis import Axis

    Axes = matplotlib.axes.Axes
    Drawing = matplotlib.figure.Figure
else:  # matplotlib is an extra
    Axes = Drawing = object

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
    for wanted, read, scale in (
        (True, "get_ydata", ax.set_yscale),
        (x, "get_xdata", ax.set_xscale),
    ):
        drawn = [np.asarray(getattr(line, read)(), dtype=float).ravel() for line in ax.lines]
        values = np.concatenate([np.zeros(1), *drawn])
        if wanted and (np.isfinite(values) & (values > 0)).any():
            scale("log")
