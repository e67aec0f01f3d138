"""What compiling takes on a new machine, and how fast the kernels are afterwards: parts that are linked, against numba's own way.

    python benchmarks/bench_compilation.py --out results.json --table docs/benchmarks/compilation.md

Every contestant has processes of its own: one with an empty cache, which compiles, and one that loads. Processor time, in turns.
The process that compiles and the one that loads must give the same bits where parts are linked (`kernels/common/linked.py`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from timing import measured

OWN_WAY = (
    "import numba\nnumba.version_info = numba.version_info._replace(short=(0, 0))  # not a version that was checked\n"
)
CASES = """
import json, sys, time
import numpy as np
import infoplane as ip

def joint(n_x, n_y):
    return ip.Joint(np.random.default_rng(n_x).dirichlet(np.full(n_x * n_y, 0.3)).reshape(n_x, n_y))

heart, wide, tall = ip.datasets.heart(), joint(120, 8), joint(100, 3)
many = {"starts": 24, "rng": 0, "init": "random", "max_iter": 300}
cases = {
    "ib-1, heart, 24 starts": lambda: ip.solve(heart, ip.bottleneck(0.25), "ib-1", **many),
    "pf-2, heart, 24 starts": lambda: ip.solve(heart, ip.funnel(3.0), "pf-2", **many),
    "accelerated, 120 x 8, 24 starts": lambda: ip.solve(wide, ip.bottleneck(0.25), "accelerated", starts=24, rng=0),
    "accelerated funnel, 120 x 8, 8 starts": lambda: ip.solve(wide, ip.funnel(3.0), "accelerated", starts=8, rng=0),
    "certified bottleneck, 100 x 3": lambda: ip.solve(tall, ip.bottleneck(0.2), "envelope"),
    "certified funnel, heart": lambda: ip.solve(heart, ip.funnel(3.5), "columns"),
}
def least(solve, times):
    taken = []
    for _ in range(times):
        began = time.process_time()
        found = solve()
        taken.append(time.process_time() - began)
    return min(taken), found

times, bits = {}, {}
for name, solve in cases.items():
    times[name], found = least(solve, int(sys.argv[1]))
    bits[name] = [found.loss.hex(), found.encoder.tobytes().hex()]
print(json.dumps([times, bits]))
"""
WAYS = {"linked": "", "own": OWN_WAY}


def asked(way: str, cache: str, times: int) -> tuple[dict[str, float], dict[str, list[str]]]:
    """Processor seconds and bits of every case, in a process of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", WAYS[way] + CASES, str(times)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return tuple(json.loads(done.stdout))


def measure(rounds: int = 3, times: int = 5) -> dict[str, Any]:
    """For both ways, what each round took: with an empty cache, and then loaded (the least of several times)."""
    first: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    later: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    differ: dict[str, set[str]] = {way: set() for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            with tempfile.TemporaryDirectory() as cache:
                taken, compiled = asked(way, cache, 1)
                first[way].append(taken)
                taken, loaded = asked(way, cache, times)
                later[way].append(taken)
            differ[way] |= {case for case in compiled if compiled[case] != loaded[case]}
    if differ["linked"]:
        raise AssertionError(f"the process that compiled has other bits than the one that loaded: {differ['linked']}")

    def ratio(taken: dict[str, list[dict[str, float]]], case: str) -> float:
        return float(
            np.median([ours[case] / own[case] for ours, own in zip(taken["linked"], taken["own"], strict=True)])
        )

    return {
        "whole": float(
            np.median(
                [
                    sum(ours.values()) / sum(own.values())
                    for ours, own in zip(first["linked"], first["own"], strict=True)
                ]
            )
        ),
        "cases": [
            {"case": case, "first": ratio(first, case), "later": ratio(later, case), "differ": case in differ["own"]}
            for case in first["own"][0]
        ],
        "rounds": rounds,
    }


def table(found: dict[str, Any]) -> str:
    """The docs page, from the results alone."""
    rows = "".join(
        f"| {row['case']} | {row['first']:.2f} | {row['later']:.2f} | {'no' if row['differ'] else 'yes'} | yes |\n"
        for row in found["cases"]
    )
    return (
        "# What compiling takes\n\n"
        "Written by `benchmarks/bench_compilation.py`: functions that only kernels call are compiled to be linked, without machine\n"
        "code of their own (`kernels/common/linked.py`), against numba's own way. Ratios of processor time, ours over numba's own,\n"
        f"medians of {found['rounds']} rounds in turns. *First*: a process that finds no kernels on the machine; a case compiles what\n"
        "those above it have not, and runs once. *Later*: a process that loads them, the least of several times. The last columns:\n"
        "whether the two processes agree to the bit.\n\n"
        "| case | first | later | numba's own way: same bits | linked: same bits |\n|---|---|---|---|---|\n"
        f"{rows}\n"
        f"All cases together, compiled and run once: {found['whole']:.2f} of the time.\n"
    )


if __name__ == "__main__":
    measured("compilation", measure, table, rounds=3, times=5)
