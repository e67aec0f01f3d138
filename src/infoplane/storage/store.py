"""`Store`: the runs of a sweep in one SQLite file. Every finished chunk is on the disk before it counts.

The manifest says what was run; a call that differs in anything that results depend on is refused, with the difference named.
There is one row per run (`RunRecord`), with its numbers; encoders and traces of the best run of each parameter and solver. No pickle:
numbers, JSON, and arrays as bytes.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..errors import StoreError
from ..frontier.frontier import Frontier
from ..information import Array
from ..joint.joint import Joint, Support
from ..problem import MarkovLagrangian
from ..results import Run, Status, Trace, contenders
from .arrays import joint_arrays, joint_meta
from .database import Rows, contents, damage_said, insert, open_for_writing, transaction, write_errors
from .files import path_of
from .reader import KEPT, KEPT_BESIDE, OF_FRONTIER, Key, Manifest, frontier_of, manifest_of

LONGEST_TRACE = 2000
"""Iterations of a trace that a sweep keeps; of a longer one so many, spaced evenly, and `Trace.iteration` numbers them:
more points than a chart has pixels, in 100 kB."""


@dataclass(frozen=True)
class RunRecord:
    """One run of the sweep: which one it is, and how it ended; nats."""

    index: int
    """Of the parameter in the grid."""
    solver: int
    """Number of the solver in the plan."""
    start: int
    loss: float
    ixz: float
    iyz: float
    status: Status
    lower_bound: float | None = None
    """Proven of the parameter's optimum; None if nothing was."""
    seconds: float = 0.0
    run: Run | None = None
    """Encoder, residuals, trace, ...; None once the record serves to compare runs only."""

    @property
    def key(self) -> Key:
        """What no two runs of a sweep share."""
        return self.index, self.solver, self.start

    @property
    def ended(self) -> Run:
        """The run itself, of a record that a worker has just made."""
        assert self.run is not None
        return self.run

    @property
    def trace(self) -> Trace | None:
        """How the run converged; kept only for runs that may be the best."""
        return self.ended.trace

    def without_run(self) -> RunRecord:
        """The numbers alone."""
        return replace(self, run=None)

    def with_trace(self, trace: Trace | None) -> RunRecord:
        """The same run with a trace, thinned to `LONGEST_TRACE` iterations; or with none."""
        kept = None if trace is None else trace.thinned(LONGEST_TRACE)
        return replace(self, run=replace(self.ended, trace=kept))


def contending(records: Sequence[RunRecord]) -> list[RunRecord]:
    """The records of which one is the best, or will be once its status is proven; the best as of now comes last."""
    ordered = sorted(records, key=lambda one: (one.solver, one.start))
    return [ordered[i] for i in contenders([one.loss for one in ordered], [one.status.converged for one in ordered])]


class Store:
    """A sweep on disk. A context manager; inside it this process is the only one that writes."""

    def __init__(
        self, path: str | os.PathLike[str], manifest: Manifest, support: Support, engine: str = "threads"
    ) -> None:
        self.path, self.manifest, self.support, self.engine = path_of("store", path), manifest, support, engine
        self.values: list[float] = []
        """The parameters that the file has, by index."""
        self.records: list[RunRecord] = []
        """The runs that earlier calls have made."""
        self.under_way: dict[int, str] = {}
        """Units of the chunks that were begun, by number."""
        self.outcome = "failed"

    # -- opening and closing -------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            begun_with = _first_rows(self.manifest, self.support.joint)
            self.connection = stack.enter_context(open_for_writing(self.path, begun_with))
            with damage_said(self.path):
                found = contents(self.connection, ("manifest", "parameters", "runs", "sessions", "chunks"))
                _refuse_difference(self.path, manifest_of(found), self.manifest)
                self.values = [row[1] for row in found["parameters"]]
                self.records = _records(found)
                self.session, self.chunk = (
                    max((row[0] for row in found[table]), default=0) for table in ("sessions", "chunks")
                )
            with write_errors(self.path), transaction(self.connection):
                self.session, self.began = self.session + 1, time.time()
                self._say("sessions", self.session, self.began, None, None, os.getpid(), self.engine)
            self._open = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The runs are safe by now: a disk that is full shall not hide what ended the sweep.
        with self._open, suppress(sqlite3.Error), transaction(self.connection):
            self._say("sessions", self.session, self.began, time.time(), self.outcome, os.getpid(), self.engine)

    def _say(self, table: str, *row: Any) -> None:
        """A session, or a chunk, as it is now."""
        insert(self.connection, table, [row], instead=True)

    # -- what a sweep writes -------------------------------------------------------------------------------------------

    def begin(self, units: Sequence[Any], values: Sequence[float], problems: Mapping[int, MarkovLagrangian]) -> int:
        """Note that units of work go to a worker, and the parameters by now; the number that the chunk gets."""
        with write_errors(self.path, resumable=True), transaction(self.connection):
            self._add_parameters(values, problems)
            number = self.chunk + 1
            self.under_way[number] = json.dumps(units, separators=(",", ":"))
            self._say("chunks", number, self.session, self.under_way[number], None, None)
        self.chunk = number
        return number

    def _add_parameters(self, values: Sequence[float], problems: Mapping[int, MarkovLagrangian]) -> None:
        """Add those that refinement has inserted; those of earlier calls must be the same again."""
        known, now = self.values, list(values)
        if now[: len(known)] != known[: len(now)]:
            raise StoreError(f"{self.path} was refined at other parameters than this call finds; begin another store.")
        new = [(index, now[index], problems[index]) for index in range(len(known), len(now))]
        insert(
            self.connection,
            "parameters",
            [(index, value, problem.family, problem.parameter, *problem.rho) for index, value, problem in new],
        )
        self.values = known if len(known) > len(now) else now

    def record(self, number: int, seconds: float, records: Sequence[RunRecord], kept: set[Key]) -> None:
        """The runs of a chunk; once this returns, they survive whatever comes.

        ``kept`` are the runs, at the parameters of these, that are the best of their solver, or may be once others have ended: encoders
        and traces of those are kept, and no others.
        """
        with write_errors(self.path, resumable=True), transaction(self.connection):
            self._say("chunks", number, self.session, self.under_way[number], time.time(), seconds)
            insert(self.connection, "runs", [_run_row(one, number) for one in records])
            for table in KEPT:
                for index in {one.index for one in records}:
                    question = f"SELECT place, solver, start FROM {table} WHERE place = ?"
                    beaten = set(self.connection.execute(question, (index,)).fetchall()) - kept
                    command = f"DELETE FROM {table} WHERE place = ? AND solver = ? AND start = ?"
                    self.connection.executemany(command, beaten)
            best = [(one.key, one.ended) for one in records if one.key in kept]
            lift = self.support.lift
            insert(self.connection, "encoders", [(*key, _bytes(lift(run.encoder))) for key, run in best])
            insert(
                self.connection, "traces", [_trace_row(key, run.trace) for key, run in best if run.trace is not None]
            )
            proofs = [(one.key, one.ended.multipliers) for one in records]
            rows = [(*key, _bytes(self.support.spread(lam))) for key, lam in proofs if lam is not None]
            insert(self.connection, "multipliers", rows)
        del self.under_way[number]

    def frontier(self, complete: bool) -> Frontier:
        """All runs on the disk of the parameters that are finished; their encoders and traces are read when they are asked for."""
        self.outcome = "complete" if complete else "interrupted"
        with damage_said(self.path):
            return frontier_of(contents(self.connection, OF_FRONTIER, KEPT), self.path, self.support.joint, complete)


