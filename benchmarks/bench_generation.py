"""Two ways of column generation for the funnel, from the same hard partitions: the default's, sparse and without a proof
(`solvers/shared/sparse_columns.py`), and what the proof's (`certificate/funnel/generation.py`) finds before any search.

    python benchmarks/bench_generation.py --out generation.json --table docs/benchmarks/generation.md

Processor seconds, and the loss of the mixture in nats. Neither has the other's answer; the second may take `SECONDS`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import infoplane as ip
import joints
from infoplane.certificate.funnel.generation import FreePosteriors, generate
from infoplane.joint.joint import Support
from infoplane.posterior.form import constant, scaled
from infoplane.posterior.programme import Programme
from infoplane.runtime.budget import Budget, one_blas_thread
from infoplane.solvers.job import Job
from infoplane.solvers.shared.partitions import partitions
from infoplane.solvers.shared.sparse_columns import generated
from timing import measured

BETAS = (1.5, 3.5, 10.0)
SECONDS = 60.0
"""What the proof's way may take, by the clock."""
JOINTS: dict[str, Callable[[], ip.Joint]] = {
    "heart 16 x 4": ip.datasets.heart,
    "adult 225 x 10": lambda: joints.adult("small"),
    "compas 437 x 2": joints.compas,
    "adult 1,038 x 4": lambda: joints.adult("medium"),
    "colours 330 x 330": ip.datasets.colours,
}


def without_proof(job: Job, labels: list[Any]) -> float:
    """The default's way."""
    W = generated(job, labels, [])
    return np.inf if W is None else job.loss(W)


def of_the_proof(job: Job, labels: list[Any]) -> float:
    """The proof's way, with no cell to search."""
    support, beta, budget = job.support, scaled(job.problem).beta, Budget(cells=0.5, seconds=SECONDS)
    programme = Programme(support, budget)
    for one in labels:
        clusters = np.eye(int(one.max()) + 1)[:, one] * support.p_x
        programme.add((clusters / clusters.sum(axis=1, keepdims=True)).T)
    found = generate(programme, FreePosteriors(programme), lambda: programme.at_beta(beta), 1e-6, budget)
    return float(found.point.value + constant(support, beta))


def measure(names: str = "") -> list[dict[str, Any]]:
    """Every joint whose name has one of the words, which semicolons part."""
    found = []
    warm = Job(Support(ip.datasets.heart()), ip.funnel(3.5), np.ones((1, 1, 16)))
    hard = [one.labels for one in partitions(warm)[:4]]
    without_proof(warm, hard), of_the_proof(warm, hard)  # compiles
    for name, make in JOINTS.items():
        if names and not any(word in name for word in names.split(";")):
            continue
        support = Support(make())
        for beta in BETAS:
            job = Job(support, ip.funnel(beta), np.ones((1, 1, len(support.p_x))))
            with one_blas_thread():
                hard = [one.labels for one in partitions(job)[:4]]
                row: dict[str, Any] = {"joint": name, "beta": beta}
                for way, run in (("without", without_proof), ("proof", of_the_proof)):
                    began = time.process_time()
                    loss = run(job, hard)
                    row[way] = [time.process_time() - began, loss]
            print(row, flush=True)
            found.append(row)
    return found


def table(found: list[dict[str, Any]]) -> str:
    """The page."""
    rows, higher, longer = "", [], []
    for row in found:
        (sparse, loss), (dense, other) = row["without"], row["proof"]
        numbers = f"{sparse:.2f} | {loss:.6f} | {dense:.2f} | {other - loss:+.1e} | {dense / sparse:.1f}"
        rows += f"| {row['joint']} | {row['beta']:g} | {numbers} |\n"
        higher.append(other - loss)
        longer.append(dense / sparse)
    worse = [one for one in higher if one > 1e-6]
    return (
        "# Two ways of column generation\n\n"
        "Written by `benchmarks/bench_generation.py`: the funnel's clusters from the same partitions, processor seconds and nats.\n"
        "*Sparse* is the default's (`solvers/shared/sparse_columns.py`), without a proof; *dense* what the proof's\n"
        f"(`certificate/funnel/generation.py`) finds when no cell is searched, within {SECONDS:g} seconds of the clock.\n\n"
        "Both stay. Without its search the dense way is no substitute:\n"
        f"it ends higher at {len(worse)} of {len(higher)} points, by {min(worse):.0e} to {max(worse):.0e} nats,\n"
        f"and takes {min(longer):.1f} to {max(longer):.0f} times as long.\n"
        "With its search it proves, which the sparse way cannot; the sparse way finds the default's clusters.\n\n"
        "| joint | beta | sparse, s | loss | dense, s | loss, dense - sparse | dense / sparse |\n|---|---|---|---|---|---|---|\n"
        f"{rows}"
    )


if __name__ == "__main__":
    measured("generation", measure, table, names="")
