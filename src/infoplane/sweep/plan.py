"""What a sweep is made of: units of work, each with a result that depends on nothing but the plan.

A unit of an ordinary solver is one start of one parameter: start i of the parameter with index j begins from an encoder that depends
on (seed, j, i) only. A unit of a path solver is a segment of neighbouring parameters, each warmed by the one before. Which units a
worker gets in one go, in which order they end and how often the sweep is resumed then changes no bit.

A worker does a chunk of a few units, one after another, in one call: `run_chunk`, which any executor can pickle.

Traces are kept of the runs that may turn out to be the best of their parameter and solver. To record every iteration of every run would
cost a quarter of the sweep's time and more, so a batch runs without, and its best run once more, from the same start and to the same end,
with a trace, unless a better one is known already. The time of that is part of no run's seconds, nor is that of compiling kernels or
reading them from disk, which the first would pay for all. Where a solver makes only one run per parameter, that one is recorded at once.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..frontier.geometry import has_plane, losses_at, numbers_of, supporting_line, weights_of
from ..information import Array, encoder_entropies, plane_points
from ..joint.joint import Joint, Support, unlabelled
from ..problem import MarkovLagrangian, ProblemFamily, siblings
from ..runtime.budget import Budget, Stopped, one_blas_thread, own_clock, usual_floats
from ..solution import TIE, Run, Trace
from ..solve import cluster_cap
from ..solvers.base import KINDS, PathSolver, Solver, make_starts
from ..solvers.job import NO_PROOF, Job, ProofOptions, RunOptions
from ..storage.files import to_json
from ..storage.store import LazySolution, RunRecord, contending
from ..version import __version__
from .grid import enclosing, inserted

Problems = Mapping[int, MarkovLagrangian]
"""The problem of each parameter, by its index: those of the grid first, then those that refinement added, in the order in which it did."""


class Unit(NamedTuple):
    """Work that is done as a whole: ``solver`` (its number in the plan) from ``start`` at one parameter, or along several."""

    solver: int
    start: int
    indices: tuple[int, ...]


@dataclass(frozen=True)
class Chunk:
    """Units that go to a worker together, with the problems that they need."""

    units: tuple[Unit, ...]
    problems: Problems
    lowest: Mapping[tuple[int, int], float] = field(default_factory=dict)
    """Lowest losses known so far, by solver and index: a run that does not reach them needs no trace. No result depends on them."""


@dataclass(frozen=True)
class Plan:
    """Everything that the results of a sweep depend on, except its problems, which `ParameterGrid` has."""

    joint: Joint
    solvers: tuple[Solver, ...]
    options: RunOptions
    seed: np.random.SeedSequence
    cap: int | None = None
    """Most rows of an answer's encoder; None: as many as X has letters."""
    gap: float | None = None
    """What counts as certified, in nats; None if nothing is to be."""
    proof: ProofOptions = NO_PROOF
    """As they were asked for."""

    @cached_property
    def support(self) -> Support:
        """The joint without its empty letters, as solvers need it."""
        return Support(self.joint)

    def __getstate__(self) -> dict[str, Any]:
        # Workers make their own support, and need no labels, which may be anything.
        kept = {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}
        return {**kept, "joint": unlabelled(self.joint)}

    @property
    def brings_starts(self) -> bool:
        """Whether ``init`` says what all starts are, so that their number is not ``starts``."""
        init = self.options.init
        return init == "identity" if init is None or isinstance(init, str) else True

    def job(self, problem: MarkovLagrangian, starts: Array, record: bool, budget: Budget) -> Job:
        """What a solver of this sweep is asked for at one of its parameters."""
        allowed = budget.part(iterations=self.options.max_iter)
        return Job(self.support, problem, starts, self.options.tol, self.cap, record, allowed)

    def encoders(self, index: int, first: int = 0, count: int | None = None) -> Array:
        """Where so many starts of a parameter begin, counted from ``first``: (count, |Z|, |X|) on the letters of positive mass."""
        options, init = self.options, self.options.init
        count = options.starts - first if count is None else count
        if self.brings_starts:
            return make_starts(self.joint, options.clusters, 1, self._seed(index, 0), init)[first : first + count]
        # Spawning goes on from the number of children, so that start i is made without those before it.
        kind = "random" if first > 0 and init in (None, "mixed") else init
        return make_starts(self.joint, options.clusters, count, self._seed(index, first), kind)

    def _seed(self, index: int, spawned: int) -> np.random.SeedSequence:
        seed = self.seed
        return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, index), n_children_spawned=spawned)

    @cached_property
    def runs_of(self) -> tuple[int, ...]:
        """How many runs each solver makes at a parameter."""
        starts = len(self.encoders(0)) if self.brings_starts else self.options.starts
        return tuple(1 if isinstance(solver, PathSolver) or solver.deterministic else starts for solver in self.solvers)

    @cached_property
    def cluster_caps(self) -> tuple[int | None, ...]:
        """The cap on |Z| that each solver's runs are under; None if there is none."""
        start = self.encoders(0, 0, 1)
        return tuple(cluster_cap(solver, self.cap, start) for solver in self.solvers)

    @property
    def runs_per_parameter(self) -> int:
        """How many runs there are at a parameter, of all solvers."""
        return sum(self.runs_of)

    def units(self, indices: Sequence[int]) -> list[Unit]:
        """All units at some parameters, which are neighbours in the order given."""
        found: list[Unit] = []
        for number, solver in enumerate(self.solvers):
            if isinstance(solver, PathSolver):
                length = solver.segment or len(indices)
                found += [Unit(number, 0, tuple(indices[at : at + length])) for at in range(0, len(indices), length)]
            else:
                starts = range(self.runs_of[number])
                found += [Unit(number, start, (index,)) for index in indices for start in starts]
        return found

    def described(self) -> dict[str, Any]:
        """The plan as JSON values: what two sweeps must share to be the same one."""
        options, init = self.options, self.options.init
        return {
            "joint_sha256": self.joint.fingerprint,
            "shape": list(self.joint.shape),
            **_solver_options(self.solvers[0]),
            **({} if len(self.solvers) == 1 else {"certifier": _solver_options(self.solvers[1])}),
            "certify_nats": self.gap,
            "seed": to_json(self.seed.entropy),
            "spawn_key": to_json(self.seed.spawn_key),
            "starts": options.starts,
            "clusters": self.encoders(0, 0, 1).shape[1],
            "cluster_caps": list(self.cluster_caps),
            "init": KINDS[0] if init is None else init if isinstance(init, str) else _digest(init),
            "tol": options.tol,
            "max_iter": options.max_iter,
        }


