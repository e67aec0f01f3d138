"""What the tests of sweeps share: frontiers compared to the bit, path solvers small enough to read, and stores to look into or change."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

import infoplane as ip
from infoplane.solution import Run
from infoplane.solvers.base import PathSolver
from infoplane.solvers.job import RunOptions
from infoplane.storage import database
from infoplane.sweep.plan import Plan

UNIFORM = ip.datasets.paper_uniform()

NUMBERS = (
    "parameter",
    "start",
    "solver",
    "loss",
    "ixz",
    "iyz",
    "status",
    "iterations",
    "residuals",
    "died",
    "clusters",
)


def assert_same_runs(found, expected, encoders="best"):
    """The same runs in the same order, every number to the bit; encoders of the best runs, or of all; the same traces of the same runs."""
    assert len(found) == len(expected)
    for one, other in zip(found.runs, expected.runs, strict=True):
        for name in NUMBERS:
            assert getattr(one, name) == getattr(other, name), name
        assert one.lower_bound == other.lower_bound
        assert (one.multipliers is None) == (other.multipliers is None)
        assert one.multipliers is None or one.multipliers.tobytes() == other.multipliers.tobytes()
    assert found.best_rows() == expected.best_rows()
    for row in expected.best_rows() if encoders == "best" else range(len(expected)):
        ours, theirs = found.runs[row].encoder, expected.runs[row].encoder
        assert (ours.shape, ours.tobytes()) == (theirs.shape, theirs.tobytes())
    assert [run.trace is None for run in found.runs] == [run.trace is None for run in expected.runs]
    for one, other in zip(found.runs, expected.runs, strict=True):
        assert one.trace is None or one.trace.columns().tobytes() == other.trace.columns().tobytes()


def planned(solver=None, joint=UNIFORM, starts=6, options=None):
    """A plan with one solver, from seed 3."""
    return Plan(
        joint,
        (solver or ip.SOLVERS["ib-1"],),
        replace(options or RunOptions(), starts=starts),
        np.random.SeedSequence(3),
    )


@dataclass(frozen=True)
class Warm(PathSolver):
    """Each problem from the encoder that its neighbour has found; a lower bound, if it claims one, lies so far below."""

    segment: int | None = None
    claims: float | None = None
    tol: float = 1e-6

    name = "warm"
    deterministic = False

    def run(self, job):
        raise AssertionError("a sweep follows a path")

    def follow(self, job, problems):
        support, starts = job.support, job.starts
        W = starts[:1]
        for problem in problems:
            (run,) = ip.DouglasRachford().run(job.but(problem=problem, starts=W))
            # Every cluster must live for the next one to start from.
            W = np.ascontiguousarray(0.98 * _padded(run.encoder, starts.shape[1]) + 0.02 / starts.shape[1])[None]
            bound = None
            if self.claims is not None:
                bound = problem.value(support.joint, support.lift(run.encoder)) - self.claims
            yield Run(run.encoder, run.status, run.iterations, run.residuals, run.died, run.trace, "warm", bound)


def _padded(W, clusters):
    return np.concatenate([W, np.zeros((clusters - len(W), W.shape[1]))])


GRID = [0.1, 0.25, 0.5, 0.8]


def swept(store=None, joint=UNIFORM, family=ip.bottleneck, grid=GRID, **options):
    options = {"solver": "ib-1", "starts": 5, "rng": 0, "chunk_seconds": 1e-9} | options
    return ip.sweep(joint, family, grid, store=store, **options)


def ask(path, question):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(question).fetchall()


def change(path, *commands):
    with closing(sqlite3.connect(path)) as connection:
        for command in commands:
            connection.execute(command)
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def forge(path, *commands):
    """Change a store as somebody does who knows of the checksums."""
    change(path, *commands)
    with closing(sqlite3.connect(path)) as connection:
        for table, columns in database.COLUMNS.items():
            keys = columns[: 3 if columns[1] == "solver" else 1]
            for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall():
                connection.execute(
                    f"UPDATE {table} SET checksum = ? WHERE {' AND '.join(f'{key} = ?' for key in keys)}",
                    (database.checksum(row), *row[: len(keys)]),
                )
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def connecting(monkeypatch, *pragmas, how=None):
    """Let the writer's connection be of another kind."""
    real = database.connect

    def connect(path, given):
        connection = real(path, given if how is None or given != "mode=rw" else how)
        for pragma in pragmas if given == "mode=rw" else ():
            connection.execute(f"PRAGMA {pragma}")
        return connection

    monkeypatch.setattr(database, "connect", connect)
