"""The real command, killed, interrupted, and on a disk that ends: it goes on where it was, and ends as if nothing had happened."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing

import numpy as np
import pytest

import infoplane as ip
from infoplane.runtime.budget import cores
from infoplane.storage.store import read_store, store_status
from infoplane.sweep.engine import AHEAD
from sweeping import assert_same_runs

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

STARTS, LOW, HIGH, COUNT = 60, 0.35, 0.9, 10
COMMAND = [
    "frontier",
    "heart",
    "--solver",
    "ib-1",
    "--starts",
    str(STARTS),
    "--grid",
    f"{LOW}:{HIGH}:{COUNT}",
    "--json",
]
COMMAND += ["--chunk-seconds", "0.02"]
MOMENTS = (1, 40), (300, 500)
"""Statements among which a process is killed: while the store is made; and later, but before all 600 runs are written."""

ENDED = """
import itertools, os, signal, sqlite3, sys
from infoplane.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's & has its children ignore
number, last = signal.Signals[sys.argv[1]], int(sys.argv[2])
counted, connect = itertools.count(1), sqlite3.connect

class Watched(sqlite3.Connection):
    def execute(self, *told):
        tell()
        return super().execute(*told)

    def executemany(self, statement, rows):
        return super().executemany(statement, (tell(row) for row in rows))

def tell(row=None):
    if next(counted) == last:
        os.kill(os.getpid(), number)
    return row

sqlite3.connect = lambda *told, **options: connect(*told, **options, factory=Watched)
main(sys.argv[3:])
"""
"""The command, which a signal meets at one of its statements or rows: within a transaction, or while the store is made or opened."""


def swept(**options):
    """What the command computes, by the library."""
    grid = np.geomspace(LOW, HIGH, COUNT)
    return ip.sweep(ip.datasets.heart(), ip.bottleneck, grid, "ib-1", starts=STARTS, rng=0, **options)


@pytest.fixture(scope="module")
def uninterrupted():
    return swept()


def ended(store, name=None, statement=0, **options):
    """The command once it has ended, by itself or by the signal of that name."""
    how = ["-m", "infoplane.cli"] if name is None else ["-c", ENDED, name, str(statement)]
    command = [sys.executable, *how, *COMMAND, "--store", str(store)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def finished_runs(store):
    """What a reader sees beside the writer; 0 before there is a store."""
    return store_status(store).runs if store.exists() else 0


def chunks(store):
    """(units, whether it ended) of every chunk that was ever given to a worker; units as (grid_index, solver, start)."""
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("SELECT units, ended IS NOT NULL FROM chunks ORDER BY chunk").fetchall()
    return [([(places[0], solver, start) for solver, start, places in json.loads(units)], done) for units, done in rows]


def test_killed_at_random_moments_it_ends_to_the_bit_and_repeats_nothing(uninterrupted, tmp_path):
    store, choose = tmp_path / "runs.db", random.Random(20)
    total, done_before = STARTS * COUNT, 0
    for moment in MOMENTS:
        killed = ended(store, "SIGKILL", choose.randint(*moment))
        assert killed.returncode == -signal.SIGKILL
        now = finished_runs(store)
        assert done_before <= now < total
        done_before = now
    assert done_before > 0
    last = ended(store)
    assert last.returncode == 0, last.stderr
    found = read_store(store)
    assert found.complete
    assert_same_runs(found, uninterrupted)
    assert [run["loss_nats"] for run in json.loads(last.stdout)["runs"]] == [run.loss for run in uninterrupted.runs]

    log = chunks(store)
    finished = [unit for units, done in log if done for unit in units]
    assert sorted(finished) == [(grid_index, 0, start) for grid_index in range(COUNT) for start in range(STARTS)]
    lost = Counter(unit for units, done in log if not done for unit in units)
    assert sum(not done for _, done in log) <= len(MOMENTS) * AHEAD * cores()
    known = set()
    for units, done in log:
        assert not known & set(units), "a finished run was computed again"
        known |= set(units) if done else set()
    assert lost.total() + len(finished) == sum(len(units) for units, _ in log)
    assert sorted(os.listdir(tmp_path)) == ["runs.db"]


def test_control_c_is_130_and_says_how_to_resume(uninterrupted, tmp_path):
    store = tmp_path / "runs.db"
    interrupted = ended(store, "SIGINT", 200)
    assert interrupted.returncode == 130, interrupted.stderr
    assert f"All finished runs are in {store}: repeat the same command to continue." in interrupted.stderr
    assert "Traceback" not in interrupted.stderr
    partial = json.loads(interrupted.stdout)
    assert partial["complete"] is False
    assert len(partial["runs"]) % STARTS == 0
    kept = finished_runs(store)
    assert 0 < kept < STARTS * COUNT
    assert not store_status(store).running
    assert_same_runs(swept(store=store), uninterrupted)
    finished = [unit for units, done in chunks(store) if done for unit in units]
    assert len(finished) == len(set(finished)) == STARTS * COUNT


def test_a_disk_that_ends_is_5_and_resumable(uninterrupted, tmp_path):
    resource = pytest.importorskip("resource")
    store = tmp_path / "runs.db"
    room = 200_000  # bytes that a file may have: the log outgrows it after some chunks, the kernels' cache needs none

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    full = ended(store, preexec_fn=limited)
    errors = full.stderr
    assert full.returncode == 5, errors
    assert f"{store} cannot be written: " in errors
    assert f"All runs finished before are in {store}." in errors
    assert "Traceback" not in errors
    assert 0 < finished_runs(store) < STARTS * COUNT
    assert_same_runs(swept(store=store), uninterrupted)
