"""`Store`: the runs of a sweep in one SQLite file. Every finished chunk is on the disk before it counts.

The manifest says what was run; a call that differs in anything that results depend on is refused, with the difference named.
There is one row per run (`RunRecord`), with its numbers; encoders and traces of the best run of each parameter and solver, and encoders
of those that are better than it at another parameter. No pickle: numbers, JSON, and arrays as bytes.

It is read at rest or while a sweep writes: as a frontier, of whose runs only the numbers are in memory until an encoder or a trace is asked
for (`LazySolution`), or as how far the sweep has come.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import time
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from ..encoder.encoder import check_encoder
from ..errors import InvalidOptionError, StoreError
from ..formatting import html_note
from ..frontier.frontier import Frontier
from ..information import Array, PlanePoint, read_only
from ..joint.joint import Joint, Support
from ..problem import MarkovLagrangian
from ..solution import Residuals, Run, Solution, Status, Trace, beneath, contenders
from ..task_problem import TaskLagrangian
from .database import (
    ROW,
    Rows,
    contents,
    damage_refused,
    insert,
    is_being_written,
    open_for_writing,
    read,
    read_row,
    transaction,
    write_errors,
)
from .files import joint_arrays, joint_from, joint_meta, path_of, problem_of


@dataclass(frozen=True)
class RunRecord:
    """One run of the sweep: which one it is, where it lies, in nats, and how it ended."""

    index: int
    """Of the parameter in the grid."""
    solver: int
    """Number of the solver in the plan."""
    start: int
    loss: float
    ixz: float
    iyz: float
    run: Run

    @property
    def key(self) -> Key:
        """What no two runs of a sweep share."""
        return self.index, self.solver, self.start

    def to_compare(self) -> RunRecord:
        """Without what is large."""
        return replace(self, run=replace(self.run, encoder=NOTHING, trace=None, multipliers=None))


NOTHING = np.empty((0, 0))
"""In place of the encoder of a run that serves to be compared only."""


def contending(records: Sequence[RunRecord]) -> list[RunRecord]:
    """The records of which one is the best, or will be once its status is proven; the best as of now comes last."""
    ordered = sorted(records, key=lambda one: (one.solver, one.start))
    return [
        ordered[i] for i in contenders([one.loss for one in ordered], [one.run.status.converged for one in ordered])
    ]


class Store:
    """A sweep on disk. A context manager; inside it this process is the only one that writes."""

    def __init__(self, path: str | os.PathLike[str], manifest: Manifest, support: Support) -> None:
        self.path, self.manifest, self.support = path_of("store", path), manifest, support
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
            with damage_refused(self.path):
                found = contents(self.connection, ("manifest", "parameters", "runs", "sessions", "chunks"))
                _refuse_difference(self.path, _manifest(found), self.manifest)
                self.values = [row.value for row in found["parameters"]]
                self.records = _records(found)
                self.session, self.chunk = (
                    max((row[0] for row in found[table]), default=0) for table in ("sessions", "chunks")
                )
            with write_errors(self.path), transaction(self.connection):
                self.session, self.began = self.session + 1, time.time()
                self._say("sessions", self.session, self.began, None, None)
            self._open = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        # The runs are safe by now: a disk that is full shall not hide what ended the sweep.
        with self._open, suppress(sqlite3.Error), transaction(self.connection):
            self._say("sessions", self.session, self.began, time.time(), self.outcome)

    def _say(self, table: str, *row: Any) -> None:
        insert(self.connection, table, [row], instead=True)

    # -- what a sweep writes -------------------------------------------------------------------------------------------

    def begin(self, units: Sequence[Any], values: Sequence[float], problems: Mapping[int, MarkovLagrangian]) -> int:
        """Note that units of work go to a worker, and the parameters by now; the number that the chunk gets."""
        with write_errors(self.path, resumable=True), transaction(self.connection):
            self._add_parameters(values, problems)
            number = self.chunk + 1
            self.under_way[number] = json.dumps(units, separators=(",", ":"))
            self._say("chunks", number, self.session, self.under_way[number], None)
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
        self.values = max(known, now, key=len)

    def record(self, number: int, records: Sequence[RunRecord], kept: Mapping[str, set[Key]]) -> None:
        """The runs of a chunk; once this returns, they survive whatever comes.

        ``kept`` says of which runs, at the parameters of these, ``encoders`` and ``traces`` are kept; those of others go.
        """
        with write_errors(self.path, resumable=True), transaction(self.connection):
            self._say("chunks", number, self.session, self.under_way[number], time.time())
            insert(self.connection, "runs", [_run_row(one, number) for one in records])
            for table in KEPT:
                for index in {one.index for one in records}:
                    question = f"SELECT grid_index, solver, start FROM {table} WHERE grid_index = ?"
                    beaten = set(self.connection.execute(question, (index,)).fetchall()) - kept[table]
                    command = f"DELETE FROM {table} WHERE grid_index = ? AND solver = ? AND start = ?"
                    self.connection.executemany(command, beaten)
            runs = [(one.key, one.run) for one in records]
            encoders = [(*key, _bytes(self.support.lift(run.encoder))) for key, run in runs if key in kept["encoders"]]
            insert(self.connection, "encoders", encoders)
            # A trace is kept column by column, compressed.
            columns = [(key, run.trace.columns().T) for key, run in runs if run.trace and key in kept["traces"]]
            traces = [(*key, one.shape[1], zlib.compress(_bytes(one))) for key, one in columns]
            insert(self.connection, "traces", traces)
            rows = [
                (*key, _bytes(self.support.spread(run.multipliers))) for key, run in runs if run.multipliers is not None
            ]
            insert(self.connection, "multipliers", rows)
        del self.under_way[number]

    def frontier(self, complete: bool) -> Frontier:
        """All runs on the disk of the parameters that are finished; their encoders and traces are read when they are asked for."""
        self.outcome = "complete" if complete else "interrupted"
        with damage_refused(self.path):
            return frontier_of(contents(self.connection, OF_FRONTIER, KEPT), self.path, self.support.joint, complete)


# -- rows --------------------------------------------------------------------------------------------------------------


def _run_row(one: RunRecord, chunk: int) -> tuple[Any, ...]:
    run = one.run
    return (
        *(*one.key, one.loss, one.ixz, one.iyz),
        *(len(run.encoder), run.status.name, run.found_by, run.iterations, run.seconds, *run.residuals),
        *(run.died, run.lower_bound, chunk),
    )


def _bytes(array: Array) -> bytes:
    return array.astype("<f8").tobytes()


def _records(found: Rows) -> list[RunRecord]:
    unknown = Residuals(math.nan, math.nan, math.nan)
    runs = [Run(NOTHING, Status[row.status], 0, unknown, lower_bound=row.lower_bound) for row in found["runs"]]
    return [
        RunRecord(row.grid_index, row.solver, row.start, row.loss, row.ixz, row.iyz, run)
        for row, run in zip(found["runs"], runs, strict=True)
    ]


def _first_rows(manifest: Mapping[str, Any], joint: Joint) -> dict[str, list[tuple[Any, ...]]]:
    arrays = {name: array.astype(array.dtype.newbyteorder("<")) for name, array in joint_arrays(joint).items()}
    return {
        "manifest": [(key, json.dumps(value)) for key, value in {**manifest, "joint": joint_meta(joint)}.items()],
        "arrays": [(name, array.dtype.str, array.tobytes()) for name, array in arrays.items()],
    }


DERIVED = ("problems", "shape", "runs_per_parameter", "joint")
"""Keys whose values follow from others, and need no sentence of their own if one of those differs."""


def _refuse_difference(path: Path, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
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


Key = tuple[int, int, int]
"""A run by the index of its parameter, the number of its solver and its start."""

Manifest = dict[str, Any]
"""What was run, as JSON values by key."""

KEPT_BESIDE = ("joint", "asked")
"""Keys that do not say which sweep it is: the labels of the joint, and options as they were given, for `resume`."""


# -- what people ask a store for ---------------------------------------------------------------------------------------


def read_store(path: str | os.PathLike[str]) -> Frontier:
    """The frontier that a store holds: every run of the parameters that are done; ``complete`` if the sweep is.

    Encoders and traces are read from the file when they are asked for. Nothing in the file is executed, and nothing is written.

    Examples
    --------
    >>> import tempfile, infoplane as ip
    >>> from infoplane.storage.store import read_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.4], store=f"{folder}/runs.db", rng=0)
    ...     read_store(f"{folder}/runs.db")
    Frontier(2 parameters, 2 runs, 2 converged)
    """
    where = path_of("store", path)
    rows = read(where, ("arrays", "chunks", "sessions", *OF_FRONTIER), KEPT)
    with damage_refused(where):
        return frontier_of(rows, where, _joint(rows), _is_complete(rows))


def read_manifest(path: str | os.PathLike[str]) -> tuple[Manifest, Joint]:
    """What a store was begun with, and its joint; an error if there is no such file."""
    where = path_of("store", path)
    rows = read(where, ("manifest", "arrays"))
    with damage_refused(where):
        return _manifest(rows), _joint(rows)


@dataclass(frozen=True)
class StoreStatus:
    """How far the sweep of a store has come."""

    manifest: Manifest
    """What is run."""
    complete: bool
    running: bool
    """Whether a process is writing to it."""
    parameters: int
    """Those with all their runs done."""
    total_parameters: int
    runs: int
    total_runs: int
    converged: int
    under_way: int
    """Units of work that the latest call has begun and not ended."""
    sessions: int
    """Calls that have worked on it."""
    rate: float | None
    """Runs per second of the latest call; None before its first chunk has ended."""
    best_loss: float | None
    """The lowest, in nats, of the parameter that was worked on last."""
    parameter: float | None
    """That parameter."""

    @property
    def seconds_left(self) -> float | None:
        """At the latest call's rate."""
        return None if not self.rate else (self.total_runs - self.runs) / self.rate


