"""pf-1 against pf-2, how many iterations of real runs the descent theorem covers, and its thresholds: the tables of
docs/explanation/theory.md.

    python benchmarks/bench_theory.py --out benchmarks/results/theory.json --page docs/explanation/theory.md

Random starts, automatic penalty, relaxation 1.618, tol 1e-8. Adult 225 x 10 is not part of the repository (`joints.DATA`); without it its
rows are left out. About five minutes on one core.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import infoplane as ip
import joints
from infoplane.information import Array
from infoplane.joint.joint import Support
from infoplane.runtime.budget import Budget
from infoplane.solvers.base import advanced, make_starts, seed_sequence
from infoplane.solvers.job import Job
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.solver import SplittingIteration
from infoplane.solvers.splitting.thresholds import curvatures, descent
from page import write_block

BETAS = (1.5, 2.5, 5.0, 10.0)
STARTS, LIMIT = 20, 6_000
ADULT_CLUSTERS, ADULT_STARTS, ADULT_LIMIT = 32, 4, 3_000
COVERED_STARTS, COVERED_LIMIT = 10, 300


def raced(joint: ip.Joint, beta: float, name: str, clusters: int | None, starts: int, limit: int) -> dict[str, float]:
    """Share of starts that end stationary, median iterations, best and median loss."""
    support, problem = Support(joint), ip.funnel(beta)
    W = make_starts(joint, clusters, starts, seed_sequence(0), "random")
    runs = ip.DouglasRachford(name).run(Job(support, problem, W, budget=Budget(iterations=limit)))
    losses = [problem.value(joint, support.lift(run.encoder)) for run in runs]
    return {
        "share": float(np.mean([run.status is ip.Status.STATIONARY for run in runs])),
        "iterations": float(np.median([run.iterations for run in runs])),
        "best_nats": float(np.min(losses)),
        "median_nats": float(np.median(losses)),
    }


def race() -> list[dict[str, object]]:
    """pf-1 and pf-2 from the same starts."""
    cases = [(name, joint, None, STARTS, LIMIT) for name, joint in joints.built_in().items()]
    if joints.outside(joints.ADULT["small"], "Adult 225 x 10"):
        cases.append(("Adult 225 x 10", joints.adult("small"), ADULT_CLUSTERS, ADULT_STARTS, ADULT_LIMIT))
    rows: list[dict[str, object]] = []
    for name, joint, clusters, starts, limit in cases:
        for beta in BETAS:
            for solver in ("pf-1", "pf-2"):
                rows.append(
                    {"joint": name, "beta": beta, "solver": solver}
                    | raced(joint, beta, solver, clusters, starts, limit)
                )
                print(rows[-1], flush=True)
    return rows


def promises(iteration: SplittingIteration) -> Iterator[tuple[int, tuple[Array, Array]]]:
    """The number of each iteration that the theorem speaks of, with kappa and the change of v, row by row.

    Not the first one, before nu is a gradient; nor where a cluster was dropped, or the argmin had to raise a row's penalty.
    """
    state, split = iteration.state, iteration.split
    going, number, v, boost = True, 0, state.v[0, :0].copy(), state.boost[0, :0].copy()
    while going:
        going, number = advanced(iteration, 1), number + 1
        before, raised, alive = v, boost, slice(int(state.alive[0]))
        v, boost, c = (table[0, alive].copy() for table in (state.v, state.boost, state.c))
        if np.array_equal(boost, raised):  # arrays of different shapes are not equal
            yield number - 1, (descent(split.alpha, c, *curvatures(split.h, before, v)), v - before)


def covered() -> list[dict[str, object]]:
    """Of the iterations that the theorem speaks of, how many it covers in every row; and in how many kappa d^2 is positive in total."""
    rows: list[dict[str, object]] = []
    for name, joint in joints.built_in().items():
        support = Support(joint)
        W = make_starts(joint, None, COVERED_STARTS, seed_sequence(0), "random")
        for solver, formulation in FORMULATIONS.items():
            if not formulation.descends:
                continue
            problem = ip.bottleneck(0.2) if solver.startswith("ib") else ip.funnel(2.5)
            options = ip.DouglasRachford(solver, acceleration=False)
            every = total = spoken = late = late_covered = 0
            for start in W:
                job = Job(support, problem, start[None].copy(), budget=Budget(iterations=COVERED_LIMIT))
                for number, (kappa, moved) in promises(options.begin(job)):
                    holds = bool((kappa > 0.0).all())
                    spoken, every = spoken + 1, every + holds
                    total += float((kappa * moved**2).sum()) >= 0.0
                    if number >= 50:
                        late, late_covered = late + 1, late_covered + holds
            rows.append(
                {
                    "joint": name,
                    "solver": solver,
                    "iterations": spoken,
                    "every_row": every / spoken,
                    "in_total": total / spoken,
                    "after_50": late_covered / late if late else None,
                }
            )
            print(rows[-1], flush=True)
    return rows


def thresholds() -> list[str]:
    """What the theorem's two forms ask for at the smallest masses that one run meets, and whether L_c falls along a run at 1.01 of that."""
    lines = [
        "| joint | formulation | alpha | iterations | first form: c > | sharper form: c > | L_c at 1.01 of that |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in ("paper_uniform", "paper_nonuniform"):
        joint = ip.datasets.load(name)
        (start,) = make_starts(joint, None, 1, seed_sequence(0), "random")
        for solver, problem in (("ib-1", ip.bottleneck(0.2)), ("pf-1", ip.funnel(2.5))):
            for alpha in (1.0, 1.618, 2.0):
                auto = ip.DouglasRachford(solver, relaxation=alpha, acceleration=False)
                met = list(ip.iterates(joint, problem, auto, start))
                least = min(met, key=lambda one: float(one.v.min())).W
                sharp = ip.theorem_threshold(joint, problem, least, formulation=solver, relaxation=alpha)
                first = ip.theorem_threshold("descent", relaxation=alpha, **sharp.constants).c
                fixed = ip.DouglasRachford(solver, relaxation=alpha, penalty=1.01 * sharp.c, acceleration=False)
                levels = [one.augmented for one in ip.iterates(joint, problem, fixed, start, max_iter=5_000)][2:]
                rises = int((np.diff(levels) > 1e-12).sum())
                said = "never rises" if rises == 0 else f"rises in {rises} of {len(levels) - 1} iterations"
                lines.append(
                    f"| {name} | {solver} | {alpha:g} | {len(met) - 1} | {first:.4g} | {sharp.c:.4g} | {said} |"
                )
                print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Measure, and write the JSON and the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    found = {"covered": covered(), "race": race()}
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")
    if options.page:
        write_block(options.page, "race", race_table(found["race"]))
        write_block(options.page, "covered", covered_table(found["covered"]))
        write_block(options.page, "thresholds", thresholds())


def race_table(rows: list[dict[str, object]]) -> list[str]:
    lines = [
        "| joint | beta | pf-1: share; iterations | best; median loss, nats | pf-2: share; iterations | best; median loss, nats |",
        "|---|---|---|---|---|---|",
    ]
    for one, two in zip(rows[::2], rows[1::2], strict=True):
        cells = [
            f"{row['share']:.2f}; {row['iterations']:.0f} | {row['best_nats']:.4f}; {row['median_nats']:.4f}"
            for row in (one, two)
        ]
        lines.append(f"| {one['joint']} | {one['beta']:g} | {cells[0]} | {cells[1]} |")
    return lines


def covered_table(rows: list[dict[str, object]]) -> list[str]:
    lines = [
        "| joint | formulation | iterations | covered in every row | kappa d² > 0 in total | covered, after the first 50 |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        late = "-" if row["after_50"] is None else f"{row['after_50']:.3f}"
        lines.append(
            f"| {row['joint']} | {row['solver']} | {row['iterations']} | {row['every_row']:.3f} | {row['in_total']:.3f} | {late} |"
        )
    return lines


if __name__ == "__main__":
    main()
