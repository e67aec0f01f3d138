"""What a proof costs, before and after: simplicial cells (commit ae2ec56) and boxes, by |X|, by |Y|, and on data.

    python benchmarks/bench_certificate.py --out certificate.json --table docs/benchmarks/certificate.md

Every point is the bottleneck at one gamma from a constant Z, certified to 1e-6 nats: Newton on the mixture, branch and bound, everything.
Seconds are processor time of one thread, compiled code warm. Both versions run in processes of their own, point by point in turns, so that
they meet the same noise, unless `--after` leaves the one before out; that is taken out of the repository's history. The random joints are
Dirichlet channels: "smooth" with parameter 1, "peaked" with 0.2. Finished points are kept in the JSON file. Larger tables are read from
../shared/data where it exists. The largest get a minute each: what the bound is then, and what ended the search. There, and for what one
cut of a box costs, *before* is the last version whose ascent and range reduction looked at every letter (commit aeb84f1); both versions run
at the same time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import infoplane as ip
import joints

BEFORE = "ae2ec56"
"""The last commit with simplicial cells."""
EVERY_LETTER = "aeb84f1"
"""The last commit in which the ascent and range reduction of a box looked at every letter."""
GAMMAS = (0.05, 0.1, 0.2, 0.4)
TOL = 1e-6
MOST_CELLS, MOST_SECONDS = 3_000_000, 1_500.0
WORDS_SECONDS = 120.0
"""With twenty letters a bound is all that can be expected at middle gammas."""
HOPELESS_SECONDS = 6.0
"""What the version before is given where |Y| > 6: no proof is expected of it, only a bound."""
LARGE = ("adult 1,038 x 4", "adult 5,361 x 10", "words 2,000 x 20", "words 11,541 x 20", "colours 330 x 330")
LARGE_GAMMAS, LARGE_SECONDS = (0.1, 0.2, 0.4), 60.0
CUTS = (
    ("heart 16 x 4", 0.05, 3_000),
    ("20 x 4 smooth", 0.1, 3_000),
    ("20 x 10 smooth", 0.1, 3_000),
    ("adult 225 x 10", 0.05, 3_000),
    ("adult 1,038 x 4", 0.1, 3_000),
    ("1000 x 3 smooth", 0.1, 3_000),
    ("adult 5,361 x 10", 0.4, 3_000),
    ("words 2,000 x 20", 0.4, 600),
)
"""Joints and gammas at which the cost of a cut is measured, and at most so many of them."""
CUT_RUNS = 3
"""Runs of each, of which the fastest counts."""
DATA_JOINTS = {
    "heart 16 x 4": "heart",
    "adult 1,038 x 4": "medium",
    "adult 225 x 10": "small",
    "words 2,000 x 20": "words",
    "adult 5,361 x 10": "large",
    "words 11,541 x 20": "all words",
    "colours 330 x 330": "colours",
}


@dataclass(frozen=True)
class Point:
    """One proof: which table it belongs to, on what, at which gamma."""

    kind: str
    what: str
    gamma: float
    seed: int = 0
    max_seconds: float = MOST_SECONDS
    max_cells: int = MOST_CELLS

    @property
    def key(self) -> str:
        return f"{self.kind}; {self.what}; {self.gamma:.6g}; {self.seed}"

    @property
    def letters(self) -> int:
        return int(self.what.split(" x ")[1].split()[0])


def points() -> Iterator[Point]:
    for gamma in np.geomspace(0.01, 1.0, 16):
        yield Point("data", "heart 16 x 4", float(gamma))
    for n_y, name, seed, gamma in product((2, 3, 4, 5, 6, 7, 8, 10, 12), ("smooth", "peaked"), range(3), GAMMAS):
        yield Point("Y", f"20 x {n_y} {name}", gamma, seed)
    for n_x, seed, gamma in product((100, 1_000, 10_000), range(3), GAMMAS):
        yield Point("X", f"{n_x} x 3 smooth", gamma, seed)
    for name, gamma in product(("adult 225 x 10", "adult 1,038 x 4"), GAMMAS):
        yield Point("data", name, gamma)
    for gamma in (0.05, 0.4, 0.8):
        yield Point("data", "words 2,000 x 20", gamma, max_seconds=WORDS_SECONDS)
    for name, gamma, cuts in CUTS:
        yield Point("cuts", name, gamma, max_cells=cuts)
    for name, gamma in product(LARGE, LARGE_GAMMAS):
        yield Point("large", name, gamma, max_seconds=LARGE_SECONDS)


def joint_of(what: str, seed: int) -> ip.Joint | None:
    """The joint of a point; None if its table is not there."""
    if name := DATA_JOINTS.get(what):
        if name == "heart":
            return ip.datasets.heart()
        if name == "colours":
            return ip.datasets.colours()
        file = {"words": joints.TOP_WORDS, "all words": joints.WORDS}.get(name) or joints.ADULT[name]
        if not joints.outside(file, what):
            return None
        return joints.adult(name) if name in joints.ADULT else joints.words(file)
    sizes, kind = what.rsplit(" ", 1)
    n_x, n_y = (int(size) for size in sizes.split(" x "))
    rng = np.random.default_rng([n_x, n_y, seed])
    T = rng.dirichlet(np.full(n_y, {"smooth": 1.0, "peaked": 0.2}[kind]), size=n_x)
    return ip.Joint.from_counts(T * rng.dirichlet(np.full(n_x, 2.0))[:, None])


def cut_cost(joint: ip.Joint, point: Point) -> dict[str, float]:
    """Processor time of branch and bound alone, the fastest of some runs; by a version with boxes."""
    from infoplane.certificate.bottleneck import proof

    searches = {"search": proof.search}
    spent = 0.0

    def timed(search: Callable[..., None]) -> Callable[..., None]:
        def run(*arguments: Any) -> None:
            nonlocal spent
            began = time.process_time()
            search(*arguments)
            spent += time.process_time() - began

        return run

    for name, search in searches.items():
        setattr(proof, name, timed(search))
    fastest = {"seconds": np.inf}
    for _ in range(CUT_RUNS):
        spent = 0.0
        found = measure(joint, point.gamma, point.max_seconds, point.max_cells, direct=True)
        if spent < fastest["seconds"]:
            fastest = {"seconds": spent, "cells": found["cells"], "all": found["seconds"], "gap": found["gap"]}
    for name, search in searches.items():
        setattr(proof, name, search)
    return fastest


def by_processor_time() -> None:
    """Let proofs of this process take their limits for processor time: on a busy machine a minute is then still a minute."""
    from infoplane.runtime import budget

    budget.clock = time.process_time


def measure(
    joint: ip.Joint, gamma: float, max_seconds: float, max_cells: int = MOST_CELLS, direct: bool = False
) -> dict[str, float]:
    """One proof, by whichever version of the library is imported; `direct`: without the coarsened bound."""
    from infoplane.certificate.bottleneck.coarsening import prove
    from infoplane.certificate.bottleneck.proof import Proof
    from infoplane.certificate.certificate import Limits
    from infoplane.joint.support import Support
    from infoplane.posterior.mixture import Mixture
    from infoplane.runtime.threads import one_blas_thread

    support, problem = Support(joint), ip.bottleneck(gamma)
    constant = Mixture(np.ones(1), support.p_y[None])
    began = time.process_time()
    budget = Limits(TOL, max_cells, max_seconds).budget()
    proof = Proof(support, problem, constant, TOL, budget)
    with one_blas_thread():
        proof.search() if direct else prove(proof)
    seconds = time.process_time() - began
    loss = problem.value(joint, support.lift(proof.mixture.encoder(support, gamma)))
    found = {"seconds": seconds, "cells": budget.cells_spent, "loss": loss, "gap": loss - proof.lower_bound}
    return found | {"wall": budget.seconds_spent, "limit": proof.limit}


def work() -> None:
    """The process of one version: one point per line in, one result per line out."""
    measure(ip.datasets.paper_uniform(), 0.2, MOST_SECONDS)  # compiles
    made: dict[tuple[str, int], ip.Joint | None] = {}
    for line in sys.stdin:
        point = Point(**json.loads(line))
        key = (point.what, point.seed)
        if key not in made:
            made = {key: joint_of(*key)}
        joint = made[key]
        if joint is None:
            print("null", flush=True)
        elif point.kind == "cuts":
            print(json.dumps(cut_cost(joint, point)), flush=True)
        else:
            if point.kind == "large":
                by_processor_time()
            print(json.dumps(measure(joint, point.gamma, point.max_seconds)), flush=True)


class Version:
    """A version of the library in a process of its own, begun once it is needed."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.process: subprocess.Popen[str] | None = None

    def measure(self, point: Point) -> dict[str, float] | None:
        if self.process is None:
            here = Path(__file__).resolve()
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(self.source), str(here.parent)])}
            command = [sys.executable, str(here), "--worker"]
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(asdict(point)), file=self.process.stdin, flush=True)
        result: dict[str, float] | None = json.loads(self.process.stdout.readline())
        return result

    def close(self) -> None:
        if self.process is not None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()


