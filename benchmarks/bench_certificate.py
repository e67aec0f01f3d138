"""What a proof costs: cells and seconds of one thread, by |X|, by |Y|, and on data.

    python benchmarks/bench_certificate.py --out certificate.json --table docs/benchmarks/certificate.md

Every cell of the tables is the bottleneck at one gamma from a constant Z, certified to 1e-6 nats: Newton on the mixture, branch and bound,
everything. Seconds are processor time of one thread, compiled code warm. The random joints are Dirichlet channels: "smooth" with
parameter 1, "peaked" with 0.2. Finished rows are kept in the JSON file. Tables outside the repository are skipped where they are missing.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

import infoplane as ip
from infoplane.certificate.bottleneck.bounds import dobrushin
from infoplane.certificate.bottleneck.coarsening import prove
from infoplane.certificate.bottleneck.mixture import Mixture
from infoplane.certificate.bottleneck.proof import Proof
from infoplane.certificate.certificate import Limits
from infoplane.frontier.transitions import critical_gamma, onset_gamma, transitions
from infoplane.joint.support import Support
from infoplane.solvers import envelope as escape
from infoplane.solvers.envelope import Envelope
from infoplane.solvers.stopping import Stopping
from infoplane.threads import one_blas_thread
from joints import ADULT, adult, outside

GAMMAS = (0.05, 0.1, 0.2, 0.4)
MANY_LETTERS = 200_000
"""Cells where |Y| > 6: no proof is expected, only a bound."""
LIMITS = Limits(tol=1e-6, max_cells=2_000_000)


def dirichlet_joint(n_x: int, n_y: int, concentration: float, seed: int) -> ip.Joint:
    rng = np.random.default_rng([n_x, n_y, seed])
    T = rng.dirichlet(np.full(n_y, concentration), size=n_x)
    return ip.Joint.from_counts(T * rng.dirichlet(np.full(n_x, 2.0))[:, None])


@dataclass(frozen=True)
class Case:
    """One proof: which table it belongs to, on what, at which gamma."""

    kind: str
    what: str
    gamma: float
    seed: int
    make: Callable[[], ip.Joint]

    @property
    def key(self) -> str:
        return f"{self.kind}; {self.what}; {self.gamma:.6g}; {self.seed}"


def cases() -> Iterator[Case]:
    for gamma in np.geomspace(0.01, 1.0, 64):
        yield Case("data", "heart 16 x 4", float(gamma), 0, ip.datasets.heart)
    for n_x in (10, 100, 1_000, 10_000):
        for seed, gamma in product(range(3), GAMMAS):
            yield Case("X", f"{n_x} x 3", gamma, seed, partial(dirichlet_joint, n_x, 3, 1.0, seed))
    for n_y, (name, concentration) in product(range(2, 7), (("smooth", 1.0), ("peaked", 0.2))):
        for seed, gamma in product(range(3), GAMMAS):
            yield Case("Y", f"20 x {n_y} {name}", gamma, seed, partial(dirichlet_joint, 20, n_y, concentration, seed))
    for name, size in (("adult 1,038 x 4", "medium"), ("adult 225 x 10", "small")):
        if outside(ADULT[size], name):
            for gamma in GAMMAS:
                yield Case("data", name, gamma, 0, partial(adult, size))


def measure(joint: ip.Joint, gamma: float) -> dict[str, float]:
    support = Support(joint)
    limits = LIMITS if len(support.p_y) <= 6 else replace(LIMITS, max_cells=MANY_LETTERS)
    problem = ip.bottleneck(gamma)
    constant = Mixture(np.ones(1), support.p_y[None])
    began = time.process_time()
    proof = Proof(support, problem, constant, limits)
    with one_blas_thread():
        for _ in prove(proof):
            pass
    seconds = time.process_time() - began
    loss = problem.value(joint, support.lift(proof.mixture.encoder(support, gamma)))
    return {
        "seconds": seconds,
        "cells": proof.cells,
        "rounds": proof.rounds,
        "clusters": len(proof.mixture.weights),
        "loss": loss,
        "gap": loss - proof.lower_bound,
        "complete": bool(proof.complete),
    }


def paper_point(name: str, gamma: float) -> dict[str, float]:
    """The paper's data: certified to 1e-8 nats, beside 16 random starts of Blahut-Arimoto."""
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


def sharing() -> dict[str, float]:
    """Heart's grid as one path, with cells handed on and with a fresh partition for each gamma: processor time, in turns."""
    joint = ip.datasets.heart()
    support = Support(joint)
    problems = [ip.bottleneck(float(gamma)) for gamma in np.geomspace(0.01, 1.0, 64)]
    spent = {escape.STALE: 0.0, 0.0: 0.0}
    kept = escape.STALE
    for stale in (kept, 0.0) * 3:
        escape.STALE = stale
        began = time.process_time()
        with one_blas_thread():
            for _ in Envelope().follow(support, problems, np.ones((1, 1, 16)), Stopping()):
                pass
        spent[stale] += time.process_time() - began
    escape.STALE = kept
    return {"shared": spent[kept] / 3, "fresh": spent[0.0] / 3}


