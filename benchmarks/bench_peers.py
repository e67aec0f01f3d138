"""The bottleneck curve of the paper's uniform data, 16 gammas: infoplane against what people install today.

    pip install ".[bench]"
    python benchmarks/bench_peers.py --out benchmarks/results.json

* embo 1.1: Blahut-Arimoto, 16 restarts, at the tolerance that gives right answers (rtol 1e-10). It takes beta times bits where it means
  nats, so it is given beta ln 2 for our 1/gamma; its default tolerance is run beside it, to show what it answers then.
* dit 2.3, method sp (SLSQP), its accurate one, along its own path of warm starts.
* sib-clustering 0.2: sequential bottleneck, hard clusters only, so it is judged by I(Y;Z) at |Z| = 2 on the 2,000 x 20 words.

Everything in one thread, in turns. A time counts only with its answer: our encoders go through tests/verify.py, theirs report I(X;Z)
and I(Y;Z), and the loss gamma I(X;Z) - I(Y;Z) is compared with the lowest that anybody found.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np

import infoplane as ip
from timing import checker, keep, shown, take_turns

verify = checker()

GAMMAS = np.geomspace(0.1, 1.0, 16)
JOINT = ip.datasets.paper_uniform()
P = np.asarray(JOINT.p_xy)


def ours() -> list[float]:
    found = ip.sweep(JOINT, ip.bottleneck, GAMMAS)
    losses = []
    for row in found.best_rows():
        run = found.solution(row)
        verify.check_solution(P, run.problem.rho, run)
        losses.append(run.loss)
    return losses


def ours_timed() -> ip.Frontier:
    return ip.sweep(JOINT, ip.bottleneck, GAMMAS)


def embo_curve(rtol: float, iterations: int) -> list[float]:
    from embo import InformationBottleneck

    np.random.seed(0)  # noqa: NPY002 - embo draws from the global generator
    p_x, p_y = P.sum(axis=1), P.sum(axis=0)
    losses = []
    for gamma in GAMMAS:
        ixz, iyz, _, _ = InformationBottleneck.beta_iter(
            1, np.log(2) / gamma, p_x, p_y, P.T / p_x, len(p_x), 16, iterations, rtol=rtol
        )
        losses.append(float(gamma * ixz - iyz) * np.log(2))
    return losses


def dit_curve() -> list[float]:
    import dit
    from dit.rate_distortion import InformationBottleneck

    n_x, n_y = P.shape
    dist = dit.Distribution([f"{x}{y}" for x in range(n_x) for y in range(n_y)], P.ravel().tolist())
    losses, warm = [], None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver = InformationBottleneck(dist, beta=0.0, rvs=[[0], [1]])
        for gamma in GAMMAS[::-1]:
            solver._beta = 1.0 / gamma
            solver.optimize(x0=warm)
            warm = solver._optima.copy()
            q = solver.construct_joint(warm)
            losses.append(float(gamma * solver.complexity(q) - solver.relevance(q)) * np.log(2))
    return losses[::-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results.json"))
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()

    np.seterr(all="warn")
    timed = take_turns(
        {
            "infoplane": ours_timed,
            "embo, default": lambda: embo_curve(1e-3, 100),
            "embo, rtol 1e-10": lambda: embo_curve(1e-10, 20_000),
        },
        arguments.rounds,
    )
    dit = take_turns({"infoplane": ours_timed, "dit sp": dit_curve}, 1, warm=False)
    losses = {"infoplane": ours(), **{name: timed.answers[name] for name in timed.answers if name != "infoplane"}}
    losses["dit sp"] = dit.answers["dit sp"]
    best = np.min(list(losses.values()), axis=0)
    result = {}
    for name, found in losses.items():
        source = dit if name == "dit sp" else timed
        ratio = source.ratio(name, "infoplane")
        result[name] = {"ratio": ratio, "worst_gap_nats": float(np.max(np.array(found) - best))}
        print(f"{name:<20} {shown(ratio):>24} x our time   worst gap {result[name]['worst_gap_nats']:.1e} nats")
    keep(arguments.out, "peers", result)


if __name__ == "__main__":
    main()
