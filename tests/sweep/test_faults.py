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

FORKED = """
import itertools, json, os, resource, signal, sqlite3, sys, traceback
from infoplane.cli import main

connect = sqlite3.connect

def watched(last, number):
    counted = itertools.count(1)

    def tell(row=None):
        if next(counted) == last:
            os.kill(os.getpid(), number)
        return row

    class Watched(sqlite3.Connection):
        def execute(self, *told):
            tell()
            return super().execute(*told)

        def executemany(self, statement, rows):
            return super().executemany(statement, (tell(row) for row in rows))

    sqlite3.connect = lambda *told, **options: connect(*told, **options, factory=Watched)

def child(asked):
    for said, file in (("stdout", sys.stdout), ("stderr", sys.stderr)):
        os.dup2(os.open(asked[said], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), file.fileno())
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's & has its children ignore
    if asked["signal"]:
        watched(asked["statement"], signal.Signals[asked["signal"]])
    if asked["room"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["room"], asked["room"]))
    try:
        main(asked["command"])
    except SystemExit as ended:
        return ended.code or 0
    finally:
        sys.stdout.flush()
    return 0

for line in sys.stdin:
    pid = os.fork()
    if not pid:
        code = 1
        try:
            code = child(json.loads(line))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""
"""The command in children of one process, which imports it once. A signal may meet it at one of its statements or rows: within a
transaction, or while the store is made or opened; and its files may have room for so many bytes only.
"""


def swept(**options):
    """What the command computes, by the library."""
    grid = np.geomspace(LOW, HIGH, COUNT)
    return ip.sweep(ip.datasets.heart(), ip.bottleneck, grid, "ib-1", starts=STARTS, rng=0, **options)


@pytest.fixture(scope="module")
def uninterrupted():
    return swept()


@pytest.fixture(scope="module")
def forking():
    with subprocess.Popen(
        [sys.executable, "-c", FORKED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def ended(forking, tmp_path_factory):
    """From a store to the command once it has ended, by itself or by the signal of that name: its code, and what it has said."""
    said = tmp_path_factory.mktemp("said")

    def run(store, name=None, statement=0, room=None):
        asked = {"command": [*COMMAND, "--store", str(store)], "signal": name, "statement": statement, "room": room}
        asked |= {stream: str(said / stream) for stream in ("stdout", "stderr")}
        forking.stdin.write(json.dumps(asked) + "\n")
        forking.stdin.flush()
        code = int(forking.stdout.readline())
        return subprocess.CompletedProcess(
            COMMAND, code, *((said / stream).read_text() for stream in ("stdout", "stderr"))
        )

    return run


def finished_runs(store):
    """What a reader sees beside the writer; 0 before there is a store."""
    return store_status(store).runs if store.exists() else 0


def chunks(store):
    """(units, whether it ended) of every chunk that was ever given to a worker; units as (grid_index, solver, start)."""
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("SELECT units, ended IS NOT NULL FROM chunks ORDER BY chunk").fetchall()
    return [([(places[0], solver, start) for solver, start, places in json.loads(units)], done) for units, done in rows]


def test_killed_at_random_moments_it_ends_to_the_bit_and_repeats_nothing(uninterrupted, ended, tmp_path):
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


def test_control_c_is_130_and_says_how_to_resume(uninterrupted, ended, tmp_path):
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


def test_a_disk_that_ends_is_5_and_resumable(uninterrupted, ended, tmp_path):
    store = tmp_path / "runs.db"
    room = 200_000  # the log outgrows it after some chunks, the kernels' cache needs none
    full = ended(store, room=room)
    errors = full.stderr
    assert full.returncode == 5, errors
    assert f"{store} cannot be written: " in errors
    assert f"All runs finished before are in {store}." in errors
    assert "Traceback" not in errors
    assert 0 < finished_runs(store) < STARTS * COUNT
    assert_same_runs(swept(store=store), uninterrupted)
