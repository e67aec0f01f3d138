"""Does the default find what the best of our solvers finds, at every size? The measurements behind `solver=None`.

    python benchmarks/portfolio.py --out benchmarks/results/portfolio.json --table docs/benchmarks/portfolio.md --resume [--minutes 10]

Small joints: built-in ones and random ones. Large joints, each at 6 parameters of the bottleneck and of the funnel and at 3 of the other
families, with and without a cap on |Z|: Adult 225 x 10, 1,038 x 4 and 5,361 x 10, Compas 437 x 2, colours 330 x 330, words 2,000 x 20; they
are skipped if their files are not there (INFOPLANE_DATA names the folder). Every solver that takes the problem is a contestant, with 16
starts where it uses starts on a small joint, 4 on a large one and 2 on one of 2,000 letters or more; all but `envelope` and `columns`,
whose time is that of a proof. The default runs first, and every other one has as much processor time as it took, within the limits of
`--seconds`: what they have found by then counts (they look at the clock between blocks of iterations; merging only at its end). One
without a result a second later is killed, and is not run again on that large joint. Every cell says at which commit its default was
measured, and how long the others had at most. The best known is the lowest loss of all contestants; a contestant is at it if it is
within 1e-6 nats. Times are processor seconds, so that other work on the machine counts little; kernels are compiled
before. Cells that are done are kept in the JSON file: an interrupted run, or one of so many minutes, continues where it was, and
cells that lack a contestant get it; `--again NAME ...` measures the cells of joints whose names begin so once more.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import infoplane as ip
from joints import DATA, TOP_WORDS, adult, built_in, compas, random_joints, words

NEAR = 1e-6
LARGE: dict[str, tuple[Callable[[], ip.Joint], int]] = {
    "compas 437x2": (compas, 5),
    "adult 225x10": (lambda: adult("small"), 10),
    "adult 1038x4": (lambda: adult("medium"), 10),
    "colours 330x330": (ip.datasets.colours, 20),
    "words 2000x20": (lambda: words(TOP_WORDS), 20),
    "adult 5361x10": (lambda: adult("large"), 20),
}
"""The joint, and the cap on |Z|."""

CONTESTANTS: dict[str, dict[str, Any]] = {
    "default": {"solver": None},
    "Blahut-Arimoto, random": {"solver": "blahut-arimoto", "init": "random"},
    "accelerated, random": {"solver": "accelerated", "init": "random"},
    "accelerated": {"solver": "accelerated"},
    "splitting": {"solver": "drs"},  # ib-1 for a bottleneck, pf-2 for a funnel
    **{name: {"solver": name} for name in ("ib-2", "ib-1v", "admm-ib", "admm-ib-3", "pf-1", "pf-2v", "dc-pf")},
    "annealing": {"solver": "annealing"},
    "pooling": {"solver": "pooling"},
    "merging": {"solver": "merging"},
    "merging, lagrangian": {"solver": ip.Merging("lagrangian")},
    "submodular": {"solver": "submodular"},
}

ODD = "lagrangian t H(Z) + t H(Z|X) - 0.3 H(Z|Y)"
FAMILIES = {
    "bottleneck": ip.bottleneck,
    "funnel": ip.funnel,
    "deterministic bottleneck": ip.deterministic_bottleneck,
    "generalised bottleneck, a = 0.5": lambda gamma: ip.generalised_bottleneck(gamma, 0.5),
    ODD: lambda t: ip.MarkovLagrangian(t, t, -0.3),
}

OVERTIME = 1.0
"""Processor seconds after its time at which a contestant is killed."""

MANY_LETTERS = 2000
"""Letters from which a contestant has 2 starts."""

CELLS = 40
"""Of every large joint: 6 + 6 + 3 + 3 + 2 parameters of the families, with and without a cap."""

Cell = tuple[str, Callable[[], ip.Joint], str, float, int | None]


def critical(joint: ip.Joint) -> float:
    """The gamma above which a constant Z is locally optimal: the squared maximal correlation."""
    table = joint.p_xy.toarray() if joint.is_sparse else np.asarray(joint.p_xy)
    seen = np.ix_(joint.p_x > 0, joint.p_y > 0)
    table = table[seen] / np.sqrt(np.outer(joint.p_x[seen[0].ravel()], joint.p_y[seen[1].ravel()]))
    return float(np.linalg.svd(table, compute_uv=False)[1] ** 2)


def cells(random: int) -> Iterator[Cell]:
    """Joint, family, parameter and cap; bottlenecks relative to the critical gamma. One parameter of all large joints, then the next."""
    small = {name: joint for name, joint in built_in().items() if joint.shape[0] <= 64}
    for name, joint in (small | dict(random_joints(random))).items():
        for family in FAMILIES:
            for value in parameters(joint, family, (0.15, 0.5), (2.0, 6.0)):
                yield name, lambda joint=joint: joint, family, value, None
    if not DATA.exists():
        return
    large = []
    for family in FAMILIES:
        shares = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7) if family in ("bottleneck", "funnel") else (0.05, 0.15, 0.4)
        for name, (make, cap) in LARGE.items():
            values = parameters(make(), family, shares, (1.5, 2.0, 4.0, 8.0, 15.0, 30.0))
            large += [
                (place, (name, make, family, value, clusters))
                for place, value in enumerate(values)
                for clusters in (None, cap)
            ]
    yield from (cell for _, cell in sorted(large, key=lambda one: one[0]))


def parameters(joint: ip.Joint, family: str, shares: tuple[float, ...], betas: tuple[float, ...]) -> tuple[float, ...]:
    """Shares of the critical gamma, or the funnel's betas; t of an odd Lagrangian."""
    if family == "funnel":
        return betas
    if family == ODD:
        return (0.5, 1.8)
    top = critical(joint)
    return tuple(share * top for share in shares)


