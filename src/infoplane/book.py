"""Where results are written down: in memory here, on disk in `store`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .frontier import Frontier
from .plan import Grid, Plan, Unit
from .solution import Solution
from .solver import finished
from .tally import Standing, Tally
from .work import Done, Result


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


def version() -> str:
    """The package's."""
    from . import __version__  # not at the top: the package itself imports this module

    return __version__


def provenance(plan: Plan, grid: Grid) -> dict[str, Any]:
    """What was run, for people and reports: all parameters by place, those that refinement added too."""
    return said({"version": version(), **grid.described(), **plan.described()}, grid.values)


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
