"""What a proof of the bottleneck costs, by |X|, by |Y|, and on data.

    python benchmarks/bench_certificate.py --out certificate.json --table docs/benchmarks/certificate.md

Every point is the bottleneck at one gamma from a constant Z, certified to 1e-6 nats: Newton on the mixture, branch and bound, everything.
Seconds are processor time of one thread, compiled code warm. The random joints are Dirichlet channels: "smooth" with parameter 1, "peaked"
with 0.2. Finished points are kept in the JSON file. Larger tables are those of `joints.DATA`, if they are there. The largest get a minute
each: the page says what the bound is then, and what ended the search.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import infoplane as ip
import joints
from timing import one_by_one, publish, resumable

GAMMAS = (0.05, 0.1, 0.2, 0.4)
TOL = 1e-6
MOST_CELLS, MOST_SECONDS = 3_000_000, 1_500.0
WORDS_SECONDS = 120.0
"""With twenty letters a bound is all that can be expected at middle gammas."""
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
    from infoplane.kernels.bottleneck_proof import envelope

    search, spent = envelope.search, 0.0

    def timed(*arguments: Any) -> None:
        nonlocal spent
        began = time.process_time()
        search(*arguments)
        spent += time.process_time() - began

    envelope.search = timed
    fastest = {"seconds": np.inf}
    for _ in range(CUT_RUNS):
        spent = 0.0
        found = measure(joint, point.gamma, point.max_seconds, point.max_cells, direct=True)
        if spent < fastest["seconds"]:
            fastest = {"seconds": spent, "cells": found["cells"], "all": found["seconds"], "gap": found["gap"]}
    envelope.search = search
    return fastest


def by_processor_time() -> None:
    """Let proofs of this process take their limits for processor time: on a busy machine a minute is then still a minute."""
    from infoplane.runtime import budget

    budget.clock = time.process_time


def measure(
    joint: ip.Joint, gamma: float, max_seconds: float, max_cells: int = MOST_CELLS, direct: bool = False
) -> dict[str, float]:
    """One proof, by whichever version of the library is imported; `direct`: without the coarsened bound."""
    from infoplane.certificate.bottleneck import Proof, prove
    from infoplane.joint.joint import Support
    from infoplane.posterior.form import Mixture
    from infoplane.runtime.budget import Limits, one_blas_thread

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


def proven(point: Point) -> dict[str, float] | None:
    """What a point took; None if its table is not there."""
    joint = joint_of(point.what, point.seed)
    if joint is None:
        return None
    if point.kind == "cuts":
        return cut_cost(joint, point)
    if point.kind == "large":
        by_processor_time()
    return measure(joint, point.gamma, point.max_seconds)


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
    yield "The last column says how far the best of 16 random starts of Blahut-Arimoto (tol 1e-10) is above the certified optimum."
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
    from infoplane.joint.joint import Support
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
    yield "The critical gamma of the second variation, the onset max D(Tq || p_y)/D(q || p_x) below which a constant Z is not optimal, and"
    yield "Dobrushin's coefficient, above which contraction alone proves that a constant Z is optimal."
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


def by_joint(results: dict[str, Any]) -> Iterator[str]:
    """One row per joint."""
    yield "| joint | points | certified | cells, median | seconds, median | seconds, largest | largest gap, nats |"
    yield "|---|---|---|---|---|---|---|"
    grouped: dict[str, list[dict[str, Any]]] = {}
    for key, one in results.items():
        if key.startswith(("data; ", "X; ", "Y; ")):
            grouped.setdefault(key.split("; ")[1], []).append(one)
    for what, found in grouped.items():
        cells, seconds = [one["cells"] for one in found], [one["seconds"] for one in found]
        done = sum(one["gap"] <= TOL for one in found)
        yield (
            f"| {what} | {len(found)} | {done} of {len(found)} | {np.median(cells):,.0f} | {np.median(seconds):.3f} | "
            f"{max(seconds):.2f} | {max(one['gap'] for one in found):.1e} |"
        )


def cut_table(results: dict[str, Any]) -> Iterator[str]:
    yield "## What a cut costs"
    yield ""
    yield "Processor time of branch and bound alone, divided by the boxes that were cut; the fastest of"
    yield f"{CUT_RUNS} runs. The gap is what is left; the last column has the seconds of everything, the mixture and its climbs included."
    yield ""
    yield "| joint | gamma | cuts | microseconds per cut | gap, nats | seconds of everything |"
    yield "|---|---|---|---|---|---|"
    for key, one in results.items():
        if key.startswith("cuts; "):
            _, what, gamma, _ = key.split("; ")
            cost = 1e6 * one["seconds"] / max(one["cells"], 1)
            yield f"| {what} | {float(gamma):g} | {one['cells']:,} | {cost:.0f} | {one['gap']:.1e} | {one['all']:.3f} |"


def large_table(results: dict[str, Any]) -> Iterator[str]:
    yield f"## Large joints: what {LARGE_SECONDS:g} seconds buy"
    yield ""
    yield "The gap is that of the mixture's own encoder. Limits and seconds are processor time of one thread."
    yield ""
    yield "| joint | gamma | loss, nats | gap, nats | cells | seconds | ended by |"
    yield "|---|---|---|---|---|---|---|"
    for key, one in results.items():
        if key.startswith("large; "):
            _, what, gamma, _ = key.split("; ")
            ended = "the proof" if one["gap"] <= TOL else one["limit"].replace("|", "\\|")
            numbers = f"{one['loss']:.5f} | {one['gap']:.1e} | {one['cells']:,} | {one['seconds']:.1f}"
            yield f"| {what} | {float(gamma):g} | {numbers} | {ended} |"


def statements(results: dict[str, Any]) -> Iterator[str]:
    letters: dict[int, list[float]] = {}
    for key, one in results.items():
        if key.startswith("Y; "):
            letters.setdefault(int(key.split("; ")[1].split()[2]), []).append(max(one["cells"], 1.0))
    means = {n: float(np.exp(np.mean(np.log(cells)))) for n, cells in letters.items()}
    slope, start = np.polyfit(list(means), np.log(list(means.values())), 1)
    hard, _ = np.polyfit(list(letters), np.log([max(cells) for cells in letters.values()]), 1)
    yield (
        "By |Y|, at |X| = 20: geometric mean of the cells ~ "
        f"{np.exp(start + 2 * slope):.0f} x {np.exp(slope):.2f}^(|Y| - 2), the largest times {np.exp(hard):.2f} per letter; for each |Y|: "
        + ", ".join(f"{n}: {m:,.0f}" for n, m in means.items())
        + "."
    )
    sizes: dict[int, list[float]] = {}
    for key, one in results.items():
        if key.startswith("X; "):
            sizes.setdefault(int(key.split("; ")[1].split()[0]), []).append(one["seconds"])
    if len(sizes) > 1:
        exponent, _ = np.polyfit(np.log(list(sizes)), np.log([np.median(some) for some in sizes.values()]), 1)
        yield ""
        yield f"By |X|, at |Y| = 3, from 100 letters on, medians: seconds ~ |X|^{exponent:.2f}."


def table(results: dict[str, Any]) -> str:
    """Markdown; every number from the results."""
    gammas = ", ".join(f"{g:g}" for g in GAMMAS)
    lines = [
        "# What a bottleneck certificate costs",
        "",
        f"Printed by `benchmarks/bench_certificate.py`: tol {TOL:g} nats, at most {MOST_CELLS:,} cells and {MOST_SECONDS:g} seconds",
        f"(words: {WORDS_SECONDS:g}).",
        "Points are kept from run to run: numbers of cells are exact, seconds depend on how busy the machine was. Seconds are",
        "processor time of one thread for everything, from a constant Z to the proof; median and largest over the gammas",
        f"{gammas} and, for random joints, three of them (heart: 16 gammas from 0.01 to 1; words: 0.05,",
        "0.4 and 0.8). The second computation ([why](../explanation/certificate_search.md#computed-a-second-time))",
        "adds 7 to 19%; of the stored points only those of 10000 x 3 have it.",
        "",
        *by_joint(results),
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


def main() -> None:
    parser = resumable(__doc__, "certificate.json")
    parser.add_argument("--only", nargs="*", default=[""], help="only points whose key contains one of these")
    options = parser.parse_args()
    measure(ip.datasets.paper_uniform(), 0.2, MOST_SECONDS)  # compiles
    todo = {point.key: partial(proven, point) for point in points() if any(some in point.key for some in options.only)}
    if options.only == [""]:
        for name, gamma in product(("paper_uniform", "paper_nonuniform"), np.geomspace(0.1, 1.0, 16)):
            todo[f"paper; {name}; {gamma:.6g}"] = partial(paper_point, name, float(gamma))
        for name in joints.SMALL:
            todo[f"transitions; {name}"] = partial(transition_point, name)
    results = one_by_one(options.out, todo, lambda key: todo[key]())
    if options.only == [""]:
        publish(table(results), options.table)


if __name__ == "__main__":
    main()