def taking_part(problem: ip.MarkovLagrangian) -> list[str]:
    """Who does not refuse a problem."""
    solvers = {who: ip.SOLVERS.get(options["solver"], options["solver"]) for who, options in CONTESTANTS.items()}
    return [who for who, solver in solvers.items() if solver is None or solver.refusal(problem) is None]


def warm_up() -> None:
    """Have everything compiled, on the smallest joint."""
    for family, parameter in zip(FAMILIES, (0.2, 3.5, 0.2, 0.2, 0.5), strict=True):
        problem = FAMILIES[family](parameter)
        for who in taking_part(problem):
            ip.solve(ip.datasets.paper_uniform(), problem, CONTESTANTS[who]["solver"], rng=0, max_iter=200)


def in_time(seconds: float, solve: Callable[[], ip.Solution]) -> dict[str, Any] | None:
    """What a child process finds; None if it is refused, or is killed since it looks at the clock only after more processor time."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            spent = resource.getrusage(resource.RUSAGE_SELF)
            resource.setrlimit(
                resource.RLIMIT_CPU, (math.ceil(spent.ru_utime + spent.ru_stime + seconds + OVERTIME), -1)
            )
            os.write(theirs, json.dumps(measured(solve)).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    found: dict[str, Any] | None = json.loads(answer) if answer else None
    return found


def measured(solve: Callable[[], ip.Solution]) -> dict[str, Any] | None:
    """Loss, processor time, solver and clusters; None if there is nothing to show when its time is over, or if it is refused."""
    began = time.process_time()
    try:
        answer = solve()
    except (KeyboardInterrupt, ip.InvalidOptionError):
        return None
    took = time.process_time() - began
    return {"loss": answer.loss, "seconds": took, "found_by": answer.solver, "clusters": answer.clusters}


def run(cell: Cell, done: dict[str, Any], least: float, most: float, hopeless: set[str]) -> dict[str, Any]:
    """Loss and time of every contestant that is neither among those done nor without hope; the default's first."""
    name, make, family, parameter, clusters = cell
    joint, problem = make(), FAMILIES[family](parameter)
    fewer = 16 if name not in LARGE else 4 if joint.shape[0] < MANY_LETTERS else 2
    found = dict(done)
    if "default" not in found:
        answer = measured(lambda: ip.solve(joint, problem, starts=16, clusters=clusters, rng=0))
        assert answer is not None
        found["default"] = answer | {"commit": commit()}
    found["default"]["others"] = [least, most]
    limit = min(max(found["default"]["seconds"], least), most)
    for who in taking_part(problem):
        if who in found:
            continue

        def solve(options: dict[str, Any] = CONTESTANTS[who]) -> ip.Solution:
            began = time.process_time()  # that of the child
            return ip.solve(
                joint,
                problem,
                options["solver"],
                init=options.get("init"),
                starts=fewer,
                clusters=clusters,
                rng=0,
                callback=lambda _: time.process_time() - began > limit,
            )

        found[who] = None if who in hopeless else in_time(limit, solve)
    return found