def store_status(path: str | os.PathLike[str]) -> StoreStatus:
    """How far a sweep has come, while it runs or after."""
    where = path_of("store", path)
    rows = read(where, ("manifest", "parameters", "sessions", "chunks", "runs"))
    with damage_refused(where):
        return _status(rows, is_being_written(where))


def _status(rows: Rows, running: bool) -> StoreStatus:
    manifest = _manifest(rows)
    del manifest["joint"]
    runs_per_parameter = manifest["runs_per_parameter"]
    total = manifest["points"] or len(manifest["grid"])
    values = {row.grid_index: row.value for row in rows["parameters"]}
    now = rows["sessions"][-1] if rows["sessions"] else ROW["sessions"](0, 0.0, None, None)
    chunks = {row.chunk: row for row in rows["chunks"] if row.session == now.session}
    at = Counter(row.grid_index for row in rows["runs"])
    # The parameter that was worked on last.
    latest = max(rows["runs"], key=lambda row: (row.chunk, row.grid_index), default=None)
    runs, runs_now = len(rows["runs"]), sum(row.chunk in chunks for row in rows["runs"])
    seconds = max((row.ended for row in chunks.values() if row.ended is not None), default=-math.inf) - now.began
    complete = _is_complete(rows)
    return StoreStatus(
        manifest=manifest,
        complete=complete,
        running=running,
        parameters=sum(count == runs_per_parameter for count in at.values()),
        # Refinement may end with fewer than were asked for, which is known only then.
        total_parameters=len(values) if complete else total,
        runs=runs,
        total_runs=runs if complete else total * runs_per_parameter,
        converged=sum(Status[row.status].converged for row in rows["runs"]),
        under_way=0 if complete else sum(len(json.loads(row.units)) for row in chunks.values() if row.ended is None),
        sessions=len(rows["sessions"]),
        rate=runs_now / seconds if runs_now and 0.0 < seconds < math.inf else None,
        best_loss=latest and min(row.loss for row in rows["runs"] if row.grid_index == latest.grid_index),
        parameter=latest and values[latest.grid_index],
    )


