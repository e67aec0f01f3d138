"""Pieces of the bottleneck's proof and of annealing, in and out: groups of letters, Newton's steps in climbs, predictor, coarse space.

    python benchmarks/bench_clever_bottleneck.py --out clever_bottleneck.json --table docs/benchmarks/clever_bottleneck.md

Everything is measured in the last commit that had all of it (`HAD`), taken out of the repository's history: one process, processor time of
one thread, after compilation, contestants in turns at every point. A proof is the bottleneck at one gamma from a constant Z, to 1e-6
nats, at most `SECONDS`; a path is six gammas upwards, each 2% above the last, to the default tolerance. A piece whose own rule leaves a
joint alone runs the same code there with and without it: such a point has a ratio of 1 and is not run twice.
"""

from __future__ import annotations

import csv
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
from timing import measured

HAD = "a3259a2"
"""The last commit with groups, Newton's steps in climbs, predictor and coarse space."""
SECONDS = 20.0
"""Processor time that a proof may take; then its gap is compared."""
GAMMAS = (0.05, 0.1, 0.2)
TOPICS = {"comp": "machines", "sci": "machines", "misc": "leisure", "rec": "leisure"}
"""Newsgroups by their first names, merged so that Y has three letters; all others are talk."""
SYNTHETIC = "10,000 x 3, random"


def topics() -> ip.Joint:
    """All words by merged newsgroups."""
    with open(joints.DATA / joints.WORDS, newline="", encoding="utf-8") as table:
        names, *rows = list(csv.reader(table))
    kinds = np.array([TOPICS.get(name.split(".")[0], "talk") for name in names[1:]])
    counts = np.array([[float(value) for value in row[1:]] for row in rows])
    return ip.Joint.from_counts(np.column_stack([counts[:, kinds == kind].sum(axis=1) for kind in sorted(set(kinds))]))


def random_joint() -> ip.Joint:
    """10,000 letters with Dirichlet columns."""
    rng = np.random.default_rng([10_000, 3, 0])
    T = rng.dirichlet(np.ones(3), size=10_000)
    return ip.Joint.from_counts(T * rng.dirichlet(np.full(10_000, 2.0))[:, None])


PROOFS: dict[str, Callable[[], ip.Joint]] = {
    "heart 16 x 4": ip.datasets.heart,
    "compas 437 x 2": joints.compas,
    "adult 225 x 10": lambda: joints.adult("small"),
    "adult 1,038 x 4": lambda: joints.adult("medium"),
    "adult 5,361 x 10": lambda: joints.adult("large"),
    "words 2,000 x 20": lambda: joints.words(joints.TOP_WORDS),
    "words 11,541 x 3 topics": topics,
    SYNTHETIC: random_joint,
}
PATHS: dict[str, Callable[[], ip.Joint]] = {
    "heart 16 x 4": ip.datasets.heart,
    "adult 225 x 10": lambda: joints.adult("small"),
    "adult 1,038 x 4": lambda: joints.adult("medium"),
    "words 2,000 x 20": lambda: joints.words(joints.TOP_WORDS),
    "colours 330 x 330": ip.datasets.colours,
}
STEPS = 1.02 ** np.arange(6)


def prove(joint: ip.Joint, gamma: float, clever: bool) -> dict[str, Any]:
    """One proof, with groups and Newton's steps in climbs, or without."""
    from infoplane.certificate.certificate import Limits
    from infoplane.joint.support import Support
    from infoplane.threads import one_blas_thread

    from infoplane.certificate.bottleneck import coarsening, groupings, mixture, proof

    for module in (coarsening, mixture, proof):
        module.clock = time.process_time
    proof.pays = groupings.pays if clever else lambda _: False
    mixture.LEAP_ROWS = 8 if clever else 0
    support, problem = Support(joint), ip.bottleneck(gamma)
    constant = mixture.Mixture(np.ones(1), support.p_y[None])
    began = time.process_time()
    one = proof.Proof(support, problem, constant, Limits(1e-6, 3_000_000, SECONDS))
    with one_blas_thread():
        for _ in one.pieces():
            pass
    seconds = time.process_time() - began
    loss = problem.value(joint, support.lift(one.mixture.encoder(support, gamma)))
    return {"seconds": seconds, "cells": one.cells, "gap": loss - one.lower_bound}