# -- rows --------------------------------------------------------------------------------------------------------------


def _run_row(one: RunRecord, chunk: int) -> tuple[Any, ...]:
    run = one.ended
    return (
        *(*one.key, one.loss, one.ixz, one.iyz),
        *(len(run.encoder), run.status.name, run.found_by, run.iterations, one.seconds, *run.residuals),
        *(run.died, run.lower_bound, chunk),
    )


def _bytes(array: Array) -> bytes:
    return array.astype("<f8").tobytes()


def _trace_row(key: Key, trace: Trace) -> tuple[Any, ...]:
    """A trace is kept column by column, compressed."""
    return (*key, len(trace), zlib.compress(_bytes(trace.columns().T)))


def _records(found: Rows) -> list[RunRecord]:
    """The numbers by which the runs of a store are compared and counted."""
    return [
        RunRecord(index, solver, start, loss, ixz, iyz, Status[status], rest[-2])
        for index, solver, start, loss, ixz, iyz, _, status, *rest in found["runs"]
    ]


def _first_rows(manifest: Mapping[str, Any], joint: Joint) -> dict[str, list[tuple[Any, ...]]]:
    """What a new store begins with."""
    everything = {**manifest, "joint": joint_meta(joint)}
    arrays = {name: array.astype(array.dtype.newbyteorder("<")) for name, array in joint_arrays(joint).items()}
    return {
        "manifest": [(key, json.dumps(value)) for key, value in everything.items()],
        "arrays": [(name, array.dtype.str, array.tobytes()) for name, array in arrays.items()],
    }


DERIVED = ("rho", "shape", "runs_a_place", "joint")
"""Keys whose values follow from others, and need no sentence of their own if one of those differs."""


def _refuse_difference(path: Path, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    """A StoreError that names what differs, if the store was made by another call."""
    keys = [
        key for key in dict.fromkeys((*ours, *theirs)) if key not in KEPT_BESIDE and theirs.get(key) != ours.get(key)
    ]
    named = [key for key in keys if key not in DERIVED] or keys
    if named:
        sentences = "; ".join(_difference(key, theirs.get(key), ours.get(key)) for key in named)
        raise StoreError(
            f"{path} belongs to another sweep: {sentences}. Repeat the call that made it, or name another file."
        )


def _difference(name: str, there: Any, here: Any) -> str:
    """The first thing in which two values differ."""
    if isinstance(there, dict) and isinstance(here, dict):
        key = next(key for key in dict.fromkeys((*there, *here)) if there.get(key) != here.get(key))
        return _difference(f"{name}.{key}", there.get(key), here.get(key))
    if isinstance(there, list) and isinstance(here, list):
        if len(there) != len(here):
            return f"{name} has {len(there)} values there, {len(here)} here"
        at = next(at for at in range(len(there)) if there[at] != here[at])
        return _difference(f"{name}[{at}]", there[at], here[at])
    return f"{name} is {json.dumps(there)} there, {json.dumps(here)} here"
