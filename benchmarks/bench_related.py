"""Solvers of other papers beside ours: what each finds from the same random starts, in how many iterations.

    python benchmarks/bench_related.py --out benchmarks/results/related.json --table docs/benchmarks/related.md

Funnels: pf-1 and pf-2, the difference-of-convex iteration, Merge-Two, submodular clustering, the accelerated map. Bottlenecks: ib-1, both
earlier ADMMs, Blahut-Arimoto. 8 random starts, |Z| = |X|, at most 2,000 iterations; on Adult 225 x 10, which is not part of the repository,
2 starts, |Z| <= 32, at most 300. Beside them the portfolio's loss with the same cap, the best that is known. A few minutes on one core.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import infoplane as ip
import joints

FUNNEL = ("pf-1", "pf-2", "dc-pf", "accelerated", "merging", "submodular")
BOTTLENECK = ("ib-1", "admm-ib", "admm-ib-3", "blahut-arimoto")
PROBLEMS = [(ip.funnel(beta), FUNNEL) for beta in (1.5, 2.5, 5.0)] + [
    (ip.bottleneck(gamma), BOTTLENECK) for gamma in (0.1, 0.2, 0.4)
]


def measured(
    joint: ip.Joint, problem: ip.MarkovLagrangian, solver: str, clusters: int | None, starts: int, limit: int
) -> dict[str, float]:
    """Best and median loss over the starts, share that is stationary, median iterations."""
    found = ip.solve(
        joint, problem, solver, starts=starts, rng=0, init="random", clusters=clusters, max_iter=limit, tol=1e-8
    )
    losses = [start.loss for start in found.starts]
    return {
        "best_nats": float(found.loss),
        "median_nats": float(np.median(losses)),
        "share": float(np.mean([start.status is ip.Status.STATIONARY for start in found.starts])),
        "iterations": float(np.median([start.iterations for start in found.starts])),
    }


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    cases = [(name, joint, None, 8, 2_000) for name, joint in joints.built_in().items()]
    if joints.outside(joints.ADULT["small"], "Adult 225 x 10"):
        cases.append(("Adult 225 x 10", joints.adult("small"), 32, 2, 300))
    rows = []
    for name, joint, clusters, starts, limit in cases:
        for problem, solvers in PROBLEMS:
            known = ip.solve(joint, problem, clusters=clusters, rng=0).loss
            for solver in solvers:
                rows.append(
                    {
                        "joint": name,
                        "problem": f"{problem.family} {problem.parameter:g}",
                        "solver": solver,
                        "known_nats": known,
                    }
                    | measured(joint, problem, solver, clusters, starts, limit)
                )
                print(rows[-1], flush=True)
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1) + "\n")
    if options.table:
        options.table.write_text("\n".join(table(rows)) + "\n")


def table(rows: list[dict[str, object]]) -> list[str]:
    lines = [
        "# Solvers of other papers, beside ours",
        "",
        "Printed by `benchmarks/bench_related.py`: the same 8 random starts for each solver, |Z| = |X|, at most 2,000 iterations; on Adult",
        "(left out if its table is missing) 2 starts, |Z| <= 32, at most 300. Gaps in nats, above the default solver's loss with the same",
        "cap; 0 below 1e-12. `merging` and `submodular` take no starts; `accelerated` and the default are here to compare with. Share:",
        "starts that end stationary at 1e-8.",
        "",
        "| joint | problem | solver | gap of the best start | of the median | share; iterations |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        gaps = [float(row[f"{which}_nats"]) - float(row["known_nats"]) for which in ("best", "median")]  # type: ignore[arg-type]
        best, median = ("0" if abs(gap) < 1e-12 else f"{gap:.1e}" for gap in gaps)
        lines.append(
            f"| {row['joint']} | {row['problem']} | {row['solver']} | {best} | {median} | {row['share']:.2f}; {row['iterations']:.0f} |"
        )
    return lines


if __name__ == "__main__":
    main()
