"""Efficiency of given encoders: against dense grids, its cost on colours, and a curve of 1,600 betas.

    python benchmarks/bench_efficiency.py --out results.json --table docs/benchmarks/efficiency.md

*Dense grids.* 200 random encoders of the paper's 3 x 3 data and of heart: epsilon by root search, with a certified interval, against
the smallest L(W) - L* over 2,000 gammas between the smallest and the largest that fit (a grid that misses the best gamma overestimates).

*Systems on colours.* 110 systems, hard and soft, of 3 to 11 terms, against the frontier of 64 gammas in [0.05, 0.9].

*A long curve.* 1,600 betas in [1, 1000], geometric, on colours (330 x 330): its processor time a beta against that of plain Blahut-Arimoto,
warm-started the same way, on 40 of them, and the losses of both. Blahut-Arimoto begins each of the 40 from the curve's encoder at the
gamma before, and has `PATIENCE` times the curve's mean time for each.

Times are processor times of one process, so that other programs on the machine do not count.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import infoplane as ip
from infoplane.datasets.colour_chips import cielab
from infoplane.information import NATS_PER_BIT
from infoplane.joint.joint import Support
from infoplane.runtime.budget import one_blas_thread
from infoplane.solvers.base import advanced, runs_of
from infoplane.solvers.job import Job
from infoplane.systems.curve import KnownCurve
from infoplane.systems.efficiency import place
from infoplane.systems.given import read_systems
from timing import measured

PATIENCE = 30.0


def random_encoders(joint: ip.Joint, count: int) -> list[np.ndarray]:
    """Columns from Dirichlet distributions, from nearly hard to nearly uniform, with 2 to |X| clusters."""
    rng, letters = np.random.default_rng(0), joint.shape[0]
    return [
        rng.dirichlet(np.full(rng.integers(2, letters + 1), 10.0 ** rng.uniform(-2, 0)), size=letters).T
        for _ in range(count)
    ]


def against_a_grid(name: str, count: int, points: int) -> dict[str, Any]:
    """The largest difference to the grid, the most solves, and whether certified intervals hold."""
    joint = ip.datasets.load(name)
    frame = ip.efficiency(joint, random_encoders(joint, count), certify=1e-6)
    fitted = frame["gamma"][frame["gamma"] > 0.0]
    grid = np.linspace(fitted.min(), fitted.max(), points)
    best = ip.sweep(joint, ip.bottleneck, grid).best()
    gamma, loss = best["parameter"].to_numpy(), best["loss_nats"].to_numpy()
    u, v, epsilon, low, high = (
        frame[f"{column}_bits"].to_numpy() * NATS_PER_BIT
        for column in ("ixz", "iyz", "epsilon", "epsilon_proven_low", "epsilon_proven_high")
    )
    dense = np.array([(gamma * x - y - loss).min() for x, y in zip(u, v, strict=True)])
    # Beyond the last slope gamma = 0 fits, which no grid has.
    inside = frame["gamma"].to_numpy() > 0.0
    return {
        "joint": name,
        "encoders": count,
        "gammas": points,
        "largest difference": float(np.abs(epsilon - dense)[inside].max()),
        "below the grid": float((dense - epsilon)[inside].max()),
        "most solves": int(frame["solves"].max()),
        "mean solves": float(frame["solves"].mean()),
        "widest certified interval": float((high - low).max()),
        "intervals that hold": int(((low - 1e-6 <= dense) & (dense <= high + 1e-6))[inside].sum()),
        "compared": int(inside.sum()),
    }


def naming_systems(count: int) -> list[np.ndarray]:
    """Chips clustered in CIELAB from random centres, 3 to 11 terms; every second one with a tenth of its namings at random."""
    lab, systems = cielab(), []
    for number in range(count):
        rng, terms = np.random.default_rng(number), 3 + number % 9
        centres = lab[rng.choice(len(lab), terms, replace=False)]
        for _ in range(50):
            term = ((lab[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
            centres = np.array([lab[term == z].mean(axis=0) if (term == z).any() else centres[z] for z in range(terms)])
        W = np.eye(terms)[:, term]
        systems.append(0.9 * W + 0.1 / terms if number % 2 else W)
    return systems


def systems_on_colours(count: int) -> dict[str, Any]:
    """Processor seconds of so many systems and of a frontier of 64 gammas."""
    joint, systems = ip.datasets.colours(), naming_systems(count)
    ip.sweep(joint, ip.bottleneck, [0.9])  # compiled, and in the cache, before anything is timed
    began = time.process_time()
    frontier = ip.sweep(joint, ip.bottleneck, np.geomspace(0.05, 0.9, 64))
    curve = time.process_time() - began
    began = time.process_time()
    placed = place(KnownCurve(joint, ip.bottleneck), read_systems(joint, systems))
    ours = time.process_time() - began
    frame = placed.to_frame()
    return {
        "systems": count,
        "share of the time of 64 gammas": ours / curve,
        "seconds": ours,
        "frontier seconds": curve,
        "frontier converged": int(sum(run.converged for run in frontier.runs)),
        "solves": int(frame["solves"].sum()),
        "most solves": int(frame["solves"].max()),
        "least epsilon nats": float(frame["epsilon_bits"].min() * NATS_PER_BIT),
        "widest interval nats": float((frame["epsilon_bits"] - frame["epsilon_proven_low_bits"]).max() * NATS_PER_BIT),
    }


def long_curve(betas: int, compared: int) -> dict[str, Any]:
    """The curve, and Blahut-Arimoto on some of its betas."""
    joint = ip.datasets.colours()
    support = Support(joint)
    ip.sweep(joint, ip.bottleneck, [0.9])
    began = time.process_time()
    frontier = ip.sweep(joint, ip.bottleneck, np.geomspace(1.0, 1000.0, betas), notation="beta")
    seconds = time.process_time() - began
    runs = [frontier.runs[row] for row in frontier.best_rows()]
    chosen = np.unique(np.linspace(1, len(runs) - 1, compared).round().astype(int))
    spent, above, ended = [], [], 0
    with one_blas_thread():
        for at in chosen:
            problem, W = runs[at].problem, runs[at - 1].encoder
            plain = ip.BlahutArimoto().begin(Job(support, problem, W[None]))
            began = time.process_time()
            while advanced(plain, 50):
                if time.process_time() - began > PATIENCE * seconds / betas:
                    break
            else:
                ended += 1
            spent.append(time.process_time() - began)
            above.append(runs[at].loss - problem.value(joint, support.lift(runs_of(plain)[0].encoder)))
    wider, wider_ended = twice_the_clusters(joint, [runs[at] for at in chosen], PATIENCE * seconds / betas)
    return {
        "betas": betas,
        "seconds": seconds,
        "seconds per beta": seconds / betas,
        "compared": len(chosen),
        "Blahut-Arimoto ended": ended,
        "times faster than Blahut-Arimoto": float(np.mean(spent) / (seconds / betas)),
        "farthest above Blahut-Arimoto": float(max(above)),
        "farthest above twice the clusters": float(max(wider)),
        "twice the clusters ended": wider_ended,
        "converged": int(sum(run.converged for run in runs)),
        "clusters": [runs[0].clusters, runs[-1].clusters],
        "transitions": len(frontier.suggest().transitions),
    }


def twice_the_clusters(joint: ip.Joint, runs: list[ip.Solution], seconds: float) -> tuple[list[float], int]:
    """How far each run lies above one that begins with its clusters halved and shaken, twice as many as it ended with.

    Each may take so many seconds: of those that converge slowly this is the loss on the way. How many converged comes second.
    """
    rng, found, ended = np.random.default_rng(0), [], 0
    for run in runs:
        W = np.vstack([run.encoder, run.encoder]) * rng.uniform(0.9, 1.1, (2 * run.clusters, joint.shape[0]))
        began = time.process_time()
        again = ip.solve(
            joint,
            run.problem,
            "accelerated",
            init=W / W.sum(axis=0),
            callback=lambda _, began=began: time.process_time() - began > seconds,
        )
        ended += again.converged
        found.append(run.loss - again.loss)
    return found, ended


def measure(encoders: int, gammas: int, systems: int, betas: int, compared: int) -> dict[str, Any]:
    """All parts; one that is asked for 0 times is left out."""
    found: dict[str, Any] = {}
    if encoders:
        found["grids"] = [
            against_a_grid(name, encoders, gammas) for name in ("paper_uniform", "paper_nonuniform", "heart")
        ]
        print(found["grids"], flush=True)
    if systems:
        found["systems"] = systems_on_colours(systems)
        print(found["systems"], flush=True)
    if betas:
        found["curve"] = long_curve(betas, compared)
    return found


def table(found: dict[str, Any]) -> str:
    """The docs page, from the results alone."""
    lines = ["# Efficiency of given encoders", "", "Written by `benchmarks/bench_efficiency.py`.", ""]
    if "grids" in found:
        lines += [
            "Random encoders: epsilon by root search, compared with the minimum over a grid of gammas, in nats.",
            "",
            "| joint | encoders | gammas | largest difference | grid above by | solves, mean and most | widest certified interval | "
            "intervals that hold it to 1e-6 |",
            "|---|---|---|---|---|---|---|---|",
            *(
                f"| {one['joint']} | {one['encoders']} | {one['gammas']:,} | {one['largest difference']:.1e} | "
                f"{one['below the grid']:.1e} | "
                f"{one['mean solves']:.1f}, {one['most solves']} | {one['widest certified interval']:.1e} | "
                f"{one['intervals that hold']} of {one['compared']} |"
                for one in found["grids"]
            ),
            "",
        ]
    if "systems" in found:
        one = found["systems"]
        lines += [
            f"Colours, 330 x 330: {one['systems']} systems took {one['share of the time of 64 gammas']:.2f} of the processor time of a "
            f"frontier of 64 gammas in [0.05, 0.9], with {one['solves']} solves, at most {one['most solves']} for one; epsilon is "
            f"bracketed to "
            f"{one['widest interval nats']:.0e} nats, and the least is {one['least epsilon nats']:.3f}.",
            "",
        ]
    if "curve" in found:
        one = found["curve"]
        lines += [
            f"Colours, {one['betas']:,} betas in [1, 1000]: {one['seconds per beta']:.2f} s of processor time each, "
            f"{one['converged']:,} converged, |Z| from {one['clusters'][1]} to {one['clusters'][0]}, "
            f"{one['transitions']} changes of their number. Blahut-Arimoto, warm-started the same way on {one['compared']} of them, took "
            f"{one['times faster than Blahut-Arimoto']:.1f} times as long (it was given {PATIENCE:.0f} times, and ended at "
            f"{one['Blahut-Arimoto ended']}). Ours lies at most {one['farthest above Blahut-Arimoto']:.0e} nats above it, and at most "
            f"{one['farthest above twice the clusters']:.0e} above runs of the accelerated map begun with twice the clusters, of which "
            f"{one['twice the clusters ended']} ended in that time.",
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    measured("efficiency", measure, table, encoders=200, gammas=2000, systems=110, betas=1600, compared=40)
