"""Runs as rows of a store's tables, and back; encoders and traces as bytes, read when they are asked for."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...encoder import check_encoder
from ...frontier.lazy_solution import LazySolution
from ...information import Array
from ...joint.joint import Joint
from ...solution import Solution, Trace
from ...status import Residuals, Status, proven
from ..record import RunRecord
from .database import StoreError, damage_refused, read, rows_of, schema_of

TRACE_COLUMNS = (6, 7)
"""Of a whole trace, and of a thinned one, which has the iterations' numbers too."""


def run_row(one: RunRecord, chunk: int) -> tuple[Any, ...]:
    """A run as a row of the table of runs."""
    run = one.ended
    return (
        *(*one.key, one.loss, one.ixz, one.iyz),
        *(len(run.encoder), run.status.name, run.found_by, run.iterations, one.seconds, *run.residuals),
        *(run.died, run.lower_bound, chunk),
    )


def array_bytes(array: Array) -> bytes:
    """An encoder, or multipliers, as a store has them."""
    return array.astype("<f8").tobytes()


def trace_bytes(trace: Trace) -> bytes:
    """A trace as a store has it: column by column, compressed."""
    return zlib.compress(trace.columns().T.astype("<f8").tobytes())


def manifest_of(connection: sqlite3.Connection) -> dict[str, Any]:
    """What was run, by key."""
    return {key: json.loads(value) for key, value in rows_of(connection, "manifest")}


def runs_of(
    connection: sqlite3.Connection,
    indices: Sequence[int],
    fields: Callable[[int], dict[str, Any]],
    gap: float | None,
    caps: Sequence[int | None],
    reading: Reading,
) -> list[Solution]:
    """The runs at some parameters, in their order; where bounds were asked for, each run has its parameter's."""
    encoders = set(connection.execute("SELECT place, solver, start FROM encoders"))
    has_traces = schema_of(connection) > 1
    traces = set(connection.execute("SELECT place, solver, start FROM traces")) if has_traces else set()
    found: dict[int, list[Solution]] = {index: [] for index in indices}
    shared = {index: fields(index) for index in indices}
    multipliers = _multipliers(connection, reading.joint.shape[0])
    bounds = {}
    if gap is not None:  # with max(), SQLite takes the other columns from the row of the largest
        highest = "SELECT place, max(lower_bound), solver, start FROM runs WHERE lower_bound IS NOT NULL GROUP BY place"
        bounds = {place: (bound, (place, *run)) for place, bound, *run in connection.execute(highest)}
    for row in rows_of(connection, "runs", "ORDER BY place, solver, start"):
        index, solver, start, loss, ixz, iyz, clusters, status, found_by, iterations, seconds, *rest = row
        if index in found:
            primal, dual, stationarity, died, own_bound, _ = rest
            key = index, solver, start
            bound, proof = bounds.get(index, (own_bound, key))
            residuals = Residuals(*(np.nan if one is None else one for one in (primal, dual, stationarity)))
            ended = Status[status]
            if gap is not None:
                ended = proven(None if bound is None else loss - bound, gap, residuals, ended)
            found[index].append(
                LazySolution.of(
                    partial(reading.encoder, key) if key in encoders else None,
                    partial(reading.trace, key) if key in traces else None,
                    loss=loss,
                    ixz=ixz,
                    iyz=iyz,
                    clusters=clusters,
                    status=ended,
                    solver=found_by,
                    iterations=iterations,
                    seconds=seconds,
                    residuals=residuals,
                    start=start,
                    died=died,
                    lower_bound=bound,
                    multipliers=multipliers.get(proof),
                    cluster_cap=caps[solver] if solver < len(caps) else None,
                    **shared[index],
                )
            )
    return [run for index in indices for run in found[index]]


def _multipliers(connection: sqlite3.Connection, letters: int) -> dict[tuple[Any, ...], Array]:
    """What bounds follow from, by run."""
    if schema_of(connection) < 3:
        return {}
    found = {}
    for *key, data in rows_of(connection, "multipliers"):
        lam = np.frombuffer(data, dtype="<f8").astype(float)
        if lam.shape != (letters,) or not np.isfinite(lam).all():
            raise ValueError(f"multipliers for {lam.size} letters, or not finite, where the joint has {letters}")
        found[tuple(key)] = lam
    return found


@dataclass(frozen=True)
class Reading:
    """Where the encoders and traces of a store's runs are read from, by (index, solver, start)."""

    path: Path
    joint: Joint

    def encoder(self, key: tuple[int, int, int]) -> Array:
        """The encoder of a run."""
        row = self._row("encoders", key)
        if row is None:
            raise StoreError(
                f"{self.path} no longer has this encoder: a better run was found meanwhile. Read the store again."
            )
        with damage_refused(self.path):
            return check_encoder(
                self.joint, np.frombuffer(row[-1], dtype="<f8").astype(float).reshape(-1, self.joint.shape[0])
            )

    def trace(self, key: tuple[int, int, int]) -> Trace | None:
        """The trace of a run; None if a better run was found meanwhile, and the trace dropped."""
        row = self._row("traces", key)
        if row is None:
            return None
        with damage_refused(self.path):
            return _trace_from(*row[-2:])

    def _row(self, table: str, key: tuple[int, int, int]) -> Any:
        which = "WHERE place = ? AND solver = ? AND start = ?"
        with damage_refused(self.path):
            return read(self.path, lambda connection: next(rows_of(connection, table, which, key), None))


def _trace_from(length: int, data: bytes) -> Trace:
    most = 8 * length * TRACE_COLUMNS[-1]
    # No more than a trace of this length can have: a few bytes may stand for very many.
    values = np.frombuffer(zlib.decompressobj().decompress(data, most + 1), dtype="<f8").astype(float)
    columns = values.size // length if length > 0 else 0
    if columns not in TRACE_COLUMNS or values.size != columns * length:
        raise ValueError(f"a trace of {length} iterations has {values.size} numbers")
    return Trace.from_columns(values.reshape(columns, length).T)
