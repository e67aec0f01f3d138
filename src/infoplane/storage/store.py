"""`Store`: the runs of a sweep in one SQLite file. Every finished chunk is on the disk before it counts.

The manifest says what was run; a call that differs in anything that results depend on is refused, with the difference named.
There is one row per run, with its numbers; encoders and traces of the best run of each parameter and solver. No pickle: numbers, JSON, and
arrays as bytes.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, Self

from ..errors import StoreError
from ..frontier.frontier import Frontier
from ..joint.joint import Support
from ..problem import MarkovLagrangian
from .database import (
    damage_said,
    insert,
    open_for_writing,
    rows_of,
    transaction,
    write_errors,
)
from .files import path_of
from .record import Key, RunRecord
from .rows import (
    Manifest,
    array_bytes,
    frontier_of,
    manifest_of,
    records_of,
    refuse_difference,
    run_row,
    trace_bytes,
    write_manifest,
)


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
            self.connection = stack.enter_context(
                open_for_writing(self.path, lambda new: write_manifest(new, self.manifest, self.support.joint))
            )
            with damage_said(self.path):
                refuse_difference(self.path, manifest_of(self.connection), self.manifest)
                self.values = [row[1] for row in rows_of(self.connection, "parameters")]
                self.records = records_of(self.connection)
                self.session, self.chunk = self._last("sessions"), self._last("chunks")
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

    def _last(self, table: str) -> int:
        """The largest key of a table; all its rows are looked at, as their checksums may be wrong."""
        return max((row[0] for row in rows_of(self.connection, table)), default=0)

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

    def record(
        self, number: int, seconds: float, records: Sequence[RunRecord], kept: Callable[[int], set[Key]]
    ) -> None:
        """The runs of a chunk; once this returns, they survive whatever comes.

        ``kept`` says which runs at a parameter are the best of their solver, or may be once others have ended: encoders and traces of
        those are kept, and no others.
        """
        with write_errors(self.path, resumable=True), transaction(self.connection):
            self._say("chunks", number, self.session, self.under_way[number], time.time(), seconds)
            insert(self.connection, "runs", [run_row(one, number) for one in records])
            self._keep_best(records, kept)
            proofs = [(one.key, one.ended.multipliers) for one in records]
            rows = [(*key, array_bytes(self.support.spread(lam))) for key, lam in proofs if lam is not None]
            insert(self.connection, "multipliers", rows)
        del self.under_way[number]

    def _keep_best(self, records: Sequence[RunRecord], kept: Callable[[int], set[Key]]) -> None:
        for index in {one.index for one in records}:
            best = kept(index)
            for table in ("encoders", "traces"):
                question = f"SELECT place, solver, start FROM {table} WHERE place = ?"
                beaten = set(self.connection.execute(question, (index,)).fetchall()) - best
                command = f"DELETE FROM {table} WHERE place = ? AND solver = ? AND start = ?"
                self.connection.executemany(command, beaten)
            for one in records:
                if one.key in best:
                    self._keep(one)

    def _keep(self, one: RunRecord) -> None:
        W = self.support.lift(one.ended.encoder)
        insert(self.connection, "encoders", [(*one.key, array_bytes(W))])
        if one.trace is not None:
            insert(self.connection, "traces", [(*one.key, len(one.trace), trace_bytes(one.trace))])

    def frontier(self, complete: bool) -> Frontier:
        """All runs on the disk of the parameters that are finished; their encoders and traces are read when they are asked for."""
        self.outcome = "complete" if complete else "interrupted"
        with damage_said(self.path):
            return frontier_of(self.connection, self.path, self.support.joint, complete)
