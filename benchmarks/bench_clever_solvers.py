"""Pieces of the solvers, in and out: Anderson's steps beside SQUAREM's, ways to Newton's direction, where searches begin, stages.

    python benchmarks/bench_clever_solvers.py --out clever_solvers.json --table docs/benchmarks/clever_solvers.md

Everything is measured in the last commit that had all of it (`HAD`), taken out of the repository's history, once as it is and once for each
of the `WITHOUT`, whose edits leave a piece out: processes of their own, since kernels are compiled, processor time, after compilation. Runs
of the accelerated solver are from two starts of 64 clusters to the default tolerance, paths those of `Annealing`; splittings do 100
iterations from one start. A stage is what it takes, and by how much it lowers the loss below all before it, in the default solver with a
cap on the clusters.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import infoplane as ip
import joints
from bench_clever_bottleneck import older
from timing import measured

HAD = "5f0b621"
"""The last commit with all of it."""
GAMMAS = (0.05, 0.1, 0.2)
BOTTLENECK, BLOCKS = "kernels/fixed_point/accelerated_bottleneck.py", "kernels/splitting/blocks.py"
Edit = tuple[str, str, str]
BEGUN, REFUSED = "run.phase, run.origin, run.check = {}, PLAIN, FAR", "        run.{} = {}\n    run.origin = PLAIN"
ANDERSON_ALONE: tuple[Edit, ...] = (
    (BOTTLENECK, BEGUN.format("BASE"), f"{BEGUN.format('ANDERSON')}\n    run.held = 0"),
    (BOTTLENECK, REFUSED.format("phase", "PAIR"), REFUSED.format("held", 0)),
    (
        BOTTLENECK,
        "run.check, run.phase = COMPARING if written else WRITING, PAIR",
        "run.check = COMPARING if written else WRITING",
    ),
    (
        BOTTLENECK,
        "logs_of_kept(q_new, keep, u[r]), n, BASE",
        "logs_of_kept(q_new, keep, u[r]), n, ANDERSON\n    run.held = 0",
    ),
)
SQUAREM_ALONE: tuple[Edit, ...] = (
    (BOTTLENECK, "run.phase == BASE and run.origin == LEAP and norm < 0.98 * run.norm", "False"),
)
DENSE, CONJUGATE = "newton_direction(split, W, k, c, gradient)", "conjugate_direction(split, W, k, c, gradient, 1e-3)"
CONJUGATE_ALONE: tuple[Edit, ...] = ((BLOCKS, f"direction = {DENSE}", f"direction = {CONJUGATE}"),)
MIDDLE = "    lam = 0.5 * (low + high) if low > -math.inf else high - 1.0 - abs(high)\n"
ANEW: tuple[Edit, ...] = ((BLOCKS, "    if not low < lam < high:\n        lam = 0.5 * (low + high)\n", MIDDLE),)
WITHOUT: dict[str, tuple[tuple[Edit, ...], str]] = {
    "SQUAREM beside Anderson": (ANDERSON_ALONE, "runs"),
    "Anderson beside SQUAREM": (SQUAREM_ALONE, "runs"),
    "dense Newton systems of few unknowns": (CONJUGATE_ALONE, "splittings"),
    "a search that begins near the last": (ANEW, "splittings"),
}
"""The piece that is left out: how, and where it is measured."""
JOINTS: dict[str, tuple[Callable[[], ip.Joint], int]] = {
    "heart 16 x 4": (ip.datasets.heart, 5),
    "compas 437 x 2": (joints.compas, 5),
    "adult 225 x 10": (lambda: joints.adult("small"), 10),
    "adult 1,038 x 4": (lambda: joints.adult("medium"), 10),
    "colours 330 x 330": (ip.datasets.colours, 20),
    "words 2,000 x 20": (lambda: joints.words(joints.TOP_WORDS), 20),
}
"""With the cap for stages."""
SPLITTINGS = (("ib-2", 16), ("ib-2", 5), ("ib-1", 16))


def solved(joint: ip.Joint, gamma: float, solver: str, **options: Any) -> list[float]:
    """Seconds, of the better of two calls, and loss."""
    seconds = []
    for _ in range(2):
        began = time.process_time()
        loss = ip.solve(joint, ip.bottleneck(gamma), solver, rng=0, **options).loss
        seconds.append(time.process_time() - began)
    return [min(seconds), loss]


def run_points() -> Iterator[dict[str, Any]]:
    """The accelerated solver and paths."""
    for name, (make, _) in JOINTS.items():
        joint = make()
        clusters = None if joint.shape[0] < 64 else 64
        for gamma in GAMMAS if joint.shape[0] < 2_000 else ():
            found = solved(joint, gamma, "accelerated", starts=2, clusters=clusters)
            yield {"joint": name, "parameter": f"gamma {gamma:g}", "found": found}
        if joint.shape[0] < 1_000:
            yield {"joint": name, "parameter": "gamma 0.1, path", "found": solved(joint, 0.1, "annealing")}


def splitting_points() -> Iterator[dict[str, Any]]:
    """Splittings at gamma = 0.1."""
    for name, (make, _) in JOINTS.items():
        joint = make()
        for solver, clusters in SPLITTINGS if joint.shape[0] < 2_000 and joint.shape[1] < 64 else ():
            found = solved(joint, 0.1, solver, starts=1, clusters=clusters, max_iter=100)
            yield {"joint": name, "parameter": f"{solver}, {clusters} clusters", "found": found}


def stage_points() -> Iterator[dict[str, Any]]:
    """What every stage of the default takes and gains, where the clusters are capped."""
    from infoplane.solvers import portfolio

    log: list[tuple[str, float, float]] = []

    def watched(stage: Any) -> Any:
        def work(found: Any, job: Any) -> None:
            before, began = found.lowest, time.process_time()
            stage.work(found, job)
            log.append((stage.work.__name__, time.process_time() - began, before - found.lowest))

        return stage._replace(work=work)

    portfolio.STAGES = tuple(map(watched, portfolio.STAGES))
    for name, (make, cap) in JOINTS.items():
        joint = make()
        for gamma in GAMMAS:
            log.clear()
            solved(joint, gamma, "portfolio", clusters=cap)
            stages = {stage: [took, gained] for stage, took, gained in log[1:]}  # of the second call
            yield {"joint": name, "gamma": gamma, "stages": stages}


POINTS = {"runs": run_points, "splittings": splitting_points, "stages": stage_points}


def work(kind: str) -> None:
    """The process that has one variant: one point a line."""
    for solver in ("accelerated", "annealing", "ib-2", "ib-1"):  # compiles
        solved(ip.datasets.heart(), 0.1, solver, max_iter=500)
    solved(joints.random_joint("smooth", 70, 3, np.random.default_rng(0)), 0.1, "annealing")
    for point in POINTS[kind]():
        print(json.dumps(point), flush=True)


def variant(folder: Path, name: str, edits: tuple[Edit, ...]) -> Path:
    """The sources of `HAD` with some edits."""
    place = folder / name.replace(" ", "-")
    place.mkdir()
    source = older(place, HAD)
    for file, old, new in edits:
        path = source / "infoplane" / file
        text = path.read_text()
        if text.count(old) != 1:
            raise SystemExit(f"{file} of {HAD} does not have, once: {old}")
        path.write_text(text.replace(old, new))
    return source


def measure() -> dict[str, Any]:
    """All points: with everything, then without each piece."""
    here, found = Path(__file__).resolve(), {}
    with tempfile.TemporaryDirectory() as folder:

        def points(source: Path, kind: str) -> list[dict[str, Any]]:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(here.parent)])}
            command = [sys.executable, str(here), "--worker", kind]
            said = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
            return [json.loads(line) for line in said.splitlines()]

        whole = variant(Path(folder), "whole", ())
        found = {"with": {kind: points(whole, kind) for kind in POINTS}, "without": {}}
        for name, (edits, kind) in WITHOUT.items():
            found["without"][name] = points(variant(Path(folder), name, edits), kind)
    return found


def rows(found: dict[str, Any]) -> Iterator[tuple[str, str, str, list[float], list[float]]]:
    """Piece, joint and parameter, seconds and loss with it and without."""
    for piece, points in found["without"].items():
        known = {(one["joint"], one["parameter"]): one["found"] for one in found["with"][WITHOUT[piece][1]]}
        for one in points:
            yield piece, one["joint"], one["parameter"], known[one["joint"], one["parameter"]], one["found"]


def table(found: dict[str, Any]) -> str:
    """The page."""
    lines = [
        "# What is clever in the solvers, and what it gains",
        "",
        f"Written by `benchmarks/bench_clever_solvers.py`, with the code of commit {HAD} as it was and without one piece at a time.",
        "Processor time after compilation, on a busy machine: trust a ratio to some tenths. A gain above 1 says that the code without the",
        "piece takes so many times as long; a difference above 0 that it ends higher. A piece stays in the package if it gains a factor of",
        "two on at least two real tables, or ends lower there.",
        "",
        "- **SQUAREM and Anderson's method**: either alone is less than two times slower than both, but for one table. *Anderson's is",
        "  left out*: it gained less, and needed a memory of earlier points.",
        "- **Newton's systems of the encoder's dual**, written down up to 128 unknowns: *stay*, by less than the rule asks for. By",
        "  conjugate gradients to the same rounding, which larger ones need, ib-1 takes 1.5 to 2.3 times as long on four tables.",
        "- **The marginal block's search, begun with Newton's step from the last marginals**: *left out*.",
        "- **Stages of the default with a cap on the clusters** (bottleneck): the best answer *rounded* and moved, and the clusters that",
        "  the dual says are missing (*growth*), gained nothing at any point and are *left out* there. *Partitions* and *joining* stay.",
        "",
        "| without | joint | | seconds with | without | gain | loss, without - with |",
        "|---|---|---|---|---|---|---|",
    ]
    for piece, joint, parameter, (seconds, loss), (others, other) in rows(found):
        said = f"{seconds:.3f} | {others:.3f} | {others / max(seconds, 1e-3):.2g} | {other - loss:+.0e}"
        lines.append(f"| {piece} | {joint} | {parameter} | {said} |")
    names = {"_partitioned": "partitions", "_joined": "joining", "_rounded": "rounding", "_grown": "growth"}
    head = " | ".join(names.values())
    lines += [
        "",
        "Seconds of a stage, and nats by which it lowers the loss:",
        "",
        f"| joint | gamma | {head} |",
        "|---|---|---|---|---|---|",
    ]
    for one in found["with"]["stages"]:
        said = " | ".join(
            f"{one['stages'][name][0]:.2f}, {one['stages'][name][1]:.0e}" if name in one["stages"] else "not used"
            for name in names
        )
        lines.append(f"| {one['joint']} | {one['gamma']:g} | {said} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--worker" in sys.argv:
        work(sys.argv[-1])
    else:
        measured("clever_solvers", measure, table)
