"""The real command, killed, interrupted, and on a disk that ends: it goes on where it was, and ends as if nothing had happened."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
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

KILLS = 2
STARTS, LOW, HIGH, COUNT = 60, 0.35, 0.9, 10
COMMAND = [sys.executable, "-m", "infoplane.cli", "frontier", "heart", "--solver", "ib-1", "--starts", STARTS]
COMMAND = [*map(str, COMMAND), "--grid", f"{LOW}:{HIGH}:{COUNT}", "--json", "--chunk-seconds", "0.02"]


def swept(**options):
    """What the command computes, by the library."""
    grid = np.geomspace(LOW, HIGH, COUNT)
    return ip.sweep(ip.datasets.heart(), ip.bottleneck, grid, "ib-1", starts=STARTS, rng=0, **options)


@pytest.fixture(scope="module")
def uninterrupted():
    return swept()


def started(store, **options):
    return subprocess.Popen(
        [*COMMAND, "--store", str(store)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def finished_runs(store):
    """What a reader sees beside the writer; 0 before there is a store."""
    return store_status(store).runs if store.exists() else 0


def wait_for(process, store, runs, seconds=float("inf")):
    """Until the store has so many runs, or so many seconds have passed."""
    ends = time.monotonic() + seconds
    while finished_runs(store) < runs and time.monotonic() < ends:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)


def chunks(store):
    """(units, whether it ended) of every chunk that was ever given to a worker; units as (place, solver, start)."""
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("SELECT units, ended IS NOT NULL FROM chunks ORDER BY chunk").fetchall()
    return [([(places[0], solver, start) for solver, start, places in json.loads(units)], done) for units, done in rows]


def test_killed_at_random_moments_it_ends_to_the_bit_and_repeats_nothing(uninterrupted, tmp_path):
    store, choose = tmp_path / "runs.db", random.Random(20)
    total, done_before = STARTS * COUNT, 0
    for kill in range(KILLS):
        with started(store) as process:
            # After some more work, by what a reader sees, so that all the kills come before the end of however fast a machine.
            share = (total - done_before) // (KILLS - kill + 1)
            runs = done_before + choose.randint(1, max(share, 1))
            if kill % 2 == 1:
                # Or earlier, anywhere in the life of a process: while it starts, makes or opens the store, or works.
                wait_for(process, store, runs, seconds=choose.uniform(0.0, 2.0))
            else:
                wait_for(process, store, runs)
                time.sleep(choose.uniform(0.0, 0.02))
            process.kill()
            process.communicate()
        assert process.returncode == -signal.SIGKILL
        now = finished_runs(store)
        assert done_before <= now < total
        done_before = now
    with started(store) as process:
        said, errors = process.communicate()
    assert process.returncode == 0, errors
    found = read_store(store)
    assert found.complete
    assert_same_runs(found, uninterrupted)
    assert [run["loss_nats"] for run in json.loads(said)["runs"]] == [run.loss for run in uninterrupted.runs]

    log = chunks(store)
    finished = [unit for units, done in log if done for unit in units]
    assert sorted(finished) == [(place, 0, start) for place in range(COUNT) for start in range(STARTS)]
    lost = Counter(unit for units, done in log if not done for unit in units)
    assert sum(not done for _, done in log) <= KILLS * AHEAD * cores()
    ended = set()
    for units, done in log:
        assert not ended & set(units), "a finished run was computed again"
        ended |= set(units) if done else set()
    assert lost.total() + len(finished) == sum(len(units) for units, _ in log)
    assert sorted(os.listdir(tmp_path)) == ["runs.db"]


def test_control_c_is_130_and_says_how_to_resume(uninterrupted, tmp_path):
    store = tmp_path / "runs.db"
    # Under a shell's & a process ignores SIGINT, and so would its children: this one is told not to.
    with started(store, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)) as process:
        wait_for(process, store, 60)
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate()
    assert process.returncode == 130, errors
    assert f"All finished runs are in {store}: repeat the same command to continue." in errors
    assert "Traceback" not in errors
    partial = json.loads(said)
    assert partial["complete"] is False
    assert len(partial["runs"]) % STARTS == 0
    kept = finished_runs(store)
    assert 60 <= kept < STARTS * COUNT
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

    with started(store, preexec_fn=limited) as process:
        _, errors = process.communicate()
    assert process.returncode == 5, errors
    assert f"{store} cannot be written: " in errors
    assert f"All runs finished before are in {store}." in errors
    assert "Traceback" not in errors
    assert 0 < finished_runs(store) < STARTS * COUNT
    assert_same_runs(swept(store=store), uninterrupted)
