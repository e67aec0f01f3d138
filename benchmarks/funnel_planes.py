"""pf-2 and pf-2v against Merge-Two on the paper's 3x3 data: both planes, and the margin at every beta.

    python benchmarks/funnel_planes.py --out docs/images/funnel_planes.png --table docs/reference/funnel_planes.md

20 geometric betas in [0.5, 20], 64 random starts each (no start from the merge path).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip
from infoplane.information import bits
from timing import publish

BETAS = np.geomspace(0.5, 20.0, 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("funnel_planes.png"))
    parser.add_argument("--table", type=Path)
    parser.add_argument("--starts", type=int, default=64)
    options = parser.parse_args()
    figure = Figure(figsize=(9, 7.5), layout="constrained")
    lines = [
        "# The funnel solvers against Merge-Two",
        "",
        f"Printed by `benchmarks/funnel_planes.py`: {len(BETAS)} geometric betas in [0.5, 20], the best of {options.starts} random",
        "starts each; no start is taken from the merge path, and none is needed. The margin is the lowest Lagrangian on Merge-Two's",
        "path minus ours.",
        "",
        f"![both planes](../images/{options.out.name})",
        "",
        "| joint | solver | never above Merge-Two by more than | largest gain | betas with a gain | converged |",
        "|---|---|---|---|---|---|",
    ]
    for row, name in zip(figure.subplots(2, 2), ("paper_uniform", "paper_nonuniform"), strict=True):
        joint = ip.datasets.load(name)
        path = ip.merge_two(joint)
        for ax, solver in zip(row, ("pf-2", "pf-2v"), strict=True):
            frontier = ip.sweep(
                joint, ip.funnel, BETAS, solver, starts=options.starts, rng=0, init="random", progress=True
            )
            best = [frontier.runs[row] for row in frontier.best_rows()]
            margins = np.array([path.losses(run.problem).min() - run.loss for run in best])
            converged = np.mean([run.status.converged for run in frontier.runs])
            lines.append(
                f"| {name} | {solver} | {abs(min(margins.min(), 0.0)):.1e} nats | {margins.max():.4f} nats | "
                f"{(margins > 1e-6).sum()} of {len(BETAS)} | {converged:.1%} |"
            )
            merged = {"marker": "s", "facecolors": "none", "edgecolors": "grey", "s": 90, "label": "Merge-Two"}
            ax.scatter([bits(i) for i in path.ixz], [bits(i) for i in path.iyz], **merged)
            ax.scatter([bits(run.ixz) for run in best], [bits(run.iyz) for run in best], s=16, label=solver)
            ax.set(title=f"{name}: {solver}", xlabel="I(X;Z), bits (utility)", ylabel="I(Y;Z), bits (leakage)")
            ax.legend(loc="upper left")
    figure.savefig(options.out, dpi=150)
    publish("\n".join(lines) + "\n", options.table)


if __name__ == "__main__":
    main()