class ParameterGrid:
    """The parameters by index, their problems, and what refinement adds to them."""

    def __init__(self, family: ProblemFamily, values: Sequence[float], points: int | None) -> None:
        self.family, self.points = family, points
        self.values: list[float] = []
        self.problems: dict[int, MarkovLagrangian] = {}
        self.lines: dict[int, tuple[tuple[object, ...], Array]] = {}
        """Which family each problem belongs to, and its `weights_of`, as far as somebody has asked."""
        self.given = self.add(values)

    def add(self, values: Sequence[float]) -> list[int]:
        """The indices of further parameters."""
        indices = list(range(len(self.values), len(self.values) + len(values)))
        self.values += [float(value) for value in values]
        self.problems |= {index: self.family(self.values[index]) for index in indices}
        return indices

    def better_elsewhere(self, index: int, best: Sequence[RunRecord], runs: list[RunRecord]) -> list[RunRecord]:
        """Of a parameter's runs, those that are better than its ``best`` at another one: the lowest there (`Frontier.best_answers`).

        All of them as long as the parameter is one that refinement has inserted in an earlier call, and not yet in this one.
        """
        if index not in self.problems:
            return runs
        numbers = numbers_of([
            LazySolution.of(None, problem=self.problems[index], loss=one.loss, ixz=one.ixz, iyz=one.iyz, clusters=0)
            for one in (*best, *runs)
        ])  # fmt: skip
        new = {at: one for at, one in self.problems.items() if at not in self.lines}
        self.lines |= {at: (siblings(one).key, weights_of(one)) for at, one in new.items()}
        family = self.lines[index][0]
        losses = losses_at(numbers, np.array([weights for key, weights in self.lines.values() if key == family]))
        lower = losses.min(axis=0) < losses[: len(best)].min(axis=0) - TIE
        return [runs[at - len(best)] for at in np.unique(losses.argmin(axis=0)[lower])]

    @property
    def total(self) -> int:
        """How many parameters there will be."""
        return len(self.values) if self.points is None else self.points

    def refined(self, best: Callable[[int], RunRecord], bounds: Mapping[int, float], gap: float | None) -> list[int]:
        """The indices of the next round, now that all others have a ``best`` run; none if there is nothing left to insert.

        Where every parameter of a bottleneck or a funnel has a proven bound, points go where the curve is least well enclosed: ``gap`` is
        what the proofs were asked for, and what they leave open themselves.
        """
        if self.points is None:
            return []
        order = sorted(self.problems, key=self.values.__getitem__)
        plane = np.array([(run.ixz, run.iyz) for run in map(best, order)])
        parameters = np.array([self.values[index] for index in order])
        proven = all(index in bounds and has_plane(self.problems[index]) for index in order)
        if gap is None or parameters[0] <= 0.0 or not proven:
            return self.add(inserted(parameters, plane, self.points))
        lines = [supporting_line(self.problems[index], bounds[index]) for index in order]
        if lines[0].slope < 0.0:  # a funnel, whose lines bound -I(Y;Z)
            plane[:, 1] = -plane[:, 1]
        return self.add(enclosing(parameters, plane, lines, self.points, 2.0 * gap))

    def described(self) -> dict[str, Any]:
        """The grid as given, as JSON values."""
        problems = [self.problems[index] for index in self.given]
        return {
            "family": problems[0].family,
            "grid": [self.values[index] for index in self.given],
            "problems": [[problem.parameter, *problem.rho] for problem in problems],
            "points": self.points,
        }