def rules(joint: ip.Joint) -> bool:
    """Whether groups or Newton's steps in climbs are used on a joint by their own rules."""
    from infoplane.certificate.bottleneck.letters import Letters
    from infoplane.joint.support import Support

    from infoplane.certificate.bottleneck import groupings, mixture

    T = Letters(Support(joint)).support.T
    return groupings.pays(T) or (T.shape[1] >= mixture.LEAP_LETTERS and T.shape[0] <= 8)


def follow(joint: ip.Joint, gamma: float, predicting: bool, coarse: bool, newton: bool = True) -> dict[str, Any]:
    """One short path, with predictor and coarse space or without."""
    from infoplane.joint.support import Support
    from infoplane.solvers.starts import make_starts, seed_sequence
    from infoplane.solvers.stopping import Stopping
    from infoplane.threads import one_blas_thread

    from infoplane.solvers import annealing, coarse_space, prediction, self_consistent

    if not hasattr(follow, "originals"):
        coarse_class = coarse_space.CoarseSpace
        follow.originals = prediction.Path.passed, coarse_class.corrected, coarse_class.__init__
    passed, corrected, made = follow.originals

    def counted(self: Any, _support: Any, _gamma: float, q: np.ndarray, *_rest: Any) -> None:
        self.clusters = len(q)

    prediction.Path.passed = passed if predicting else lambda *_: None
    coarse_space.CoarseSpace.corrected = corrected if coarse else lambda _self, r, _C_r: r.copy()
    coarse_space.CoarseSpace.__init__ = made if coarse else counted
    annealing.newton_for = self_consistent.newton_for if newton else lambda _: None
    support, problems = Support(joint), [ip.bottleneck(float(gamma * step)) for step in STEPS]
    start = make_starts(joint, None, 1, seed_sequence(0), "identity")
    began = time.process_time()
    with one_blas_thread():
        runs = [run for run in ip.Annealing().follow(support, problems, start, Stopping()) if run is not None]
    seconds = time.process_time() - began
    losses = [problem.value(joint, support.lift(run.encoder)) for problem, run in zip(problems, runs, strict=True)]
    return {
        "seconds": seconds,
        "loss": float(np.mean(losses)),
        "iterations": int(sum(run.iterations for run in runs)),
        "used": self_consistent.newton_for(support) is not None,
    }


def proof_points() -> Iterator[dict[str, Any]]:
    prove(random_joint(), 0.5, True)  # compiles
    prove(ip.datasets.heart(), 0.2, False)
    for name, make in PROOFS.items():
        joint = make()
        used = rules(joint)
        for gamma in GAMMAS:
            found = {"with": prove(joint, gamma, True)}
            if used:
                found["neither"] = prove(joint, gamma, False)
            yield {"joint": name, "gamma": gamma, "found": found}


def path_points() -> Iterator[dict[str, Any]]:
    follow(ip.datasets.heart(), 0.1, True, True)  # compiles
    for name, make in PATHS.items():
        joint = make()
        for gamma in GAMMAS:
            found = {"with": follow(joint, gamma, True, True)}
            if found["with"]["used"]:
                found["no predictor"] = follow(joint, gamma, False, True)
                found["no coarse space"] = follow(joint, gamma, True, False)
                found["neither"] = follow(joint, gamma, False, False)
                found["no newton"] = follow(joint, gamma, False, False, newton=False)
            yield {"joint": name, "gamma": gamma, "found": found}


def older(folder: Path, commit: str) -> Path:
    """The sources of a commit."""
    root = Path(__file__).resolve().parents[1]
    place, archive = folder / commit, folder / f"{commit}.tar"
    place.mkdir()
    subprocess.run(["git", "-C", str(root), "archive", "-o", str(archive), commit, "src"], check=True)
    subprocess.run(["tar", "-xf", str(archive), "-C", str(place)], check=True)
    return place / "src"


