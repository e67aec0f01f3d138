"""Does the default find what the best of our solvers finds, at every size? The measurements behind `solver=None`.

    python benchmarks/portfolio.py --out portfolio.json --table docs/benchmarks/portfolio.md [--only NAME ...] [--minutes 10] [--resume]

Small joints: built-in ones and 50 random ones. Large joints, each at 6 parameters of the bottleneck and of the funnel and at 2 of the other
families, with and without a cap on |Z|: Adult 225 x 10, 1,038 x 4 and 5,361 x 10, Compas 437 x 2, colours 330 x 330, words 2,000 x 20; they
are skipped if their files are not there (INFOPLANE_DATA names the folder). Every solver that takes the problem is a contestant, with 16
starts where it uses starts on a small joint and 4 on a large one, and so many seconds on a large one (Ctrl-C's way out: the best so far
counts). The best known is the lowest loss that anybody found; a contestant is at it if it is within 1e-6 nats. Cells that are done are kept
in the JSON file: an interrupted run, or one of so many minutes, continues where it was.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import infoplane as ip
from joints import DATA, adult, built_in, colours, compas, random_joints, words

NEAR = 1e-6
LARGE: dict[str, tuple[Callable[[], ip.Joint], int]] = {
    "compas 437x2": (compas, 5),
    "adult 225x10": (lambda: adult("small"), 10),
    "adult 1038x4": (lambda: adult("medium"), 10),
    "colours 330x330": (colours, 20),
    "words 2000x20": (words, 20),
    "adult 5361x10": (lambda: adult("large"), 20),
}
"""The joint, and the cap on |Z|."""

CONTESTANTS: dict[str, dict[str, Any]] = {
    "Blahut-Arimoto, random": {"solver": "blahut-arimoto", "init": "random"},
    "accelerated, random": {"solver": "accelerated", "init": "random"},
    "accelerated": {"solver": "accelerated"},
    "splitting": {"solver": "drs"},
    "annealing": {"solver": "annealing"},
    "pooling": {"solver": "pooling"},
    "merging": {"solver": "merging"},
    "merging, lagrangian": {"solver": ip.Merging("lagrangian")},
    "default": {"solver": None},
}

FAMILIES = {
    "bottleneck": ip.bottleneck,
    "funnel": ip.funnel,
    "deterministic bottleneck": ip.deterministic_bottleneck,
    "generalised bottleneck, a = 0.5": lambda gamma: ip.generalised_bottleneck(gamma, 0.5),
}

Cell = tuple[str, Callable[[], ip.Joint], str, float, int | None]


def critical(joint: ip.Joint) -> float:
    """The gamma above which a constant Z is locally optimal: the squared maximal correlation."""
    table = joint.p_xy.toarray() if joint.is_sparse else np.asarray(joint.p_xy)
    seen = np.ix_(joint.p_x > 0, joint.p_y > 0)
    table = table[seen] / np.sqrt(np.outer(joint.p_x[seen[0].ravel()], joint.p_y[seen[1].ravel()]))
    return float(np.linalg.svd(table, compute_uv=False)[1] ** 2)


def cells(random: int) -> Iterator[Cell]:
    """Joint, family, parameter and cap; bottlenecks relative to the critical gamma."""
    for name, joint in (built_in() | dict(random_joints(random))).items():
        top = critical(joint)
        for family in FAMILIES:
            parameters = (2.0, 6.0) if family == "funnel" else tuple(share * top for share in (0.15, 0.5))
            yield from ((name, lambda joint=joint: joint, family, value, None) for value in parameters)
    for family in FAMILIES:
        for name, (make, cap) in LARGE.items():
            if not DATA.exists():
                continue
            named = family in ("bottleneck", "funnel")
            shares = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7) if named else (0.05, 0.3)
            top = critical(make())
            parameters = (1.5, 2.0, 4.0, 8.0, 15.0, 30.0) if family == "funnel" else tuple(top * s for s in shares)
            for value in parameters:
                yield from ((name, make, family, value, clusters) for clusters in (None, cap))


def run(cell: Cell, seconds: float) -> dict[str, Any]:
    """Loss and time of every contestant; a refusal is left out."""
    name, make, family, parameter, clusters = cell
    joint, problem, large = make(), FAMILIES[family](parameter), name in LARGE
    found: dict[str, Any] = {}
    for who, options in CONTESTANTS.items():
        began = time.perf_counter()
        limit = np.inf if who == "default" or not large else seconds
        try:
            answer = ip.solve(
                joint,
                problem,
                options["solver"],
                init=options.get("init"),
                starts=4 if large and who != "default" else 16,
                clusters=clusters,
                rng=0,
                callback=lambda _, began=began, limit=limit: time.perf_counter() - began > limit,
            )
        except (ip.UnsupportedProblemError, KeyboardInterrupt):
            continue
        took = time.perf_counter() - began
        found[who] = {"loss": answer.loss, "seconds": took, "found_by": answer.solver, "clusters": answer.clusters}
    return found


def row(who: str, done: list[dict[str, Any]]) -> str:
    """One contestant's line: over the cells that it took part in."""
    with_it = [one for one in done if who in one]
    best = np.array([min(answer["loss"] for answer in one.values()) for one in with_it])
    gaps = np.array([one[who]["loss"] for one in with_it]) - best
    slowest = np.array([max(answer["seconds"] for answer in one.values()) for one in with_it])
    times = np.array([one[who]["seconds"] for one in with_it])
    return (
        f"| {who} | {len(with_it)} | {np.mean(gaps <= NEAR):.2f} | {gaps.mean():.1e} | {gaps.max():.1e} | "
        f"{np.median(times / slowest):.2f} | {np.median(times):.2g} |"
    )


