"""Convergence: the share of runs that converge, the smallest c that suffices, the fewest iterations; and curves of the share against c."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betainc

from .drawing import Row, draw_share_rows
from .methods import Method, StepKind
from .pieces import Certified, Piece, Sweep
from .points import Points, optimum
from .runs import Runs, with_other_settings
from .settings import Scale
from .verdict import Figure, Finding


def share(points: Points) -> float:
    """The share of the runs that converged by their method's own rule."""
    return float(points.converged.mean())


def interval(points: Points) -> tuple[float, float]:
    """Wilson's 95% confidence interval of the share."""
    n, p, z = len(points), share(points), 1.96
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(float(centre - half), 0.0), min(float(centre + half), 1.0)


def smallest_penalty(shares: Mapping[float, float], enough: float) -> float:
    """The smallest c at which the share is enough; infinite if it never is."""
    return min((c for c, one in shares.items() if one >= enough), default=np.inf)


def area(shares: Mapping[float, float]) -> float:
    """The area under the share against log2 c, by trapezoids: how many octaves of c would do if the share were 0 or 1."""
    c = np.array(sorted(shares))
    p = np.array([shares[one] for one in c])
    return float((np.diff(np.log2(c)) * (p[1:] + p[:-1]) / 2.0).sum())


def area_error(shares: Mapping[float, float], trials: int) -> float:
    """The standard error of the area, each share being that of independent trials; a share of 0 or 1 counts as one trial off."""
    c = np.array(sorted(shares))
    width = np.gradient(np.log2(c)) if len(c) > 1 else np.zeros(1)
    p = np.clip([shares[one] for one in c], 1.0 / trials, 1.0 - 1.0 / trials) if trials > 1 else np.full(len(c), 0.5)
    return float(np.sqrt((width**2 * p * (1.0 - p) / trials).sum()))


def around(shares: Mapping[float, float], c: float) -> dict[float, float]:
    """The part of a curve within an octave of a penalty of its grid, or as far as the grid's next values where these are farther."""
    grid = sorted(shares)
    place = grid.index(c)
    low = min(c / 2.0, grid[max(place - 1, 0)])
    high = max(2.0 * c, grid[min(place + 1, len(grid) - 1)])
    close = 1.0 + 1e-9  # a grid of eight values an octave ends at an octave but for rounding
    return {one: shares[one] for one in grid if low / close <= one <= high * close}


def smaller_penalty(
    ours: Mapping[float, float], theirs: Mapping[float, float], enough: float, names: tuple[str, str], trials: int
) -> Finding:
    """Whether the first reaches the share at a smaller c than the second; None if neither does, or if the trials cannot tell.

    Two crossings between the same values of the grid are a tie, and two curves that cross at different values may differ by chance. So the
    areas under the curves, within an octave of the first crossing, must differ by more than two standard errors of that many trials per c,
    and in the same sense as the crossings. A crossing at the smallest c of the grid lies below it: nothing is known of where.
    """
    c = [smallest_penalty(shares, enough) for shares in (ours, theirs)]
    said = " and ".join(
        f"{name}: {f'c = {one:g}' if np.isfinite(one) else f'never (largest share {max(shares.values()):.0%})'}"
        for name, one, shares in zip(names, c, (ours, theirs), strict=True)
    )
    said = f"{enough:.0%} converge first at {said}"
    first = min(c)
    if not np.isfinite(first):
        return Finding(None, said)
    if c[0] == c[1] == min(ours):
        return Finding(None, f"{said}, the smallest that was tried")
    mine, other = around(ours, first), around(theirs, first)
    more = area(mine) - area(other)
    error = float(np.hypot(area_error(mine, trials), area_error(other, trials)))
    holds = (
        None if abs(more) <= 2.0 * error or (more > 0.0 and c[0] > c[1]) or (more < 0.0 and c[0] < c[1]) else more > 0.0
    )
    said += (
        f"; around c = {first:g} the area under the curve of {names[0]} is {more:+.2f} octaves larger "
        f"(two standard errors: {2.0 * error:.2f})"
    )
    return Finding(holds, said)


