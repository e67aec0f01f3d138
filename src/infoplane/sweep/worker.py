"""What a worker does with a chunk: a few units, one after another, in one call. Module-level and picklable, so that any executor can.

Traces are kept of the runs that may turn out to be the best of their parameter and solver. To record every iteration of every run would
cost a quarter of the sweep's time and more, so a batch runs without, and its best run once more, from the same start and to the same end,
with a trace, unless a better one is known already. The time of that is part of no run's seconds, nor is that of compiling kernels or
reading them from disk, which the first would pay for all. Where a solver makes only one run per parameter, that one is recorded at once.
"""

from __future__ import annotations

import functools
import hashlib
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np

from ..information import encoder_entropies, plane_points
from ..runtime.budget import Budget, Stopped
from ..runtime.compiling import own_clock
from ..runtime.threads import one_blas_thread, usual_floats
from ..solution import TIE, Run, Trace
from ..solvers.base import PathSolver, Solver, is_path
from ..solvers.job import Job
from ..storage.store import RunRecord, contending
from ..version import __version__
from .plan import Chunk, Plan, Problems, Unit

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
            if is_path(solver):
                records += _follow(solver, plan, chunk.problems, batch[0], budget)
            else:
                lowest = chunk.lowest.get((batch[0].solver, batch[0].indices[0]), math.inf)
                records += _run_batch(solver, plan, chunk.problems, batch, lowest, budget)
    return ChunkResult(tuple(records), time.perf_counter() - began, identity())


def _batches(units: Sequence[Unit]) -> list[list[Unit]]:
    """Neighbouring starts of one solver and parameter together."""
    numbered = groupby(enumerate(units), key=lambda one: (one[1].solver, one[1].indices, one[1].start - one[0]))
    return [[unit for _, unit in group] for _, group in numbered]


def _run_batch(
    solver: Solver, plan: Plan, problems: Problems, units: list[Unit], lowest: float, budget: Budget
) -> list[RunRecord]:
    """All runs of the batch; the batch's time is shared out in proportion to iterations.

    ``lowest`` is the lowest loss that this solver is known to have reached at the parameter; only runs that reach it get a trace.
    """
    index, count = units[0].indices[0], len(units)
    at_once = plan.runs_of[units[0].solver] == 1
    began = own_clock()
    W = plan.encoders(index, units[0].start, count)
    runs = _ended(solver, plan.job(problems[index], W, at_once, budget))
    seconds = own_clock() - began
    iterations = max(sum(run.iterations for run in runs), 1)
    shares = [seconds * run.iterations / iterations for run in runs]
    records = list(_records(plan, problems, units, [index] * count, runs, shares))
    if at_once:
        return [record.with_trace(record.trace) for record in records]
    worth_recording = {one.start for one in contending(records) if one.loss <= lowest + TIE}
    for place, record in enumerate(records):
        if record.start in worth_recording:
            one = np.ascontiguousarray(W[place : place + 1])
            again = _ended(solver, plan.job(problems[index], one, True, budget))
            # A solver that does not keep the runs of a batch apart ends elsewhere: then this is the trace of another run.
            if len(again) == 1 and again[0].encoder.tobytes() == runs[place].encoder.tobytes():
                records[place] = record.with_trace(_first(again[0].trace, runs[place].iterations))
    return records


def _first(trace: Trace | None, iterations: int) -> Trace | None:
    """So many iterations of a trace: a recorded run may look once more at where it has ended."""
    return None if trace is None else Trace.from_columns(trace.columns()[:iterations])


def _ended(solver: Solver, job: Job) -> list[Run]:
    """Every run from the job's starts, at its end; `Stopped` if the sweep was stopped before."""
    runs = solver.run(job)
    job.budget.look()
    return job.sound(runs)


def _follow(solver: PathSolver, plan: Plan, problems: Problems, unit: Unit, budget: Budget) -> Iterator[RunRecord]:
    """The whole segment or nothing of it; there is one run per parameter, so that each is recorded."""
    of_unit = [problems[index] for index in unit.indices]
    first = plan.encoders(unit.indices[0], 0, 1)
    count = solver.useful_starts(plan.support, of_unit[0], first.shape[1], plan.options.starts)
    W = first if solver.deterministic else plan.encoders(unit.indices[0], 0, None if plan.brings_starts else count)
    job = plan.job(of_unit[0], W, True, budget)
    found: list[Run] = []
    seconds: list[float] = []
    began = own_clock()
    for problem, run in zip(of_unit, solver.follow(job, of_unit), strict=False):
        budget.look()
        ended = own_clock()
        found += job.but(problem=problem).sound([run])
        seconds.append(ended - began if run.seconds is None else run.seconds)
        began = ended
    budget.look()
    for record in _records(plan, problems, [unit] * len(found), unit.indices, found, seconds):
        yield record.with_trace(record.trace)


def _records(
    plan: Plan,
    problems: Problems,
    units: Sequence[Unit],
    indices: Sequence[int],
    runs: list[Run],
    seconds: list[float],
) -> Iterator[RunRecord]:
    """Runs with their loss and their point on the plane."""
    number, joint = 0, plan.support.joint
    for encoders in plan.support.lifted([run.encoder for run in runs]):
        entropies = encoder_entropies(joint, encoders)
        for W, h, point in zip(encoders, entropies, plane_points(joint, encoders), strict=True):
            unit, index, run = units[number], indices[number], runs[number]
            if not run.found_by:  # a solver of the user's need not say its name in every run
                run = replace(run, found_by=plan.solvers[unit.solver].name)
            problem = problems[index]
            loss = problem.of_entropies(h) if problem.single_target else problem.values(joint, [W])[0]
            yield RunRecord(
                index,
                unit.solver,
                unit.start,
                loss,
                point.ixz,
                point.iyz,
                run.status,
                run.lower_bound,
                seconds[number],
                run,
            )
            number += 1