def older(folder: Path, commit: str) -> Path:
    """The sources of a commit before."""
    root = Path(__file__).resolve().parents[1]
    place, archive = folder / commit, folder / f"{commit}.tar"
    place.mkdir()
    subprocess.run(["git", "-C", str(root), "archive", "-o", str(archive), commit, "src"], check=True)
    subprocess.run(["tar", "-xf", str(archive), "-C", str(place)], check=True)
    return place / "src"


def paper_point(name: str, gamma: float) -> dict[str, float]:
    """The paper's data: certified to 1e-8 nats, beside 16 random starts of Blahut-Arimoto."""
    from infoplane.solvers.envelope import Envelope

    joint, problem = ip.datasets.load(name), ip.bottleneck(gamma)
    began = time.process_time()
    best = ip.solve(joint, problem, Envelope(tol=1e-8))
    seconds = time.process_time() - began
    random = ip.solve(joint, problem, "blahut-arimoto", starts=16, rng=0, init="random", tol=1e-10)
    return {"loss": best.loss, "gap": best.gap or 0.0, "seconds": seconds, "random": random.loss}


def paper_table(results: dict[str, dict[str, float]]) -> Iterator[str]:
    yield "## The paper's 3 x 3 data, certified to 1e-8 nats"
    yield ""
    yield "The last column: how far the best of 16 random starts of Blahut-Arimoto (tol 1e-10) stays above the certified optimum."
    yield ""
    yield "| p(x) | gamma | certified loss, nats | gap, nats | 16 random starts, nats | too high by |"
    yield "|---|---|---|---|---|---|"
    for key, one in results.items():
        if key.startswith("paper; "):
            _, name, gamma = key.split("; ")
            above = one["random"] - one["loss"]
            shown = f"**{above:.1e}**" if above > 1e-6 else "-"
            numbers = f"{float(gamma):.4f} | {one['loss']:.6f} | {one['gap']:.1e} | {one['random']:.6f}"
            yield f"| {name.removeprefix('paper_')} | {numbers} | {shown} |"


