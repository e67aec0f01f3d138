"""The heart frontier, 64 gammas: one annealed path against 16 random restarts of Blahut-Arimoto at every gamma.

    python benchmarks/bench_annealing.py --out results.json --table docs/benchmarks/annealing.md

Both in one thread, in turns, to the default tolerance. Before a time counts, every encoder goes through tests/verify.py. "Worse" and
"better" are by more than 1e-9 nats. The certified optimum is computed once, outside the times. Then the colours (330 x
330), 100 gammas upwards: processor time of the annealed path against plain Blahut-Arimoto, which begins every tenth gamma from the
path's encoder one gamma below.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import infoplane as ip
from infoplane.joint.joint import Support
from infoplane.runtime.budget import one_blas_thread
from infoplane.solvers.base import advanced, make_starts, runs_of, seed_sequence
from infoplane.solvers.job import Job
from timing import checker, measured, shown, take_turns

GAMMAS = np.geomspace(0.01, 1.0, 64)
NEAR = 1e-9
verify = checker()


def restarts(joint: ip.Joint) -> list[np.ndarray]:
    """The best of 16 random starts at each gamma, without the library's own bookkeeping; one thread."""
    support, best = Support(joint), []
    for seed, gamma in enumerate(GAMMAS):
        problem, W = ip.bottleneck(float(gamma)), make_starts(joint, None, 16, seed_sequence(seed), "random")
        encoders = [support.lift(run.encoder) for run in ip.BlahutArimoto().run(Job(support, problem, W))]
        best.append(encoders[int(np.argmin(problem.values(joint, encoders)))])
    return best


def annealed(joint: ip.Joint) -> list[np.ndarray]:
    """One path."""
    support, problems = Support(joint), [ip.bottleneck(float(gamma)) for gamma in GAMMAS]
    start = make_starts(joint, None, 1, seed_sequence(0), "identity")
    path = ip.Annealing().follow(Job(support, problems[0], start), problems)
    return [support.lift(run.encoder) for run in path]


def losses(joint: ip.Joint, encoders: list[np.ndarray]) -> np.ndarray:
    """Recomputed from p(x, y) by the independent checker."""
    found = []
    for gamma, W in zip(GAMMAS, encoders, strict=True):
        verify.check_encoder(joint.p_xy, W)
        found.append(verify.lagrangian(joint.p_xy, W, ip.bottleneck(float(gamma)).rho))
    return np.array(found)


def along_colours(count: int = 100, every: int = 10, patience: float = 20.0) -> dict[str, Any]:
    """The annealed path, and at every tenth gamma plain Blahut-Arimoto from the same warm start, the path's encoder one gamma below."""
    joint = ip.datasets.colours()
    support, problems = Support(joint), [ip.bottleneck(float(gamma)) for gamma in np.geomspace(0.05, 0.9, count)]
    start = make_starts(joint, None, 1, seed_sequence(0), "identity")
    theirs: list[float] = []
    worse, unfinished = 0, 0
    with one_blas_thread():
        began = time.process_time()
        path = list(ip.Annealing().follow(Job(support, problems[0], start), problems))
        ours = (time.process_time() - began) / count
        for index in range(every // 2, count, every):
            problem, began = problems[index], time.process_time()
            plain = ip.BlahutArimoto().begin(Job(support, problem, path[index - 1].encoder[None]))
            while advanced(plain, 50):
                if time.process_time() - began > patience * ours:
                    unfinished += 1
                    break
            theirs.append(time.process_time() - began)
            found = problem.values(joint, [runs_of(plain)[0].encoder, path[index].encoder])
            worse += found[1] > found[0] + NEAR
    return {
        "gammas": count,
        "seconds": ours * count,
        "compared": len(theirs),
        "unfinished": unfinished,
        "patience": patience,
        "times faster": float(np.mean(theirs)) / ours,
        "worse": int(worse),
        "converged": sum(run.status.converged for run in path),
        "iterations": int(np.median([run.iterations for run in path])),
    }


def measure(rounds: int = 7) -> dict[str, Any]:
    """Ratio of times, and who is worse where."""
    joint = ip.datasets.heart()
    with one_blas_thread():
        timed = take_turns({"annealed": lambda: annealed(joint), "restarts": lambda: restarts(joint)}, rounds)
    path, random = (losses(joint, timed.answers[name]) for name in ("annealed", "restarts"))
    proven = ip.sweep(joint, ip.bottleneck, GAMMAS, certify=True)
    optimum = np.array([proven.runs[row].loss for row in proven.best_rows()])
    return {
        "times faster": timed.ratio("restarts", "annealed"),
        "worse": int((path > random + NEAR).sum()),
        "better": int((path < random - NEAR).sum()),
        "gammas": len(GAMMAS),
        "colours": along_colours(),
        "above the certified optimum": {
            "annealed": float((path - optimum).max()),
            "restarts": float((random - optimum).max()),
        },
    }


def table(found: dict[str, Any]) -> str:
    """The docs page, from the results alone."""
    above = found["above the certified optimum"]
    return (
        "# One annealed path against random restarts\n\n"
        f"Written by `benchmarks/bench_annealing.py`: heart, {found['gammas']} gammas in [0.01, 1], one thread, in turns.\n\n"
        "| | annealed path | 16 random restarts of Blahut-Arimoto |\n|---|---|---|\n"
        f"| time | 1 | {shown(found['times faster'])} |\n"
        f"| gammas with the lower loss, by 1e-9 nats | {found['better']} | {found['worse']} |\n"
        f"| farthest above the certified optimum, nats | {above['annealed']:.1e} | {above['restarts']:.1e} |\n"
    ) + _colours_said(found.get("colours"))


def _colours_said(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    return (
        f"\nColours, 330 x 330, {found['gammas']} gammas in [0.05, 0.9]: {found['seconds']:.0f} s of processor time, {found['iterations']} "
        f"iterations per gamma (median), {found['converged']} converged. Plain Blahut-Arimoto from the same warm starts, the path's "
        f"encoder one gamma below, at {found['compared']} of them: {found['times faster']:.1f} times as long on average, and the lower "
        f"loss at {found['worse']}. {found['unfinished']} of these were stopped after {found['patience']:g} times the path's time per "
        "gamma, so that the ratio is at least this.\n"
    )


if __name__ == "__main__":
    measured("annealing", measure, table, rounds=7)
