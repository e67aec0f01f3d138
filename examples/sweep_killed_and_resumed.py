"""
A sweep that is killed, and goes on elsewhere
=============================================

A long sweep should survive a power cut, and move from a laptop to a cluster without beginning again. Here a sweep
with a store is killed in the middle, as by ``kill -9``, and continued by Dask workers: what was finished is not
computed again, and the result has the same bits as one that was never disturbed.

*For operators. You will know at the end*: what ``store=`` and an executor do, how to look into a running sweep, and
that a resumed one is the same. Needs the extra ``[dask]``.

*Added in 0.1.0.*
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from dask.distributed import Client, LocalCluster
from matplotlib.figure import Figure

import infoplane as ip
from infoplane.storage.store import read_store, store_status

# %%
# Killed
# ------
# Another process begins the sweep: 12 gammas, 40 starts each. It is killed as soon as a hundred runs are on the disk.

CALL = """
import numpy as np
import infoplane as ip
grid = np.geomspace(0.05, 0.5, 12)
ip.sweep(ip.datasets.heart(), ip.bottleneck, grid, "ib-1", starts=40, rng=0, store="runs.db", chunk_seconds=0.05)
"""
environment = {**os.environ, "INFOPLANE_THREADS": "1", "PYTHONPATH": str(Path(ip.__file__).parent.parent)}
process = subprocess.Popen([sys.executable, "-c", CALL], env=environment)
done = 0
while process.poll() is None and done < 100:
    time.sleep(0.05)
    done = store_status("runs.db").runs if Path("runs.db").exists() and Path("runs.db").stat().st_size else 0
process.kill()
killed = process.wait()

# %%
# What the store knows, from any other process and also while a sweep runs (``infoplane status runs.db``):

before = store_status("runs.db")
print(f"killed with {before.runs} of {before.total_runs} runs on the disk")
kept = {(run.parameter, run.start) for run in read_store("runs.db").runs}

# %%
# Resumed
# -------
# By Dask: here a small cluster within this process; ``Client("tcp://head:8786")`` would be one of many machines.

with (
    LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
    Client(cluster) as client,
):
    resumed = ip.resume("runs.db", executor=client.get_executor())
print(resumed)

# %%
# The same without an accident, and the comparison, bit by bit:

whole = ip.sweep(ip.datasets.heart(), ip.bottleneck, np.geomspace(0.05, 0.5, 12), "ib-1", starts=40, rng=0)
same = all(a.loss == b.loss for a, b in zip(resumed.runs, whole.runs, strict=True))
print(f"all {len(whole.runs)} losses have the same bits: {same}")
assert same

# %%
# The picture: every square is a run, and its colour is its distance to the best of its gamma. Dots: gammas that were
# done when the process was killed.

loss = np.array([run.loss for run in resumed.runs]).reshape(12, 40)
above = np.log10(np.maximum(loss - loss.min(axis=1, keepdims=True), 1e-9))
on_disk = np.array([(run.parameter, run.start) in kept for run in resumed.runs]).reshape(12, 40)
figure = Figure(figsize=(11, 4.4), layout="constrained")
ax = figure.subplots()
shown = ax.pcolormesh(above, cmap="cividis", edgecolors="white", linewidth=0.8)
ax.plot(np.nonzero(on_disk)[1] + 0.5, np.nonzero(on_disk)[0] + 0.5, "o", color="white", markersize=4)
ax.set(
    xlabel="start",
    ylabel="gamma",
    title=f"{before.runs} runs before the kill (dots: gammas that were done), {loss.size - before.runs} after it, elsewhere",
)
ax.set_yticks(np.arange(12) + 0.5, [f"{gamma:.3f}" for gamma in np.geomspace(0.05, 0.5, 12)])
figure.colorbar(shown, label="log10 of nats above the best start")
figure.savefig("resumed.png", dpi=130)
