"""Loss decrease against iteration for each formulation, with the linear rate fitted to the tail.

    python benchmarks/rates.py --out docs/images/rates.png --table docs/rates.md

One random start each, on the paper's uniform data: gamma = 0.2 for the bottleneck, beta = 2.5 for the funnel, tol 1e-10.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip

CASES = {
    "ib-1": ip.bottleneck(0.2),
    "ib-2": ip.bottleneck(0.2),
    "ib-1v": ip.bottleneck(0.2),
    "pf-1": ip.funnel(2.5),
    "pf-2": ip.funnel(2.5),
    "pf-2v": ip.funnel(2.5),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("rates.png"))
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    joint = ip.datasets.paper_uniform()
    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    lines = [
        "# Linear rates",
        "",
        "Printed by `benchmarks/rates.py`: one random start each on the paper's uniform data, gamma = 0.2 for ib and beta = 2.5 for pf,",
        "automatic penalty, no acceleration. log |loss - limit| is fitted by a straight line over the tail of the trace (`Solution.rate`).",
        "",
        f"![loss decrease against iteration]({Path('images') / options.out.name})",
        "",
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
    text = "\n".join(lines) + "\n"
    print(text)
    if options.table:
        options.table.write_text(text)


if __name__ == "__main__":
    main()