def work(kind: str) -> None:
    """The process that has the older version: one point a line."""
    for point in proof_points() if kind == "proofs" else path_points():
        print(json.dumps(point), flush=True)


def measure() -> dict[str, list[dict[str, Any]]]:
    """Both kinds of points, by the older version."""
    found: dict[str, list[dict[str, Any]]] = {}
    here = Path(__file__).resolve()
    with tempfile.TemporaryDirectory() as folder:
        source = older(Path(folder), HAD)
        for kind in ("proofs", "paths"):
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(here.parent)])}
            command = [sys.executable, str(here), "--worker", kind]
            with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
                found[kind] = []
                for line in process.stdout or ():
                    print(line, end="", file=sys.stderr, flush=True)
                    found[kind].append(json.loads(line))
            if process.returncode:
                raise SystemExit(f"measuring the {kind} failed with exit code {process.returncode}")
    return found


def proof_rows(points: list[dict[str, Any]]) -> Iterator[str]:
    yield "| joint | gamma | with both: seconds, cells, gap in nats | with neither | gain |"
    yield "|---|---|---|---|---|"
    for point in points:
        found = point["found"]
        cells = [
            f"{one['seconds']:.2f} s, {one['cells']:,}, {one['gap']:.1e}" if (one := found.get(name)) else "the same"
            for name in ("with", "neither")
        ]
        other = found.get("neither", found["with"])
        gain = f"{other['seconds'] / found['with']['seconds']:.1f}" if "neither" in found else "1, not used"
        yield f"| {point['joint']} | {point['gamma']:g} | {' | '.join(cells)} | {gain} |"


def path_rows(points: list[dict[str, Any]]) -> Iterator[str]:
    yield "| joint | first gamma | with both, seconds | no predictor | no coarse space | neither | no Newton | farthest apart, nats |"
    yield "|---|---|---|---|---|---|---|---|"
    for point in points:
        found = point["found"]
        first = found["with"]["seconds"]
        shown = [
            f"{found[name]['seconds'] / first:.2f} x" if name in found else "the same"
            for name in ("no predictor", "no coarse space", "neither", "no newton")
        ]
        losses = [one["loss"] for one in found.values()]
        yield f"| {point['joint']} | {point['gamma']:g} | {first:.2f} | {' | '.join(shown)} | {max(losses) - min(losses):.0e} |"


def table(found: dict[str, list[dict[str, Any]]]) -> str:
    """The page."""
    return "\n".join(
        [
            "# What is clever in the bottleneck's proof, and what it gains",
            "",
            f"Written by `benchmarks/bench_clever_bottleneck.py`, with the code of commit {HAD}. Processor time of one thread,",
            "after compilation; a gain above 1 says that the code without the piece takes so many times as long.",
            "A piece stays in the package if it gains a factor of two on at least two real tables.",
            "",
            "## Groups of letters, and Newton's steps in climbs",
            "",
            f"The bottleneck from a constant Z to 1e-6 nats, at most {SECONDS:g} seconds, boxes only. Groups are for",
            "2,000 different columns or more with at most six letters of Y, Newton's steps for as many with at most eight. Topics are",
            "newsgroups merged by their first names. *Left out*: only one real table (words by three topics) meets these conditions.",
            "",
            *proof_rows(found["proofs"]),
            "",
            "## Predictor and coarse space",
            "",
            "A path of six gammas, each 2% above the last, by `Annealing`. Both are parts of Newton's method on the self-consistent",
            "equations, which that commit uses from |X|^2 |Y| = 1e6 on, up to 2,000 letters of X and of Y. Predictor and coarse space are",
            "*left out*: they gain a factor of two nowhere. Newton's method itself gains on one real table only, the colours (a factor of",
            "4 at gamma = 0.05, and of 1.5 at 0.2). Its step by conjugate gradients stays: it is the only Newton step of the accelerated",
            "solver (`kernels/fixed_point/extrapolation.py`).",
            "",
            *path_rows(found["paths"]),
            "",
        ]
    )


if __name__ == "__main__":
    if "--worker" in sys.argv:
        work(sys.argv[-1])
    else:
        measured("clever_bottleneck", measure, table)