def transition_point(name: str) -> dict[str, object]:
    from infoplane.frontier.transitions import critical_gamma, onset_gamma, transitions
    from infoplane.joint.support import Support
    from infoplane.posterior.form import dobrushin

    joint = ip.datasets.load(name)
    found = transitions(joint)
    return {
        "critical": critical_gamma(joint),
        "onset": onset_gamma(joint),
        "dobrushin": dobrushin(Support(joint).T),
        "later": [[t.low, t.high, t.clusters_below, t.clusters_above, *t.below, *t.above] for t in found],
    }


def transition_table(results: dict[str, dict[str, float]]) -> Iterator[str]:
    yield "## Transitions"
    yield ""
    yield "The critical gamma of the second variation, the onset max D(Tq || p_y)/D(q || p_x) at which the optimum leaves a constant Z, and"
    yield "Dobrushin's coefficient, from which on contraction alone proves that it has not."
    yield ""
    yield "| joint | critical gamma | onset | Dobrushin |"
    yield "|---|---|---|---|"
    found = {key.split("; ")[1]: one for key, one in results.items() if key.startswith("transitions; ")}
    for name, one in found.items():
        yield f"| {name} | {one['critical']:.6f} | {one['onset']:.6f} | {one['dobrushin']:.6f} |"
    yield ""
    yield "Changes of the number of clusters along optima certified to 1e-9 nats, by bisection to a relative width of 1e-3:"
    yield ""
    yield "| joint | gamma between | clusters below, above | I(X;Z), nats | I(Y;Z), nats |"
    yield "|---|---|---|---|---|"
    for name, one in found.items():
        for low, high, below, above, ixz, iyz, ixz_above, iyz_above in one["later"]:
            plane = f"{ixz:.4f}, {abs(ixz_above):.4f} | {iyz:.4f}, {abs(iyz_above):.4f}"
            yield f"| {name} | {low:.6f} and {high:.6f} | {below}, {above} | {plane} |"


