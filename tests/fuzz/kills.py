"""SIGKILL while a sweep writes its store and while files are written: what is there is whole, and the next call ends with the same bits.

Nothing is left over beside the files that were asked for.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np

import infoplane as ip
from infoplane.storage.store import read_store
from sweeping import assert_same_runs

from .calls import Broken

SWEEP = """
import sys, numpy as np, infoplane as ip
grid, options = np.geomspace(0.3, 0.9, 6), {"starts": 8, "rng": 0, "init": "mixed", "chunk_seconds": 0.01}
ip.sweep(ip.datasets.heart(), ip.bottleneck, grid, "ib-1", store=sys.argv[1], **options)
"""

WRITES = """
import sys, infoplane as ip
frontier = ip.Frontier.load(sys.argv[1])
while True:
    frontier.save(sys.argv[2])
    print("saved", flush=True)
"""


@cache
def uninterrupted():
    return ip.sweep(
        ip.datasets.heart(), ip.bottleneck, np.geomspace(0.3, 0.9, 6), "ib-1", starts=8, rng=0, init="mixed"
    )


def started(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def killed(process, seconds):
    """Kill it after so many seconds; False if it had ended by then."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    if process.returncode:
        raise Broken(f"it ended with {process.returncode}: {process.communicate()[1][-300:]}")
    return False


def of_a_sweep(rng, folder):
    """Killed once or twice, then ended."""
    store = folder / "runs.db"
    kills = 0
    for _ in range(rng.integers(1, 3)):
        process = started(SWEEP, store)
        deadline = time.monotonic() + 60.0
        while not store.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        kills += killed(process, float(rng.uniform(0.0, 1.0)))
    with started(SWEEP, store) as last:
        _, errors = last.communicate(timeout=300)
    if last.returncode:
        raise Broken(f"it does not continue: {errors[-500:]}")
    found = read_store(store)
    if not found.complete:
        raise Broken("the store says that it is not complete")
    assert_same_runs(found, uninterrupted())
    if os.listdir(folder) != ["runs.db"]:
        raise Broken(f"left over: {sorted(os.listdir(folder))}")
    return f"sweep killed {kills} times"


def of_writes(rng, folder):
    """Killed between two saves, or within one."""
    source, target = folder / "source.npz", folder / "out" / "frontier.npz"
    target.parent.mkdir()
    runs = [run for run in uninterrupted().runs for _ in range(20)]
    ip.Frontier(ip.datasets.heart(), runs).save(source)
    with started(WRITES, source, target) as process:
        process.stdout.readline()
        time.sleep(float(rng.uniform(0.0, 0.5)))
        process.kill()
        process.communicate()
    if len(ip.Frontier.load(target)) != len(runs):
        raise Broken("half a file was seen")
    ip.Frontier.load(source).save(target)
    if os.listdir(target.parent) != [target.name]:
        raise Broken(f"left over after the next save: {sorted(os.listdir(target.parent))}")
    return "write killed"


def attack(rng):
    """A process killed, and what it leaves looked at."""
    folder = Path(tempfile.mkdtemp(prefix="infoplane-kill-"))
    try:
        return (of_a_sweep if rng.random() < 0.6 else of_writes)(rng, folder)
    finally:
        shutil.rmtree(folder)
