"""`Accelerated` against plain iteration of the same map, from the same random starts to a stationarity of 1e-10, one thread.

    python benchmarks/bench_accelerated.py --out results.json --table docs/benchmarks/accelerated.md

Bottleneck: both 3x3 joints, heart 16x4 and Adult 225x10, at gammas relative to the critical one, against our own Blahut-Arimoto. Funnel:
the same joints, against the monotone map without acceleration. Every start is run by itself, on small joints as a batch of copies so
that a call from Python weighs nothing; contestants take turns, and a start counts with the median of its rounds' ratios. Before its time
counts, an answer's loss is recomputed by tests/verify.py and its stationarity by `MarkovLagrangian.stationarity`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import infoplane as ip
from infoplane.joint.joint import Support
from infoplane.runtime.budget import Budget, one_blas_thread
from infoplane.solution import Run
from infoplane.solvers.base import advanced, make_starts, runs_of, seed_sequence
from infoplane.solvers.fixed_point import BlahutArimotoIteration
from infoplane.solvers.job import Job
from joints import ADULT, adult, built_in, outside
from timing import checker, measured, take_turns

verify = checker()

SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.1, 2.0)
BETAS = (1.5, 2.5, 5.0, 10.0)
TOL, LIMIT, CLUSTERS = 1e-10, 20_000, 16
ENTRIES = 4096  # of the encoders of a batch: copies of one start, so many that a call from Python weighs nothing
HARD = 500
PLAIN, FAST, DOUBTED = "plain", "accelerated", "accelerated, split test"
NEAR = 1e-9


@dataclass(frozen=True)
class Plain:
    """The map and nothing else, for any Lagrangian."""

    def begin(self, job: Job) -> BlahutArimotoIteration:
        return BlahutArimotoIteration(job)


CONTESTANTS: dict[str, Any] = {PLAIN: Plain(), FAST: ip.Accelerated(split=False), DOUBTED: ip.Accelerated()}


def critical(joint: ip.Joint) -> float:
    """The largest gamma with more than the trivial encoder near it: the squared maximal correlation of X and Y."""
    P = np.asarray(joint.p_xy)[np.ix_(joint.p_x > 0, joint.p_y > 0)]
    scaled = P / np.sqrt(np.outer(P.sum(1), P.sum(0)))
    return float(np.linalg.svd(scaled, compute_uv=False)[1] ** 2)


def checked(joint: ip.Joint, problem: ip.MarkovLagrangian, encoder: np.ndarray, run: Run) -> float:
    """The loss, after the independent checker has agreed with it, and the residual with what it is a residual of."""
    verify.check_encoder(joint.p_xy, encoder)
    loss = problem.value(joint, encoder)
    if abs(loss - verify.lagrangian(joint.p_xy, encoder, problem.rho)) > 1e-10:
        raise AssertionError(f"the loss {loss!r} of {problem} is not what p(x, y) and the encoder say")
    found = problem.stationarity(joint, encoder)
    if run.status.converged and found > 2 * TOL:
        raise AssertionError(f"called stationary, but max |W - map(W)| is {found:.1e}")
    return loss


def one_start(
    joint: ip.Joint, support: Support, problem: ip.MarkovLagrangian, start: np.ndarray, names: list[str], rounds: int
) -> dict[str, Any]:
    """Iterations, convergence and loss of each contestant, and how many times faster than plain iteration it was."""
    copies = max(1, ENTRIES // start.size)
    starts = np.repeat(start[None], copies, axis=0)

    begun = {  # what Python makes before and after the iterations is the same for all, and not what is compared
        name: [
            CONTESTANTS[name].begin(Job(support, problem, starts, TOL, budget=Budget(iterations=LIMIT)))
            for _ in range(rounds)
        ]
        for name in names
    }

    def contestant(name: str) -> Any:
        iteration = begun[name].pop()
        while advanced(iteration, 2000):
            pass
        return iteration

    timed = take_turns({name: lambda name=name: contestant(name) for name in names}, rounds, warm=False)
    found = {}
    for name, iteration in timed.answers.items():
        run = runs_of(iteration)[0]
        found[name] = {
            "iterations": run.iterations,
            "converged": run.status.converged,
            "loss": checked(joint, problem, support.lift(run.encoder), run),
            "faster": timed.ratio(PLAIN, name)["median"],
        }
    return found


def cells() -> list[tuple[str, ip.Joint, str, float]]:
    joints = built_in()
    if outside(ADULT["small"], "adult 225x10"):
        joints["adult 225x10"] = adult("small")
    made = [
        (name, joint, "bottleneck", float(min(share * critical(joint), 1.0)))
        for name, joint in joints.items()
        for share in SHARES
    ]
    return made + [(name, joint, "funnel", beta) for name, joint in joints.items() for beta in BETAS]


def spread(values: list[float]) -> str:
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return f"{middle:.3g} ({low:.3g}-{high:.3g})"


def summary(results: list[dict[str, Any]], family: str, name: str) -> dict[str, Any]:
    """What the solver must show: speed where plain iteration is short and where it is long, shares converged, losses."""
    runs = [run for cell in results if cell["family"] == family for run in cell["runs"]]
    easy = [run[name]["faster"] for run in runs if run[PLAIN]["iterations"] <= HARD]
    hard = [run[name]["faster"] for run in runs if run[PLAIN]["iterations"] > HARD]
    gaps = np.array([run[name]["loss"] - run[PLAIN]["loss"] for run in runs])
    return {
        "runs": len(runs),
        "easy": spread(easy) if easy else "-",
        "hard": spread(hard) if hard else "-",
        "easy_median": float(np.median(easy)) if easy else None,
        "hard_median": float(np.median(hard)) if hard else None,
        "converged": float(np.mean([run[name]["converged"] for run in runs])),
        "converged_plain": float(np.mean([run[PLAIN]["converged"] for run in runs])),
        "worse": float(np.mean(gaps > NEAR)),
        "better": float(np.mean(gaps < -NEAR)),
    }


def table(found: dict[str, Any]) -> str:
    """The docs page, from the results alone."""
    results = found["cells"]
    lines = [
        "# The accelerated solver against plain iteration",
        "",
        "Written by `benchmarks/bench_accelerated.py`: the same random starts, stationarity 1e-10, one thread, contestants in turns. Times",
        "faster than plain iteration of the map (our own Blahut-Arimoto for the bottleneck), median and quartiles over starts; the",
        f"limit is {LIMIT:,} iterations, each one evaluation of the map. Losses more than 1e-9 nats apart count as worse or better.",
        "",
        "| problem | solver | runs | plain <= 500 iterations | plain > 500 | converged (plain) | worse loss | better loss |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for family, names in (("bottleneck", (FAST, DOUBTED)), ("funnel", (FAST,))):
        for name in names:
            if any(cell["family"] == family for cell in results):
                said = summary(results, family, name)
                lines.append(
                    f"| {family} | {name} | {said['runs']} | {said['easy']} | {said['hard']} | "
                    f"{said['converged']:.3f} ({said['converged_plain']:.3f}) | {said['worse']:.1%} | {said['better']:.1%} |"
                )
    lines += [
        "",
        "| joint | parameter | iterations, plain | accelerated | times faster | with split test | better loss by it |",
        "|---|---|---|---|---|---|---|",
    ]
    for cell in results:
        runs, letter = cell["runs"], "gamma" if cell["family"] == "bottleneck" else "beta"
        plain, fast = (np.median([run[name]["iterations"] for run in runs]) for name in (PLAIN, FAST))
        doubted = [run[DOUBTED] for run in runs] if DOUBTED in runs[0] else []
        better = [run[DOUBTED]["loss"] < run[FAST]["loss"] - NEAR for run in runs] if doubted else []
        lines.append(
            f"| {cell['joint']} | {letter} {cell['parameter']:.3g} | {plain:.0f} | {fast:.0f} | "
            f"{spread([run[FAST]['faster'] for run in runs])} | "
            f"{spread([run['faster'] for run in doubted]) if doubted else '-'} | "
            f"{f'{np.mean(better):.0%}' if doubted else '-'} |"
        )
    return "\n".join(lines) + "\n"


def measure(starts: int, rounds: int) -> dict[str, Any]:
    """Every cell: summaries for each family and solver, and all runs."""
    results: list[dict[str, Any]] = []
    with one_blas_thread():
        for name, joint, family, parameter in cells():
            support, problem = Support(joint), getattr(ip, family)(parameter)
            names = [PLAIN, FAST, DOUBTED] if family == "bottleneck" else [PLAIN, FAST]
            encoders = make_starts(joint, min(joint.shape[0], CLUSTERS), starts, seed_sequence(0), "random")
            if not any(cell["family"] == family for cell in results):
                one_start(joint, support, problem, encoders[0], names, 1)  # compiles
            runs = [one_start(joint, support, problem, encoder, names, rounds) for encoder in encoders]
            results.append({"joint": name, "family": family, "parameter": parameter, "runs": runs})
            print(table({"cells": results[-1:]}).splitlines()[-1], flush=True)
    found: dict[str, Any] = {"cells": results}
    for family, solver in (("bottleneck", FAST), ("bottleneck", DOUBTED), ("funnel", FAST)):
        found[f"{family}, {solver}"] = summary(results, family, solver)
        print(family, solver, found[f"{family}, {solver}"])
    return found


if __name__ == "__main__":
    measured("accelerated", measure, table, starts=8, rounds=3)