@cache
def commit() -> str:
    """The commit that is being measured, asked for once; without git, that of no name."""
    git = subprocess.run(
        ("git", "rev-parse", "--short", "HEAD"), capture_output=True, text=True, cwd=Path(__file__).parent
    )
    return git.stdout.strip()


def lowest(one: dict[str, Any]) -> float:
    """The best known loss of a cell."""
    return min(answer["loss"] for answer in one.values() if answer)


def row(who: str, done: list[dict[str, Any]]) -> str:
    """One contestant's line: over the cells in which it found something in time."""
    with_it = [one for one in done if one.get(who)]
    gaps = np.array([one[who]["loss"] - lowest(one) for one in with_it])
    slowest = np.array([max(answer["seconds"] for answer in one.values() if answer) for one in with_it])
    times = np.array([one[who]["seconds"] for one in with_it])
    return (
        f"| {who} | {len(with_it)} | {np.mean(gaps <= NEAR):.2f} | {gaps.mean():.1e} | {gaps.max():.1e} | "
        f"{np.median(times / slowest):.2f} | {np.median(times):.2g} |"
    )


def _of_joint(name: str, results: dict[str, dict[str, Any]]) -> str:
    """The default on one large joint, over all families, parameters and caps."""
    done = [one for key, one in results.items() if json.loads(key)[0] == name]
    best = np.array([lowest(one) for one in done])
    gaps = np.array([one["default"]["loss"] for one in done]) - best
    others = [lowest({who: answer for who, answer in one.items() if who != "default"}) for one in done]
    seconds = np.array([one["default"]["seconds"] for one in done])
    return (
        f"| {name} | {len(done)} of {CELLS} | {np.mean(gaps <= NEAR):.2f} | {gaps.max():.1e} | "
        f"{np.median(seconds):.1f}, {seconds.max():.0f} | {np.median(np.array(others) - best):.1e} |"
    )


def _measured(done: list[dict[str, Any]]) -> Iterator[str]:
    """How many cells of each commit, and of each limit of the others' time."""
    kinds = [(one["default"]["commit"], *one["default"]["others"]) for one in done]
    for (name, least, most), cells_ in Counter(kinds).items():
        yield f"| `{name}` | {cells_} | at least {least:g}, at most {most:g} |"


