"""The threshold of c against gamma: Theorem 5's does not contain gamma, so one c should serve a whole plane of ib-2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import infoplane as ip

from ..drawing import COLOUR, Drawing, Row, dress, legend, logarithmic, panels, plain_numbers
from ..methods import Method, load, no_penalty_warnings
from ..pieces import Instant, Piece, Sweep, random_starts
from ..points import Arrays
from ..runs import Runs
from ..settings import LONG_LIMIT, SEED, Scale
from ..shares import smallest_penalty
from ..verdict import Claim, Figure, Finding

JOINT, CLUSTERS, TRIALS, ENOUGH = "paper_uniform", 4, 10, 0.9
PENALTIES = tuple(2.0**k for k in range(9))
GAMMAS = (0.1, 0.8, 8)
SOLVERS = {"ib-1": 1.618, "ib-2": 1.0}
THEOREM = {"ib-1": "Theorem 4 as printed, which is false", "ib-2": "Theorem 5"}
SAME = 2.0
"""Thresholds count as the same if the largest is at most so many times the smallest: one step of the grid of c."""


@dataclass(frozen=True)
class Formula(Instant):
    """The theorems' thresholds at one random start, against gamma."""

    name: str
    joint: str
    gammas: tuple[float, ...]
    clusters: int
    seed: int = SEED

    def run(self) -> Arrays:
        """One array per formulation, one entry per gamma."""
        joint = load(self.joint)
        (encoder,) = random_starts(1, self.clusters, joint.shape[0], self.seed)

        def threshold(gamma: float, solver: str, alpha: float) -> float:
            named: dict[str, Any] = {"formulation": solver, "relaxation": alpha, "printed": True}
            with no_penalty_warnings():
                return ip.penalty_threshold(joint, ip.bottleneck(gamma), encoder, **named).c

        return {
            solver: np.array([threshold(gamma, solver, alpha) for gamma in self.gammas])
            for solver, alpha in SOLVERS.items()
        }


def pieces(scale: Scale) -> Sequence[Piece]:
    """The theorems' thresholds, and one sweep over gamma per solver and c."""
    grid = scale.grid(*GAMMAS, JOINT)
    found: list[Piece] = [Formula("formula", JOINT, grid, CLUSTERS)]
    for solver, alpha in SOLVERS.items():
        for c in scale.some(PENALTIES):
            method = Method(solver, "majorise", c, alpha).within(min(scale.limit, LONG_LIMIT))
            found.append(Sweep(name(solver, c), JOINT, "bottleneck", grid, method, CLUSTERS, min(TRIALS, scale.trials)))
    return found


def name(solver: str, c: float) -> str:
    """The name of a piece."""
    return f"{solver}, c {c:g}"


def thresholds(runs: Runs, solver: str) -> dict[float, float]:
    """The smallest c at which enough trials converge, for every gamma."""
    sweeps = {c: runs.points(name(solver, c)) for c in PENALTIES if name(solver, c) in runs.pieces}
    gammas = np.unique(next(iter(sweeps.values())).parameter)
    return {
        float(gamma): smallest_penalty(
            {c: float(points.converged[points.parameter == gamma].mean()) for c, points in sweeps.items()}, ENOUGH
        )
        for gamma in gammas
    }


def draw(runs: Runs) -> Drawing:
    """Measured thresholds, and the theorems' formula."""
    figure, (ax,) = panels(1, width=7.4)
    for solver in SOLVERS:
        measured = thresholds(runs, solver)
        gammas, colour, words = list(measured), COLOUR[solver], f"{THEOREM[solver]}, at one start's masses"
        ax.plot(gammas, list(measured.values()), "o-", color=colour, label=f"{solver}: smallest c, measured")
        ax.plot(gammas, runs["formula"][solver], "--", color=colour, label=f"{solver}: {words}")
    logarithmic(ax, x=True)
    plain_numbers(ax.xaxis)
    dress(ax, "Smallest penalty against gamma, our steps, uniform data", "gamma", "penalty c")
    legend(ax, ncols=2)
    return figure


def table(runs: Runs) -> list[Row]:
    """One row per solver and gamma."""
    return [
        {"runs": solver, "gamma": gamma, "smallest_c": c, "theorem_c": float(runs["formula"][solver][row])}
        for solver in SOLVERS
        for row, (gamma, c) in enumerate(thresholds(runs, solver).items())
    ]


def independent(runs: Runs, way: str) -> Finding:
    """Whether ib-2's threshold is the same at every gamma: in the theorem's formula, and as measured."""
    if way == "formula":
        values = runs["formula"]["ib-2"]
        other = runs["formula"]["ib-1"]
        spread = float(values.max() / values.min())
        return Finding(
            bool(np.isclose(spread, 1.0)),
            f"the formula's largest over smallest c is {spread:.6f} for ib-2 (ib-1: {other.max() / other.min():.4f}) at fixed masses",
        )
    smallest = np.array(list(thresholds(runs, "ib-2").values()))
    values = smallest[np.isfinite(smallest)]
    never = len(smallest) - len(values)
    more = f"; at {never} of {len(smallest)} gammas they never do" if never else ""
    if not len(values):
        return Finding(None, f"{ENOUGH:.0%} of trials converge at no c and no gamma")
    same = bool(values.max() <= SAME * values.min())
    return Finding(
        None if same and never else same,
        f"the smallest c at which {ENOUGH:.0%} of trials converge lies in [{values.min():g}, {values.max():g}] over gamma{more}",
    )


FIGURE = Figure(
    name="penalty-threshold",
    title="The threshold of c against gamma",
    paper="ib-2's threshold (Theorem 5) does not depend on gamma, which allows one c for a whole plane.",
    where="Section IV-A, Theorem 5",
    pieces=pieces,
    draw=draw,
    table=table,
    claims=(
        Claim(
            "threshold-independent",
            "ib-2's smallest penalty does not depend on gamma",
            independent,
            {"formula": "the theorem's formula at fixed masses", "measured": "the penalties measured"},
        ),
    ),
    see="Dashed: the paper's thresholds, at the masses of one random start; marks: the smallest c at which 90% of trials converge. Where "
    "there is no mark, no c of the grid was enough.",
)
