"""Large joints, the default solver and Blahut-Arimoto: how long, how far, how much memory.

    python benchmarks/bench_scale.py --out results.json --table docs/benchmarks/scale.md

20 Newsgroups (2,000 and 11,541 words by 20 groups), Adult (5,361 by 10) and a sparse joint (100,000 by 2,000, 2,000,000 non-zeros). One
start each, the same for both where both use starts. Each run has a process of its own, in which the kernels are loaded before the clock
starts; memory is by how much the largest resident set grew. tests/verify.py would take hours on these joints, so the loss is recomputed
here from p(z) and p(z,y) alone. Then two problems that are hard on memory: the default funnel of a simulated table, 32,537 by
10 with one record in most rows, and greedy merging of 11,541 words; here the largest resident set of the whole process counts. All joints
but the sparse and the simulated one are tables outside the repository, and skipped where they are missing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

import infoplane as ip
from joints import ADULT, TOP_WORDS, WORDS, adult, large_sparse, one_record_a_row, outside, words
from timing import measured

JOINTS = {
    "words 2,000 x 20": (lambda: words(TOP_WORDS), 20, TOP_WORDS),
    "words 2,000 x 20 ": (lambda: words(TOP_WORDS), 50, TOP_WORDS),
    "words 11,541 x 20": (lambda: words(WORDS), 50, WORDS),
    "Adult 5,361 x 10": (lambda: adult("large"), 32, ADULT["large"]),
    "sparse 100,000 x 2,000": (large_sparse, 32, None),
}
"""Each with its number of clusters and, where it has one, its table outside the repository."""
SOLVERS = ("default", "accelerated", "blahut-arimoto")
WHOLE = {
    "funnel, beta = 4, of 32,537 x 10 (simulated)": (lambda: one_record_a_row(32_537), ip.funnel(4.0), None, None),
    "deterministic bottleneck by merging, words 11,541 x 20": (
        lambda: words(WORDS),
        ip.deterministic_bottleneck(0.05),
        "merging",
        WORDS,
    ),
}
"""Problems whose whole process is measured: joint, problem, solver, table outside the repository."""
GAMMA = 0.05


def memory(name: str) -> int:
    """A line of /proc/self/status, in bytes."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))


def loss_of(joint: ip.Joint, W: np.ndarray) -> float:
    """The bottleneck's loss, written out."""
    p_zy, p_z = W @ joint.p_xy, W @ joint.p_x
    iyz = (p_zy * np.log(np.where(p_zy > 0, p_zy / (p_z[:, None] * joint.p_y), 1.0))).sum()
    ixz = sum((joint.p_x * w * np.log(np.where(w > 0, w / m, 1.0))).sum() for w, m in zip(W, p_z, strict=True))
    return float(GAMMA * ixz - iyz)


def one(key: str, solver: str) -> dict[str, Any]:
    """One run, in this process."""
    make, clusters, _ = JOINTS[key]
    joint, named = make(), None if solver == "default" else solver
    ip.solve(
        ip.Joint.from_counts(np.random.default_rng(0).random((300, 20))),
        ip.bottleneck(GAMMA),
        named,
        clusters=8,
        starts=1,
    )
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")  # forgets the largest resident set so far
    before, began = memory("VmRSS"), time.perf_counter()
    found = ip.solve(joint, ip.bottleneck(GAMMA), named, clusters=clusters, starts=1, rng=0)
    seconds = time.perf_counter() - began
    grown = memory("VmHWM") - before
    if abs(loss_of(joint, found.encoder) - found.loss) > 1e-9:
        raise AssertionError("the loss is not what p(x, y) and the encoder say")
    return {
        "seconds": seconds,
        "loss": found.loss,
        "iterations": found.iterations,
        "status": found.status.name,
        "found by": found.solver,
        "clusters": len(found.encoder),
        "memory in encoders": grown / (8 * clusters * joint.shape[0]),
    }


def whole(key: str) -> dict[str, Any]:
    """One of the `WHOLE` problems in this process, from the first line of Python on."""
    make, problem, solver, _ = WHOLE[key]
    joint = make()
    began, looks = time.process_time(), 0

    def look(_: object) -> None:
        nonlocal looks
        looks += 1

    found = ip.solve(joint, problem, solver, rng=0, callback=look)
    return {
        "seconds": time.process_time() - began,
        "loss": found.loss,
        "status": found.status.name,
        "clusters": found.clusters,
        "looks": looks,
        "GB": memory("VmHWM") / 1e9,
    }


def measure(only_whole: int = 0) -> dict[str, Any]:
    """Every joint and solver, in turns; with ``only_whole`` nothing but the problems whose whole process is measured."""
    results: dict[str, Any] = {"whole": {}}
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for key, (_, _, _, file) in WHOLE.items():
        if file is None or outside(file, key):
            command = [sys.executable, __file__, "whole", key]
            said = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
            results["whole"][key] = json.loads(said.splitlines()[-1])
            print(key, results["whole"][key], flush=True)
    if only_whole:
        return results
    for key, (_, clusters, file) in JOINTS.items():
        if file is not None and not outside(file, f"{key.strip()} with {clusters} clusters"):
            continue
        results[key] = {"clusters": clusters}
        for solver in SOLVERS:
            command = [sys.executable, __file__, "one", key, solver]
            said = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
            results[key][solver] = json.loads(said.splitlines()[-1])
            print(key, solver, results[key][solver], flush=True)
    return results


def table(results: dict[str, Any]) -> str:
    """The docs page, from the results alone."""
    lines = [
        "# Large joints",
        "",
        f"Written by `benchmarks/bench_scale.py`: the bottleneck at gamma = {GAMMA}, one start, stationarity 1e-8, one thread. Memory is",
        "what the process grew by, in encoders of the size at the start. The paper's splittings: [at size](splitting.md).",
        "",
        "| joint | \\|Z\\| at the start | solver | status | iterations | time | loss, nats | memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for key in JOINTS:
        if key not in results:
            continue
        found = results[key]
        unit = found["blahut-arimoto"]["seconds"]
        for solver in SOLVERS:
            run = found[solver]
            said = f"{solver} ({run['found by']})" if solver == "default" else solver
            lines.append(
                f"| {key.strip()} | {found['clusters']} | {said} | {run['status'].lower()} | {run['iterations']:,} | "
                f"{run['seconds'] / unit:.2f} of Blahut-Arimoto's {unit:.1f} s | {run['loss']:.6f} | {run['memory in encoders']:.1f} |"
            )
    if results.get("whole"):
        lines += [
            "",
            "The largest resident set of a process that does nothing else, and how often its callback was called:",
            "",
            "| problem | clusters | status | processor time | loss, nats | memory | looks |",
            "|---|---|---|---|---|---|---|",
            *(
                f"| {key} | {run['clusters']:,} | {run['status'].lower()} | {run['seconds']:.0f} s | {run['loss']:.6f} | "
                f"{run['GB']:.2f} GB | {run['looks']:,} |"
                for key, run in results["whole"].items()
            ),
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        print(json.dumps(one(sys.argv[2], sys.argv[3])))
    elif sys.argv[1:2] == ["whole"]:
        print(json.dumps(whole(sys.argv[2])))
    else:
        measured("scale", measure, table, only_whole=0)
