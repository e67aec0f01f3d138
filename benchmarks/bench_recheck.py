"""What it costs to compute every claim of the funnel's search once more, and to challenge what it proves.

    python benchmarks/bench_recheck.py [--rounds 5] [--out FILE] [--table docs/benchmarks/recheck.md]

Against commit `BEFORE`, the last one without either, unpacked and run in a process of its own, in turns. The measure is processor seconds
per cell of a proof from a constant Z, because the number of cells differs a little, by rounding.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import infoplane as ip
from joints import ADULT, adult, outside, random_joint
from timing import measured

BEFORE = "a3259a2"

CASES = (("heart", 3.5), ("heart", 10.0), ("peaked 16x8", 3.5), ("smooth 100x3", 3.5), ("adult 225x10", 3.5))

CELLS = 20_000
"""At most: Adult's proof does not end."""


def joint_of(name: str) -> ip.Joint:
    """A joint by its name in `CASES`."""
    kind, _, shape = name.partition(" ")
    if kind in ("heart", "adult"):
        return ip.datasets.heart() if kind == "heart" else adult("small")
    n, m = map(int, shape.split("x"))
    return random_joint(kind, n, m, np.random.default_rng(n if m == 3 else m))


def work() -> None:
    """Answer cases, one line of JSON each: whichever version of the package is imported here."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        name, beta = json.loads(line)
        joint = joint_of(name)
        began = time.process_time()
        found = ip.certify(joint, ip.funnel(beta), np.ones((1, joint.shape[0])), max_cells=CELLS, max_seconds=np.inf)
        print(json.dumps([time.process_time() - began, found.cells]), flush=True)


class Version:
    """A process of its own that answers cases with one version of the package."""

    def __init__(self, source: Path) -> None:
        environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{Path(__file__).parent}"}
        command = [sys.executable, __file__, "--work"]
        self.process = subprocess.Popen(command, env=environment, stdin=-1, stdout=-1, text=True)
        for name in ("heart", "smooth 100x3"):  # compiles
            self(name, 3.5)

    def __call__(self, name: str, beta: float) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, beta]) + "\n")
        self.process.stdin.flush()
        seconds, cells = json.loads(self.process.stdout.readline())
        return float(seconds) / cells


def measure(rounds: int) -> list[dict[str, Any]]:
    """Microseconds per cell, before and after; medians, and that of the rounds' ratios."""
    root = Path(__file__).parent.parent
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "-C", str(root), "archive", BEFORE, "src"], check=True, stdout=subprocess.PIPE)
        subprocess.run(["tar", "x", "-C", folder], input=archive.stdout, check=True)
        old, new = Version(Path(folder) / "src"), Version(root / "src")
        for name, beta in CASES:
            if name.startswith("adult") and not outside(ADULT["small"], name):
                continue
            pairs = 1e6 * np.array([(old(name, beta), new(name, beta)) for _ in range(rounds)])
            before, after = np.median(pairs, axis=0)
            ratio = float(np.median(pairs[:, 1] / pairs[:, 0]))
            rows.append({"joint": name, "beta": beta, "before": before, "after": after, "ratio": ratio})
        old.process.kill()
        new.process.kill()
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """The page."""
    lines = [
        "# What it costs to compute every claim twice",
        "",
        f"Printed by `benchmarks/bench_recheck.py`: a proof of the funnel from nothing, at most {CELLS:,} cells, against commit {BEFORE},",
        "which neither computes claims a second time nor challenges its proofs; in turns, medians. The time includes linear programmes.",
        "",
        "| joint | beta | microseconds per cell, before | after | after / before |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['joint']} | {row['beta']:g} | {row['before']:.0f} | {row['after']:.0f} | {row['ratio']:.2f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--work" in sys.argv:
        work()
    else:
        measured("recheck", measure, table, rounds=5)
