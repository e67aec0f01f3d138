"""Processor seconds of one iteration of each splitting against one of Blahut-Arimoto, at three sizes.

    python benchmarks/splitting_size.py --page docs/benchmarks/splitting.md

Random smooth joints, 16 clusters, one random start, 30 iterations without leaps, gamma = 0.1 and beta = 2.5; the ratio of both in the same
process, the least of three.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

import infoplane as ip
from page import write_block

SIZES = ((225, 10), (500, 20), (2000, 20))
FORMULATIONS = ("ib-1", "ib-2", "ib-2, exact", "ib-1v", "pf-1", "pf-2", "pf-2v")
CLUSTERS = 16


def seconds(joint: ip.Joint, problem: ip.MarkovLagrangian, solver: ip.Solver | str, iterations: int) -> float:
    """Of one iteration, after a first call that compiles."""
    options = {"clusters": CLUSTERS, "starts": 1, "init": "random", "rng": 0, "tol": 1e-15}
    ip.solve(joint, problem, solver, max_iter=1, **options)
    least = float("inf")
    for _ in range(3):
        began = time.process_time()
        found = ip.solve(joint, problem, solver, max_iter=iterations, **options)
        least = min(least, (time.process_time() - began) / found.iterations)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [
        "| joint | blahut-arimoto, ms | " + " | ".join(FORMULATIONS) + " |",
        "|---" * (len(FORMULATIONS) + 2) + "|",
    ]
    for n_x, n_y in SIZES:
        rng = np.random.default_rng(0)
        joint = ip.Joint(rng.dirichlet(np.ones(n_y), n_x) * rng.dirichlet(np.full(n_x, 5.0))[:, None])
        base = seconds(joint, ip.bottleneck(0.1), "blahut-arimoto", 100)
        cells = []
        for name in FORMULATIONS:
            problem = ip.bottleneck(0.1) if name.startswith("ib") else ip.funnel(2.5)
            formulation, _, step = name.partition(", ")
            solver = ip.DouglasRachford(formulation, step=step or "majorise", acceleration=False)
            took = seconds(joint, problem, solver, 30)
            cells.append(f"{took / base:.1f}")
        lines.append(f"| {n_x} x {n_y} | {1e3 * base:.2f} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    if options.page:
        write_block(options.page, "splitting", lines)


if __name__ == "__main__":
    main()
