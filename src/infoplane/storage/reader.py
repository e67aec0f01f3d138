"""Reading stores, at rest or while a sweep writes: a frontier, or how far it has come."""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections import Counter
from dataclasses import dataclass

from ..frontier.frontier import Frontier
from ..joint.joint import Joint
from ..results import Status
from .database import is_being_written, read, rows_of
from .files import path_of
from .rows import Manifest, frontier_of, joint_of, manifest_of


def read_store(path: str | os.PathLike[str]) -> Frontier:
    """The frontier that a store holds: every run of the parameters that are done; ``complete`` if the sweep is.

    Encoders and traces are read from the file when they are asked for. Nothing in the file is executed, and nothing is written.

    Examples
    --------
    >>> import tempfile, infoplane as ip
    >>> from infoplane.storage.reader import read_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.4], store=f"{folder}/runs.db", rng=0)
    ...     read_store(f"{folder}/runs.db")
    Frontier(2 parameters, 2 runs, 2 converged)
    """
    where = path_of("store", path)

    def look(connection: sqlite3.Connection) -> Frontier:
        joint = joint_of(connection, manifest_of(connection))
        return frontier_of(connection, where, joint, _is_complete(connection))

    return read(where, look)


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

    def look(connection: sqlite3.Connection) -> StoreStatus:
        manifest = manifest_of(connection)
        del manifest["joint"]
        runs_per_parameter = manifest["runs_a_place"]
        total = manifest["points"] or len(manifest["grid"])
        values = {place: value for place, value, *_ in rows_of(connection, "parameters")}
        sessions, chunks = list(rows_of(connection, "sessions")), list(rows_of(connection, "chunks"))
        now, began = sessions[-1][:2] if sessions else (0, 0.0)
        ended = {chunk: end for chunk, session, _, end, _ in chunks if session == now}
        begun = [json.loads(units) for _, session, units, end, _ in chunks if session == now and end is None]
        runs = [(row[-1], row[0], row[3], Status[row[7]]) for row in rows_of(connection, "runs")]
        at = Counter(place for _, place, _, _ in runs)
        latest = max(runs, key=lambda run: run[:2])[1] if runs else None
        runs_now = sum(chunk in ended for chunk, *_ in runs)
        seconds = max((end for end in ended.values() if end is not None), default=-math.inf) - began
        complete = _is_complete(connection)
        return StoreStatus(
            manifest=manifest,
            complete=complete,
            running=is_being_written(where),
            parameters=sum(count == runs_per_parameter for count in at.values()),
            # Refinement may end with fewer than were asked for, which is known only then.
            total_parameters=len(values) if complete else total,
            runs=len(runs),
            total_runs=len(runs) if complete else total * runs_per_parameter,
            converged=sum(status.converged for *_, status in runs),
            under_way=0 if complete else sum(map(len, begun)),
            sessions=len(sessions),
            rate=runs_now / seconds if runs_now and 0.0 < seconds < math.inf else None,
            best_loss=min((loss for _, place, loss, _ in runs if place == latest), default=None),
            parameter=None if latest is None else values[latest],
        )

    return read(where, look)


def read_manifest(path: str | os.PathLike[str]) -> tuple[Manifest, Joint]:
    """What a store was begun with, and its joint; an error if there is no such file."""

    def look(connection: sqlite3.Connection) -> tuple[Manifest, Joint]:
        manifest = manifest_of(connection)
        return manifest, joint_of(connection, manifest)

    return read(path_of("store", path), look)


def _is_complete(connection: sqlite3.Connection) -> bool:
    """Whether some call has ended the sweep; all bookkeeping must have its checksums."""
    for _ in rows_of(connection, "chunks"):
        pass
    return any(outcome == "complete" for _, _, _, outcome, *_ in rows_of(connection, "sessions"))
