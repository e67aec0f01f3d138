"""What the two figures of convergence shares share: pieces a penalty, curves, tables, pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .convergence import interval, share, smaller_penalty
from .drawing import COLOUR, LINE, dress
from .figure import Row, backed
from .methods import Kind, Method
from .pieces import Sweep
from .runs import Runs
from .settings import Scale
from .verdict import Finding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHUNKS = 4
"""Places in the grid for the one parameter, so that its trials run on all cores."""

WAYS: Mapping[str, str] = {
    "gradient": "the paper's gradient step and stopping rule",
    "exact": "exact steps",
}


@dataclass(frozen=True)
class Curve:
    """The share of trials that converge, against c."""

    joint: str
    family: str
    parameter: float
    clusters: int
    solver: str
    kind: Kind
    alpha: float
    penalties: tuple[float, ...]
    limit: int

    @property
    def label(self) -> str:
        """What the legend says."""
        return f"{self.solver}, alpha {self.alpha:g}, {self.kind}"

    def name(self, c: float) -> str:
        """The piece of one penalty."""
        return f"{self.label}, c {c:g}"

    def sweeps(self, scale: Scale, trials: int) -> list[Sweep]:
        """A piece a penalty, with so many trials."""
        return [
            Sweep(
                self.name(c),
                self.joint,
                self.family,
                (self.parameter,) * CHUNKS,
                Method(self.solver, self.kind, c, self.alpha).within(
                    min(self.limit, scale.within(self.kind, self.joint, exact=self.limit))
                ),
                self.clusters,
                max(trials // CHUNKS, 1),
            )
            for c in scale.some(self.penalties)
        ]

    def shares(self, runs: Runs) -> dict[float, float]:
        """The share at every c that was run."""
        return {c: share(runs.points(self.name(c))) for c in self.penalties if self.name(c) in runs.pieces}


def share_table(runs: Runs, curves: list[Curve], lower_bound: float) -> list[Row]:
    """A row a penalty: share with its interval, and how good the converged runs are."""
    rows: list[Row] = []
    for curve in curves:
        for c in curve.shares(runs):
            points = runs.points(curve.name(c))
            ended = points.ended()
            low, high = interval(points)
            rows.append(
                {
                    "runs": curve.label,
                    "c": c,
                    "trials": len(points),
                    "converged": share(points),
                    "interval_low": low,
                    "interval_high": high,
                    "stationary": float(points.stationary.mean()),
                    "best_gap_bits": float(ended.loss.min(initial=float("inf"))) - lower_bound,
                }
            )
    return rows


def compare(runs: Runs, ours: Curve, theirs: Curve, names: tuple[str, str], enough: float) -> Finding:
    """Whether the first curve reaches a share at a smaller c than the second."""
    found = smaller_penalty(ours.shares(runs), theirs.shares(runs), enough, names)
    calls = ours.name(found.numbers["first"]), theirs.name(found.numbers["second"])
    return backed(found, runs, *(name for name in calls if name in runs.pieces))


def draw_shares(ax: Axes, runs: Runs, curves: list[Curve], title: str, enough: float) -> None:
    """Shares against c, with the line at which they are compared; alpha 2 is drawn thick."""
    for curve in curves:
        shares = curve.shares(runs)
        ax.plot(
            list(shares),
            list(shares.values()),
            LINE[curve.kind],
            color=COLOUR[curve.solver],
            linewidth=2.2 if curve.alpha == 2.0 else 1.1,
            marker="o",
            markersize=3.5,
            label=curve.label,
        )
    ax.axhline(enough, color="#8a8a8a", linewidth=0.8)
    dress(ax, title, "penalty c", "share of trials that converge")
    ax.set_ylim(-0.03, 1.05)
    ax.legend(fontsize="x-small", frameon=False, handlelength=4)