def _above(results: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The cells in which somebody is below the default."""
    for key, one in results.items():
        best = min((answer["loss"], who) for who, answer in one.items() if answer)
        gap = one["default"]["loss"] - best[0]
        if gap > NEAR:
            name, family, parameter, clusters = json.loads(key)
            yield f"| {name} | {family} | {parameter:g} | {clusters or ''} | {gap:.1e} | {best[1]} |"


def table(results: dict[str, dict[str, Any]]) -> str:
    """The docs page, from the results alone."""
    lines = [
        "# What the default runs, and why",
        "",
        "Written by `benchmarks/portfolio.py`. Share of cells (joint x parameter x cap on |Z|) whose answer is within 1e-6 nats of the",
        "best that any contestant found; mean and worst distance above it; median processor time relative to the slowest in the same cell,",
        "and in seconds. Contestants other than the default had as long as it took, within the limits below, with 16 starts on small",
        "joints, 4 on large ones and 2 on those of 2,000 letters or more; what they had found by then counts. On every large joint the",
        "bottleneck and the funnel are measured at 6 parameters, the other families at 3 (the odd Lagrangian at 2). A contestant that had",
        "nothing to show a second after its time was stopped, and not asked again on that joint with that cap: its row counts fewer cells.",
    ]
    groups: dict[str, list[dict[str, Any]]] = {}
    for key, one in results.items():
        name, family, _, clusters = json.loads(key)
        size = "large joints" if name in LARGE else "small joints"
        cap = ", |Z| capped" if clusters else ""
        groups.setdefault(f"{family[0].upper()}{family[1:]}, {size}{cap}", []).append(one)
    for title, done in groups.items():
        lines += [
            "",
            f"## {title}: {len(done)} cells",
            "",
            "| contestant | cells | at the best known | mean gap (nats) | worst gap (nats) | relative time | seconds |",
            "|---|---|---|---|---|---|---|",
            *(row(who, done) for who in CONTESTANTS if any(one.get(who) for one in done)),
        ]
    every = [one for one in results.values() if "default" in one]
    gaps = np.array([one["default"]["loss"] - lowest(one) for one in every])
    lines[8:8] = [
        "",
        f"In all the default is at the best known in {np.mean(gaps <= NEAR):.1%} of {len(gaps)} cells; farthest above it by "
        f"{gaps.max():.1e} nats.",
        "",
        "| joint | cells | at the best known | worst gap (nats) | processor seconds: median, most | best of the others: median gap |",
        "|---|---|---|---|---|---|",
        *(_of_joint(name, results) for name in LARGE if any(json.loads(key)[0] == name for key in results)),
        "",
        "Commits are those at which the default was measured; the other solvers had not changed, and kept their numbers.",
        "",
        "| measured at commit | cells | the others had, in processor seconds |",
        "|---|---|---|",
        *_measured(every),
        "",
        "Cells in which the default is above the best known by more than 1e-6 nats:",
        "",
        "| joint | family | parameter | cap on \\|Z\\| | gap (nats) | the best is of |",
        "|---|---|---|---|---|---|",
        *_above(results),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("portfolio.json"))
    parser.add_argument("--table", type=Path)
    parser.add_argument("--random", type=int, default=10, help="random small joints")
    parser.add_argument("--only", nargs="+", help="joints whose names begin so")
    parser.add_argument("--family", nargs="+", choices=tuple(FAMILIES), help="these families only")
    parser.add_argument("--seconds", type=float, nargs=2, default=(1.0, 3.0), help="for each contestant: least, most")
    parser.add_argument("--minutes", type=float, default=np.inf, help="no cell is begun after so many")
    parser.add_argument("--again", nargs="+", help="joints whose names begin so are measured anew")
    parser.add_argument("--resume", action="store_true", help="keep the cells that the JSON file has")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ip.PenaltyWarning)
    if not DATA.exists():
        print(f"{DATA} is not there: the large joints are skipped; INFOPLANE_DATA names the folder that has them.")
    results = json.loads(arguments.out.read_text()) if arguments.resume and arguments.out.exists() else {}
    if arguments.again:
        results = {
            key: one for key, one in results.items() if not json.loads(key)[0].startswith(tuple(arguments.again))
        }
    if arguments.minutes > 0.0:
        commit()  # before anything else is committed
        warm_up()
    began = time.perf_counter()
    for cell in cells(arguments.random) if arguments.minutes > 0.0 else ():
        name, _, family, parameter, clusters = cell
        key = json.dumps([name, family, round(parameter, 6), clusters])
        wanted = arguments.only is None or name.startswith(tuple(arguments.only))
        wanted = wanted and (arguments.family is None or family in arguments.family)
        done = results.get(key, {})
        if not wanted or done.keys() >= set(taking_part(FAMILIES[family](parameter))):
            continue
        if time.perf_counter() - began > 60.0 * arguments.minutes:
            break
        hopeless = {
            who
            for other, one in results.items()
            if name in LARGE and json.loads(other)[::3] == [name, clusters]
            for who, answer in one.items()
            if answer is None
        }
        results[key] = run(cell, done, *arguments.seconds, hopeless)
        arguments.out.write_text(json.dumps(results, indent=1) + "\n")
        above = results[key]["default"]["loss"] - lowest(results[key])
        print(f"{key}: default {above:.1e} nats above the best", flush=True)
    if arguments.table:
        arguments.table.write_text(table(results))


if __name__ == "__main__":
    main()