# -- what was run ------------------------------------------------------------------------------------------------------


def _manifest(rows: Rows) -> Manifest:
    return {key: json.loads(value) for key, value in rows["manifest"]}


def readable(manifest: Mapping[str, Any], values: list[float]) -> Manifest:
    """A manifest as people read it, with all parameters, those that refinement added too, and without what follows from the rest."""
    hidden = ("problems", "runs_per_parameter", *KEPT_BESIDE)
    return {key: value for key, value in manifest.items() if key not in hidden} | {"grid": values}


def _joint(rows: Rows) -> Joint:
    """The joint, whose digest is looked at."""
    manifest, dtypes = _manifest(rows), ("<i8", "<f8")
    arrays = {name: np.frombuffer(data, dtypes[dtypes.index(dtype)]) for name, dtype, data in rows["arrays"]}
    joint = joint_from(manifest["joint"], arrays)
    if joint.fingerprint != manifest["joint_sha256"]:
        raise ValueError("its joint is another than the one whose digest it has")
    return joint


def _is_complete(rows: Rows) -> bool:
    return any(row.outcome == "complete" for row in rows["sessions"])


# -- runs --------------------------------------------------------------------------------------------------------------

OF_FRONTIER, KEPT = ("manifest", "parameters", "runs", "multipliers"), ("encoders", "traces")
"""The tables that a frontier is made from, and those of which it needs the keys alone."""


