"""`Store`: a sweep in one SQLite file. Every finished chunk is on the disk before it counts; the same call goes on where it was.

The manifest says what was run; a call that differs in anything that results depend on is refused, with the difference named.
A row a run, with its numbers; encoders of the best run of each parameter and solver. No pickle: numbers, JSON, and arrays as bytes.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from ...frontier.archive import joint_arrays, joint_words
from ...frontier.frontier import Frontier
from ...frontier.lazy_solution import StoredRun
from ...information import Array
from ...solution import Solution
from ...status import Residuals, Status
from ...version import __version__
from ..ledger import Standing, Tally, places_done, provenance, standing
from ..plan import Grid, Plan, Unit
from ..worker import Done, Result
from .database import StoreError, making_sense, read, transaction, trouble, writing

RUN = (
    "place, solver, start, loss, ixz, iyz, clusters, status, found_by, iterations, seconds, primal, dual, stationarity, died, "
    "lower_bound, chunk"
)


class Store:
    """The book of a sweep, on disk: see `book.Book`. A context; inside it this process is the one that writes."""

    def __init__(self, path: str | os.PathLike[str], plan: Plan, grid: Grid, engine: str = "threads") -> None:
        self.path, self.plan, self.grid, self.engine = Path(path), plan, grid, engine
        self.manifest = {
            "version": __version__,
            **grid.described(),
            **plan.described(),
            "runs_a_place": plan.runs_a_place,
        }
        self.tally = Tally()
        self.done: set[tuple[int, int, int]] = set()
        self.values: list[float] = []
        """The parameters that the file has, by place."""
        self.outcome = "failed"

    # -- opening and closing -------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.connection = stack.enter_context(writing(self.path, self._fill))
            with trouble(self.path, "read"), making_sense(self.path):
                _refuse_difference(self.path, manifest_of(self.connection), self.manifest)
                self._load()
            with trouble(self.path, "written"), transaction(self.connection):
                self.session = self.connection.execute(
                    "INSERT INTO sessions (began, pid, engine) VALUES (?, ?, ?)",
                    (time.time(), os.getpid(), self.engine),
                ).lastrowid
            self._open = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The runs are safe by now: a disk that is full shall not hide what ended the sweep.
        with self._open, suppress(sqlite3.Error), transaction(self.connection):
            self.connection.execute(
                "UPDATE sessions SET ended = ?, outcome = ? WHERE session = ?",
                (time.time(), self.outcome, self.session),
            )

    def _fill(self, connection: sqlite3.Connection) -> None:
        """A new store: what is to be run, on which joint."""
        joint = self.plan.joint
        words = {**self.manifest, "joint": joint_words(joint)}
        rows = [(key, json.dumps(value)) for key, value in words.items()]
        connection.executemany("INSERT INTO manifest (key, value) VALUES (?, ?)", rows)
        for name, array in joint_arrays(joint).items():
            portable = array.astype(array.dtype.newbyteorder("<"))
            connection.execute(
                "INSERT INTO arrays (name, dtype, data) VALUES (?, ?, ?)",
                (name, portable.dtype.str, portable.tobytes()),
            )

    def _load(self) -> None:
        """What earlier calls have done."""
        self.values = [value for (value,) in self.connection.execute("SELECT value FROM parameters ORDER BY place")]
        columns = "place, solver, start, loss, ixz, iyz, status"
        for place, solver, start, loss, ixz, iyz, status in self.connection.execute(f"SELECT {columns} FROM runs"):
            self.done.add((place, solver, start))
            self.tally.add(place, Standing(loss, solver, start, ixz, iyz, Status[status].converged))

    # -- the book ------------------------------------------------------------------------------------------------------

    def has(self, unit: Unit) -> bool:
        """Whether the results of a unit are there."""
        return (unit.places[0], unit.solver, unit.start) in self.done

    def begin(self, units: Sequence[Unit]) -> int:
        """A chunk goes to a worker: noted, so that it can be told what was done and what was under way."""
        with trouble(self.path, "written", resumable=True), transaction(self.connection):
            self._add_places()
            row = self.connection.execute(
                "INSERT INTO chunks (session, units) VALUES (?, ?)",
                (self.session, json.dumps(units, separators=(",", ":"))),
            )
            return int(row.lastrowid or 0)

    def _add_places(self) -> None:
        """Parameters that refinement has added; what it added in earlier calls, it must have found again."""
        known, now = self.values, self.grid.values
        if now[: len(known)] != known[: len(now)]:
            raise StoreError(f"{self.path} was refined at other parameters than this call finds; begin another store.")
        for place in range(len(known), len(now)):
            problem = self.grid.problems[place]
            self.connection.execute(
                "INSERT INTO parameters (place, value, family, parameter, rho_z, rho_zx, rho_zy) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (place, now[place], problem.family, problem.parameter, *problem.rho),
            )
        self.values = known if len(known) > len(now) else list(now)

    def record(self, number: int, done: Done) -> None:
        """The chunk's results; once this returns, they survive whatever comes."""
        for one in done.results:
            self.tally.add(one.place, standing(one))
            self.done.add((one.place, one.solver, one.start))
        with trouble(self.path, "written", resumable=True), transaction(self.connection):
            self.connection.execute(
                "UPDATE chunks SET ended = ?, seconds = ? WHERE chunk = ?", (time.time(), done.seconds, number)
            )
            self.connection.executemany(
                f"INSERT INTO runs ({RUN}) VALUES ({', '.join('?' * 17)})",
                [_row(one, number) for one in done.results],
            )
            self._keep_best(done.results)

    def _keep_best(self, results: Sequence[Result]) -> None:
        """Encoders of runs that are the best of their solver and place, or may be once others have ended; no others."""
        for place in {one.place for one in results}:
            kept = self.tally.kept(place)
            for solver, start in self.connection.execute(
                "SELECT solver, start FROM encoders WHERE place = ?", (place,)
            ).fetchall():
                if (solver, start) not in kept:
                    self.connection.execute(
                        "DELETE FROM encoders WHERE place = ? AND solver = ? AND start = ?", (place, solver, start)
                    )
            for one in results:
                if one.place == place and (one.solver, one.start) in kept:
                    W = self.plan.support.lift(one.run.encoder)
                    self.connection.execute(
                        "INSERT INTO encoders (place, solver, start, data) VALUES (?, ?, ?, ?)",
                        (place, one.solver, one.start, W.astype("<f8").tobytes()),
                    )

    def frontier(self, complete: bool) -> Frontier:
        """All runs of the parameters that are done; their encoders are read when they are asked for."""
        self.outcome = "complete" if complete else "interrupted"
        with trouble(self.path, "read"):
            runs = runs_of(
                self.connection,
                places_done(self.plan, self.grid, self.tally),
                lambda place: {
                    "joint": self.plan.joint,
                    "problem": self.grid.problems[place],
                    "parameter": self.grid.values[place],
                },
                self.plan.gap,
                partial(encoder_of, self.path, self.plan.joint.shape[0]),
            )
        return Frontier(self.plan.joint, runs, complete=complete, provenance=provenance(self.plan, self.grid))


