"""What the exact funnel costs, how it grows, and whether anything ever beats its bounds.

    python benchmarks/bench_columns.py [--out results.json] [--page docs/exact_funnel.md] [PART ...]

Seconds are processor time of one thread, with compiled code already loaded. The parts:

    known         the paper's 3 x 3 data and heart
    letters-of-x  growth with |X|, on random joints
    letters-of-y  growth with |Y|, on random joints
    rivals        200 random joints: every lower bound against 200 random starts of the other funnel solvers, against Merge-Two, and
                  against all deterministic maps where there are few letters

``--page`` puts each table between its markers in a page of the docs. Parts that are not named stay as they are.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np

import infoplane as ip
from infoplane.certificate.certificate import Limits
from infoplane.certificate.funnel.bound import proven
from infoplane.certificate.funnel.programme import Meter, Programme, encoder_of, finish
from infoplane.joint.support import Support
from infoplane.solvers.columns import first_columns
from joints import KINDS, deterministic_encoders, random_joint, random_joints
from page import write_block
from timing import keep

STARTS = {"merging": 16, "pf-2v": 200, "accelerated": 200, "pooling": 16}
"""The rivals, and how many random starts each has."""
LIMITS = {"pf-2v": 40}
"""Iterations per start, where fewer must do: any encoder must lie above the bound, converged or not."""
GRIDS = (
    ("paper_uniform", (0.5, 20.0), 1e-8),
    ("paper_nonuniform", (0.5, 20.0), 1e-8),
    ("heart", (1.0, 10.0), 1e-6),
    ("heart", (1.0, 10.0), 1e-8),
)
"""Joint, range of 20 betas, tolerance."""


def certified(joint: ip.Joint, beta: float, tol: float) -> dict[str, Any]:
    """One certified point without a first guess: loss, lower bound and gap in nats, cells, seconds."""
    support, meter = Support(joint), Meter(Limits(tol, Limits.max_cells))
    began = time.process_time()
    programme = Programme(support)
    programme.add(first_columns(support))
    end, lower_bound = finish(proven(support, beta, programme, tol, meter))
    encoder = support.lift(encoder_of(programme.Q, end.point.weights))
    seconds = time.process_time() - began
    loss = ip.funnel(beta).value(joint, encoder)
    return {
        "loss": loss,
        "lower bound": float(lower_bound),
        "gap": float(loss - lower_bound),
        "cells": int(meter.cells),
        "supports": int(programme.channel.supports),
        "seconds": seconds,
    }


# -- measuring ---------------------------------------------------------------------------------------------------------


def known() -> dict[str, Any]:
    found = []
    for name, (low, high), tol in GRIDS:
        points = [certified(ip.datasets.load(name), float(beta), tol) for beta in np.geomspace(low, high, 20)]
        found.append({"joint": name, "low": low, "high": high, "tol": tol, "points": points})
        print(name, f"tol {tol:.0e}", f"{sum(one['seconds'] for one in points):.1f} s", flush=True)
    return {"grids": found, "heart at 3.5": certified(ip.datasets.heart(), 3.5, 1e-9)}


def growth(letter: str, counts: tuple[int, ...]) -> list[dict[str, Any]]:
    """Two kinds of random joints and two betas, for each |X| (with |Y| = 3) or each |Y| (with |X| = 16)."""
    found = []
    for n, kind, beta in itertools.product(counts, ("smooth", "peaked"), (1.5, 3.5)):
        joint = random_joint(kind, *((n, 3) if letter == "X" else (16, n)), np.random.default_rng(n))
        found.append({"letters": n, "kind": kind, "beta": beta} | certified(joint, beta, 1e-6))
        print(found[-1], flush=True)
    return found


def rivals(count: int = 200) -> list[dict[str, Any]]:
    """Every certified point with the losses of its rivals."""
    rng = np.random.default_rng(1)
    found = []
    for name, joint in random_joints(count):
        beta = float(np.exp(rng.uniform(0.0, np.log(20.0))))
        problem = ip.funnel(beta)
        one = certified(joint, beta, 1e-6) | {"joint": name, "beta": beta}
        one["rivals"] = {
            solver: ip.solve(
                joint, problem, solver, starts=starts, rng=0, init="random", max_iter=LIMITS.get(solver, 500)
            ).loss
            for solver, starts in STARTS.items()
        }
        few = joint.shape[0] <= 8
        maps = (problem.value(joint, W) for W in deterministic_encoders(joint.shape[0]))
        one["best deterministic map"] = min(maps) if few else None
        found.append(one)
        print(
            name,
            f"beta {beta:.2f}",
            f"gap {one['gap']:.1e}, {one['cells']:,} cells, {one['seconds']:.2f} s",
            flush=True,
        )
    return found


# -- tables ------------------------------------------------------------------------------------------------------------


def known_table(found: dict[str, Any]) -> list[str]:
    lines = [
        "| joint | betas | tolerance | largest gap | cells per beta, median and largest | seconds per beta, median and largest |",
        "|---|---|---|---|---|---|",
    ]
    for grid in found["grids"]:
        gaps, cells, seconds = ([one[key] for one in grid["points"]] for key in ("gap", "cells", "seconds"))
        lines.append(
            f"| {grid['joint']} | {len(cells)} in [{grid['low']:g}, {grid['high']:g}] | {grid['tol']:.0e} | {max(gaps):.1e} | "
            f"{np.median(cells):,.0f}, {max(cells):,} | {np.median(seconds):.2f}, {max(seconds):.2f} |"
        )
    one = found["heart at 3.5"]
    return [
        *lines,
        "",
        f"Heart at beta = 3.5: {one['loss']:.6f} nats, gap {one['gap']:.0e}, {one['cells']:,} cells, {one['seconds']:.2f} s.",
    ]


def growth_table(found: list[dict[str, Any]], letter: str) -> list[str]:
    lines = [f"| \\|{letter}\\| | supports | kind | beta | gap | cells | seconds |", "|---|---|---|---|---|---|---|"]
    for one in found:
        lines.append(
            f"| {one['letters']} | {one['supports']:,} | {one['kind']} | {one['beta']:g} | {one['gap']:.1e} | "
            f"{one['cells']:,} | {one['seconds']:.2f} |"
        )
    return lines


def rivals_table(found: list[dict[str, Any]]) -> list[str]:
    seconds = [one["seconds"] for one in found]
    maps = [one for one in found if one["best deterministic map"] is not None]
    wrong = sum(loss < one["lower bound"] for one in found for loss in one["rivals"].values())
    wrong += sum(one["best deterministic map"] < one["lower bound"] for one in maps)
    lines = [
        f"{len(found)} random joints ({', '.join(KINDS)} in turn; |X| <= 30, |Y| <= 4), beta in [1, 20]: "
        f"{sum(one['gap'] <= 1e-6 for one in found)} certified to 1e-6, {np.median(seconds):.2f} s in the median, {max(seconds):.1f} s at "
        f"most. Bounds that some encoder beat: {wrong}; encoders tried: the best of 200 random starts of pf-2v and of accelerated, "
        f"pooling, Merge-Two, and on {len(maps)} joints all deterministic maps.",
        "",
        "| rival | at the certified optimum (1e-6) | median distance above it | largest |",
        "|---|---|---|---|",
    ]
    for solver in STARTS:
        over = np.array([one["rivals"][solver] - one["loss"] for one in found])
        lines.append(f"| {solver} | {(over <= 1e-6).mean():.0%} | {np.median(over):.1e} nats | {over.max():.1e} nats |")
    return lines


PARTS = {
    "known": (known, known_table),
    "letters-of-x": (lambda: growth("X", (10, 30, 100, 300)), lambda found: growth_table(found, "X")),
    "letters-of-y": (lambda: growth("Y", (2, 3, 4, 5, 6, 7, 8)), lambda found: growth_table(found, "Y")),
    "rivals": (rivals, rivals_table),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; default all")
    parser.add_argument("--out", type=Path, help="JSON file; results of other parts in it are kept")
    parser.add_argument("--page", type=Path, help="write each table between its markers in this page of the docs")
    options = parser.parse_args()
    if unknown := [name for name in options.parts if name not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    certified(ip.datasets.heart(), 3.5, 1e-6)  # compiles
    for name in options.parts or PARTS:
        measure, rows = PARTS[name]
        found = measure()
        lines = rows(found)
        print("\n".join(lines), flush=True)
        if options.out:
            keep(options.out, name, found)
        if options.page:
            write_block(options.page, name, lines)


if __name__ == "__main__":
    main()
