"""What the exact funnel costs, how it grows, and whether anything ever beats its bounds.

    python benchmarks/bench_columns.py [known] [before] [rivals] [--seconds 120] [--only NAME ...] [--page docs/exact_funnel.md]

Seconds are processor time of one thread, compiled code warm. `known`: the paper's 3x3 data and heart. `before`: heart, random joints and
Adult, against the search over supports that boxes and slots replaced (commit `BEFORE`, unpacked beside and run in a process of its own,
case by case in turn). `rivals`: 500 random joints, every lower bound against random starts of the other funnel solvers, against Merge-Two,
and against all deterministic maps where there are few letters.
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
from joints import KINDS, adult, deterministic_encoders, random_joint, random_joints
from page import write_block

LIMITS = {"pf-2v": 40}
"""Iterations a start, where fewer must do: any encoder must lie above the bound, converged or not."""

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
    yield "| joint | betas | tolerance | largest gap | rounds a beta, median and largest | seconds a beta, median and largest |"
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
        self("heart", 3.5, 60.0), self("peaked 16x6", 3.5, 5.0), self("peaked 100x3", 3.5, 5.0)  # compiles

    def __call__(self, name: str, beta: float, seconds: float) -> tuple[float, float]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, beta, seconds]) + "\n")
        self.process.stdin.flush()
        gap, spent = json.loads(self.process.stdout.readline())
        return gap, spent


def before(seconds: float, only: list[str]) -> Iterator[str]:
    yield f"Limit {seconds:g} s of the clock for each; seconds of processor time, what was not certified to 1e-6 with its gap."
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
            if only and name not in only:
                continue
            (gap, spent), (gap_now, spent_now) = old(name, beta, seconds), new(name, beta, seconds)
            times = f"{spent / spent_now:.1f}" if gap <= 1e-6 else f"> {spent / spent_now:.1f}"
            yield f"| {name} | {beta:g} | {gap:.1e} | {spent:.2f} | {gap_now:.1e} | {spent_now:.2f} | {times} |"
        old.process.kill(), new.process.kill()


def rivals(count: int = 500, limit: float = 20.0) -> Iterator[str]:
    """Every lower bound against every rival's loss; the rivals' best distance to it."""
    rng = np.random.default_rng(1)
    certified, wrong, seconds = 0, 0, []
    short: dict[str, list[float]] = {"merging": [], "pf-2v": [], "accelerated": [], "pooling": []}
    maps = 0
    for name, joint in random_joints(count, largest_y=10):
        beta = float(np.exp(rng.uniform(0.0, np.log(20.0))))
        problem = ip.funnel(beta)
        one = Measured(joint, beta, 1e-6, max_seconds=limit)
        certified += one.gap <= 1e-6
        seconds.append(one.seconds)
        for solver, losses in short.items():
            starts = 20 if solver in ("pf-2v", "accelerated") else 16
            found = ip.solve(
                joint, problem, solver, starts=starts, rng=0, init="random", max_iter=LIMITS.get(solver, 500)
            )
            wrong += found.loss < one.lower_bound
            losses.append(found.loss - one.loss)
        if joint.shape[0] <= 8:
            best = min(problem.value(joint, W) for W in deterministic_encoders(joint.shape[0]))
            wrong += best < one.lower_bound
            maps += 1
        print(name, f"beta {beta:.2f}", f"gap {one.gap:.1e}, {one.rounds} rounds, {one.seconds:.2f} s", flush=True)
    yield (
        f"{count} random joints ({', '.join(KINDS)} in turn; |X| <= 30, |Y| <= 10), beta in [1, 20]: {certified} certified to 1e-6, "
        f"{np.median(seconds):.2f} s in the median, {max(seconds):.1f} s at most. Bounds that some encoder beat: {wrong}; encoders tried: "
        f"the best of 20 random starts of pf-2v and of accelerated, pooling, Merge-Two, and on {maps} joints all deterministic maps."
    )
    yield ""
    yield "| rival | at the certified optimum (1e-6) | median distance above it | largest |"
    yield "|---|---|---|---|"
    for solver, losses in short.items():
        over = np.array(losses)
        yield f"| {solver} | {(over <= 1e-6).mean():.0%} | {np.median(over):.1e} nats | {over.max():.1e} nats |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="known, before, rivals; default all")
    parser.add_argument("--seconds", type=float, default=120.0, help="limit for each case of `before`")
    parser.add_argument("--only", nargs="*", default=[], help="cases of `before`")
    parser.add_argument("--count", type=int, default=500, help="joints of `rivals`")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work()
        return
    parts = {
        "known": known,
        "before": lambda: before(options.seconds, options.only),
        "rivals": lambda: rivals(options.count),
    }
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
