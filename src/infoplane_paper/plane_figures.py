"""What the four figures of information planes share: the plane as a set of pieces, its picture and table, and questions about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binomtest

from .drawing import Row, draw_multiples
from .methods import BASELINE, KINDS, Method
from .pieces import Certified, Merges, Piece, Private, Starts, Sweep
from .planes import left_their_start, stuck
from .points import Points
from .runs import SEPARATOR, Runs, with_other_settings
from .settings import Scale
from .verdict import Figure, Finding, all_of


@dataclass(frozen=True)
class Plane:
    """One information plane of the paper: solvers with their c and alpha, along a grid of one joint."""

    title: str
    joint: str
    family: str
    solvers: Mapping[str, tuple[float, float]]
    """Penalty and relaxation."""
    clusters: int
    trials: int
    grid: tuple[float, float, int]
    """First and last parameter, and how many."""
    less: int
    """Trials under other settings."""
    others: tuple[int, ...]
    """Other numbers of clusters."""
    open_penalty: bool = False
    """Whether the paper leaves c open."""

    @property
    def on_heart(self) -> bool:
        """The heart data: where random starts lie matters there, and what is possible without leakage."""
        return self.joint == "heart"

    def sweeps(self, scale: Scale) -> list[Sweep]:
        """All methods; on bottlenecks Blahut-Arimoto too."""
        methods = [
            Method(solver, kind, c, alpha).within(scale.within(kind, self.joint))
            for solver, (c, alpha) in self.solvers.items()
            for kind in KINDS
        ]
        if self.family == "bottleneck":
            limit = scale.within("majorise", self.joint) if self.on_heart else scale.limit
            methods.append(Method(BASELINE, "majorise").within(limit))
        grid, trials = scale.grid(*self.grid, self.joint), min(self.trials, scale.trials)
        return [
            Sweep(f"{self.title}: {method.label}", self.joint, self.family, grid, method, self.clusters, trials)
            for method in methods
        ]

    def pieces(self, scale: Scale) -> list[Piece]:
        """The certified optima, the reference points of funnels, all methods, and the gradient runs under other settings."""
        funnel = self.family == "funnel"
        # The more certified parameters, the tighter the bound on the frontier; those of the heart's funnel take long.
        proven = scale.grid if funnel and self.on_heart else scale.fine
        found: list[Piece] = [
            Certified(f"{self.title}: certified", self.joint, self.family, proven(*self.grid, self.joint))
        ]
        if funnel:
            found.append(Merges(f"{self.title}: Merge-Two", self.joint))
        if funnel and self.on_heart:
            found.append(Private(f"{self.title}: without leakage", self.joint))
            found.append(Starts(f"{self.title}: starts", self.joint, self.clusters, self.trials))
        found += self.sweeps(scale)
        varied = with_other_settings(found, scale, self.less, penalties=self.open_penalty, clusters=self.others)
        return [*found, *varied]


def plane_table(runs: Runs) -> list[Row]:
    """One row per method and parameter: its best converged run, beside the lower bound proven there."""
    certified = {piece.joint: runs.points(name) for name, piece in runs.pieces.items() if isinstance(piece, Certified)}
    rows: list[Row] = []
    for name, piece in runs.pieces.items():
        if isinstance(piece, Sweep) and SEPARATOR not in name:
            points = runs.points(name)
            for parameter in np.unique(points.parameter):
                rows.append(_row(name, points.where(points.parameter == parameter), certified[piece.joint]))
    return rows


def _row(name: str, here: Points, certified: Points) -> Row:
    parameter = here.parameter[0]
    proven = certified.where(np.isclose(certified.parameter, parameter))
    bound = float(proven.lower_bound[0]) if len(proven) else np.nan
    row: dict[str, Any] = {
        "runs": name,
        "parameter": parameter,
        "trials": len(here),
        "converged": float(here.converged.mean()),
        "stationary": float(here.stationary.mean()),
        "median_iterations": float(np.median(here.iterations)),
    }
    best = here.ended().best()
    for column in ("ixz", "iyz", "loss"):
        row[f"{column}_bits"] = float(getattr(best, column)[0]) if len(best) else np.nan
    row["lower_bound_bits"] = bound
    row["gap_bits"] = row["loss_bits"] - bound
    return row


def plane_figure(planes: Sequence[Plane], **said: Any) -> Figure:
    """A figure of one plane or several: what is said of it, and its claims."""
    return Figure(
        pieces=lambda scale: [piece for plane in planes for piece in plane.pieces(scale)],
        table=plane_table,
        redraw=partial(draw_multiples, planes=planes),
        see="One solver a panel, in grey the proven frontier: no encoder lies on its shaded side. A mark is the best converged run of one "
        "parameter; circles: the authors' way; squares: our steps at the paper's c; crosses: with automatic c.",
        **said,
    )


# -- questions ---------------------------------------------------------------------------------------------------------


def moved(runs: Runs, title: str, name: str) -> Points:
    """The converged runs of a piece; those that stopped where they began are left out where the figure has the starts."""
    starts = f"{title}: starts"
    points = runs.points(name)
    return left_their_start(points, runs[starts]) if starts in runs.pieces else points.ended()


def asked(
    ask: Callable[..., Finding], title: str, solvers: Sequence[str], beside: str = "", **options: Any
) -> Callable[[Runs, str], Finding]:
    """The question of a claim: ``ask`` of what moved of some solvers on a plane, of the piece ``beside`` them, and of their names.

    It is not decided where none of the converged runs of a solver has left its start.
    """

    def answer(runs: Runs, way: str) -> Finding:
        names = _of_way(title, way, solvers).values()
        used = {name: moved(runs, title, name) for name in names}
        before = {name: len(runs.points(name).ended()) for name in names}
        still = [
            f"none of the {before[name]} converged runs of {name} has left its random start"
            for name in names
            if before[name] and not len(used[name])
        ]
        if still:
            return Finding(None, "; ".join(still)).on(*names)
        piece = f"{title}: {beside}"
        merged = beside and isinstance(runs.piece(piece), Merges)
        references = [runs[piece] if merged else runs.points(piece)] if beside else []
        said = tuple(solvers) if len(solvers) > 1 else solvers[0]
        return ask(*used.values(), *references, said, **options).on(*names)

    return answer


Losses = Mapping[str, Mapping[float, float]]
"""The best loss of every solver at every parameter, in bits."""


def best_losses(runs: Runs, names: Mapping[str, str]) -> Losses:
    """Of the converged runs of some pieces, by solver."""
    found = {}
    for solver, name in names.items():
        best = runs.points(name).ended().best()
        found[solver] = dict(zip(best.parameter.tolist(), best.loss.tolist(), strict=True))
    return found


def together(losses: Losses) -> list[float]:
    """The parameters at which all solvers have a converged run."""
    first, *others = losses.values()
    return [parameter for parameter in first if all(parameter in one for one in others)]


def are_comparable(losses: Losses) -> Finding:
    """Whether the best losses of some solvers agree, in the median over parameters, to `COMPARABLE` bits."""
    at = together(losses)
    spread = [max(one[g] for one in losses.values()) - min(one[g] for one in losses.values()) for g in at]
    if not spread:
        return Finding(None, "no parameter at which all of them have a converged run")
    middle = float(np.median(spread))
    return Finding(
        middle <= COMPARABLE,
        f"the best losses of {', '.join(losses)} differ by {middle:.4f} bits in the median over {len(at)} parameters, "
        f"{max(spread):.4f} at most",
    )


def is_best(losses: Losses, solver: str) -> Finding:
    """Whether a solver has a lower best loss than each other at more parameters than chance would give (sign test, 5%)."""
    at, said, answers = together(losses), [], []
    for other in (one for one in losses if one != solver):
        gaps = [losses[other][g] - losses[solver][g] for g in at]
        wins, defeats = sum(gap > TIE for gap in gaps), sum(gap < -TIE for gap in gaps)
        said.append(f"{solver} is lower than {other} at {wins} of {len(at)} parameters, higher at {defeats}")
        clear = wins + defeats > 0 and binomtest(wins, wins + defeats).pvalue < 0.05
        answers.append(wins > defeats if clear else None)
    return Finding(all_of(answers) if at else None, "; ".join(said))


def is_lower_somewhere(losses: Losses, solver: str, other: str) -> Finding:
    """Whether one solver's best loss is below another's at some parameter."""
    at = together(losses)
    gaps = [losses[other][g] - losses[solver][g] for g in at]
    wins = [gap for gap in gaps if gap > TIE]
    return Finding(
        len(wins) > 0 if at else None,
        f"{solver} has a lower loss than {other} at {len(wins)} of {len(at)} parameters, by up to {max(wins, default=0.0):.4f} bits",
    )


COMPARABLE, TIE = 0.01, 1e-4
"""Bits between best losses that still count as comparable, and that count as the same."""


def _of_way(title: str, way: str, solvers: Sequence[str]) -> dict[str, str]:
    return {one: f"{title}: {one}" if one == BASELINE else f"{title}: {one}, {way}" for one in solvers}


def asked_of_losses(
    ask: Callable[..., Finding], title: str, solvers: Sequence[str], *chosen: str
) -> Callable[[Runs, str], Finding]:
    """The same of the best losses of some solvers, and of the names of those ``chosen``."""

    def answer(runs: Runs, way: str) -> Finding:
        names = _of_way(title, way, solvers)
        return ask(best_losses(runs, names), *chosen).on(*names.values())

    return answer


def stuck_on(
    runs: Runs, way: str, plane: Plane, solver: str, low: float, high: float, others: tuple[str, ...] = ()
) -> Finding:
    """Whether one solver is off the frontier in an interval where others are on it."""
    proven = f"{plane.title}: certified"
    found = [
        stuck(runs.points(f"{plane.title}: {one}, {way}"), runs.points(proven), plane.family, one, low, high)
        for one in (solver, *others)
    ]
    answers = [one.holds for one in found]
    holds = None if None in answers else answers[0] and not any(answers[1:])
    return Finding(holds, "; ".join(one.said for one in found)).on(f"{plane.title}: {solver}, {way}", proven)
