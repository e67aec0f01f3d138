"""What a sweep costs beside its kernels: threads, the store, two Dask workers; a chunk by itself; memory of 100,000 runs.

    python benchmarks/bench_sweep.py --out sweep.json --table docs/benchmarks/sweep.md

The heart bottleneck of the paper, 64 gammas x 16 starts = 1,024 runs. "bare" begins and advances the same batches, one per parameter, in a
pool of two threads and does nothing with them. A sweep records the trace of the best start of each parameter by running it again;
"no traces" leaves that out. All variants run in turns in one process, each round is compared with its own bare
run, and the median of the ratios is reported with its range. Results of every variant are compared with each other to the bit before
a time counts. Memory is the largest resident set of a process of its own; its runs stop after a few iterations, which changes neither
their number nor what is kept of them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np

import infoplane as ip
from infoplane.joint.joint import Support
from infoplane.runtime.budget import one_blas_thread
from infoplane.solvers.base import make_starts
from infoplane.solvers.job import Job, RunOptions
from infoplane.storage.store import Store
from infoplane.sweep import plan as plans
from infoplane.sweep.engine import Engine, Ledger, completed, manifest_of
from infoplane.sweep.plan import ParameterGrid, Plan
from timing import publish

GAMMAS = np.geomspace(0.1, 1.0, 64)
STARTS = 16
WORKERS = 2
TARGETS = {"threads + store": 0.05, "2 Dask workers": 0.15, "2 Dask workers + store": 0.15}
MEMORY_RUNS, MEMORY_LIMIT = 100_000, 1_000_000_000


def swept(solver: str, **options: object) -> ip.Frontier:
    return ip.sweep(ip.datasets.heart(), ip.bottleneck, GAMMAS, solver, starts=STARTS, rng=0, init="random", **options)


def bare(solver: str) -> None:
    """The kernels and nothing else."""
    joint = ip.datasets.heart()
    support, seeds = Support(joint), np.random.SeedSequence(0).spawn(len(GAMMAS))

    def one(place: int) -> None:
        W = make_starts(joint, None, STARTS, seeds[place], "random")
        ip.SOLVERS[solver].run(Job(support, ip.bottleneck(float(GAMMAS[place])), W))

    with one_blas_thread(), ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(one, range(len(GAMMAS))))


def overheads(solver: str, rounds: int, client: object) -> dict[str, object]:
    """Each variant's time over that of the bare kernels in the same round, minus one."""
    with tempfile.TemporaryDirectory() as folder:
        number = iter(range(10**6))

        def store() -> Path:
            return Path(folder) / f"{next(number)}.db"

        def threads(**options: object) -> ip.Frontier:
            with ThreadPoolExecutor(WORKERS) as pool:
                return swept(solver, executor=pool, **options)

        def untraced() -> ip.Frontier:
            """No run is the best of its batch, so that none is run again to record its trace."""
            with patch.object(plans, "contending", lambda _: []):
                return threads()

        variants: dict[str, Callable[[], ip.Frontier]] = {
            "threads, no traces": untraced,
            "threads": threads,
            "threads + store": lambda: threads(store=store()),
        }
        if client is not None:
            variants["2 Dask workers"] = lambda: swept(solver, engine="dask")
            variants["2 Dask workers + store"] = lambda: swept(solver, engine="dask", store=store())
        expected = [run.loss for run in threads().runs]
        for name, variant in variants.items():  # kernels are loaded, and results are checked, before a time counts
            assert [run.loss for run in variant().runs] == expected, name
        wall: dict[str, list[float]] = {name: [] for name in ("bare", *variants)}
        busy: dict[str, list[float]] = {name: [] for name in wall}
        for turn in range(rounds):
            for name, call in {"bare": lambda: bare(solver), **variants}.items():
                began, cpu = time.perf_counter(), cpu_seconds(client)
                call()
                wall[name].append(time.perf_counter() - began)
                busy[name].append(cpu_seconds(client) - cpu)
            print(
                f"{solver}, round {turn + 1}: " + ", ".join(f"{n} {s[-1]:.2f} s" for n, s in wall.items()), flush=True
            )
    return {
        "runs": len(expected),
        "seconds": {name: median(values) for name, values in wall.items()},
        "overhead": {name: spread(wall[name], wall["bare"]) for name in variants},
        "cpu_overhead": {name: spread(busy[name], busy["bare"]) for name in variants},
    }


def cpu_seconds(client: object) -> float:
    """What this process and the cluster's workers have computed so far."""
    workers = {} if client is None else client.run(time.process_time)
    return time.process_time() + sum(workers.values())


def spread(values: list[float], bare: list[float]) -> dict[str, float]:
    """Round by round."""
    shares = [one / other - 1 for one, other in zip(values, bare, strict=True)]
    return {"median": median(shares), "lowest": min(shares), "highest": max(shares)}