def wider_range(
    ours: tuple[str, Mapping[float, Points]], theirs: tuple[str, Mapping[float, Points]], enough: float
) -> Finding:
    """Whether the first method converges at more penalties than the second: a name, and the runs at every penalty, each.

    A method converges at a penalty if the share ``enough`` of runs would. Of k in n trials it does with the chance P(p >= enough) of
    Beta(k + 1, n - k + 1); the number of such penalties has their sum as its mean. None unless the numbers differ by more than two standard
    errors beyond one step of the grid, which is within what another grid would change.
    """
    said, mean, variance = [], [], 0.0
    for name, runs in (ours, theirs):
        trials = [(len(points), float(points.converged.sum())) for points in runs.values()]
        chances = np.array([1.0 - betainc(k + 1.0, n - k + 1.0, enough) for n, k in trials])
        said.append(f"{name} {sum(k >= enough * n for n, k in trials)}")
        mean.append(float(chances.sum()))
        variance += float((chances * (1.0 - chances)).sum())
    ahead, error = mean[0] - mean[1], 2.0 * variance**0.5
    return Finding(
        None if abs(ahead) <= 1.0 + error else ahead > 0.0,
        f"penalties, of {len(ours[1])}, at which at least {enough:.0%} converge: {', '.join(said)}; the trials make it "
        f"{mean[0]:.1f} against {mean[1]:.1f} (two standard errors of the difference: {error:.1f})",
    )


def median_iterations(points: Points) -> dict[float, float]:
    """Median iterations of the converged runs, for every parameter that has some."""
    ended = points.ended()
    return {
        float(parameter): float(np.median(ended.iterations[ended.parameter == parameter]))
        for parameter in np.unique(ended.parameter)
    }


def fewest_iterations(counts: Mapping[str, Points], name: str) -> Finding:
    """Whether one method has the fewest iterations (median over converged runs) at most parameters, and over all of them."""
    medians = {one: median_iterations(points) for one, points in counts.items()}
    others = [one for one in counts if one != name]
    compared = [parameter for parameter in medians[name] if any(parameter in medians[one] for one in others)]
    if not compared:
        return Finding(None, "no parameter has converged runs of both")
    wins = sum(
        all(medians[name][parameter] <= medians[one].get(parameter, np.inf) for one in others) for parameter in compared
    )
    overall = {one: float(np.median(list(found.values()) or [np.inf])) for one, found in medians.items()}
    middle = "; ".join(f"{one} {median:.0f}" for one, median in overall.items())
    return Finding(
        2 * wins > len(compared) and overall[name] <= min(overall.values()),
        f"{name} has the fewest iterations at {wins} of {len(compared)} parameters; median over parameters: {middle}",
    )


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


def share_figure(
    curves: Sequence[tuple[Curve, Callable[[Scale], int]]],
    enough: float,
    base: int,
    less: int,
    others: Sequence[int],
    **said: Any,
) -> Figure:
    """A figure of shares: its curves, each with its number of trials, what is said of it, and its claims.

    Curves are run under other settings too, with ``less`` trials and ``others`` numbers of clusters, unless they have a note.
    """
    first = curves[0][0]

    def pieces(scale: Scale) -> list[Piece]:
        plain, noted = (
            [sweep for one, trials in curves if bool(one.note) is has for sweep in one.sweeps(scale, trials(scale))]
            for has in (False, True)
        )
        varied = with_other_settings(plain, scale, less, clusters=others)
        return [Certified("certified", first.joint, first.family, (first.parameter,)), *plain, *varied, *noted]

    return Figure(
        pieces=pieces,
        table=lambda runs: share_table(runs, [one for one, _ in curves]),
        redraw=partial(draw_share_rows, enough=enough, base=base),
        see="Shares of trials that converge, with 95% intervals, one panel per solver and way of running (gradient: the authors' way; "
        "majorise: our steps); the dotted line is the share at which the paper compares.",
        **said,
    )


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