def growth(sizes: list[float], values: list[float]) -> float:
    """The slope of log value against log size."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def table(results: dict[str, dict[str, float]]) -> str:
    """Markdown; every number from the results."""
    grouped: dict[str, dict[str, list[dict[str, float]]]] = {}
    for key, result in results.items():
        if key.split("; ")[0] in ("paper", "transitions", "sharing"):
            continue
        kind, what, _ = key.split("; ", 2)
        grouped.setdefault(kind, {}).setdefault(what, []).append(result)
    lines = [
        "# What a bottleneck certificate costs",
        "",
        f"Printed by `benchmarks/bench_certificate.py`: tol {LIMITS.tol:g} nats, at most {LIMITS.max_cells:,} cells",
        f"({MANY_LETTERS:,} if |Y| > 6). Seconds are processor time of one thread for everything, from a",
        "constant Z to the proof; median and largest over the gammas "
        + ", ".join(f"{g:g}" for g in GAMMAS)
        + " and three joints",
        "(heart: 64 gammas from 0.01 to 1).",
        "",
        "| joint | points | certified | cells, median | cells, largest | seconds, median | seconds, largest | largest gap, nats |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for what, found in ((w, f) for kind in grouped.values() for w, f in kind.items()):
        cells, seconds = [r["cells"] for r in found], [r["seconds"] for r in found]
        done = sum(r["gap"] <= LIMITS.tol for r in found)
        lines.append(
            f"| {what} | {len(found)} | {done} | {np.median(cells):,.0f} | {max(cells):,.0f} | {np.median(seconds):.3f} "
            f"| {max(seconds):.2f} | {max(r['gap'] for r in found):.1e} |"
        )
    if one := results.get("sharing; heart"):
        lines += [
            "",
            f"Heart's 64 gammas as one path, decoders and cells handed on: {one['shared']:.2f} s; with a fresh partition for each gamma: "
            f"{one['fresh']:.2f} s.",
        ]
    lines += ["", *statements(grouped), "", *paper_table(results), "", *transition_table(results)]
    return "\n".join(lines) + "\n"


def statements(grouped: dict[str, dict[str, list[dict[str, float]]]]) -> Iterator[str]:
    if "X" in grouped:
        sizes = {float(what.split(" x ")[0]): found for what, found in grouped["X"].items()}
        medians = [float(np.median([r["seconds"] for r in found])) for found in sizes.values()]
        if len(sizes) > 1:
            large = [(n, s) for n, s in zip(sizes, medians, strict=True) if n >= 100]
            slope = growth([n for n, _ in large], [s for _, s in large])
            cells = [float(np.median([r["cells"] for r in found])) for n, found in sizes.items() if n >= 100]
            more = growth([n for n, _ in large], cells)
            yield f"Growth in |X| at |Y| = 3, from 100 letters on, medians: seconds ~ |X|^{slope:.2f}, cells ~ |X|^{more:.2f}."
            yield ""
    if "Y" in grouped:
        letters: dict[int, list[float]] = {}
        for what, found in grouped["Y"].items():
            letters.setdefault(int(what.split()[2]), []).extend(max(r["cells"], 1.0) for r in found)
        medians = {n: float(np.exp(np.mean(np.log(cells)))) for n, cells in letters.items()}
        slope, start = np.polyfit(list(medians), np.log(list(medians.values())), 1)
        yield (
            f"Growth in |Y| at |X| = 20: geometric mean of the cells ~ {np.exp(start + 2 * slope):.0f} x {np.exp(slope):.1f}^(|Y| - 2); "
            "per |Y|: " + ", ".join(f"{n}: {m:,.0f}" for n, m in medians.items()) + "."
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=Path("certificate.json"), help="results so far; continued if it exists"
    )
    parser.add_argument("--table", type=Path, help="write the Markdown table here as well")
    options = parser.parse_args()
    results = json.loads(options.out.read_text()) if options.out.exists() else {}
    measure(ip.datasets.paper_uniform(), 0.2)  # compiles
    for name, gamma in product(("paper_uniform", "paper_nonuniform"), np.geomspace(0.1, 1.0, 16)):
        key = f"paper; {name}; {gamma:.6g}"
        if key not in results:
            results[key] = paper_point(name, float(gamma))
    for name in ip.datasets.names():
        if f"transitions; {name}" not in results:
            results[f"transitions; {name}"] = transition_point(name)
    if "sharing; heart" not in results:
        results["sharing; heart"] = sharing()
    for case in cases():
        if case.key not in results:
            results[case.key] = measure(case.make(), case.gamma)
            options.out.write_text(json.dumps(results, indent=1))
            print(case.key, results[case.key], flush=True)
    text = table(results)
    print(text)
    if options.table:
        options.table.write_text(text)


if __name__ == "__main__":
    main()