# -- rows --------------------------------------------------------------------------------------------------------------


def _row(one: Result, chunk: int) -> tuple[Any, ...]:
    run = one.run
    return (
        *(one.place, one.solver, one.start, one.loss, one.ixz, one.iyz),
        *(len(run.encoder), run.status.name, run.found_by, run.iterations, one.seconds, *run.residuals),
        *(run.died, run.lower_bound, chunk),
    )


def runs_of(
    connection: sqlite3.Connection,
    places: Sequence[int],
    fields: Callable[[int], dict[str, Any]],
    gap: float | None,
    fetch: Callable[[int, int, int], Array],
) -> list[Solution]:
    """The runs at some places, in their order; where bounds were asked for, each run has its place's."""
    kept = set(connection.execute("SELECT place, solver, start FROM encoders"))
    found: dict[int, list[Solution]] = {place: [] for place in places}
    shared = {place: fields(place) for place in places}
    bounds = (
        {}
        if gap is None
        else dict(
            connection.execute("SELECT place, max(lower_bound) FROM runs WHERE lower_bound IS NOT NULL GROUP BY place")
        )
    )
    for row in connection.execute(f"SELECT {RUN} FROM runs ORDER BY place, solver, start"):
        place, solver, start, loss, ixz, iyz, clusters, status, found_by, iterations, seconds, *rest = row
        if place in found:
            primal, dual, stationarity, died, own_bound, _ = rest
            bound = bounds.get(place, own_bound)
            certified = gap is not None and bound is not None and loss - bound <= gap
            found[place].append(
                StoredRun.of(
                    partial(fetch, place, solver, start) if (place, solver, start) in kept else None,
                    loss=loss,
                    ixz=ixz,
                    iyz=iyz,
                    clusters=clusters,
                    status=Status.CERTIFIED if certified else Status[status],
                    solver=found_by,
                    iterations=iterations,
                    seconds=seconds,
                    residuals=Residuals(*(np.nan if one is None else one for one in (primal, dual, stationarity))),
                    start=start,
                    died=died,
                    lower_bound=bound,
                    **shared[place],
                )
            )
    return [run for place in places for run in found[place]]


def encoder_of(path: Path, letters: int, place: int, solver: int, start: int) -> Array:
    """The encoder of a run, from the file."""

    def look(connection: sqlite3.Connection) -> Any:
        return connection.execute(
            "SELECT data FROM encoders WHERE place = ? AND solver = ? AND start = ?", (place, solver, start)
        ).fetchone()

    row = read(path, look)
    if row is None:
        raise StoreError(f"{path} no longer has this encoder: a better run was found meanwhile. Read the store again.")
    return np.frombuffer(row[0], dtype="<f8").astype(float).reshape(-1, letters)


# -- the manifest ------------------------------------------------------------------------------------------------------


def manifest_of(connection: sqlite3.Connection) -> dict[str, Any]:
    """What was run, by key."""
    return {key: json.loads(value) for key, value in connection.execute("SELECT key, value FROM manifest")}


FOLLOWING = ("rho", "shape", "runs_a_place", "joint")
"""Keys whose values follow from others, and need no sentence of their own if one of those differs."""


def _refuse_difference(path: Path, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    keys = [key for key in dict.fromkeys((*ours, *theirs)) if key != "joint" and theirs.get(key) != ours.get(key)]
    told = [key for key in keys if key not in FOLLOWING] or keys
    if told:
        sentences = "; ".join(_difference(key, theirs.get(key), ours.get(key)) for key in told)
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
