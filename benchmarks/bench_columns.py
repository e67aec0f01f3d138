"""What the exact funnel costs, and how it grows.

    python benchmarks/bench_columns.py [known] [before] [--seconds 120] [--old-seconds 30] [--only NAME ...] [--page
    docs/explanation/exact_funnel.md]

Seconds are processor time of one thread, compiled code warm. `known`: the paper's 3x3 data and heart. `before`: heart, random joints and
Adult, against the search over supports that boxes and slots replaced (commit `BEFORE`, unpacked beside and run in a process of its own,
case by case in turn). The limits are of the clock; the old search does not end in many cases, so it has a shorter one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import infoplane as ip
from joints import ADULT, adult, outside, random_joint
from page import write_block

BEFORE = "ae2ec56"
"""The last commit whose pricing went by supports."""

CASES = (
    *(("heart", beta) for beta in (1.5, 3.5, 10.0)),
    *((f"{kind} {shape}", beta) for shape in ("100x3", "300x3", "16x6", "16x8", "16x16", "30x8") for kind in ("smooth", "peaked")
      for beta in (1.5, 3.5)),
    *(("adult 225x10", beta) for beta in (1.5, 3.5)),
)  # fmt: skip


class Measured:
    """One certified point from nothing: loss and gap in nats, rounds of column generation, seconds."""

    def __init__(self, joint: ip.Joint, beta: float, tol: float, max_seconds: float = math.inf) -> None:
        solver = ip.Columns(tol=tol, max_cells=2**40, max_seconds=max_seconds)
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it may take long
            found = ip.solve(joint, ip.funnel(beta), solver, rng=0)
        self.seconds = time.process_time() - began
        self.loss, self.lower_bound, self.gap, self.rounds = found.loss, found.lower_bound, found.gap, found.iterations


def known() -> Iterator[str]:
    yield "| joint | betas | tolerance | largest gap | rounds per beta, median and largest | seconds per beta, median and largest |"
    yield "|---|---|---|---|---|---|"
    for name, betas, tol in (
        ("paper_uniform", np.geomspace(0.5, 20.0, 20), 1e-8),
        ("paper_nonuniform", np.geomspace(0.5, 20.0, 20), 1e-8),
        ("heart", np.geomspace(1.0, 10.0, 20), 1e-6),
        ("heart", np.geomspace(1.0, 10.0, 20), 1e-8),
    ):
        all_ = [Measured(ip.datasets.load(name), float(beta), tol) for beta in betas]
        rounds, seconds = [one.rounds for one in all_], [one.seconds for one in all_]
        yield (
            f"| {name} | {len(betas)} in [{betas[0]:g}, {betas[-1]:g}] | {tol:.0e} | {max(one.gap for one in all_):.1e} | "
            f"{np.median(rounds):,.0f}, {max(rounds):,} | {np.median(seconds):.2f}, {max(seconds):.2f} |"
        )
    one = Measured(ip.datasets.heart(), 3.5, 1e-9)
    yield ""
    yield f"Heart at beta = 3.5: {one.loss:.6f} nats, gap {one.gap:.0e}, {one.rounds} rounds, {one.seconds:.2f} s."


def case(name: str) -> ip.Joint:
    """A joint by its name in `CASES`."""
    kind, _, shape = name.partition(" ")
    if kind == "heart":
        return ip.datasets.heart()
    if kind == "adult":
        return adult("small")
    n, m = map(int, shape.split("x"))
    return random_joint(kind, n, m, np.random.default_rng(n if m == 3 else m))


def work() -> None:
    """Answer cases, one line of JSON each, as they come: whichever version of the package is imported here."""
    for line in sys.stdin:
        name, beta, seconds = json.loads(line)
        one = Measured(case(name), beta, 1e-6, seconds)
        print(json.dumps([one.gap, one.seconds]), flush=True)


class Worker:
    """A process of its own that answers cases."""

    def __init__(self, source: Path) -> None:
        environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{Path(__file__).parent}"}
        command = [sys.executable, __file__, "--work"]
        self.process = subprocess.Popen(command, env=environment, stdin=-1, stdout=-1, text=True)
        self("heart", 3.5, 300.0), self("peaked 16x6", 3.5, 300.0), self("smooth 100x3", 1.5, 300.0)  # compiles

    def __call__(self, name: str, beta: float, seconds: float) -> tuple[float, float]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, beta, seconds]) + "\n")
        self.process.stdin.flush()
        gap, spent = json.loads(self.process.stdout.readline())
        return gap, spent


def before(seconds: float, old_seconds: float, only: list[str]) -> Iterator[str]:
    yield (
        f"Limit {old_seconds:g} s of the clock for supports, {seconds:g} s for boxes or slots; seconds are processor time. "
        "A gap above 1e-6 nats is one that was not certified within the limit."
    )
    yield ""
    yield "| joint | beta | supports: gap | seconds | boxes or slots: gap | seconds | times faster |"
    yield "|---|---|---|---|---|---|---|"
    root = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "-C", str(root), "archive", BEFORE, "src"], check=True, stdout=subprocess.PIPE
        ).stdout
        subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)
        old, new = Worker(Path(folder) / "src"), Worker(root / "src")
        for name, beta in CASES:
            if (only and name not in only) or (name.startswith("adult") and not outside(ADULT["small"], name)):
                continue
            (gap, spent), (gap_now, spent_now) = old(name, beta, old_seconds), new(name, beta, seconds)
            times = "" if gap_now > 1e-6 else f"{'> ' if gap > 1e-6 else ''}{spent / spent_now:.1f}"
            yield f"| {name} | {beta:g} | {gap:.1e} | {spent:.2f} | {gap_now:.1e} | {spent_now:.2f} | {times} |"
        old.process.kill(), new.process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="known, before; default both")
    parser.add_argument("--seconds", type=float, default=120.0, help="limit for each case of `before`")
    parser.add_argument("--old-seconds", type=float, default=30.0, help="the same for the search that was replaced")
    parser.add_argument("--only", nargs="*", default=[], help="cases of `before`")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work()
        return
    parts = {"known": known, "before": lambda: before(options.seconds, options.old_seconds, options.only)}
    Measured(ip.datasets.heart(), 3.5, 1e-6)  # compiles
    for name in options.parts or parts:
        lines = []
        for line in parts[name]():
            print(line, flush=True)
            lines.append(line)
            if options.page:
                write_block(options.page, name, lines)


if __name__ == "__main__":
    main()
