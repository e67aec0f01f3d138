"""Loss decrease against iteration for each formulation, with the linear rate fitted to the tail.

    python benchmarks/rates.py --out docs/images/rates.png --page docs/explanation/rates.md

The picture: one random start each, on the paper's uniform data: gamma = 0.2 for the bottleneck, beta = 2.5 for the funnel, tol 1e-10. The
table: every built-in joint of the paper, 12 parameters, 5 random starts each, at most 5,000 iterations; the fit of every run that
converged.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip
from page import write_block

CASES = {
    "ib-1": ip.bottleneck(0.2),
    "ib-2": ip.bottleneck(0.2),
    "ib-1v": ip.bottleneck(0.2),
    "pf-1": ip.funnel(2.5),
    "pf-2": ip.funnel(2.5),
    "pf-2v": ip.funnel(2.5),
}


JOINTS = ("paper_uniform", "paper_nonuniform", "heart")
PARAMETERS = {"ib": np.geomspace(0.05, 0.95, 12), "pf": np.geomspace(1.2, 10.0, 12)}
STARTS, LIMIT, GOOD = 5, 5_000, 0.99


def fits(name: str, joint: ip.Joint) -> tuple[int, list[tuple[float, float]]]:
    """How many runs there were, and (parameter, r^2) of each that converged and has a tail to fit."""
    found, runs = [], 0
    family = ip.bottleneck if name.startswith("ib") else ip.funnel
    solver = ip.DouglasRachford(name, acceleration=False)
    for parameter in PARAMETERS[name[:2]]:
        for seed in range(STARTS):
            one = ip.solve(
                joint, family(parameter), solver, starts=1, init="random", rng=seed, tol=1e-10, max_iter=LIMIT
            )
            runs += 1
            try:
                rate = one.rate()
            except ip.InvalidOptionError:  # it ends within a few iterations
                continue
            if one.converged:
                found.append((float(parameter), rate.r_squared))
    return runs, found


def grid() -> list[str]:
    """The table over all joints, formulations and parameters."""
    lines = [
        "| joint | formulation | runs | converged, with a tail | r^2 above 0.99 | median r^2 | parameters where some fit is worse |",
        "|---|---|---|---|---|---|---|",
    ]
    totals = np.zeros(3, dtype=int)
    for joint in JOINTS:
        for name in CASES:
            runs, found = fits(name, ip.datasets.load(joint))
            good = [r for _, r in found if r > GOOD]
            totals += runs, len(found), len(good)
            worse = sorted({f"{parameter:.3g}" for parameter, r in found if r <= GOOD}, key=float)
            middle = f"{np.median([r for _, r in found]):.5f}" if found else "-"
            share = f"{len(good) / len(found):.2f}" if found else "-"
            lines.append(
                f"| {joint} | {name} | {runs} | {len(found)} | {share} | {middle} | {', '.join(worse) or '-'} |"
            )
    lines.append(f"| all | all | {totals[0]} | {totals[1]} | {totals[2] / totals[1]:.3f} | | |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("rates.png"))
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    joint = ip.datasets.paper_uniform()
    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    lines = [
        "| formulation | alpha | iterations | factor per iteration | r^2 | fitted iterations |",
        "|---|---|---|---|---|---|",
    ]
    for name, problem in CASES.items():
        ax = axes[0 if name.startswith("ib") else 1]
        for alpha, style in ((1.0, "-"), (1.618, "--")):
            found = ip.solve(
                joint,
                problem,
                ip.DouglasRachford(name, relaxation=alpha, acceleration=False),
                starts=1,
                init="random",
                rng=0,
                tol=1e-10,
            )
            rate = found.rate()
            lines.append(
                f"| {name} | {alpha:g} | {found.iterations} | {rate.factor:.4f} | {rate.r_squared:.5f} | {rate.first}-{rate.last} |"
            )
            decrease = np.abs(found.trace.loss - found.trace.loss[-1])
            shown = decrease > 1e-13
            ax.semilogy(
                np.flatnonzero(shown),
                decrease[shown],
                style,
                label=f"{name}, alpha {alpha:g}: x{rate.factor:.3f}, r² {rate.r_squared:.4f}",
            )
    for ax, title in zip(axes, ("bottleneck, gamma = 0.2", "funnel, beta = 2.5"), strict=True):
        ax.set(title=f"paper_uniform: {title}", xlabel="iteration")
        ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.16))
    axes[0].set_ylabel("|loss - final loss|, nats")
    figure.savefig(options.out, dpi=150)
    table = grid()
    print("\n".join([*lines, "", *table]))
    if options.page:
        write_block(options.page, "rates", lines)
        write_block(options.page, "grid", table)


if __name__ == "__main__":
    main()
