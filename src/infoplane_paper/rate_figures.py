"""What the two figures of loss decrease share: curves of the loss above its limit, the table of fitted rates, and their claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import infoplane as ip

from .drawing import LINE, Axes, Drawing, close_up, dress, legend, logarithmic, panels
from .points import optimum
from .rates import linear_tails
from .runs import Runs
from .settings import NATS_PER_BIT, SLIGHT
from .traces import Descent
from .verdict import Finding, Row

FAR = 4.0
"""How many median lengths of a converged run are drawn."""

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


def draw_descents(runs: Runs, panes: Mapping[str, Mapping[str, str]]) -> Drawing:
    """One panel per title, with the names and colours of its runs. L*, the lowest loss of all these runs, is the same in all panels."""
    figure, axes = panels(len(panes), height=5.4)
    limit = min(float(runs[name]["loss"].min()) for names in panes.values() for name in names)
    for ax, (title, names) in zip(axes, panes.items(), strict=True):
        _draw(ax, runs, names, title, limit)
    return figure


def _draw(ax: Axes, runs: Runs, names: Mapping[str, str], title: str, limit: float) -> None:
    """log(loss - L*) against the iteration, so that a linear rate is a straight line.

    Runs may be a hundred times as long as others: the axis ends at `FAR` times the median length of those that converged.
    """
    lengths = [len(runs[name]["loss"]) for name in names]
    ended = [len(runs[name]["loss"]) for name in names if arrived(runs, name)]
    right = min(max(lengths), FAR * float(np.median(ended or lengths)))
    for place, (name, colour) in enumerate(names.items()):
        loss = runs[name]["loss"]
        distance = loss - limit
        seen = np.flatnonzero(distance > SHOWN)
        kind = name.rpartition(", ")[2]
        how = "" if arrived(runs, name) else ", not converged"
        said = f"{label(runs, name)}: {len(loss):,} iterations{how}"
        # The first is the widest, so that it is seen beneath the others where runs agree; a dot is where a run ends.
        width = 1.2 + 1.4 * (1.0 - place / len(names))
        ax.plot(seen + 1, distance[seen], LINE.get(kind, "-"), color=colour, linewidth=width, label=said)
        ax.plot(seen[-1:] + 1, distance[seen[-1:]], "o", color=colour, markersize=2.0 + 2.0 * width)
    logarithmic(ax)
    close_up(ax)
    ax.set_xlim(0, 1.03 * right)
    dress(ax, title, "iteration", "loss - L*  [bits]")
    legend(ax, handlelength=4)


def rate_table(runs: Runs, names: Sequence[str], parameter: float) -> list[Row]:
    """One row per run: how it ended, and the rate of its tail."""
    rows: list[Row] = []
    _, lower_bound = optimum(runs.points("certified"), parameter)
    for name in names:
        loss = runs[name]["loss"]
        row: dict[str, Any] = {
            "runs": label(runs, name),
            "iterations": len(loss),
            "converged": float(arrived(runs, name)),
            "end_bits": float(loss[-1]),
            "gap_bits": float(loss[-1]) - lower_bound,
        }
        try:
            rate = ip.fit_rate(loss * NATS_PER_BIT)
            row |= {"factor": rate.factor, "r_squared": rate.r_squared}
        except ValueError:
            row |= {"factor": np.nan, "r_squared": np.nan}
        rows.append(row)
    return rows


def linear(runs: Runs, names: Sequence[str]) -> Finding:
    """Whether the loss of every named run decreases linearly near its end."""
    losses = {name: runs[name]["loss"] * NATS_PER_BIT for name in names}
    return linear_tails(losses, {name: arrived(runs, name) for name in names}).on(*names)


def arrived(runs: Runs, name: str) -> bool:
    """Whether the run that is drawn converged."""
    return bool(runs[name]["converged"][int(runs[name]["chosen"][0])])


def lowest_met(runs: Runs, name: str) -> float:
    """The lowest loss or augmented Lagrangian of the methods of a piece that converged and left their start; infinite if none did.

    A run that diverges has an augmented Lagrangian without bound.
    """
    one = runs[name]
    counts = (one["converged"] > 0) & (np.abs(one["end"] - one["loss"][0]) > SLIGHT)
    return float(one["lowest"][counts].min(initial=np.inf))


def minimum(said: float, lowest: Mapping[str, float], loss: float, bound: float) -> Finding:
    """Whether the loss that the paper calls the minimum among its solvers is the lowest that they meet here, to its last digit.

    ``lowest`` has the lowest loss or augmented Lagrangian under each setting that the paper leaves open, where one was met. The proven
    optimum is our finding, told beside it, not what the claim is judged by.
    """
    digits = 10.0 ** -len(str(said).partition(".")[2])
    found = ", ".join(f"{name}: {value:.4f}" for name, value in lowest.items())
    found = found or "none converged and left its start"
    in_nats = bound * NATS_PER_BIT
    unit = "; read as nats no encoder could have it" if said < in_nats - digits / 2 else ""
    return Finding(
        any(abs(said - value) <= digits / 2 for value in lowest.values()) if lowest else None,
        f"the lowest loss or augmented Lagrangian of the runs that converged and left their start, in bits: {found}; the paper's is "
        f"{said:g}{unit}. Our finding beside it: "
        f"the proven optimum over all encoders is {loss:.4f} bits (lower bound {bound:.6f}; {in_nats:.4f} nats)",
    )