def chunk_seconds(client: object, chunks: int = 200) -> dict[str, float]:
    """What one chunk costs by itself: so many of them with one run of one iteration each, one worker, none waiting ahead."""
    joint, grid = ip.datasets.heart(), ParameterGrid(ip.bottleneck, [0.5], None)
    plan = Plan(
        joint, (ip.SOLVERS["ib-1"],), RunOptions(max_iter=1, starts=chunks, init="random"), np.random.SeedSequence(0)
    )
    units = plan.units([0])
    found: dict[str, float] = {}
    with ThreadPoolExecutor(1) as pool, tempfile.TemporaryDirectory() as folder:
        engines = {"threads": Engine(pool, lambda: 1)}
        if client is not None:
            engines["Dask"] = Engine(client.get_executor(pure=False), lambda: 1)
        for name, engine in engines.items():
            for stored in (False, True):
                began = time.perf_counter()
                if stored:
                    with Store(Path(folder) / f"{name}.db", manifest_of(plan, grid), plan.support) as store:
                        ledger = Ledger(plan, grid, store)
                        done = completed(engine, ledger, units, seconds=1e-9)
                        for number, chunk in done:
                            ledger.record(number, chunk)
                else:
                    for _ in completed(engine, Ledger(plan, grid), units, seconds=1e-9):
                        pass
                found[f"{name}{' + store' if stored else ''}"] = (time.perf_counter() - began) / chunks
    return found


MEMORY_SCRIPT = """
import json, resource, sys
import numpy as np, infoplane as ip
found = ip.sweep(ip.datasets.heart(), ip.bottleneck, np.geomspace(0.1, 1.0, 64), "ib-1", starts=int(sys.argv[1]), rng=0,
                 init="random", max_iter=int(sys.argv[2]), store=sys.argv[3])
best = found.best()
encoders = [found.encoder(row) for row in found.best_rows()]
print(json.dumps({"runs": len(found), "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def memory(runs: int, max_iter: int) -> dict[str, object]:
    """The largest resident set of a process that makes so many runs, stores them, and reads the frontier back."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        made = {}
        for starts in (1, -(-runs // len(GAMMAS))):
            command = [sys.executable, "-c", MEMORY_SCRIPT, str(starts), str(max_iter), str(path)]
            began = time.perf_counter()
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            made = {**json.loads(said), "before": made.get("bytes"), "seconds": time.perf_counter() - began}
            made["file"] = path.stat().st_size
            path.unlink()
    return made


def machine() -> dict[str, object]:
    return {"cores": os.cpu_count(), "python": sys.version.split()[0], "load": round(os.getloadavg()[0], 2)}


def table(results: dict[str, object]) -> str:
    """The results as Markdown."""
    lines = [
        "# What a sweep costs beside its kernels",
        "",
        "Printed by `benchmarks/bench_sweep.py`: the heart bottleneck, 64 gammas x 16 random starts = 1,024 runs, two workers. Overhead is",
        "the time of the whole call over that of the bare kernels in the same round, minus one: median, lowest and highest over the",
        "rounds. {cores} cores, Python {python}, load at the start {load}.".format(**results["machine"]),
        "CPU: the same of the processor time of all processes, which a busy machine changes less.",
        "",
        "| solver | variant | seconds | overhead | range | CPU | target |",
        "|---|---|---|---|---|---|---|",
    ]
    for solver, one in results["overheads"].items():
        lines.append(f"| {solver} | bare kernels | {one['seconds']['bare']:.2f} | | | | |")
        for name, share in one["overhead"].items():
            target = f"< {TARGETS[name]:.0%}" if name in TARGETS and solver == "ib-1" else ""
            lines.append(
                f"| {solver} | {name} | {one['seconds'][name]:.2f} | {share['median']:.1%} | "
                f"{share['lowest']:.1%} to {share['highest']:.1%} | {one['cpu_overhead'][name]['median']:.1%} | {target} |"
            )
    lines += ["", "A chunk by itself, whatever its runs cost:", "", "| engine | milliseconds per chunk |", "|---|---|"]
    lines += [f"| {name} | {1000 * seconds:.1f} |" for name, seconds in results["chunk_seconds"].items()]
    if results.get("memory"):
        one = results["memory"]
        lines += [
            "",
            f"Memory: {one['runs']:,} runs, stored, and read back as a frontier: {one['bytes'] / 1e6:.0f} MB resident at most, of which "
            f"{one['before'] / 1e6:.0f} MB",
            f"are there with 64 runs. The file has {one['file'] / 1e6:.0f} MB. Target: under {MEMORY_LIMIT / 1e6:,.0f} MB.",
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("sweep.json"), help="results")
    parser.add_argument("--table", type=Path, help="write the Markdown table here as well")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--solvers", default="ib-1,accelerated", help="between commas")
    parser.add_argument("--memory-runs", type=int, default=MEMORY_RUNS, help="0 leaves memory out")
    parser.add_argument("--memory-max-iter", type=int, default=20)
    parser.add_argument("--no-dask", action="store_true")
    options = parser.parse_args()
    results: dict[str, object] = {"machine": machine()}
    client = cluster = None
    if not options.no_dask:
        import distributed

        cluster = distributed.LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address="127.0.0.1:0")
        client = distributed.Client(cluster)
    try:
        results["overheads"] = {name: overheads(name, options.rounds, client) for name in options.solvers.split(",")}
        results["chunk_seconds"] = chunk_seconds(client)
    finally:
        for one in (client, cluster):
            if one is not None:
                one.close()
    if options.memory_runs:
        results["memory"] = memory(options.memory_runs, options.memory_max_iter)
    options.out.write_text(json.dumps(results, indent=1))
    publish(table(results), options.table)


if __name__ == "__main__":
    main()
