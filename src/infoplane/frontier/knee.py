"""Where to look on a frontier: its knee, and the phase transitions between neighbouring parameters.

knee = argmax over the Pareto set of the best runs of |v - u|,  u, v = I(X;Z), I(Y;Z) scaled to [0, 1]

which is, up to a factor sqrt(2), the distance to the chord between the two ends of the curve.

Clusters count if p(z) is above `SMALLEST_MASS`, those whose p(x|z) agree to `SAME_POSTERIOR` in total variation once. A phase is a number
of them that holds for two neighbouring parameters at least, or at an end of the grid, and a transition is a gap between two phases. Where
the number changes with every step the grid is too coarse to tell transitions apart: such a stretch is said as one, and none of its gaps is
called a transition. Beside the number of clusters there is the **kink**, which needs no count: I(X;Z) is the slope of the optimal loss in
gamma (or of its multiple), and where that has a kink I(X;Z) jumps. A gap has one if I(X;Z) changes by `STEEPER` times as much per step of
log gamma as in the gaps on both sides.

A curve has the same shape whether it shows information or noise. Of a joint made of records, no knee is suggested if the records support no
difference between letters; which parameter held-out records prefer is found in `sweep/records.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..encoder.encoder import SAME_POSTERIOR, SMALLEST_MASS, distinct_clusters
from ..formatting import counted
from ..information import PlanePoint, bits
from ..joint.tables import LARGEST_TABLE, dense
from ..problem import Notation, lagrangian
from ..sampling.denoising import CONSTANT, fit
from .geometry import pareto_rows
from .transitions import Transition

if TYPE_CHECKING:
    from ..joint.joint import Joint
    from ..solution import Solution
    from .frontier import Frontier
    from .geometry import BestAnswer


STEEPER = 3.0
"""Times the change of I(X;Z) beside it that makes a jump: with 30 parameters no bottleneck of heart or of the paper's second joint has one,
and their funnels, which go over from one set of posteriors to another, have two and four."""

JUMP = 1e-3
"""Share of the range of I(X;Z) below which a change is none."""


@dataclass(frozen=True)
class Knee:
    """The best run that lies furthest from the chord between the ends of the curve."""

    row: int
    """Of the run that found its encoder."""
    parameter: float
    ixz_bits: float
    iyz_bits: float
    """Where one target is kept and another hidden, these two are I(S;Z) and I(U;Z), as in the plane."""
    distance: float
    """To the chord, on axes scaled to their ranges; at most sqrt(1/2)."""


@dataclass(frozen=True)
class ClusterChange:
    """Two neighbouring parameters whose best runs have different numbers of clusters."""

    parameters: tuple[float, float]
    clusters: tuple[int, int]
    rows: tuple[int, int]
    """Of the runs that found their encoders."""
    converged: bool
    """Whether both runs converged; if not, their numbers of clusters may still change."""


@dataclass(frozen=True)
class Kink:
    """Two neighbouring parameters between which I(X;Z) jumps, as far as the grid tells."""

    parameters: tuple[float, float]
    ixz_bits: tuple[float, float]
    steeper: float
    """Times the change per step of the logarithm in the steeper of the gaps beside it; infinite where nothing changes there."""
    name: str = "I(X;Z)"
    """What jumps: I(S;Z), the slope of the loss in beta, where one target is kept and another hidden."""


@dataclass(frozen=True)
class Suggestion:
    """The knee, the transitions and the kinks of a frontier; ``print`` it to read them."""

    knee: Knee | None
    transitions: tuple[ClusterChange, ...]
    sentences: tuple[str, ...]
    """What was found, and how."""
    kinks: tuple[Kink, ...] = ()
    """Where I(X;Z) jumps, whatever the number of clusters does."""
    noise: bool = False
    """Whether the records support no difference between letters of X (`Joint.denoised`): there is no knee then, whatever the curve."""

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def suggest(frontier: Frontier, notation: str = "gamma") -> Suggestion:
    """Look along the best runs of a frontier; see `Frontier.suggest`."""
    best = frontier.best_answers()
    family = best[0].run.problem.record if best else lagrangian
    written = family.notation(notation)
    knee, about_knee = _knee(best, frontier.hides_y, written)
    noise = not frontier.hides_y and _is_noise(frontier.joint)
    if noise:
        knee, about_knee = (
            None,
            (
                f"No knee: {frontier.joint.records:,} records support no difference between letters of X, and what the curve shows of Y is "
                "what chance shows (Joint.denoised)."
            ),
        )
    counts = [len(distinct_clusters(answer.run.encoder, frontier.joint.p_x)) for answer in best]
    transitions = _transitions(best, counts)
    stretches = [
        f"Between {written.symbol} = {written.of(best[first].run.parameter):.4g} and "
        f"{written.of(best[last].run.parameter):.4g} the number of clusters changes with each of the {last - first} steps, "
        f"{_listed(counts[first : last + 1])}: more transitions than this grid tells apart."
        for first, last in _stretches(counts)
    ]
    kinks = _kinks([answer.run for answer in best])
    cautions = [] if frontier.caution is None else [f"Caution: {frontier.caution}"]
    sentences = (
        about_knee,
        *cautions,
        *_about(transitions, stretches, len(best), written),
        *_about_kinks(kinks, written),
    )
    return Suggestion(knee, transitions, sentences, kinks, noise)


def _is_noise(joint: Joint) -> bool:
    """Whether a joint of records is one that denoising makes constant; not looked at where a table is too large for that."""
    if joint.denoising is not None:
        return joint.denoising.how == CONSTANT
    if joint.counts is None or math.prod(joint.shape) > LARGEST_TABLE:
        return False
    return fit(dense(joint.counts)).how == CONSTANT


def _knee(best: list[BestAnswer], hides_y: bool, written: Notation) -> tuple[Knee | None, str]:
    curve = [best[at] for at in pareto_rows([answer.run for answer in best], hides_y)]
    if len(curve) < 3:
        return None, f"No knee: it takes three runs on the Pareto set of the best runs, and there are {len(curve)}."
    u, v = (np.array([bits(answer.run.plane[axis]) for answer in curve]) for axis in (0, 1))
    away = np.abs((v - v[0]) / np.ptp(v) - (u - u[0]) / np.ptp(u)) / np.sqrt(2.0)
    at = int(away.argmax())
    if away[at] < 1e-6:  # rounding of runs that are stationary to 1e-8
        return None, "No knee: the curve of the best runs is straight."
    row, run, _ = curve[at]
    told, kept = run.plane_names
    knee = Knee(row, run.parameter, float(u[at]), float(v[at]), float(away[at]))
    return knee, (
        f"Knee: {written.symbol} = {written.of(knee.parameter):.4g}, {told} = {knee.ixz_bits:.4f} bits, "
        f"{kept} = {knee.iyz_bits:.4f} bits (run {row}); "
        f"of the {len(curve)} best runs on the Pareto set it lies furthest from the chord between the first and the last, "
        f"{knee.distance:.3f} on axes scaled to their ranges."
    )


def _transitions(best: list[BestAnswer], counts: list[int]) -> tuple[ClusterChange, ...]:
    ends = [None, *counts, None]
    holds = [
        count in (before, after) or None in (before, after)
        for before, count, after in zip(ends, counts, ends[2:], strict=False)
    ]
    found = []
    for i in range(len(best) - 1):
        one, two = best[i].run, best[i + 1].run
        if counts[i] != counts[i + 1] and holds[i] and holds[i + 1]:
            both = one.status.converged and two.status.converged
            parameters, numbers = (one.parameter, two.parameter), (counts[i], counts[i + 1])
            found.append(ClusterChange(parameters, numbers, (best[i].row, best[i + 1].row), both))
    return tuple(found)


def _kinks(best: list[Solution]) -> tuple[Kink, ...]:
    """Gaps in which I(X;Z) changes much faster than in those beside them."""
    runs = [run for run in best if 0.0 < run.parameter < math.inf]
    if len(runs) < 4:  # a gap, and one on each side
        return ()
    u, at = np.array([run.plane.ixz for run in runs]), np.log([run.parameter for run in runs])
    if np.ptp(u) < 1e-9:  # constant, but for rounding
        return ()
    pace = np.abs(np.diff(u)) / np.diff(at)
    beside = np.concatenate([[np.inf], np.maximum(pace[2:], pace[:-2]), [np.inf]])
    found = []
    for gap in np.flatnonzero((pace > STEEPER * beside) & (np.abs(np.diff(u)) > JUMP * np.ptp(u))):
        one, two = runs[gap], runs[gap + 1]
        times = float(pace[gap] / beside[gap]) if beside[gap] > 0.0 else math.inf
        found.append(
            Kink((one.parameter, two.parameter), (bits(one.plane.ixz), bits(two.plane.ixz)), times, one.plane_names[0])
        )
    return tuple(found)


def _about_kinks(kinks: tuple[Kink, ...], written: Notation) -> list[str]:
    return [
        f"Kink between {written.symbol} = {written.of(one.parameters[0]):.4g} and {written.of(one.parameters[1]):.4g}: "
        f"{one.name} goes from {one.ixz_bits[0]:.4f} to {one.ixz_bits[1]:.4f} bits, "
        + ("while it stays beside it." if one.steeper > 1e3 else f"{one.steeper:.2g} times as fast as beside it.")
        for one in kinks
    ]


def _listed(counts: list[int]) -> str:
    return ", ".join(map(str, counts)) if len(counts) <= 6 else f"from {counts[0]} to {counts[-1]}"


def _stretches(counts: list[int]) -> list[tuple[int, int]]:
    """First and last place of each stretch of the grid in which the number of clusters changes with every step, two of them or more."""
    found, first = [], 0
    for place in range(1, len(counts) + 1):
        if place == len(counts) or counts[place] == counts[place - 1]:
            if place - 1 - first >= 2:
                found.append((first, place - 1))
            first = place
    return found


def transitions_on_the_grid(frontier: Frontier) -> list[Transition]:
    """The changes in the number of clusters between neighbouring parameters, as `infoplane.transitions` has those that it certifies."""
    found = []
    for change in suggest(frontier).transitions:
        below, above = (frontier.runs[row] for row in change.rows)
        found.append(
            Transition(
                low=change.parameters[0],
                high=change.parameters[1],
                clusters_below=change.clusters[0],
                clusters_above=change.clusters[1],
                below=PlanePoint(below.ixz, below.iyz),
                above=PlanePoint(above.ixz, above.iyz),
                found="neighbours on the grid",
            )
        )
    return found


def _about(
    transitions: tuple[ClusterChange, ...], stretches: list[str], parameters: int, written: Notation
) -> list[str]:
    how = (
        f"Transitions are changes in the number of clusters between the best runs of neighbouring parameters ({parameters} in all), "
        "where the numbers on both sides hold for two parameters or end the grid; "
        f"clusters with p(z) > {SMALLEST_MASS:g} count, those whose p(x|z) agree to {SAME_POSTERIOR:g} in total variation once. "
        "A bracket is as narrow as the grid."
    )
    said = [
        f"Transition between {written.symbol} = {written.of(t.parameters[0]):.4g} and {written.of(t.parameters[1]):.4g}: "
        f"from {counted(t.clusters[0], 'cluster')} to {t.clusters[1]}{'' if t.converged else ' (not both runs converged)'}."
        for t in transitions
    ]
    if not said and not stretches:
        return [f"No phase transition was found. {how}"]
    return [*said, *stretches, how]