def certified(found: list[dict[str, float]]) -> int:
    return sum(one["gap"] <= TOL for one in found)


def comparison(results: dict[str, Any]) -> Iterator[str]:
    """Before and after, one row per joint."""
    columns = (
        "joint",
        "points",
        "certified",
        "cells, median",
        "seconds, median",
        "seconds, largest",
        "largest gap, nats",
    )
    yield "| " + " | ".join([*columns, "before / after, median where both end"]) + " |"
    yield "|---|---|---|---|---|---|---|---|"
    grouped: dict[str, list[dict[str, Any]]] = {}
    for key, one in results.items():
        if key.startswith(("data; ", "X; ", "Y; ")) and "after" in one:
            grouped.setdefault(key.split("; ")[1], []).append(one)
    for what, found in grouped.items():
        both = [one for one in found if "before" in one]
        before, after = [one["before"] for one in both], [one["after"] for one in found]

        def pair(show: Any, before: list[dict[str, float]] = before, after: list[dict[str, float]] = after) -> str:
            return f"{show(before)} -> {show(after)}" if before else f"- -> {show(after)}"

        ratios = [
            one["before"]["seconds"] / one["after"]["seconds"]
            for one in both
            if max(one["before"]["gap"], one["after"]["gap"]) <= TOL
        ]
        ratio = f"{np.median(ratios):,.1f}" if ratios else "-"
        yield (
            f"| {what} | {len(found)} | "
            + pair(lambda some: f"{certified(some)} of {len(some)}")
            + " | "
            + pair(lambda some: f"{np.median([one['cells'] for one in some]):,.0f}")
            + " | "
            + pair(lambda some: f"{np.median([one['seconds'] for one in some]):.3f}")
            + " | "
            + pair(lambda some: f"{max(one['seconds'] for one in some):.2f}")
            + " | "
            + pair(lambda some: f"{max(one['gap'] for one in some):.1e}")
            + f" | {ratio} |"
        )


