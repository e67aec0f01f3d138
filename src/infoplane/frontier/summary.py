"""A frontier as people read it: the frame of its runs; its knee, and the phase transitions between neighbouring parameters.

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

The frame shows, where it is wider than the terminal, the columns that people look for: pandas leaves out the middle, and there stand the
loss and the informations.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype

from ..encoder.encoder import SAME_POSTERIOR, SMALLEST_MASS, distinct_clusters
from ..formatting import counted, rounded
from ..information import PlanePoint, bits
from ..joint.tables import LARGEST_TABLE, dense
from ..problem import Notation, lagrangian
from ..sampling.denoising import CONSTANT, fit
from ..solution import Solution
from .geometry import pareto_rows
from .transitions import Transition

if TYPE_CHECKING:
    from ..joint.joint import Joint
    from ..sampling.held_out import HeldOut
    from .frontier import Frontier
    from .geometry import BestAnswer

WANTED = ("parameter", "loss_nats", "isz_bits", "iuz_bits", "ixz_bits", "iyz_bits", "clusters", "status", "gap_nats")
"""Columns that a narrow terminal shows: they fit into 80 letters, the width of most."""


COMPARED = ("parameter", "solver", "loss_nats", "above_lowest_nats", "seconds", "winner")
"""The same of solvers side by side."""


class RunsFrame(pd.DataFrame):
    """A frame of runs, or of solvers that are compared, and rows of one.

    Examples
    --------
    >>> import infoplane as ip
    >>> f = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2], starts=2, rng=0)
    >>> print(f.best().drop(columns="seconds").columns[-2:].tolist())
    ['found_at', 'chance_iyz_bits']
    """

    @property
    def _constructor(self) -> type[RunsFrame]:
        return RunsFrame

    def __repr__(self) -> str:
        """As pandas has it, if nothing is left out, or if the user has set how many columns are shown."""
        whole = pd.DataFrame(self)
        width = shutil.get_terminal_size().columns
        if pd.get_option("display.max_columns") != 0 or len(whole.head(1).to_string().partition("\n")[0]) <= width:
            return repr(whole)
        wanted = COMPARED if "above_lowest_nats" in whole else WANTED
        shown = [name for name in wanted if name in whole and not whole[name].isna().all()]
        if len(shown) < 2:
            return repr(whole)
        rest = [str(name) for name in whole if name not in shown]
        rows = {"max_rows": pd.get_option("display.max_rows"), "min_rows": pd.get_option("display.min_rows")}
        forms = {name: rounded for name in shown if name.endswith("_bits") or name == "loss_nats"}
        forms |= dict.fromkeys(("gap_nats", "above_lowest_nats"), "{:.1e}".format)
        numbers = {name: form for name, form in forms.items() if name in shown and is_float_dtype(whole[name])}
        text = whole[shown].to_string(formatters=numbers, **rows)
        return f"{text}\nand {', '.join(rest)}"


def runs_frame(numbered: Sequence[tuple[int, Solution]]) -> RunsFrame:
    """One row per run, each with its number: see `Frontier.to_frame`."""
    in_gamma = any(run.problem.record.parameter == "gamma" for _, run in numbered)
    rows = [
        {
            "parameter": run.parameter,
            **({"beta": run.problem.record.notation("beta").of(run.parameter)} if in_gamma else {}),
            "start": run.start,
            "solver": run.solver,
            "loss_nats": run.loss,
            **({} if run.problem.single_target else {"isz_bits": bits(run.isz), "iuz_bits": bits(run.iuz)}),
            "ixz_bits": bits(run.ixz),
            **({"iyz_bits": bits(run.iyz)} if run.problem.single_target else {}),
            "clusters": run.clusters,
            "at_cap": run.at_cap,
            "status": run.status.name,
            "iterations": run.iterations,
            "seconds": run.seconds,
            "gap_nats": run.gap,
        }
        for _, run in numbered
    ]
    return RunsFrame(rows, index=pd.Index([row for row, _ in numbered], name="run"))


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
    """The parameter that held-out records prefer, the knee, the transitions and the kinks of a frontier; ``print`` it to read them."""

    knee: Knee | None
    transitions: tuple[Transition, ...]
    """Between neighbouring parameters of the grid."""
    sentences: tuple[str, ...]
    """What was found, and how."""
    kinks: tuple[Kink, ...] = ()
    """Where I(X;Z) jumps, whatever the number of clusters does."""
    parameter: float | None = None
    """Which held-out records prefer; None if they were not asked, or if none gains anything, or none is within the cap."""
    row: int | None = None
    """Of the run that found the best encoder there."""
    curve: tuple[HeldOut, ...] = ()
    """What held-out records say of every parameter."""
    noise: bool = False
    """Whether the records support no difference between letters of X (`Joint.denoised`): there is no knee then, whatever the curve."""

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def suggest(frontier: Frontier, notation: str) -> Suggestion:
    """Look along the best answers of a frontier; see `Frontier.suggest`."""
    joint, best, caution = frontier.joint, frontier.best_answers(), frontier.caution
    written = (best[0].run.problem.record if best else lagrangian).notation(notation)
    knee, about_knee = _knee(best, frontier.hides_y, written)
    noise = not frontier.hides_y and _is_noise(joint)
    if noise:
        knee = None
        about_knee = (
            f"No knee: {joint.records:,} records support no difference between letters of X, and what the curve shows of Y is "
            "what chance shows (Joint.denoised)."
        )
    counts = cluster_counts(joint, best)
    transitions, kinks = transitions_on_the_grid(best, counts), _kinks([answer.run for answer in best])
    sentences = (
        about_knee,
        *([] if caution is None else [f"Caution: {caution}"]),
        *_about(transitions, best, counts, written),
        *(_about_kink(kink, written) for kink in kinks),
    )
    return Suggestion(knee, transitions, sentences, kinks, noise=noise)


def _is_noise(joint: Joint) -> bool:
    """Whether a joint of records is one that denoising makes constant; not looked at where a table is too large for that."""
    if joint.denoising is not None:
        return joint.denoising.how == CONSTANT
    if joint.counts is None or math.prod(joint.shape) > LARGEST_TABLE:
        return False
    return fit(dense(joint.counts)).how == CONSTANT


def _knee(best: Sequence[BestAnswer], hides_y: bool, written: Notation) -> tuple[Knee | None, str]:
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


def cluster_counts(joint: Joint, best: Sequence[BestAnswer]) -> list[int]:
    """How many clusters each of the best answers has."""
    return [len(distinct_clusters(answer.run.encoder, joint.p_x)) for answer in best]


ON_THE_GRID = "neighbours on the grid"
"""How such a transition was found."""


def transitions_on_the_grid(best: Sequence[BestAnswer], counts: list[int]) -> tuple[Transition, ...]:
    """The changes in the number of clusters between neighbouring parameters, as `infoplane.transitions` has those that it certifies."""
    ends = [None, *counts, None]
    holds = [
        count in (before, after) or None in (before, after)
        for before, count, after in zip(ends, counts, ends[2:], strict=False)
    ]
    found = []
    for i, (one, two) in enumerate(pairwise(answer.run for answer in best)):
        if counts[i] != counts[i + 1] and holds[i] and holds[i + 1]:
            doubt = "" if one.converged and two.converged else " (not both runs converged)"
            numbers = counts[i], counts[i + 1]
            points = PlanePoint(one.ixz, one.iyz), PlanePoint(two.ixz, two.iyz)
            found.append(Transition(one.parameter, two.parameter, *numbers, *points, ON_THE_GRID + doubt))
    return tuple(found)


def _kinks(best: list[Solution]) -> tuple[Kink, ...]:
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
        jump = bits(one.plane.ixz), bits(two.plane.ixz)
        found.append(Kink((one.parameter, two.parameter), jump, times, one.plane_names[0]))
    return tuple(found)


def _stretches(counts: list[int]) -> list[tuple[int, int]]:
    """From which parameter to which, by number, the number of clusters changes with every step, two of them or more."""
    breaks = [0, *(i for i in range(1, len(counts)) if counts[i] == counts[i - 1]), len(counts)]
    return [(first, last - 1) for first, last in pairwise(breaks) if last - 1 - first >= 2]


def _ends(written: Notation, low: float, high: float) -> str:
    return f"{written.symbol} = {written.of(low):.4g} and {written.of(high):.4g}"


def _about(
    transitions: tuple[Transition, ...], best: Sequence[BestAnswer], counts: list[int], written: Notation
) -> list[str]:
    how = (
        f"Transitions are changes in the number of clusters between the best runs of neighbouring parameters ({len(best)} in all), "
        "where the numbers on both sides hold for two parameters or end the grid; "
        f"clusters with p(z) > {SMALLEST_MASS:g} count, those whose p(x|z) agree to {SAME_POSTERIOR:g} in total variation once. "
        "A bracket is as narrow as the grid."
    )
    said = [
        f"Transition between {_ends(written, one.low, one.high)}: from {counted(one.clusters_below, 'cluster')} to {one.clusters_above}"
        f"{one.found.removeprefix(ON_THE_GRID)}."
        for one in transitions
    ]
    for first, last in _stretches(counts):
        numbers = counts[first : last + 1]
        listed = ", ".join(map(str, numbers)) if len(numbers) <= 6 else f"from {numbers[0]} to {numbers[-1]}"
        where = _ends(written, best[first].run.parameter, best[last].run.parameter)
        said.append(
            f"Between {where} the number of clusters changes with each of the {last - first} steps, {listed}: "
            "more transitions than this grid tells apart."
        )
    return [*said, how] if said else [f"No phase transition was found. {how}"]


def _about_kink(one: Kink, written: Notation) -> str:
    low, high = one.ixz_bits
    pace = "while it stays beside it" if one.steeper > 1e3 else f"{one.steeper:.2g} times as fast as beside it"
    return f"Kink between {_ends(written, *one.parameters)}: {one.name} goes from {low:.4f} to {high:.4f} bits, {pace}."