def _solver_options(solver: Solver) -> dict[str, Any]:
    fields: Any = dataclasses.fields(solver) if dataclasses.is_dataclass(solver) else ()
    options = {one.name: getattr(solver, one.name) for one in fields}
    return {"solver": solver.name, "options": to_json(options, nonfinite=repr, arrays=_digest, others=repr)}


def _digest(array: Array) -> str:
    values = np.ascontiguousarray(array, dtype="<f8")
    return f"encoders {'x'.join(map(str, values.shape))}, sha256 {hashlib.sha256(values.data).hexdigest()}"


LONGEST_TRACE = 2000
"""Iterations of a trace that a sweep keeps; of a longer one so many, spaced evenly, and `Trace.iteration` numbers them:
more points than a chart has pixels, in 100 kB."""

BUDGETS: dict[str, Budget] = {}
"""Budgets by name. A worker that is a thread of the sweep's process finds its own here; one elsewhere does not, and ends its chunk."""


@dataclass(frozen=True)
class ChunkResult:
    """The runs of a chunk's units, of all of them unless the worker was stopped; and how long the chunk took."""

    records: tuple[RunRecord, ...]
    seconds: float
    made_by: str = ""
    """The worker's `identity`."""


@functools.cache
def identity() -> str:
    """The version of infoplane in this process, and a digest of its sources: what numbers depend on."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[1]
    for source in sorted(root.rglob("*.py")):
        digest.update(f"{source.relative_to(root).as_posix()}\0".encode() + source.read_bytes())
    return f"{__version__} (sources {digest.hexdigest()[:12]})"


def run_chunk(plan: Plan, chunk: Chunk, budget_name: str) -> ChunkResult:
    """Run the chunk's units in order; those that a stop interrupts are left out."""
    began = time.perf_counter()
    budget = BUDGETS.get(budget_name, Budget())
    records: list[RunRecord] = []
    with one_blas_thread(), usual_floats(), suppress(Stopped):
        for batch in _batches(chunk.units):
            solver = plan.solvers[batch[0].solver]
            if isinstance(solver, PathSolver):
                records += _follow(solver, plan, chunk, batch[0], budget)
            else:
                records += _run_batch(solver, plan, chunk, batch, budget)
    return ChunkResult(tuple(records), time.perf_counter() - began, identity())


