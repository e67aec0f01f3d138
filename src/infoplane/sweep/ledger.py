"""Where the runs of a sweep are written down: in memory, or in a store on disk."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..frontier.frontier import Frontier
from ..information import Array
from ..results import Trace
from ..solution import Solution, finished
from ..storage.reader import Key, Manifest, readable
from ..storage.store import RunRecord, Store, contending
from ..version import __version__
from .plan import ChunkResult, ParameterGrid, Plan, Unit


class Tally:
    """Counts and best runs, whatever the order in which runs are added."""

    def __init__(self) -> None:
        self.runs = 0
        self.converged = 0
        self.runs_at: Counter[int] = Counter()
        """Runs of each parameter, by its index."""
        self.bounds: dict[int, float] = {}
        """The best lower bound that was proven of each parameter, by its index."""
        self._contenders: defaultdict[int, dict[int, list[RunRecord]]] = defaultdict(dict)

    def add(self, record: RunRecord) -> None:
        """One more run."""
        self.runs += 1
        self.converged += record.status.converged
        self.runs_at[record.index] += 1
        if record.lower_bound is not None:
            self.bounds[record.index] = max(record.lower_bound, self.bounds.get(record.index, record.lower_bound))
        by_solver = self._contenders[record.index]
        by_solver[record.solver] = contending([*by_solver.get(record.solver, ()), record.without_run()])

    def kept(self, index: int) -> set[Key]:
        """Keys of the runs at a parameter that are, or may yet be, the best of their solver."""
        return {one.key for one in self._at(index)}

    def lowest(self, solver: int, index: int) -> float:
        """The lowest loss of a solver at a parameter; infinite before its first run."""
        return min((one.loss for one in self._contenders[index].get(solver, ())), default=math.inf)

    def best(self, index: int) -> RunRecord:
        """The best run at a parameter, by the rule of `best_of`."""
        return contending(self._at(index))[-1]

    def plane_of(self, index: int) -> tuple[float, float]:
        """I(X;Z) and I(Y;Z) of the best run at a parameter."""
        best = self.best(index)
        return best.ixz, best.iyz

    def _at(self, index: int) -> list[RunRecord]:
        return [one for records in self._contenders[index].values() for one in records]


def finished_indices(plan: Plan, grid: ParameterGrid, runs_at: Mapping[int, int]) -> list[int]:
    """The parameters that have all their runs, by the number of runs that each has; in the order of rows."""
    return [index for index in grid.order if runs_at.get(index, 0) == plan.runs_per_parameter]


def manifest_of(plan: Plan, grid: ParameterGrid) -> Manifest:
    """What is run, as JSON values: what two calls must share to be calls of the same sweep; and how clusters were asked for."""
    return {
        "version": __version__,
        **grid.described(),
        **plan.described(),
        "runs_a_place": plan.runs_per_parameter,
        "asked": {"clusters": plan.options.clusters},
    }


def best_bounded(runs: Sequence[Solution], gap: float) -> list[Solution]:
    """The runs, each with the highest lower bound that was proven for its parameter, if one was; CERTIFIED if within ``gap`` of it."""
    bounds: dict[float, tuple[float, Array | None]] = {}
    for run in runs:
        if run.lower_bound is not None and run.lower_bound > bounds.get(run.parameter, (-math.inf, None))[0]:
            bounds[run.parameter] = run.lower_bound, run.multipliers
    found = ((run, *bounds.get(run.parameter, (None, None))) for run in runs)
    return [run if bound is None else run.bounded(bound, gap, multipliers) for run, bound, multipliers in found]


class Ledger:
    """Where the runs of a sweep are written down: every run with its encoder, and the traces of the best, as long as the process lives."""

    def __init__(self, plan: Plan, grid: ParameterGrid) -> None:
        self.plan, self.grid = plan, grid
        self.tally = Tally()
        """Of every run recorded, by this call or by an earlier one."""
        self.done: set[Key] = set()
        self.runs: dict[Key, Solution] = {}
        self.traces: defaultdict[int, dict[Key, Trace]] = defaultdict(dict)
        """By the parameter's index, then by run."""

    def has(self, unit: Unit) -> bool:
        """Whether the runs of a unit are there."""
        return (unit.indices[0], unit.solver, unit.start) in self.done

    def count(self, records: Sequence[RunRecord]) -> None:
        """Take note of runs that are, or are about to be, written down."""
        for one in records:
            self.tally.add(one)
            self.done.add(one.key)

    def begin(self, units: Sequence[Unit]) -> int:
        """A chunk goes to a worker; the number that it gets."""
        return len(units)

    def record(self, _number: int, result: ChunkResult) -> None:
        """The chunk's runs; when this returns, they are safe."""
        self.count(result.records)
        for one in result.records:
            if one.trace is not None:
                self.traces[one.index][one.key] = one.trace
            self.runs[one.key] = finished(
                self.plan.support,
                self.grid.problems[one.index],
                replace(one.ended, trace=None),
                seconds=one.seconds,
                parameter=self.grid.values[one.index],
                start=one.start,
                cluster_cap=self.plan.cluster_caps[one.solver],
            )
        for index in {one.index for one in result.records}:
            kept = self.tally.kept(index)
            self.traces[index] = {key: trace for key, trace in self.traces[index].items() if key in kept}

    def frontier(self, complete: bool) -> Frontier:
        """All runs of the parameters that are finished; where bounds were asked for, each run has its parameter's."""
        # By the runs that are there: Ctrl-C may have come between a run's place in the tally and its place among them.
        indices = finished_indices(self.plan, self.grid, Counter(index for index, *_ in self.runs))
        found: dict[int, list[Solution]] = {index: [] for index in indices}
        for key in sorted(self.runs):
            if key[0] in found:
                trace = self.traces[key[0]].get(key)
                found[key[0]].append(self.runs[key] if trace is None else replace(self.runs[key], trace=trace))
        runs = [run for index in found for run in found[index]]
        runs = runs if self.plan.gap is None else best_bounded(runs, self.plan.gap)
        provenance = readable(manifest_of(self.plan, self.grid), self.grid.values)
        return Frontier(self.plan.joint, runs, complete=complete, provenance=provenance)


class StoreLedger(Ledger):
    """The same in an open `Store`: what is recorded survives whatever ends the process."""

    def __init__(self, store: Store, plan: Plan, grid: ParameterGrid) -> None:
        super().__init__(plan, grid)
        self.store = store
        self.count(store.records)

    def begin(self, units: Sequence[Unit]) -> int:
        """As there; noted, so that `store_status` can say what is under way."""
        return self.store.begin(units, self.grid.values, self.grid.problems)

    def record(self, number: int, result: ChunkResult) -> None:
        """The chunk's runs; once this returns, they are on the disk."""
        self.count(result.records)
        indices = {one.index for one in result.records}
        kept = set().union(*(self.tally.kept(index) for index in indices))
        self.store.record(number, result.seconds, result.records, kept)

    def frontier(self, complete: bool) -> Frontier:
        """All runs of the parameters that are finished, by the disk: Ctrl-C may have undone a chunk that the tally knows."""
        return self.store.frontier(complete)