def frontier_of(rows: Rows, path: Path, joint: Joint, complete: bool) -> Frontier:
    """The frontier of a store's rows; its runs read their encoders and traces when they are asked for them."""
    manifest = _manifest(rows)
    parameters = {row.grid_index: row for row in rows["parameters"]}
    problems = {index: problem_of(row[4:], row.family, row.parameter) for index, row in parameters.items()}
    multipliers = {row[:3]: _multipliers(row.data, joint.shape[0]) for row in rows["multipliers"]}
    encoders, traces = (set(rows[table]) for table in KEPT)
    as_stored = ("loss", "ixz", "iyz", "clusters", "start", "iterations", "seconds", "died")
    found: dict[int, list[Solution]] = {index: [] for index in parameters}
    for row in rows["runs"]:
        key, residuals = row[:3], (row.primal, row.dual, row.stationarity)
        run = LazySolution.of(
            partial(_encoder, path, joint, key) if key in encoders else None,
            partial(_trace, path, key) if key in traces else None,
            joint=joint,
            problem=problems[row.grid_index],
            parameter=parameters[row.grid_index].value,
            status=Status[row.status],
            solver=row.found_by,
            residuals=Residuals(*(math.nan if one is None else one for one in residuals)),
            lower_bound=beneath(row.lower_bound, row.loss),
            multipliers=multipliers.get(key),
            cluster_cap=manifest["cluster_caps"][row.solver],
            **{name: getattr(row, name) for name in as_stored},
        )
        found[row.grid_index].append(run)
    return assembled(joint, manifest, {index: row.value for index, row in parameters.items()}, found, complete)


def assembled(
    joint: Joint, manifest: Manifest, values: Mapping[int, float], found: Mapping[int, list[Solution]], complete: bool
) -> Frontier:
    """All runs of the parameters that are finished, by index; where bounds were asked for, each run has its parameter's."""
    done = [index for index in values if len(found.get(index, ())) == manifest["runs_per_parameter"]]
    if manifest["points"] is not None:  # refinement may have inserted some
        done.sort(key=lambda index: (values[index], index))
    runs = [run for index in done for run in found[index]]
    if manifest["certify_nats"] is not None:
        runs = best_bounded(runs, manifest["certify_nats"])
    return Frontier(joint, runs, complete=complete, provenance=readable(manifest, list(values.values())))


def best_bounded(runs: Sequence[Solution], gap: float) -> list[Solution]:
    """The runs, each with the highest lower bound that was proven for its parameter, if one was; CERTIFIED only if within ``gap`` of it."""
    bounds: dict[float, tuple[float, Array | None]] = {}
    for run in runs:
        if run.lower_bound is not None and run.lower_bound > bounds.get(run.parameter, (-math.inf, None))[0]:
            bounds[run.parameter] = run.lower_bound, run.multipliers
    found = ((run, *bounds.get(run.parameter, (None, None))) for run in runs)
    return [run.bounded(bound, gap, multipliers) for run, bound, multipliers in found]


def _multipliers(data: bytes, letters: int) -> Array:
    lam = np.frombuffer(data, dtype="<f8").astype(float)
    if lam.shape != (letters,) or not np.isfinite(lam).all():
        raise ValueError(f"multipliers for {lam.size} letters, or not finite, where the joint has {letters}")
    return lam