def cut_table(results: dict[str, Any]) -> Iterator[str]:
    yield "## What a cut costs"
    yield ""
    yield f"Before: every letter in the ascent and in range reduction (commit {EVERY_LETTER}). Processor time of branch and bound alone,"
    yield f"divided by the boxes that were cut; the fastest of {CUT_RUNS} runs, both versions at the same time. The gap is what is left;"
    yield "the last column has the seconds of everything, the mixture and its climbs included. From 2,000 letters of X on, with at most six"
    yield "of Y, boxes are weighed by groups of letters, whose making is part of a cut's cost, and climbs take Newton's steps."
    yield ""
    yield "| joint | gamma | cuts | microseconds per cut | before / after | gap, nats | seconds of everything |"
    yield "|---|---|---|---|---|---|---|"
    for key, one in results.items():
        if key.startswith("cuts; ") and {"before", "after"} <= set(one):
            _, what, gamma, _ = key.split("; ")
            before, after = one["before"], one["after"]
            cost = [1e6 * some["seconds"] / max(some["cells"], 1) for some in (before, after)]
            yield (
                f"| {what} | {float(gamma):g} | {before['cells']:,} -> {after['cells']:,} | {cost[0]:.0f} -> {cost[1]:.0f} | "
                f"{cost[0] / cost[1]:.2f} | {before['gap']:.1e} -> {after['gap']:.1e} | {before['all']:.3f} -> {after['all']:.3f} |"
            )


def large_table(results: dict[str, Any]) -> Iterator[str]:
    yield f"## Large joints: what {LARGE_SECONDS:g} seconds buy"
    yield ""
    yield "The gap is that of the mixture's own encoder. Limits and seconds are processor time of one thread; where there is an arrow,"
    yield f"before is commit {EVERY_LETTER}."
    yield ""
    yield "| joint | gamma | loss, nats | gap, nats | cells | seconds | ended by |"
    yield "|---|---|---|---|---|---|---|"
    for key, one in results.items():
        if key.startswith("large; ") and "after" in one:
            _, what, gamma, _ = key.split("; ")
            found = one["after"]
            versions = [one[name] for name in ("before", "after") if name in one]
            ended = "the proof" if found["gap"] <= TOL else found["limit"].replace("|", "\\|")
            gaps = " -> ".join(f"{some['gap']:.1e}" for some in versions)
            cells = " -> ".join(f"{some['cells']:,}" for some in versions)
            seconds = " -> ".join(f"{some['seconds']:.1f}" for some in versions)
            yield f"| {what} | {float(gamma):g} | {found['loss']:.5f} | {gaps} | {cells} | {seconds} | {ended} |"


def statements(results: dict[str, Any]) -> Iterator[str]:
    letters: dict[int, list[float]] = {}
    for key, one in results.items():
        if key.startswith("Y; ") and "after" in one:
            letters.setdefault(int(key.split("; ")[1].split()[2]), []).append(max(one["after"]["cells"], 1.0))
    means = {n: float(np.exp(np.mean(np.log(cells)))) for n, cells in letters.items()}
    slope, start = np.polyfit(list(means), np.log(list(means.values())), 1)
    hard, _ = np.polyfit(list(letters), np.log([max(cells) for cells in letters.values()]), 1)
    yield (
        "Growth in |Y| at |X| = 20: geometric mean of the cells ~ "
        f"{np.exp(start + 2 * slope):.0f} x {np.exp(slope):.2f}^(|Y| - 2), the largest grows by {np.exp(hard):.2f} a letter; per |Y|: "
        + ", ".join(f"{n}: {m:,.0f}" for n, m in means.items())
        + "."
    )
    sizes: dict[int, list[float]] = {}
    for key, one in results.items():
        if key.startswith("X; ") and "after" in one:
            sizes.setdefault(int(key.split("; ")[1].split()[0]), []).append(one["after"]["seconds"])
    if len(sizes) > 1:
        growth, _ = np.polyfit(np.log(list(sizes)), np.log([np.median(some) for some in sizes.values()]), 1)
        yield ""
        yield f"Growth in |X| at |Y| = 3, from 100 letters on, medians: seconds ~ |X|^{growth:.2f}."


