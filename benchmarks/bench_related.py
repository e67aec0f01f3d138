"""Solvers of other papers beside ours: what each finds from the same random starts, in how many iterations.

    python benchmarks/bench_related.py --out benchmarks/results/related.json --table docs/benchmarks/related.md

Funnels: pf-1 and pf-2, the difference-of-convex iteration, the EM relaxation, Merge-Two, submodular clustering, the accelerated map.
Bottlenecks: ib-1, both earlier ADMMs, Blahut-Arimoto, alternating Bregman projection, the optimal-transport form, root tracking. 8 random
starts, |Z| = |X|, at most 2,000 iterations; on Adult 225 x 10, which is not part of the repository, 2 starts, |Z| <= 32, at most 300.
Beside them the portfolio's loss with the same cap, the best that is known; then those that are made for a bound on I(X;Z) or I(Y;Z), under
one. A few minutes on one core.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import infoplane as ip
import joints

FUNNEL = ("pf-1", "pf-2", "dc-pf", "em-pf", "accelerated", "merging", "submodular")
BOTTLENECK = ("ib-1", "admm-ib", "admm-ib-3", "blahut-arimoto", "abp", "ot-ib", "root-tracking")
STARTS, RATES = 8, (0.2, 0.4)
UNDER_BOUNDS = [
    "",
    "## Under a bound",
    "",
    "`abp`, `ot-ib` and `em-pf` with the multiplier of the bound found in every iteration: 8 random starts, at most 2,000 iterations,",
    "nats. Met: runs that end within 1e-6 of the bound (`em-pf`: not below it). Below what is proven: for `abp` and `ot-ib`, how much more",
    "I(Y;Z) the certified line of the slope found allows at their I(X;Z), where 5e-07 is the proof's own tolerance; for `em-pf`, how much",
    "more I(X;Z) the exact funnel (`ip.funnel_at_leakage`) has at their leakage. On heart both bounds lie below what can be told",
    "without any leakage, 1.56 nats: `em-pf` leaks nothing there, and stops at the bound that it was given.",
    "",
    "| joint | solver | bound, nats | met | best below what is proven | median | iterations |",
    "|---|---|---|---|---|---|---|",
]
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


def constrained(name: str, joint: ip.Joint, rate: float) -> list[str]:
    """Rows for I(X;Z) bounded by so many nats: who meets the bound, and how far below what is proven possible it ends."""

    def runs(problem: ip.MarkovLagrangian, solver: ip.Solver) -> list[ip.Solution]:
        return [
            ip.solve(joint, problem, solver, starts=1, rng=seed, init="random", max_iter=2_000)
            for seed in range(STARTS)
        ]

    def row(solver: str, asked: str, met: list[ip.Solution], gaps: list[float]) -> str:
        if not met:
            return f"| {name} | {solver} | {asked} | 0 of {STARTS} | - | - | - |"
        best, median = (max(gap, 0.0) for gap in (min(gaps), float(np.median(gaps))))
        iterations = np.median([one.iterations for one in met])
        return (
            f"| {name} | {solver} | {asked} | {len(met)} of {STARTS} | {best:.1e} | {median:.1e} | {iterations:.0f} |"
        )

    abp = runs(ip.bottleneck(0.5), ip.BregmanProjection(rate=rate))
    best = max(abp, key=lambda one: one.iyz)
    proven = ip.certify(joint, ip.bottleneck(gamma := float(best.advice.split(" = ")[1])), best.encoder).lower_bound
    met = [one for one in abp if abs(one.ixz - rate) < 1e-6]
    rows = [row("abp", f"I(X;Z) = {rate:g}", met, [gamma * one.ixz - proven - one.iyz for one in met])]
    transport = runs(ip.bottleneck(0.5), ip.TransportBottleneck(relevance=best.iyz))
    met = [one for one in transport if abs(one.iyz - best.iyz) < 1e-6]
    rows.append(row("ot-ib", f"I(Y;Z) = {best.iyz:.4f}", met, [gamma * one.ixz - proven - one.iyz for one in met]))
    em = runs(ip.funnel(2.0), ip.EMFunnel(rate=rate))
    met = sorted((one for one in em if one.ixz > rate - 1e-6), key=lambda one: one.iyz)
    best_and_median = [met[0], met[len(met) // 2]] if met else []
    exact = [ip.funnel_at_leakage(joint, max_iyz=max(one.iyz, 0.0), max_seconds=20.0).ixz for one in best_and_median]
    gaps = [most - one.ixz for most, one in zip(exact, best_and_median, strict=True)]
    rows.append(
        row("em-pf", f"I(X;Z) >= {rate:g}", met, gaps[:1] + 2 * gaps[1:])
    )  # the median of these three is the second
    return rows


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
    bounds = [
        line for name, joint in joints.built_in().items() for rate in RATES for line in constrained(name, joint, rate)
    ]
    print("\n".join(bounds))
    if options.table:
        options.table.write_text("\n".join([*table(rows), *UNDER_BOUNDS, *bounds]) + "\n")


def table(rows: list[dict[str, object]]) -> list[str]:
    lines = [
        "# Solvers of other papers, beside ours",
        "",
        "Printed by `benchmarks/bench_related.py`: the same 8 random starts for each solver, |Z| = |X|, at most 2,000 iterations; on Adult",
        "(left out if its table is missing) 2 starts, |Z| <= 32, at most 300. Gaps in nats, above the default solver's loss with the same",
        "cap; 0 below 1e-12. `merging` and `submodular` take no starts, `root-tracking` the first; `accelerated` and the default are here",
        "to compare with. Share: starts that end stationary at 1e-8. Iterations of `root-tracking`: evaluations of the map or its slope.",
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