def table(results: dict[str, dict[str, Any]]) -> str:
    """The docs page, from the results alone."""
    lines = [
        "# What the default runs, and why",
        "",
        "Written by `benchmarks/portfolio.py`. Share of cells (joint x parameter x cap on |Z|) whose answer is within 1e-6 nats of the",
        "best that any contestant found; mean and worst distance above it; median time relative to the slowest in the same cell, and in",
        "seconds on a machine that had other work to do. On large joints contestants other than the default were stopped after a time.",
    ]
    groups: dict[str, list[dict[str, Any]]] = {}
    for key, one in results.items():
        name, family, _, clusters = json.loads(key)
        size = "large joints" if name in LARGE else "small joints"
        cap = ", |Z| capped" if clusters else ""
        groups.setdefault(f"{family.capitalize()}, {size}{cap}", []).append(one)
    for title, done in groups.items():
        lines += [
            "",
            f"## {title}: {len(done)} cells",
            "",
            "| contestant | cells | at the best known | mean gap (nats) | worst gap (nats) | relative time | seconds |",
            "|---|---|---|---|---|---|---|",
            *(row(who, done) for who in CONTESTANTS if any(who in one for one in done)),
        ]
    every = [one for one in results.values() if "default" in one]
    gaps = np.array([one["default"]["loss"] - min(answer["loss"] for answer in one.values()) for one in every])
    lines[5:5] = [
        "",
        f"In all the default is at the best known in {np.mean(gaps <= NEAR):.1%} of {len(gaps)} cells; farthest above it by "
        f"{gaps.max():.1e} nats. Cells done on large joints: "
        + ", ".join(f"{name} {sum(json.loads(key)[0] == name for key in results)}" for name in LARGE)
        + ". The others are not measured yet.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("portfolio.json"))
    parser.add_argument("--table", type=Path)
    parser.add_argument("--random", type=int, default=50)
    parser.add_argument("--only", nargs="+", help="joints whose names begin so")
    parser.add_argument("--family", nargs="+", choices=tuple(FAMILIES), help="these families only")
    parser.add_argument("--seconds", type=float, default=30.0, help="for each contestant on a large joint")
    parser.add_argument("--minutes", type=float, default=np.inf, help="no cell is begun after so many")
    parser.add_argument("--resume", action="store_true", help="keep the cells that the JSON file has")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ip.PenaltyWarning)
    if not DATA.exists():
        print(f"{DATA} is not there: the large joints are skipped; INFOPLANE_DATA names the folder that has them.")
    results = json.loads(arguments.out.read_text()) if arguments.resume and arguments.out.exists() else {}
    began = time.perf_counter()
    for cell in cells(arguments.random) if arguments.minutes > 0.0 else ():
        name, _, family, parameter, clusters = cell
        key = json.dumps([name, family, round(parameter, 6), clusters])
        wanted = arguments.only is None or name.startswith(tuple(arguments.only))
        wanted = wanted and (arguments.family is None or family in arguments.family)
        if key in results or not wanted:
            continue
        if time.perf_counter() - began > 60.0 * arguments.minutes:
            break
        results[key] = run(cell, arguments.seconds)
        arguments.out.write_text(json.dumps(results, indent=1) + "\n")
        best = min(answer["loss"] for answer in results[key].values())
        print(f"{key}: default {results[key]['default']['loss'] - best:.1e} nats above the best", flush=True)
    if arguments.table:
        arguments.table.write_text(table(results))


if __name__ == "__main__":
    main()
