"""What a worker does with a chunk: a few units, one after another, in one call. Module-level and picklable, so that any executor can."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..information import encoder_entropies, plane_points
from ..solution import Run
from ..solve import block_length
from ..solvers.base import PathSolver, Solver, is_path
from ..threads import one_blas_thread
from .plan import Chunk, Plan, Problems, Unit

STOPS: dict[str, threading.Event] = {}
"""Bells by name. Who rings lives in this process, and so do workers that are threads; others never hear, and end their chunk."""


@dataclass(frozen=True)
class Result:
    """One run with the numbers that a sweep needs of it; nats."""

    solver: int
    place: int
    start: int
    run: Run
    seconds: float
    loss: float
    ixz: float
    iyz: float


@dataclass(frozen=True)
class Done:
    """What became of a chunk: the results of its units, all of them unless the bell rang."""

    results: tuple[Result, ...]
    seconds: float


def work(plan: Plan, chunk: Chunk, bell: str) -> Done:
    """The results of the chunk's units, in order; those that the bell interrupts are left out."""
    began = time.perf_counter()
    stop = STOPS.get(bell, threading.Event())
    results: list[Result] = []
    with one_blas_thread():
        for batch in _batches(chunk.units):
            solver = plan.solvers[batch[0].solver]
            if is_path(solver):
                results += _follow(solver, plan, chunk.problems, batch[0], stop)
            else:
                results += _batch(solver, plan, chunk.problems, batch, stop)
            if stop.is_set():
                break
    return Done(tuple(results), time.perf_counter() - began)


def _batches(units: Sequence[Unit]) -> list[list[Unit]]:
    """Neighbouring starts of one solver and place together."""
    numbered = groupby(enumerate(units), key=lambda one: (one[1].solver, one[1].places, one[1].start - one[0]))
    return [[unit for _, unit in group] for _, group in numbered]


def _batch(
    solver: Solver, plan: Plan, problems: Problems, units: list[Unit], stop: threading.Event
) -> Iterator[Result]:
    """All or none of the batch; a share of its time by iterations is each run's own."""
    place = units[0].places[0]
    began = time.perf_counter()
    W = plan.encoders(place, units[0].start, len(units))
    batch = solver.begin(plan.support, [problems[place]] * len(units), W, plan.stopping, False)
    while batch.advance(block_length(W)):
        if stop.is_set():
            return
    runs = batch.runs()
    seconds = time.perf_counter() - began
    iterations = max(sum(run.iterations for run in runs), 1)
    shares = [seconds * run.iterations / iterations for run in runs]
    yield from _results(plan, problems, units, [place] * len(units), runs, shares)


def _follow(solver: PathSolver, plan: Plan, problems: Problems, unit: Unit, stop: threading.Event) -> Iterator[Result]:
    """The whole segment or nothing of it."""
    W = plan.encoders(unit.places[0], 0, 1 if solver.deterministic else None)
    path = solver.follow(plan.support, [problems[place] for place in unit.places], W, plan.stopping)
    found: list[Run] = []
    seconds: list[float] = []
    began = time.perf_counter()
    for run in path:
        if run is not None:
            ended = time.perf_counter()
            found.append(run)
            seconds.append(ended - began)
            began = ended
        if len(found) == len(unit.places):
            yield from _results(plan, problems, [unit] * len(found), unit.places, found, seconds)
            return
        if stop.is_set():
            return


def _results(
    plan: Plan, problems: Problems, units: Sequence[Unit], places: Sequence[int], runs: list[Run], seconds: list[float]
) -> Iterator[Result]:
    """Runs with their numbers."""
    number, joint = 0, plan.support.joint
    for encoders in plan.support.lifted([run.encoder for run in runs]):
        entropies = encoder_entropies(joint, encoders)
        for h, point in zip(entropies, plane_points(joint, encoders), strict=True):
            unit, place = units[number], places[number]
            loss = problems[place].of_entropies(h)
            yield Result(unit.solver, place, unit.start, runs[number], seconds[number], loss, point.ixz, point.iyz)
            number += 1
