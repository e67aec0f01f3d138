"""What the rows of a store's tables mean: the manifest, and runs, whose encoders and traces are read when they are asked for.

The manifest says what is run, on which joint. Two calls with the same manifest are calls of the same sweep.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..encoder.encoder import check_encoder
from ..errors import StoreError
from ..frontier.frontier import Frontier
from ..information import Array
from ..joint.joint import Joint
from ..results import Residuals, Status, Trace, proven
from ..solution import Solution
from ..task_problem import problem_of
from .archive import joint_arrays, joint_from, joint_meta
from .database import insert, read, rows_of
from .record import Key, LazySolution, RunRecord

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


def records_of(connection: sqlite3.Connection) -> list[RunRecord]:
    """The numbers by which the runs of a store are compared and counted."""
    return [
        RunRecord(index, solver, start, loss, ixz, iyz, Status[status], rest[-2])
        for index, solver, start, loss, ixz, iyz, _, status, *rest in rows_of(connection, "runs")
    ]


def frontier_of(connection: sqlite3.Connection, path: Path, joint: Joint, complete: bool) -> Frontier:
    """All runs of the parameters that are finished; where bounds were asked for, each run has its parameter's."""
    manifest = manifest_of(connection)
    gap, caps = manifest["certify_nats"], manifest["cluster_caps"]
    fields = {
        place: {"joint": joint, "parameter": value, "problem": problem_of((z, zx, zy), family, parameter)}
        for place, value, family, parameter, z, zx, zy in rows_of(connection, "parameters")
    }
    rows = list(rows_of(connection, "runs"))
    runs_at = Counter(row[0] for row in rows)
    done = [place for place in fields if runs_at[place] == manifest["runs_a_place"]]
    if manifest["points"] is not None:
        done.sort(key=lambda place: (fields[place]["parameter"], place))
    multipliers = _multipliers(connection, joint.shape[0])
    bounds = {} if gap is None else _best_bounds(rows)
    kept = {
        table: set(connection.execute(f"SELECT place, solver, start FROM {table}")) for table in ("encoders", "traces")
    }
    found: dict[int, list[Solution]] = {place: [] for place in done}
    for place, solver, start, loss, ixz, iyz, clusters, status, found_by, iterations, seconds, *rest in rows:
        if place not in found:
            continue
        *residuals, died, own_bound, _ = rest
        left = Residuals(*(np.nan if one is None else one for one in residuals))
        key = place, solver, start
        bound, proof = bounds.get(place, (own_bound, key))
        ended = Status[status]
        if gap is not None:
            ended = proven(None if bound is None else loss - bound, gap, left, ended)
        found[place].append(
            LazySolution.of(
                partial(_encoder, path, joint, key) if key in kept["encoders"] else None,
                partial(_trace, path, key) if key in kept["traces"] else None,
                loss=loss,
                ixz=ixz,
                iyz=iyz,
                clusters=clusters,
                status=ended,
                solver=found_by,
                iterations=iterations,
                seconds=seconds,
                residuals=left,
                start=start,
                died=died,
                lower_bound=bound,
                multipliers=multipliers.get(proof),
                cluster_cap=caps[solver],
                **fields[place],
            )
        )
    runs = [run for place in done for run in found[place]]
    values = [fields[place]["parameter"] for place in fields]
    return Frontier(joint, runs, complete=complete, provenance=readable(manifest, values))


def _best_bounds(rows: Iterable[tuple[Any, ...]]) -> dict[int, tuple[float, Key]]:
    """The highest bound of each parameter, and the run that proved it."""
    bounds: dict[int, tuple[float, Key]] = {}
    for place, solver, start, *_, bound, _ in rows:
        if bound is not None and (place not in bounds or bound > bounds[place][0]):
            bounds[place] = bound, (place, solver, start)
    return bounds


