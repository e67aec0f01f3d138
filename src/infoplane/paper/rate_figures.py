"""What the two figures of loss decrease share: curves of the loss above its limit, the table of fitted rates, and their claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..information import NATS_PER_BIT
from ..solution import fit_rate
from .drawing import LINE, dress, logarithmic
from .figure import Row
from .rates import linear_tails
from .runs import Runs
from .traces import Descent
from .verdict import Finding, with_evidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 1e-13
"""Distances from the limit, in bits, that are drawn: below are rounding errors."""


def label(runs: Runs, name: str) -> str:
    """The piece's name and, if it had several methods, the c and alpha of the fastest."""
    piece = runs.pieces[name]
    if not isinstance(piece, Descent) or len(piece.methods) == 1:
        return name
    method = piece.methods[int(runs[name]["chosen"][0])]
    c = "" if method.kind == "auto" else f"c {method.penalty:g}, "
    return f"{name} ({c}alpha {method.relaxation:g})"


def draw_descents(ax: Axes, runs: Runs, names: Mapping[str, str], title: str) -> None:
    """|loss - loss at the end| against the iteration, divided by the run's number of iterations so that all runs fit on one axis."""
    for name, colour in names.items():
        loss = runs[name]["loss"]
        distance = np.abs(loss - loss[-1])
        seen = np.flatnonzero(distance > SHOWN)
        kind = name.rpartition(", ")[2]
        said = f"{label(runs, name)}: {len(loss):,} iterations"
        ax.plot((seen + 1) / len(loss), distance[seen], LINE[kind], color=colour, linewidth=1.4, label=said)
    logarithmic(ax)
    dress(ax, title, "iteration, as a share of the run", "|loss - end of the run|  [bits]")
    ax.legend(fontsize="x-small", frameon=False)


def rate_table(runs: Runs, names: list[str], lower_bound: float) -> list[Row]:
    """One row per run: how it ended, and the rate of its tail."""
    rows: list[Row] = []
    for name in names:
        loss = runs[name]["loss"]
        row: dict[str, Any] = {
            "runs": label(runs, name),
            "iterations": len(loss),
            "converged": float(runs[name]["converged"][int(runs[name]["chosen"][0])]),
            "end_bits": float(loss[-1]),
            "gap_bits": float(loss[-1]) - lower_bound,
        }
        try:
            rate = fit_rate(loss * NATS_PER_BIT)
            row |= {"factor": rate.factor, "r_squared": rate.r_squared}
        except ValueError:
            row |= {"factor": np.nan, "r_squared": np.nan}
        rows.append(row)
    return rows


def linear(runs: Runs, names: list[str]) -> Finding:
    """Whether the loss of every named run decreases linearly near its end."""
    return with_evidence(linear_tails({name: runs[name]["loss"] * NATS_PER_BIT for name in names}), runs, *names)


def minimum(runs: Runs, names: list[str], said: float, loss: float, bound: float) -> Finding:
    """Whether the loss that the paper calls the minimum is the optimum: within half a unit of its last digit of the proven one."""
    digits = 10.0 ** -len(str(said).partition(".")[2])
    lowest = min(float(runs[name]["end"].min()) for name in names)
    in_nats = bound * NATS_PER_BIT
    unit = "read as nats no encoder could have it: " if said < in_nats - digits / 2 else "read as nats: "
    return Finding(
        abs(said - loss) <= digits / 2,
        f"the proven optimum is {loss:.4f} bits (lower bound {bound:.6f}); {said:g} is {said - loss:+.4f} bits away; "
        f"{unit}the optimum is {in_nats:.4f} nats; these runs end at {lowest:.4f} bits at best",
        {"optimum_bits": loss, "difference_bits": said - loss, "lowest_here_bits": lowest},
    )
