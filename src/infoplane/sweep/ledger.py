"""Where results are written down: in memory here, on disk in `store`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ..frontier.frontier import Frontier
from ..solution import Solution, finished
from ..version import __version__
from .plan import Grid, Plan, Unit
from .worker import Done, Result

TIE = 1e-9
"""Losses this close, in nats, are equal; then a run that converged is better than one that did not."""


class Standing(NamedTuple):
    """A run in the order of merit: by loss, then by solver and start, so that no two are equal."""

    loss: float
    solver: int
    start: int
    ixz: float
    iyz: float
    converged: bool


class Tally:
    """Counts and best runs, whatever the order in which runs are added."""

    def __init__(self) -> None:
        self.runs = 0
        self.converged = 0
        self.at_place: Counter[int] = Counter()
        # Of each place and solver the lowest loss, and the lowest that converged: the best in the end is one of the two.
        self._lowest: defaultdict[int, dict[int, Standing]] = defaultdict(dict)
        self._converged: defaultdict[int, dict[int, Standing]] = defaultdict(dict)

    def add(self, place: int, run: Standing) -> None:
        """One more run."""
        self.runs += 1
        self.converged += run.converged
        self.at_place[place] += 1
        for table in (self._lowest, self._converged) if run.converged else (self._lowest,):
            table[place][run.solver] = min(run, table[place].get(run.solver, run))

    def kept(self, place: int) -> set[tuple[int, int]]:
        """(solver, start) of the runs at a place that are, or may yet be, the best of their solver."""
        return {(run.solver, run.start) for table in (self._lowest, self._converged) for run in table[place].values()}

    def best(self, place: int) -> Standing:
        """The lowest loss at a place; among losses equal to `TIE`, the lowest that converged."""
        lowest = min(self._lowest[place].values())
        return min((run for run in self._converged[place].values() if run.loss <= lowest.loss + TIE), default=lowest)

    def plane_of(self, place: int) -> tuple[float, float]:
        """I(X;Z) and I(Y;Z) of the best run at a place."""
        best = self.best(place)
        return best.ixz, best.iyz


class Book(Protocol):
    """What a sweep needs of it. ``tally`` counts what was recorded, by this call or by an earlier one."""

    tally: Tally

    def has(self, unit: Unit) -> bool:
        """Whether the results of a unit are there."""

    def begin(self, units: Sequence[Unit]) -> int:
        """A chunk goes to a worker; the number that it gets."""

    def record(self, number: int, done: Done) -> None:
        """The chunk's results; when this returns, they are safe."""

    def frontier(self, complete: bool) -> Frontier:
        """All runs of the parameters that are done."""


def standing(result: Result) -> Standing:
    """A result in the order of merit."""
    return Standing(result.loss, result.solver, result.start, result.ixz, result.iyz, result.run.status.converged)


def places_done(plan: Plan, grid: Grid, tally: Tally) -> list[int]:
    """The places that have all their runs, in the order of rows."""
    return [place for place in grid.order if tally.at_place[place] == plan.runs_a_place]


def provenance(plan: Plan, grid: Grid) -> dict[str, Any]:
    """What was run, for people and reports: all parameters by place, those that refinement added too."""
    return said({"version": __version__, **grid.described(), **plan.described()}, grid.values)


def said(manifest: Mapping[str, Any], values: Sequence[float]) -> dict[str, Any]:
    """A manifest as people read it: without what follows from the rest."""
    hidden = ("rho", "runs_a_place", "joint")
    return {key: value for key, value in manifest.items() if key not in hidden} | {"grid": list(values)}


class Memory:
    """Every run with its encoder, for as long as the process lives."""

    def __init__(self, plan: Plan, grid: Grid) -> None:
        self.plan, self.grid, self.tally = plan, grid, Tally()
        self.runs: dict[tuple[int, int, int], Solution] = {}

    def has(self, unit: Unit) -> bool:
        """Whether the results of a unit are there."""
        return (unit.places[0], unit.solver, unit.start) in self.runs

    def begin(self, units: Sequence[Unit]) -> int:
        """Chunks need no numbers."""
        return len(units)

    def record(self, _number: int, done: Done) -> None:
        """The chunk's results."""
        for one in done.results:
            self.tally.add(one.place, standing(one))
            self.runs[one.place, one.solver, one.start] = finished(
                self.plan.support,
                self.grid.problems[one.place],
                one.run,
                seconds=one.seconds,
                parameter=self.grid.values[one.place],
                start=one.start,
            )

    def frontier(self, complete: bool) -> Frontier:
        """All runs of the parameters that are done; where bounds were asked for, each run has its parameter's."""
        found: dict[int, list[Solution]] = {place: [] for place in places_done(self.plan, self.grid, self.tally)}
        for key in sorted(self.runs):
            if key[0] in found:
                found[key[0]].append(self.runs[key])
        gap = self.plan.gap
        if gap is not None:
            for place, runs in found.items():
                bounds = [run.lower_bound for run in runs if run.lower_bound is not None]
                found[place] = [run.bounded(max(bounds), gap) for run in runs] if bounds else runs
        runs = [run for place in found for run in found[place]]
        return Frontier(self.plan.joint, runs, complete=complete, provenance=provenance(self.plan, self.grid))
