"""Reading stores, at rest or while a sweep writes: a frontier, or how far it has come."""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from ..frontier.frontier import Frontier
from ..joint.joint import Joint
from ..status import Status
from .database import is_being_written, read, rows_of, store_path
from .manifest import Manifest, joint_of, manifest_of
from .rows import frontier_of


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
    where = store_path(path)

    def look(connection: sqlite3.Connection) -> Frontier:
        joint = joint_of(connection, manifest_of(connection))
        return frontier_of(connection, where, joint, _is_complete(_bookkeeping(connection)[0]))

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
    where = store_path(path)

    def look(connection: sqlite3.Connection) -> StoreStatus:
        manifest = manifest_of(connection)
        del manifest["joint"]
        runs_per_parameter = manifest["runs_a_place"]
        total = manifest["points"] or len(manifest["grid"])
        values = {place: value for place, value, *_ in rows_of(connection, "parameters")}
        sessions, chunks = _bookkeeping(connection)
        now = max((one.session for one in sessions), default=0)
        statuses, places, runs_now = Counter[str](), Counter[int](), 0
        lowest: dict[int, float] = {}
        latest = (0, 0)
        ended = -math.inf
        for place, _, _, loss, _, _, _, status, *_, chunk in rows_of(connection, "runs"):
            statuses[status] += 1
            places[place] += 1
            lowest[place] = min(loss, lowest.get(place, math.inf))
            latest = max(latest, (chunk, place))
            if chunks[chunk].session == now:
                runs_now += 1
                ended = max(ended, chunks[chunk].ended or -math.inf)
        seconds = ended - max((one.began for one in sessions), default=0.0)
        complete = _is_complete(sessions)
        begun = [json.loads(one.units) for one in chunks.values() if one.session == now and one.ended is None]
        return StoreStatus(
            manifest=manifest,
            complete=complete,
            running=is_being_written(where),
            parameters=sum(count == runs_per_parameter for count in places.values()),
            # Refinement may end with fewer than were asked for, which is known only then.
            total_parameters=len(values) if complete else total,
            runs=statuses.total(),
            total_runs=statuses.total() if complete else total * runs_per_parameter,
            converged=sum(count for status, count in statuses.items() if Status[status].converged),
            under_way=0 if complete else sum(map(len, begun)),
            sessions=len(sessions),
            rate=runs_now / seconds if 0.0 < seconds < math.inf else None,
            best_loss=lowest.get(latest[1]),
            parameter=values[latest[1]] if lowest else None,
        )

    return read(where, look)


def read_manifest(path: str | os.PathLike[str]) -> tuple[Manifest, Joint]:
    """What a store was begun with, and its joint; an error if there is no such file."""

    def look(connection: sqlite3.Connection) -> tuple[Manifest, Joint]:
        manifest = manifest_of(connection)
        return manifest, joint_of(connection, manifest)

    return read(store_path(path), look)


class SessionRow(NamedTuple):
    """A row of the table of sessions: one call of `sweep`."""

    session: int
    began: float
    ended: float | None
    outcome: str | None
    pid: int
    engine: str


class ChunkRow(NamedTuple):
    """A row of the table of chunks: units of work that went to one worker."""

    chunk: int
    session: int
    units: str
    ended: float | None
    seconds: float | None


def _bookkeeping(connection: sqlite3.Connection) -> tuple[list[SessionRow], dict[int, ChunkRow]]:
    """Every session, and every chunk by its number, with their checksums compared."""
    sessions = [SessionRow(*row) for row in rows_of(connection, "sessions")]
    return sessions, {row[0]: ChunkRow(*row) for row in rows_of(connection, "chunks")}


def _is_complete(sessions: list[SessionRow]) -> bool:
    return any(one.outcome == "complete" for one in sessions)