def _batches(units: Sequence[Unit]) -> list[list[Unit]]:
    """Neighbouring starts of one solver and parameter together."""
    numbered = groupby(enumerate(units), key=lambda one: (one[1].solver, one[1].indices, one[1].start - one[0]))
    return [[unit for _, unit in group] for _, group in numbered]


def _run_batch(solver: Solver, plan: Plan, chunk: Chunk, units: list[Unit], budget: Budget) -> list[RunRecord]:
    """All runs of the batch; the batch's time is shared out in proportion to iterations."""
    number, first, (index,) = units[0]
    at_once = plan.runs_of[number] == 1
    began = own_clock()
    W = plan.encoders(index, first, len(units))
    runs = _ended(solver, plan.job(chunk.problems[index], W, at_once, budget))
    seconds = own_clock() - began
    iterations = max(sum(run.iterations for run in runs), 1)
    runs = [replace(run, seconds=seconds * run.iterations / iterations) for run in runs]
    records = _recorded(plan, chunk.problems, number, [(index, unit.start) for unit in units], runs)
    best, lowest = [] if at_once else contending(records), chunk.lowest.get((number, index), math.inf)
    worth_recording = {one.start for one in best if one.loss <= lowest + TIE}
    for row, record in enumerate(records):
        if record.start in worth_recording:
            one = np.ascontiguousarray(W[row : row + 1])
            again = _ended(solver, plan.job(chunk.problems[index], one, True, budget))
            # A solver that does not keep the runs of a batch apart ends elsewhere: then this is the trace of another run.
            if len(again) == 1 and again[0].encoder.tobytes() == record.run.encoder.tobytes():
                if (trace := again[0].trace) is not None:  # a recorded run looks once more at where it has ended
                    trace = Trace.from_columns(trace.columns()[: record.run.iterations]).thinned(LONGEST_TRACE)
                records[row] = replace(record, run=replace(record.run, trace=trace))
    return records


def _ended(solver: Solver, job: Job) -> list[Run]:
    """Every run from the job's starts, at its end; `Stopped` if the sweep was stopped before."""
    runs = solver.run(job)
    job.budget.look()
    return job.sound(runs)


def _follow(solver: PathSolver, plan: Plan, chunk: Chunk, unit: Unit, budget: Budget) -> list[RunRecord]:
    """The whole segment or nothing of it; there is one run per parameter, so that each is recorded."""
    problems = [chunk.problems[index] for index in unit.indices]
    first = plan.encoders(unit.indices[0], 0, 1)
    count = solver.useful_starts(plan.support, problems[0], first.shape[1], plan.options.starts)
    W = first if solver.deterministic else plan.encoders(unit.indices[0], 0, None if plan.brings_starts else count)
    job = plan.job(problems[0], W, True, budget)
    found: list[Run] = []
    began = own_clock()
    for problem, run in zip(problems, solver.follow(job, problems), strict=False):
        budget.look()
        ended = own_clock()
        seconds = ended - began if run.seconds is None else run.seconds
        found += [replace(one, seconds=seconds) for one in job.but(problem=problem).sound([run])]
        began = ended
    budget.look()
    return _recorded(plan, chunk.problems, unit.solver, [(index, unit.start) for index in unit.indices], found)


def _recorded(
    plan: Plan, problems: Problems, solver: int, which: Sequence[tuple[int, int]], runs: list[Run]
) -> list[RunRecord]:
    """Runs, by the parameter's index and the start, with their loss and their point on the plane."""
    joint, found = plan.support.joint, list[RunRecord]()
    for encoders in plan.support.lifted([run.encoder for run in runs]):
        entropies = encoder_entropies(joint, encoders)
        for W, h, point in zip(encoders, entropies, plane_points(joint, encoders), strict=True):
            (index, start), run = which[len(found)], runs[len(found)]
            problem = problems[index]
            loss = problem.of_entropies(h) if problem.single_target else problem.values(joint, [W])[0]
            # A solver of the user's need not say its name in every run.
            name = run.found_by or plan.solvers[solver].name
            trace = run.trace and run.trace.thinned(LONGEST_TRACE)
            found.append(RunRecord(index, solver, start, loss, *point, replace(run, found_by=name, trace=trace)))
    return found
