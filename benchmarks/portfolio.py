"""Which starts and which solver find the global optimum? The measurements behind `solver=None`.

    python benchmarks/portfolio.py --out portfolio.json --table docs/benchmarks/portfolio.md

Built-in joints, Adult and 50 random joints; several parameters each. Every contestant has 16 starts where it uses starts. The reference is
the certified optimum where it is proven within the time limit, else the lowest loss that anybody found. A contestant is at the
optimum if it is within 1e-6 nats. Finished cells are kept in the JSON file, so that an interrupted run continues where it was.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import infoplane as ip
from infoplane.solvers.annealing import Annealing
from infoplane.solvers.pooling import Pooling
from joints import ADULT, adult, built_in, outside, random_joints

STARTS = 16
NEAR = 1e-6

BOTTLENECK: dict[str, Callable[[ip.Joint, ip.MarkovLagrangian], ip.Solution]] = {
    "Blahut-Arimoto, random": lambda j, p: ip.solve(j, p, "blahut-arimoto", init="random", starts=STARTS, rng=0),
    "accelerated, random": lambda j, p: ip.solve(j, p, "accelerated", init="random", starts=STARTS, rng=0),
    "drs, then accelerated, random": lambda j, p: ip.solve(j, p, Pooling(10), init="random", starts=STARTS, rng=0),
    "accelerated, near-identity": lambda j, p: ip.solve(j, p, "accelerated", init="identity"),
    "annealing": lambda j, p: ip.solve(j, p, Annealing()),
    "default": lambda j, p: ip.solve(j, p, starts=STARTS, rng=0),
}
FUNNEL: dict[str, Callable[[ip.Joint, ip.MarkovLagrangian], ip.Solution]] = {
    "merging": lambda j, p: ip.solve(j, p, "merging"),
    "accelerated, random": lambda j, p: ip.solve(j, p, "accelerated", init="random", starts=STARTS, rng=0),
    "accelerated, spread": lambda j, p: ip.solve(j, p, "accelerated", init="spread", starts=STARTS, rng=0),
    "pooled, random": lambda j, p: ip.solve(j, p, Pooling(0), init="random", starts=STARTS, rng=0),
    "pooled, spread": lambda j, p: ip.solve(j, p, Pooling(0), init="spread", starts=STARTS, rng=0),
    "drs, pooled, spread": lambda j, p: ip.solve(j, p, Pooling(10), init="spread", starts=STARTS, rng=0),
    "default": lambda j, p: ip.solve(j, p, starts=STARTS, rng=0),
}


def cells(random: int) -> list[tuple[str, ip.Joint, str, float]]:
    """Joint, family and parameter; bottlenecks relative to the critical gamma, above which only the trivial encoder is optimal."""
    joints = built_in() | dict(random_joints(random))
    if outside(ADULT["small"], "adult 225x10"):
        joints["adult 225x10"] = adult("small")
    made = []
    for name, joint in joints.items():
        correlations = np.linalg.svd(np.asarray(joint.p_xy) / np.sqrt(np.outer(joint.p_x, joint.p_y)), compute_uv=False)
        made += [(name, joint, "bottleneck", float(share * correlations[1] ** 2)) for share in (0.15, 0.5)]
        made += [(name, joint, "funnel", beta) for beta in (2.0, 6.0)]
    return made


def run(joint: ip.Joint, family: str, parameter: float, seconds: float) -> dict[str, object]:
    problem = getattr(ip, family)(parameter)
    found: dict[str, object] = {}
    for name, contestant in (BOTTLENECK if family == "bottleneck" else FUNNEL).items():
        began = time.perf_counter()
        answer = contestant(joint, problem)
        found[name] = {"loss": answer.loss, "seconds": time.perf_counter() - began, "found_by": answer.solver}
    best = min(found.values(), key=lambda one: one["loss"])["loss"]
    if joint.shape[0] * joint.shape[1] <= 150:
        encoder = ip.solve(joint, problem, starts=STARTS, rng=0).encoder
        proof = ip.certify(joint, problem, encoder, max_seconds=seconds)
        found["reference"] = {"loss": best, "lower_bound": proof.lower_bound}
    else:
        found["reference"] = {"loss": best, "lower_bound": None}
    return found


def table(results: dict[str, dict[str, dict[str, float]]]) -> str:
    """The docs page, from the results alone."""
    lines = [
        "# What the default runs, and why",
        "",
        "Written by `benchmarks/portfolio.py`. Share of cells (joint x parameter) whose answer is within 1e-6 nats of the best that any",
        "contestant found; mean and worst distance above it; median time relative to the slowest. Where a joint has at most 150 cells the",
        "best was also held against a certified bound.",
    ]
    for family, contestants in (("bottleneck", BOTTLENECK), ("funnel", FUNNEL)):
        rows = [one for key, one in results.items() if json.loads(key)[1] == family]
        if not rows:
            continue
        proven = [one for one in rows if one["reference"]["lower_bound"] is not None]
        tight = sum(one["reference"]["loss"] - one["reference"]["lower_bound"] <= NEAR for one in proven)
        slowest = [max(one[name]["seconds"] for name in contestants) for one in rows]
        lines += [
            "",
            f"## {family.capitalize()}: {len(rows)} cells, {tight} of {len(proven)} references proven optimal",
            "",
            "| contestant | at the optimum | mean gap (nats) | worst gap (nats) | relative time |",
            "|---|---|---|---|---|",
        ]
        for name in contestants:
            gaps = np.array([one[name]["loss"] - one["reference"]["loss"] for one in rows])
            times = np.median([one[name]["seconds"] / most for one, most in zip(rows, slowest, strict=True)])
            lines.append(
                f"| {name} | {np.mean(gaps <= NEAR):.2f} | {gaps.mean():.1e} | {gaps.max():.1e} | {times:.2f} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("portfolio.json"))
    parser.add_argument("--table", type=Path)
    parser.add_argument("--random", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=10.0, help="for a proof")
    parser.add_argument("--resume", action="store_true", help="keep the cells that the JSON file has")
    arguments = parser.parse_args()
    results = json.loads(arguments.out.read_text()) if arguments.resume and arguments.out.exists() else {}
    for name, joint, family, parameter in cells(arguments.random):
        key = json.dumps([name, family, round(parameter, 6)])
        if key not in results:
            results[key] = run(joint, family, parameter, arguments.seconds)
            arguments.out.write_text(json.dumps(results, indent=1) + "\n")
            print(key, flush=True)
    if arguments.table:
        arguments.table.write_text(table(results))


if __name__ == "__main__":
    main()
