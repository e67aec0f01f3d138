"""What compiling takes on a new machine, and how fast the kernels are afterwards; beside other sources, if they are given.

    python benchmarks/bench_compilation.py --before ../other/src --out results.json --table docs/benchmarks/compilation.md

Every contestant has processes of its own: one with an empty cache, which compiles, and one that loads. Processor time, in turns.
The process that compiles and the one that loads must give the same bits.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import infoplane
from timing import measured

NOW = str(Path(infoplane.__file__).parent.parent)
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


def asked(sources: str, cache: str, times: int) -> tuple[dict[str, float], dict[str, list[str]]]:
    """Processor seconds and bits of every case, in a process of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": sources}
    command = [sys.executable, "-c", CASES, str(times)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return tuple(json.loads(done.stdout))


def measure(rounds: int = 3, times: int = 5, before: str = "") -> dict[str, Any]:
    """What each round took with an empty cache, and then loaded (the least of several times): medians, and ratios to ``before``."""
    states = [NOW, before] if before else [NOW]
    first: dict[str, list[dict[str, float]]] = {state: [] for state in states}
    later: dict[str, list[dict[str, float]]] = {state: [] for state in states}
    for _ in range(rounds):
        for state in states:
            with tempfile.TemporaryDirectory() as cache:
                taken, compiled = asked(state, cache, 1)
                first[state].append(taken)
                taken, loaded = asked(state, cache, times)
                later[state].append(taken)
            if state == NOW and compiled != loaded:
                differ = [case for case in compiled if compiled[case] != loaded[case]]
                raise AssertionError(f"the process that compiled has other bits than the one that loaded: {differ}")
    for taken in (*first.values(), *later.values()):
        for one in taken:
            one["all"] = sum(one.values())

    def row(case: str) -> dict[str, Any]:
        found = {"case": case}
        for name, taken in (("first", first), ("later", later)):
            found[name] = float(np.median([one[case] for one in taken[NOW]]))
            if before:
                pairs = zip(taken[NOW], taken[before], strict=True)
                found[f"{name}_ratio"] = float(np.median([ours[case] / theirs[case] for ours, theirs in pairs]))
        return found

    return {"cases": [row(case) for case in first[NOW][0]], "rounds": rounds}


def table(found: dict[str, Any]) -> str:
    """The docs page, from the results alone."""
    compared = "first_ratio" in found["cases"][0]
    rows = "".join(
        f"| {row['case']} | {row['first']:.1f} | {1e3 * row['later']:.0f} |"
        + (f" {row['first_ratio']:.2f} | {row['later_ratio']:.2f} |\n" if compared else "\n")
        for row in found["cases"]
    )
    ratios = (
        ""
        if not compared
        else (
            "\nRatios are to the sources that `--before` names: the last that used private names of numba, and that computed proofs only\n"
            "once; the two certified cases also compile the second computation of their proofs."
        )
    )
    head = "| case | first, s | later, ms |" + (" first, ratio | later, ratio |\n" if compared else "\n")
    return (
        "# What compiling takes\n\n"
        f"Written by `benchmarks/bench_compilation.py`: processor time, medians of {found['rounds']} rounds. *First*: seconds of a\n"
        "process that finds no kernels on the machine; a case compiles what the cases above it have not, and runs once. *Later*:\n"
        f"milliseconds of one that loads them, the least of several times. The two agree to the bit in every case.{ratios}\n\n"
        f"{head}|---|---|---|{'---|---|' if compared else ''}\n{rows}"
    )


if __name__ == "__main__":
    measured("compilation", measure, table, rounds=3, times=5, before="")