def _multipliers(connection: sqlite3.Connection, letters: int) -> dict[Key, Array]:
    """What bounds follow from, by run."""
    found = {}
    for place, solver, start, data in rows_of(connection, "multipliers"):
        lam = np.frombuffer(data, dtype="<f8").astype(float)
        if lam.shape != (letters,) or not np.isfinite(lam).all():
            raise ValueError(f"multipliers for {lam.size} letters, or not finite, where the joint has {letters}")
        found[place, solver, start] = lam
    return found


def _encoder(path: Path, joint: Joint, key: Key) -> Array:
    """The encoder of a run, read from its store."""

    def look(connection: sqlite3.Connection) -> Array:
        row = next(rows_of(connection, "encoders", key), None)
        if row is None:
            raise StoreError(
                f"{path} no longer has this encoder: a better run was found meanwhile. Read the store again."
            )
        W = np.frombuffer(row[-1], dtype="<f8").astype(float).reshape(-1, joint.shape[0])
        return check_encoder(joint, W)

    return read(path, look)


def _trace(path: Path, key: Key) -> Trace | None:
    """The trace of a run; None if a better run was found meanwhile, and the trace dropped."""

    def look(connection: sqlite3.Connection) -> Trace | None:
        row = next(rows_of(connection, "traces", key), None)
        return None if row is None else _trace_from(*row[-2:])

    return read(path, look)


def _trace_from(length: int, data: bytes) -> Trace:
    most = 8 * length * TRACE_COLUMNS[-1]
    # No more than a trace of this length can have: a few bytes may stand for very many.
    values = np.frombuffer(zlib.decompressobj().decompress(data, most + 1), dtype="<f8").astype(float)
    columns = values.size // length if length > 0 else 0
    if columns not in TRACE_COLUMNS or values.size != columns * length:
        raise ValueError(f"a trace of {length} iterations has {values.size} numbers")
    return Trace.from_columns(values.reshape(columns, length).T)


Manifest = dict[str, Any]
"""What was run, as JSON values by key."""

DERIVED = ("rho", "shape", "runs_a_place", "joint")
"""Keys whose values follow from others, and need no sentence of their own if one of those differs."""

KEPT_BESIDE = ("joint", "asked")
"""Keys that do not say which sweep it is: the labels of the joint, and options as they were given, for `resume`."""

DTYPES = ("<i8", "<f8")
"""Of the arrays of a joint."""


def write_manifest(connection: sqlite3.Connection, manifest: Mapping[str, Any], joint: Joint) -> None:
    """Into a new store."""
    everything = {**manifest, "joint": joint_meta(joint)}
    insert(connection, "manifest", [(key, json.dumps(value)) for key, value in everything.items()])
    for name, array in joint_arrays(joint).items():
        portable = array.astype(array.dtype.newbyteorder("<"))
        insert(connection, "arrays", [(name, portable.dtype.str, portable.tobytes())])


def manifest_of(connection: sqlite3.Connection) -> Manifest:
    """What was run, by key."""
    return {key: json.loads(value) for key, value in rows_of(connection, "manifest")}


def joint_of(connection: sqlite3.Connection, manifest: Mapping[str, Any]) -> Joint:
    """The joint that a store was begun with."""
    arrays = {
        name: np.frombuffer(data, dtype=DTYPES[DTYPES.index(dtype)])
        for name, dtype, data in rows_of(connection, "arrays")
    }
    joint = joint_from(manifest["joint"], arrays)
    if joint.fingerprint != manifest["joint_sha256"]:
        raise ValueError("its joint is another than the one whose digest it has")
    return joint


def readable(manifest: Mapping[str, Any], values: Sequence[float]) -> Manifest:
    """A manifest as people read it, with all parameters, those that refinement added too, and without what follows from the rest."""
    hidden = ("rho", "runs_a_place", *KEPT_BESIDE)
    return {key: value for key, value in manifest.items() if key not in hidden} | {"grid": list(values)}


def refuse_difference(path: Path, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
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
