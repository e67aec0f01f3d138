"""Linear rates: of the loss of a run, and of the path that is left to its iterates; and what the two figures of loss decrease share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import infoplane as ip

from .drawing import LINE, Axes, Drawing, Row, close_up, dress, legend, logarithmic, panels
from .pieces import Descent
from .points import Array, optimum
from .runs import Runs
from .settings import NATS_PER_BIT, SLIGHT
from .verdict import Figure, Finding

STRAIGHT = 0.99
"""r^2 of a straight line through log |loss - limit| that counts as a linear rate."""

ARRIVED = 1e-3
"""The share of its fall that a run may still gain at its end, and count as one that has arrived."""


def on_its_way(loss: Array) -> float:
    """The share of all that a run gained which it gained in the last twentieth of its iterations."""
    last = max(len(loss) // 20, 1)
    gained = float(loss[0] - loss.min())
    return abs(float(loss[-1 - last] - loss[-1])) / gained if gained > 0.0 and len(loss) > last else 0.0


def linear_tails(descents: Mapping[str, Array], converged: Mapping[str, bool]) -> Finding:
    """Whether log |loss - limit| of every run falls along a straight line: factor < 1 per iteration, r^2 >= `STRAIGHT`.

    "Near the end" needs an end. A run does not count that did not converge, that never left its start (its loss fell by less than
    `SLIGHT`), or that was stopped on its way: more than `ARRIVED` of what it gained came in the last twentieth of its iterations.
    """
    said, straight = [], []
    for name, loss in descents.items():
        try:
            rate = ip.fit_rate(loss)
        except ValueError:
            said.append(f"{name}: only {len(loss)} iterations, too few to fit")
            continue
        line = f"{name}: x{rate.factor:.4f} an iteration, r^2 {rate.r_squared:.4f}, {len(loss)} iterations"
        gained = float(loss[0] - loss.min()) / NATS_PER_BIT
        if not converged[name]:
            said.append(f"{line}, not converged")
        elif gained < SLIGHT:
            said.append(f"{line}, {gained:.1e} bits below its start")
        elif on_its_way(loss) > ARRIVED:
            said.append(f"{line}, stopped on its way: {on_its_way(loss):.1%} of its fall in the last twentieth of them")
        else:
            said.append(line)
            straight.append(rate.factor < 1.0 and rate.r_squared >= STRAIGHT)
    holds = False if False in straight else True if straight and len(straight) == len(descents) else None
    return Finding(holds, "; ".join(said))


def remaining(steps: Array, floor: float = 1e-12) -> Array:
    """Delta_k = sum_{l >= k} ||w^{l+1} - w^l||, the length of the path that is left, for every k in the tail of a run.

    The tail is where log Delta is in the lower half of its range, from the first Delta down to where rounding errors begin.
    """
    delta: Array = np.cumsum(steps[::-1])[::-1]
    last = int(np.flatnonzero(delta > max(floor * delta[0], 1e3 * steps[-1])).max(initial=0)) + 1
    middle = np.sqrt(delta[0] * delta[last - 1])
    return delta[int(np.flatnonzero(delta[:last] >= middle).max(initial=0)) : last]


def worst_ratio(steps: Array) -> float:
    """The largest Delta_{k+1} / Delta_k over the tail: below 1 is the paper's Q-linear rate."""
    delta = remaining(steps)
    return float((delta[1:] / delta[:-1]).max(initial=0.0))


def straightness(steps: Array) -> float:
    """r^2 of a straight line through log Delta_k over the tail: near 1 is an R-linear rate; NaN if the tail is too short."""
    delta = remaining(steps)
    if len(delta) < 5:
        return float("nan")
    k, y = np.arange(len(delta)), np.log(delta)
    slope, intercept = np.polyfit(k, y, 1)
    return 1.0 - float(((y - slope * k - intercept) ** 2).sum()) / float(((y - y.mean()) ** 2).sum())


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


def rate_figure(panes: Mapping[str, Mapping[str, str]], names: Sequence[str], parameter: float, **said: Any) -> Figure:
    """A figure of loss decrease: the runs of its panels by title, those of its table in order; and what is said of it."""
    return Figure(
        draw=lambda runs: draw_descents(runs, panes),
        table=lambda runs: rate_table(runs, names, parameter),
        **said,
    )


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
