"""What the exact funnel costs, how it grows, and whether anything ever beats its bounds.

    python benchmarks/bench_columns.py [known] [letters-of-x] [letters-of-y] [rivals] [--page docs/exact_funnel.md]

Seconds are processor time of one thread, compiled code warm. `known`: the paper's 3x3 data and heart. `letters-of-x`, `letters-of-y`:
growth, on random joints. `rivals`: 200 random joints, every lower bound against 200 random starts of the other funnel solvers, against
Merge-Two, and against all deterministic maps where there are few letters.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import infoplane as ip
from infoplane.certificate.certificate import Limits
from infoplane.certificate.funnel.bound import proven
from infoplane.certificate.funnel.programme import Meter, Programme, encoder_of, finish
from infoplane.joint.support import Support
from infoplane.solvers.columns import first_columns
from joints import KINDS, deterministic_encoders, random_joint, random_joints
from page import write_block

LIMITS = {"pf-2v": 40}
"""Iterations a start, where fewer must do: any encoder must lie above the bound, converged or not."""


class Measured:
    """One certified point from nothing: loss and gap in nats, cells, seconds."""

    def __init__(self, joint: ip.Joint, beta: float, tol: float, max_cells: int = Limits.max_cells) -> None:
        support, meter = Support(joint), Meter(Limits(tol, max_cells))
        began = time.process_time()
        programme = Programme(support)
        programme.add(first_columns(support))
        outcome, self.lower_bound = finish(proven(support, beta, programme, tol, meter))
        encoder = support.lift(encoder_of(programme.Q, outcome.point.weights))
        self.seconds = time.process_time() - began
        self.loss = ip.funnel(beta).value(joint, encoder)
        self.gap = self.loss - self.lower_bound
        self.cells, self.rounds, self.supports = meter.cells, meter.rounds, programme.channel.supports


def known() -> Iterator[str]:
    yield "| joint | betas | tolerance | largest gap | cells a beta, median and largest | seconds a beta, median and largest |"
    yield "|---|---|---|---|---|---|"
    for name, betas, tol in (
        ("paper_uniform", np.geomspace(0.5, 20.0, 20), 1e-8),
        ("paper_nonuniform", np.geomspace(0.5, 20.0, 20), 1e-8),
        ("heart", np.geomspace(1.0, 10.0, 20), 1e-6),
        ("heart", np.geomspace(1.0, 10.0, 20), 1e-8),
    ):
        all_ = [Measured(ip.datasets.load(name), float(beta), tol) for beta in betas]
        cells, seconds = [one.cells for one in all_], [one.seconds for one in all_]
        yield (
            f"| {name} | {len(betas)} in [{betas[0]:g}, {betas[-1]:g}] | {tol:.0e} | {max(one.gap for one in all_):.1e} | "
            f"{np.median(cells):,.0f}, {max(cells):,} | {np.median(seconds):.2f}, {max(seconds):.2f} |"
        )
    one = Measured(ip.datasets.heart(), 3.5, 1e-9)
    yield ""
    yield f"Heart at beta = 3.5: {one.loss:.6f} nats, gap {one.gap:.0e}, {one.cells:,} cells, {one.seconds:.2f} s."


def letters_of_x() -> Iterator[str]:
    yield "| \\|X\\| | supports | kind | beta | gap | cells | seconds |"
    yield "|---|---|---|---|---|---|---|"
    for n in (10, 30, 100, 300):
        for kind, beta in itertools.product(("smooth", "peaked"), (1.5, 3.5)):
            joint = random_joint(kind, n, 3, np.random.default_rng(n))
            yield row(f"| {n} |", kind, beta, Measured(joint, beta, 1e-6))


def letters_of_y() -> Iterator[str]:
    yield "| \\|Y\\| | supports | kind | beta | gap | cells | seconds |"
    yield "|---|---|---|---|---|---|---|"
    for m in (2, 3, 4, 5, 6, 7, 8):
        for kind, beta in itertools.product(("smooth", "peaked"), (1.5, 3.5)):
            joint = random_joint(kind, 16, m, np.random.default_rng(m))
            yield row(f"| {m} |", kind, beta, Measured(joint, beta, 1e-6))


def row(head: str, kind: str, beta: float, one: Measured) -> str:
    return f"{head} {one.supports:,} | {kind} | {beta:g} | {one.gap:.1e} | {one.cells:,} | {one.seconds:.2f} |"


def rivals(count: int = 200) -> Iterator[str]:
    """Every lower bound against every rival's loss; the rivals' best distance to it."""
    rng = np.random.default_rng(1)
    certified, wrong, seconds = 0, 0, []
    short: dict[str, list[float]] = {"merging": [], "pf-2v": [], "accelerated": [], "pooling": []}
    maps = 0
    for name, joint in random_joints(count):
        beta = float(np.exp(rng.uniform(0.0, np.log(20.0))))
        problem = ip.funnel(beta)
        one = Measured(joint, beta, 1e-6)
        certified += one.gap <= 1e-6
        seconds.append(one.seconds)
        for solver, losses in short.items():
            starts = 200 if solver in ("pf-2v", "accelerated") else 16
            found = ip.solve(
                joint, problem, solver, starts=starts, rng=0, init="random", max_iter=LIMITS.get(solver, 500)
            )
            wrong += found.loss < one.lower_bound
            losses.append(found.loss - one.loss)
        if joint.shape[0] <= 8:
            best = min(problem.value(joint, W) for W in deterministic_encoders(joint.shape[0]))
            wrong += best < one.lower_bound
            maps += 1
        print(name, f"beta {beta:.2f}", f"gap {one.gap:.1e}, {one.cells:,} cells, {one.seconds:.2f} s", flush=True)
    yield (
        f"{count} random joints ({', '.join(KINDS)} in turn; |X| <= 30, |Y| <= 4), beta in [1, 20]: {certified} certified to 1e-6, "
        f"{np.median(seconds):.2f} s in the median, {max(seconds):.1f} s at most. Bounds that some encoder beat: {wrong}; encoders tried: "
        f"the best of 200 random starts of pf-2v and of accelerated, pooling, Merge-Two, and on {maps} joints all deterministic maps."
    )
    yield ""
    yield "| rival | at the certified optimum (1e-6) | median distance above it | largest |"
    yield "|---|---|---|---|"
    for solver, losses in short.items():
        over = np.array(losses)
        yield f"| {solver} | {(over <= 1e-6).mean():.0%} | {np.median(over):.1e} nats | {over.max():.1e} nats |"


PARTS = {"known": known, "letters-of-x": letters_of_x, "letters-of-y": letters_of_y, "rivals": rivals}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; default all")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    Measured(ip.datasets.heart(), 3.5, 1e-6)  # compiles
    for name in options.parts or PARTS:
        lines = []
        for line in PARTS[name]():
            print(line, flush=True)
            lines.append(line)
        if options.page:
            write_block(options.page, name, lines)


if __name__ == "__main__":
    main()