def table(results: dict[str, Any]) -> str:
    """Markdown; every number from the results."""
    gammas = ", ".join(f"{g:g}" for g in GAMMAS)
    lines = [
        "# What a bottleneck certificate costs",
        "",
        f"Printed by `benchmarks/bench_certificate.py`: tol {TOL:g} nats, at most {MOST_CELLS:,} cells and {MOST_SECONDS:g} seconds",
        f"(words: {WORDS_SECONDS:g}).",
        f"*Before* are simplicial cells (commit {BEFORE}), *after* are boxes. Points are kept from run to run, so that before and after",
        "of a point may have met a machine more or less busy: cells are exact, ratios of seconds are not. Seconds are",
        "processor time of one thread for everything, from a constant Z to the proof; median and largest over the gammas",
        f"{gammas} and, for random joints, three of them (heart: 16 gammas from 0.01 to 1; words: 0.05,",
        "0.4 and 0.8). Where |Y| > 6 the version before, which is not expected to end, is stopped after",
        f"{HOPELESS_SECONDS:g} seconds, and is measured on the first joint only.",
        "",
        *comparison(results),
        "",
        *statements(results),
        "",
        *cut_table(results),
        "",
        *large_table(results),
        "",
        *paper_table(results),
        "",
        *transition_table(results),
    ]
    return "\n".join(lines) + "\n"


def in_turns(point: Point, found: dict[str, Any], versions: dict[str, Version]) -> None:
    """A point by one version and then the other; the older only where it may end, else for a bound."""
    for name, version in versions.items():
        if name in found or (name == "before" and point.letters > 6 and point.seed > 0):
            continue
        hopeless = name == "before" and point.letters > 6
        limit = HOPELESS_SECONDS if hopeless else point.max_seconds
        result = version.measure(Point(point.kind, point.what, point.gamma, point.seed, limit))
        if result is not None:
            found[name] = result


def at_once(point: Point, found: dict[str, Any], versions: dict[str, Version]) -> None:
    """A point by both versions at the same time, each in its process, so that seconds by the clock mean the same to both."""
    missing = {name: version for name, version in versions.items() if name not in found}
    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(missing, pool.map(lambda version: version.measure(point), missing.values()), strict=True))
    found.update({name: result for name, result in results.items() if result is not None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=Path("certificate.json"), help="results so far; continued if it exists"
    )
    parser.add_argument("--table", type=Path, help="write the Markdown table here as well")
    parser.add_argument("--only", nargs="*", default=[""], help="only points whose key contains one of these")
    parser.add_argument("--after", action="store_true", help="only this version, none before")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work()
        return
    results: dict[str, Any] = json.loads(options.out.read_text()) if options.out.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        versions = {
            BEFORE: Version(older(Path(folder), BEFORE)),
            EVERY_LETTER: Version(older(Path(folder), EVERY_LETTER)),
            "after": Version(Path(ip.__file__).parents[1]),
        }
        for point in points():
            if not any(some in point.key for some in options.only):
                continue
            found = results.setdefault(point.key, {})
            older_one = versions[EVERY_LETTER if point.kind in ("cuts", "large") else BEFORE]
            compared = {"before": older_one, "after": versions["after"]}
            if options.after:
                del compared["before"]
            (at_once if point.kind in ("cuts", "large") else in_turns)(point, found, compared)
            options.out.write_text(json.dumps(results, indent=1))
            print(point.key, found, flush=True)
        for version in versions.values():
            version.close()
    if options.only == [""]:
        for name, gamma in product(("paper_uniform", "paper_nonuniform"), np.geomspace(0.1, 1.0, 16)):
            key = f"paper; {name}; {gamma:.6g}"
            if key not in results:
                results[key] = paper_point(name, float(gamma))
        for name in joints.SMALL:
            if f"transitions; {name}" not in results:
                results[f"transitions; {name}"] = transition_point(name)
        options.out.write_text(json.dumps(results, indent=1))
        text = table(results)
        print(text)
        if options.table:
            options.table.write_text(text)


if __name__ == "__main__":
    main()
