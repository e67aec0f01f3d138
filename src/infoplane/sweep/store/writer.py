"""`Store`: a sweep in one SQLite file. Every finished chunk is on the disk before it counts; the same call goes on where it was.

The manifest says what was run; a call that differs in anything that results depend on is refused, with the difference named.
There is one row per run, with its numbers; encoders and traces of the best run of each parameter and solver. No pickle: numbers, JSON, and
arrays as bytes.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ...files import path_of
from ...frontier.archive import joint_arrays, joint_meta
from ...frontier.frontier import Frontier
from ...status import Status
from ...version import __version__
from ..ledger import Tally, finished_indices, provenance
from ..plan import ParameterGrid, Plan, Unit
from ..record import RunRecord
from ..worker import ChunkResult
from .database import (
    BOOKKEEPING,
    StoreError,
    damage_refused,
    insert,
    open_for_writing,
    rows_of,
    sqlite_errors,
    transaction,
)
from .rows import Reading, array_bytes, manifest_of, run_row, runs_of, trace_bytes


class Store:
    """The ledger of a sweep, on disk. A context manager; inside it this process is the only one that writes."""

    def __init__(self, path: str | os.PathLike[str], plan: Plan, grid: ParameterGrid, engine: str = "threads") -> None:
        self.path, self.plan, self.grid, self.engine = path_of("store", path), plan, grid, engine
        self.manifest = {
            "version": __version__,
            **grid.described(),
            **plan.described(),
            "runs_a_place": plan.runs_per_parameter,
        }
        self.tally = Tally()
        self.done: set[tuple[int, int, int]] = set()
        self.values: list[float] = []
        """The parameters that the file has, by index."""
        self.under_way: dict[int, str] = {}
        """Units of the chunks that were begun, by number."""
        self.outcome = "failed"

    # -- opening and closing -------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.connection = stack.enter_context(open_for_writing(self.path, self._fill))
            with sqlite_errors(self.path, "read"), damage_refused(self.path):
                _refuse_difference(self.path, manifest_of(self.connection), self.manifest)
                self._load()
            with sqlite_errors(self.path, "written"), transaction(self.connection):
                self.session, self.began = self._next("sessions", "session"), time.time()
                self._say("sessions", self.session, self.began, None, None, os.getpid(), self.engine)
            self._open = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The runs are safe by now: a disk that is full shall not hide what ended the sweep.
        with self._open, suppress(sqlite3.Error), transaction(self.connection):
            self._say("sessions", self.session, self.began, time.time(), self.outcome, os.getpid(), self.engine)

    def _fill(self, connection: sqlite3.Connection) -> None:
        """A new store: what is to be run, on which joint."""
        joint = self.plan.joint
        manifest = {**self.manifest, "joint": joint_meta(joint), "asked": {"clusters": self.plan.clusters}}
        insert(connection, "manifest", [(key, json.dumps(value)) for key, value in manifest.items()])
        for name, array in joint_arrays(joint).items():
            portable = array.astype(array.dtype.newbyteorder("<"))
            insert(connection, "arrays", [(name, portable.dtype.str, portable.tobytes())])

    def _load(self) -> None:
        """What earlier calls have done; their bookkeeping is only checked."""
        for table in BOOKKEEPING:
            for _ in rows_of(self.connection, table):
                pass
        self.values = [row[1] for row in rows_of(self.connection, "parameters", "ORDER BY place")]
        for index, solver, start, loss, ixz, iyz, _, status, *rest in rows_of(self.connection, "runs"):
            record = RunRecord(index, solver, start, loss, ixz, iyz, Status[status], rest[-2])
            self.done.add(record.key)
            self.tally.add(record)

    # -- bookkeeping ---------------------------------------------------------------------------------------------------

    def _next(self, table: str, key: str) -> int:
        return int(self.connection.execute(f"SELECT coalesce(max({key}), 0) + 1 FROM {table}").fetchone()[0])

    def _say(self, table: str, *row: Any) -> None:
        """A session, or a chunk, as it is now."""
        insert(self.connection, table, [row], instead=True)

    # -- the ledger ----------------------------------------------------------------------------------------------------

    def has(self, unit: Unit) -> bool:
        """Whether the runs of a unit are there."""
        return (unit.indices[0], unit.solver, unit.start) in self.done

    def begin(self, units: Sequence[Unit]) -> int:
        """A chunk goes to a worker: noted, so that `store_status` can say what is under way."""
        with sqlite_errors(self.path, "written", resumable=True), transaction(self.connection):
            self._add_parameters()
            number = self._next("chunks", "chunk")
            self.under_way[number] = json.dumps(units, separators=(",", ":"))
            self._say("chunks", number, self.session, self.under_way[number], None, None)
            return number

    def _add_parameters(self) -> None:
        """Add the parameters that refinement has inserted; those of earlier calls must be the same again."""
        known, now = self.values, self.grid.values
        if now[: len(known)] != known[: len(now)]:
            raise StoreError(f"{self.path} was refined at other parameters than this call finds; begin another store.")
        new = [(index, now[index], self.grid.problems[index]) for index in range(len(known), len(now))]
        insert(
            self.connection,
            "parameters",
            [(index, value, problem.family, problem.parameter, *problem.rho) for index, value, problem in new],
        )
        self.values = known if len(known) > len(now) else list(now)

    def record(self, number: int, result: ChunkResult) -> None:
        """The chunk's runs; once this returns, they survive whatever comes."""
        for one in result.records:
            self.tally.add(one)
            self.done.add(one.key)
        with sqlite_errors(self.path, "written", resumable=True), transaction(self.connection):
            self._say("chunks", number, self.session, self.under_way[number], time.time(), result.seconds)
            insert(self.connection, "runs", [run_row(one, number) for one in result.records])
            self._keep_best(result.records)
            proofs = [(one.key, one.ended.multipliers) for one in result.records]
            spread = self.plan.support.spread
            insert(
                self.connection,
                "multipliers",
                [(*key, array_bytes(spread(lam))) for key, lam in proofs if lam is not None],
            )
        del self.under_way[number]

    def _keep_best(self, records: Sequence[RunRecord]) -> None:
        """Encoders and traces of runs that are the best of their solver and parameter, or may be once others have ended; no others."""
        for index in {one.index for one in records}:
            kept = self.tally.kept(index)
            for table in ("encoders", "traces"):
                question = f"SELECT place, solver, start FROM {table} WHERE place = ?"
                beaten = set(self.connection.execute(question, (index,)).fetchall()) - kept
                command = f"DELETE FROM {table} WHERE place = ? AND solver = ? AND start = ?"
                self.connection.executemany(command, beaten)
            for one in records:
                if one.key in kept:
                    self._keep(one)

    def _keep(self, one: RunRecord) -> None:
        W = self.plan.support.lift(one.ended.encoder)
        insert(self.connection, "encoders", [(*one.key, array_bytes(W))])
        if one.trace is not None:
            insert(self.connection, "traces", [(*one.key, len(one.trace), trace_bytes(one.trace))])

    def frontier(self, complete: bool) -> Frontier:
        """All runs of the parameters that are finished; their encoders and traces are read when they are asked for."""
        self.outcome = "complete" if complete else "interrupted"
        with sqlite_errors(self.path, "read"), damage_refused(self.path):
            # By the runs on the disk: Ctrl-C may have undone the transaction of a chunk that the tally knows.
            runs_at = dict(self.connection.execute("SELECT place, count(*) FROM runs GROUP BY place"))
            runs = runs_of(
                self.connection,
                finished_indices(self.plan, self.grid, runs_at),
                lambda index: {
                    "joint": self.plan.joint,
                    "problem": self.grid.problems[index],
                    "parameter": self.grid.values[index],
                },
                self.plan.gap,
                self.plan.cluster_caps,
                Reading(self.path, self.plan.joint),
            )
        return Frontier(self.plan.joint, runs, complete=complete, provenance=provenance(self.plan, self.grid))


# -- the manifest ------------------------------------------------------------------------------------------------------


DERIVED = ("rho", "shape", "runs_a_place", "joint")
"""Keys whose values follow from others, and need no sentence of their own if one of those differs."""


KEPT_BESIDE = ("joint", "asked")
"""Keys that do not say which sweep it is: the labels of the joint, and options as they were given, for `resume`."""


def _refuse_difference(path: Path, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
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