def _encoder(path: Path, joint: Joint, key: Key) -> Array:
    row = read_row(path, "encoders", key)
    if row is None:
        raise StoreError(f"{path} no longer has this encoder: a better run was found meanwhile. Read the store again.")
    with damage_refused(path):
        return check_encoder(joint, np.frombuffer(row[-1], dtype="<f8").astype(float).reshape(-1, joint.shape[0]))


def _trace(path: Path, key: Key) -> Trace | None:
    """The trace of a run; None if a better run was found meanwhile, and the trace dropped."""
    row = read_row(path, "traces", key)
    if row is None:
        return None
    *_, length, data = row
    with damage_refused(path):
        # No more than a trace of this length can have: a few bytes may stand for very many.
        values = np.frombuffer(zlib.decompressobj().decompress(data, 8 * 7 * length + 1), dtype="<f8").astype(float)
        columns = values.size // length if length > 0 else 0
        # A thinned trace has the iterations' numbers too.
        if columns not in (6, 7) or values.size != columns * length:
            raise ValueError(f"a trace of {length} iterations has {values.size} numbers")
        return Trace.from_columns(values.reshape(columns, length).T)


class LazySolution(Solution):
    """A `Solution` with its loss, I(X;Z), I(Y;Z) and |Z| as they were stored; encoder and trace are read, or were not kept."""

    @classmethod
    def of(
        cls,
        read_encoder: Callable[[], Array] | None,
        read_trace: Callable[[], Trace | None] | None = None,
        *,
        loss: float,
        ixz: float,
        iyz: float,
        clusters: int,
        **fields: Any,
    ) -> LazySolution:
        """A run from its numbers, the other fields of `Solution`, and how to read its encoder and trace; None if they were not kept."""
        run = object.__new__(cls)
        # Where Solution caches what it computes from the encoder.
        known = {"loss": loss, "_point": PlanePoint(ixz, iyz), "_clusters": clusters}
        run.__setstate__({**fields, **known, "_read_encoder": read_encoder, "_read_trace": read_trace})
        return run

    @cached_property
    def encoder(self) -> Array:
        """p(z|x), read when it is asked for; an error if it was not kept."""
        if not self.has_encoder:
            raise InvalidOptionError(
                f"the encoder of start {self.start} at {self.parameter:g} was not kept: of a stored sweep only the best runs have one. "
                "Frontier.best_rows() numbers them."
            )
        return read_only(self.__dict__["_read_encoder"]())

    @cached_property
    def trace(self) -> Trace | None:
        """How the run converged; None if no trace was kept."""
        read = self.__dict__.get("_read_trace")
        return None if read is None else read()

    @cached_property
    def _tasks(self) -> tuple[float, float]:
        """From the stored numbers: I(Y;Z) is the mean of I(U;Z) and I(S;Z), L = gamma I(X;Z) - keep I(U;Z) + hide I(S;Z)."""
        problem = self.problem
        if not isinstance(problem, TaskLagrangian):
            return super()._tasks
        iuz = (2.0 * problem.hide * self.iyz - (self.loss - problem.settled_gamma * self.ixz)) / (
            problem.keep + problem.hide
        )
        return max(iuz, 0.0), max(2.0 * self.iyz - iuz, 0.0)

    def _but(self, **changes: Any) -> LazySolution:
        other = object.__new__(type(self))
        other.__setstate__(self.__dict__ | changes)
        return other

    @cached_property
    def caution(self) -> str | None:
        """As of any solution; None where it takes an encoder that was not kept."""
        return super().caution if self.has_encoder or self.problem.rho_zy >= 0 else None

    @property
    def has_encoder(self) -> bool:
        """Whether the encoder was kept."""
        return "encoder" in self.__dict__ or self.__dict__["_read_encoder"] is not None

    def _clusters_html(self) -> str:
        return super()._clusters_html() if self.has_encoder else html_note("The encoder of this run was not kept.")

    @property
    def clusters(self) -> int:
        """|Z|: rows of the encoder."""
        return int(self.__dict__["_clusters"]) if "_clusters" in self.__dict__ else super().clusters
