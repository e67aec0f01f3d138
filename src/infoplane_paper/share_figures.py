"""What the two figures of convergence shares have in common: curves of the share against c, their pieces, table and picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .convergence import interval, share, smaller_penalty, smallest_penalty
from .methods import Method, StepKind
from .points import Points, optimum
from .runs import Runs
from .scale import Scale
from .sweeps import Sweep
from .verdict import Finding, Row

CHUNKS = 4
"""How often the one parameter is repeated in the grid, so that its trials run on all cores."""

WAYS: Mapping[str, str] = {
    "gradient": "the paper's gradient step and stopping rule",
    "majorise": "our steps",
}
"""The ways of running that claims about shares are judged for, in words."""


@dataclass(frozen=True)
class Curve:
    """The share of trials that converge, against c."""

    joint: str
    family: str
    parameter: float
    clusters: int
    solver: str
    kind: StepKind
    alpha: float
    penalties: tuple[float, ...]
    limit: int
    note: str = ""
    """What tells it from another curve of the same method."""

    @property
    def label(self) -> str:
        """What the legend says."""
        return f"{self.solver}, alpha {self.alpha:g}, {self.kind}{self.note}"

    def name(self, c: float) -> str:
        """The name of the piece of one penalty."""
        return f"{self.label}, c {c:g}"

    def sweeps(self, scale: Scale, trials: int) -> list[Sweep]:
        """One piece per penalty, each with so many trials."""
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

    def points(self, runs: Runs) -> dict[float, Points]:
        """The trials at every c that was run."""
        return {c: runs.points(self.name(c)) for c in self.penalties if self.name(c) in runs.pieces}

    def shares(self, runs: Runs) -> dict[float, float]:
        """The share of them that converged."""
        return {c: share(points) for c, points in self.points(runs).items()}


def share_table(runs: Runs, curves: list[Curve]) -> list[Row]:
    """One row per curve and penalty: the share with its confidence interval, and the gap of the best converged run."""
    rows: list[Row] = []
    _, lower_bound = optimum(runs.points("certified"), curves[0].parameter)
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
    trials = min(len(runs.points(one.name(c))) for one in (ours, theirs) for c in one.shares(runs))
    found = smaller_penalty(ours.shares(runs), theirs.shares(runs), enough, names, trials)
    reached = [one.name(smallest_penalty(one.shares(runs), enough)) for one in (ours, theirs)]
    return found.on(*(name for name in reached if name in runs.pieces))
