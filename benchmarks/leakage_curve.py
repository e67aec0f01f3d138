"""The exact frontier of heart: most utility I(X;Z) for each leakage I(Y;Z), with Merge-Two's best at the same caps.

python benchmarks/leakage_curve.py [--page docs/exact_funnel.md] [--out docs/images/exact_funnel.png]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip
from infoplane.certificate.funnel.privacy import perfect_privacy
from infoplane.frontier.leakage import funnel_curve
from infoplane.information import NATS_PER_BIT, bits
from page import write_block

SHOWN = (0.0001, 0.001, 0.01, 0.03, 0.1, 0.2)


def merged(joint: ip.Joint) -> np.ndarray:
    """(leakage, utility) in nats of every partition on Merge-Two's path, and on the paths that weigh utility by 20 betas."""
    paths = [ip.merge_two(joint)]
    paths += [ip.merge_two(joint, criterion="lagrangian", beta=float(beta)) for beta in np.geomspace(1.0, 1000.0, 20)]
    return np.hstack([np.vstack([path.iyz, path.ixz]) for path in paths])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--out", type=Path, default=Path("exact_funnel.png"))
    options = parser.parse_args()
    joint = ip.datasets.heart()
    hidden = perfect_privacy(joint)
    grid = np.unique(np.append(np.geomspace(2e-4, 0.29, 30), SHOWN)) * NATS_PER_BIT
    began = time.process_time()
    curve = funnel_curve(joint, grid, tol=1e-5)
    seconds = time.process_time() - began
    greedy = merged(joint)
    own = ip.merge_two(joint)
    lines = [
        "| I(Y;Z) at most, bits | exact I(X;Z), bits | gap, nats | beta | Merge-Two, bits | best of 21 merge paths, bits |",
        "|---|---|---|---|---|---|",
        f"| 0 | {bits(hidden.utility):.6f} | {hidden.upper_bound - hidden.utility:.0e} | | "
        f"{bits(own.ixz[own.iyz <= 1e-12].max()):.4f} | {bits(greedy[1, greedy[0] <= 1e-12].max()):.4f} |",
    ]
    for found in curve:
        eps = found.max_iyz
        print(found, flush=True)
        if np.isclose(bits(eps), SHOWN).any():
            lines.append(
                f"| {bits(eps):g} | {bits(found.solution.ixz):.6f} | {found.gap:.0e} | {found.beta:.3g} | "
                f"{bits(own.ixz[own.iyz <= eps].max()):.4f} | {bits(greedy[1, greedy[0] <= eps].max()):.4f} |"
            )
    utility = np.array([found.solution.ixz for found in curve])
    slopes = np.diff(utility) / np.diff(grid)
    cells = np.array([found.cells for found in curve])
    lines += [
        "",
        f"{len(curve)} caps in {seconds:.0f} s of one thread, {np.median(cells):,.0f} cells a cap in the median, {cells.max():,} at most; "
        f"all certified to 1e-5: {all(found.certified for found in curve)}; rising: {bool((np.diff(utility) > 0).all())}; slopes falling: "
        f"{bool((np.diff(slopes) < 1e-5 / np.diff(grid).min()).all())}. {hidden}.",
    ]
    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    ax = figure.subplots()
    ax.plot(
        bits(np.append(0.0, grid)),
        bits(np.append(hidden.utility, utility)),
        "-",
        color="C0",
        label="exact frontier, every point certified",
    )
    ax.plot([0.0], [bits(hidden.utility)], "D", color="C0", label="perfect privacy")
    order = np.argsort(own.iyz)
    ax.plot(bits(greedy[0]), bits(greedy[1]), ".", color="0.75", ms=4, label="other greedy merge paths")
    ax.plot(bits(own.iyz[order]), bits(own.ixz[order]), "s", color="black", ms=4, label="Merge-Two")
    ax.set(
        xlabel="leakage I(Y;Z), bits",
        ylabel="utility I(X;Z), bits",
        title="Heart: what may be said of X for what is told of Y",
        xlim=(-0.008, 0.31),
        ylim=(0.0, 4.0),
    )
    ax.legend(loc="lower right")
    figure.savefig(options.out, dpi=150)
    print("\n".join(lines))
    if options.page:
        write_block(options.page, "leakage", lines)


if __name__ == "__main__":
    main()
