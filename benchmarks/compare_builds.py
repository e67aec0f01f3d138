"""Two builds of infoplane side by side: the same calls, their losses, statuses, bounds and processor times, in one run.

    python benchmarks/compare_builds.py OLD/src NEW/src [--rounds 3] [--out docs/benchmarks/builds.md]

Each case runs in processes of both builds in turn, so that both see the same machine; only public names are used, since those are what two
builds share. Time is that of the process, without what its first call compiles or loads; the least of the rounds is shown.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

WORKER = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
import infoplane as ip
sys.path.insert(0, sys.argv[2])
import joints
def made(name):
    if name == "Adult 225 x 10": return joints.adult("small")
    if name == "words 2,000 x 20": return joints.words(joints.TOP_WORDS)
    return ip.datasets.load(name)
case = json.loads(sys.argv[1])
joint = made(case["joint"])
family = getattr(ip, case["family"])
def call():
    options = dict(case["options"])
    return ip.solve(joint, family(case["parameter"]), case["solver"], rng=0, **options)
small = ip.datasets.load("paper_uniform")
ip.solve(small, family(case["parameter"]), case["solver"], rng=0, starts=2, **{k: v for k, v in case["options"].items() if k == "certify"})
first = call()
seconds = []
for _ in range(case["repeats"]):
    began = time.process_time()
    found = call()
    seconds.append(time.process_time() - began)
print(json.dumps({"loss": found.loss, "status": found.status.name, "bound": found.lower_bound, "iterations": found.iterations,
                  "solver": found.solver, "clusters": found.clusters, "seconds": min(seconds)}))
"""
"""What runs in a process of one build."""


def cases() -> list[dict[str, object]]:
    """Solvers on small joints, the default everywhere, proofs where they end."""
    found: list[dict[str, object]] = []

    def add(joint: str, family: str, parameter: float, solver: str | None, repeats: int = 1, **options: object) -> None:
        found.append(
            {
                "joint": joint,
                "family": family,
                "parameter": parameter,
                "solver": solver,
                "repeats": repeats,
                "options": options,
            }
        )

    for joint in ("paper_uniform", "paper_nonuniform"):
        for solver in ("ib-1", "ib-2", "ib-1v", "blahut-arimoto", "accelerated", "merging", None):
            add(joint, "bottleneck", 0.2, solver, 5)
        for solver in ("pf-1", "pf-2", "pf-2v", "dc-pf", "pooling", None):
            add(joint, "funnel", 2.5, solver, 5)
    for solver in ("ib-1", "accelerated", "annealing", None):
        add("heart", "bottleneck", 0.1, solver, 3)
    for solver in ("pf-2", "pooling", None):
        add("heart", "funnel", 3.5, solver, 2)
    for family, parameter in (("bottleneck", 0.1), ("funnel", 3.5)):
        add("heart", family, parameter, None, 3, certify=True)
    add("heart", "deterministic_bottleneck", 0.1, None, 3)
    for clusters in (None, 8):
        add("Adult 225 x 10", "bottleneck", 0.1, None, clusters=clusters)
        add("Adult 225 x 10", "funnel", 3.0, None, clusters=clusters)
    for gamma in (0.1, 0.2):
        add("Adult 225 x 10", "bottleneck", gamma, None, certify=True)
    add("colours", "bottleneck", 0.1, None)
    add("colours", "bottleneck", 0.1, None, clusters=8)
    add("colours", "funnel", 3.0, None, clusters=8)
    add("words 2,000 x 20", "bottleneck", 0.1, None, clusters=20)
    add("words 2,000 x 20", "funnel", 3.0, None, clusters=20)
    return found


def measured(source: Path, case: dict[str, object]) -> dict[str, object]:
    """One case in a process of one build, on one core."""
    environment = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", WORKER, json.dumps(case), here], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{source}: {case}\n{done.stderr}")
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


def row(case: dict[str, object], old: list[dict[str, object]], new: list[dict[str, object]]) -> str:
    """A line of the table."""
    one, two = old[0], new[0]
    seconds = [min(float(run["seconds"]) for run in runs) for runs in (old, new)]  # type: ignore[arg-type]
    options = ", ".join(f"{name} {value}" for name, value in case["options"].items() if value is not None)  # type: ignore[attr-defined]
    bound = "" if one["bound"] is None else f"{float(two['bound']) - float(one['bound']):.1e}"  # type: ignore[arg-type]
    return (
        f"| {case['joint']} | {case['family']} {case['parameter']} | {case['solver'] or 'default'} {options} | {float(one['loss']):.9f} | "  # type: ignore[arg-type]
        f"{float(two['loss']) - float(one['loss']):.1e} | {one['status']} | "  # type: ignore[arg-type]
        f"{'same' if one['status'] == two['status'] else two['status']} | {bound} | {one['iterations']} | {two['iterations']} | "
        f"{seconds[0]:.3g} | {seconds[1] / seconds[0]:.2f} |"
    )


HEAD = """# Two builds side by side

The same calls with the code before and after it got one driver and one budget, by `benchmarks/compare_builds.py`, in processes
that take turns on one machine. Losses and bounds in nats, new minus old; processor seconds of the old build, and those of the new build
as multiples of them.

| joint | problem | solver | loss, old | change | status, old | new | bound, change | iterations, old | new | seconds, old | new |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def main() -> None:
    """Run all cases, or those whose description has a word."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = []
    for case in cases():
        if given.only not in json.dumps(case):
            continue
        runs: dict[str, list[dict[str, object]]] = {"old": [], "new": []}
        for _ in range(given.rounds):
            for name, source in (("old", given.old), ("new", given.new)):
                runs[name].append(measured(source.resolve(), case))
        rows.append(row(case, runs["old"], runs["new"]))
        print(rows[-1], flush=True)
    if given.out:
        given.out.write_text(HEAD + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
