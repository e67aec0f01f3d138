"""What the exact funnel costs, and how it grows.

    python benchmarks/bench_columns.py [known] [sizes] [--seconds 120] [--only NAME ...] [--page docs/explanation/exact_funnel.md]

Seconds are processor time of one thread, compiled code warm. `known`: the paper's 3x3 data and heart. `sizes`: heart, random joints and
Adult. The limit is of the clock.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import infoplane as ip
from joints import ADULT, adult, outside, random_joint
from page import write_block

CASES = (
    *(("heart", beta) for beta in (1.5, 3.5, 10.0)),
    *((f"{kind} {shape}", beta) for shape in ("100x3", "300x3", "16x6", "16x8", "16x16", "30x8") for kind in ("smooth", "peaked")
      for beta in (1.5, 3.5)),
    *(("adult 225x10", beta) for beta in (1.5, 3.5)),
)  # fmt: skip


class Measured:
    """One certified point from nothing: loss and gap in nats, rounds of column generation, seconds."""

    def __init__(self, joint: ip.Joint, beta: float, tol: float, max_seconds: float = math.inf) -> None:
        solver = ip.Columns(tol=tol, max_cells=2**40, max_seconds=max_seconds)
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it may take long
            found = ip.solve(joint, ip.funnel(beta), solver, rng=0)
        self.seconds = time.process_time() - began
        self.loss, self.lower_bound, self.gap, self.rounds = found.loss, found.lower_bound, found.gap, found.iterations


def known() -> Iterator[str]:
    yield "| joint | betas | tolerance | largest gap | rounds per beta, median and largest | seconds per beta, median and largest |"
    yield "|---|---|---|---|---|---|"
    for name, betas, tol in (
        ("paper_uniform", np.geomspace(0.5, 20.0, 20), 1e-8),
        ("paper_nonuniform", np.geomspace(0.5, 20.0, 20), 1e-8),
        ("heart", np.geomspace(1.0, 10.0, 20), 1e-6),
        ("heart", np.geomspace(1.0, 10.0, 20), 1e-8),
    ):
        all_ = [Measured(ip.datasets.load(name), float(beta), tol) for beta in betas]
        rounds, seconds = [one.rounds for one in all_], [one.seconds for one in all_]
        yield (
            f"| {name} | {len(betas)} in [{betas[0]:g}, {betas[-1]:g}] | {tol:.0e} | {max(one.gap for one in all_):.1e} | "
            f"{np.median(rounds):,.0f}, {max(rounds):,} | {np.median(seconds):.2f}, {max(seconds):.2f} |"
        )
    one = Measured(ip.datasets.heart(), 3.5, 1e-9)
    yield ""
    yield f"Heart at beta = 3.5: {one.loss:.6f} nats, gap {one.gap:.0e}, {one.rounds} rounds, {one.seconds:.2f} s."


def case(name: str) -> ip.Joint:
    """A joint by its name in `CASES`."""
    kind, _, shape = name.partition(" ")
    if kind == "heart":
        return ip.datasets.heart()
    if kind == "adult":
        return adult("small")
    n, m = map(int, shape.split("x"))
    return random_joint(kind, n, m, np.random.default_rng(n if m == 3 else m))


def sizes(seconds: float, only: list[str]) -> Iterator[str]:
    yield (
        f"Limit {seconds:g} s of the clock; seconds are processor time. "
        "A gap above 1e-6 nats is one that was not certified within the limit."
    )
    yield ""
    yield "| joint | beta | gap | seconds |"
    yield "|---|---|---|---|"
    for name in ("peaked 16x6", "smooth 100x3"):
        Measured(case(name), 1.5, 1e-6)  # compiles
    for name, beta in CASES:
        if (only and name not in only) or (name.startswith("adult") and not outside(ADULT["small"], name)):
            continue
        one = Measured(case(name), beta, 1e-6, seconds)
        yield f"| {name} | {beta:g} | {one.gap:.1e} | {one.seconds:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="known, sizes; default both")
    parser.add_argument("--seconds", type=float, default=120.0, help="limit for each case of `sizes`")
    parser.add_argument("--only", nargs="*", default=[], help="cases of `sizes`")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--out", type=Path, help="the same tables, line by line, as JSON")
    options = parser.parse_args()
    parts = {"known": known, "sizes": lambda: sizes(options.seconds, options.only)}
    Measured(ip.datasets.heart(), 3.5, 1e-6)  # compiles
    found: dict[str, list[str]] = {}
    for name in options.parts or parts:
        lines = found[name] = []
        for line in parts[name]():
            print(line, flush=True)
            lines.append(line)
            if options.page:
                write_block(options.page, name, lines)
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
