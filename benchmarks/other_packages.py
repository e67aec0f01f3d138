"""One bottleneck, gamma I(X;Z) - I(Y;Z) least, asked of embo, dit and rdot: their calls, each beside ours, and what they answer.

    pip install ".[bench]"        # and rdot, which is not in it
    python benchmarks/other_packages.py > benchmarks/results/other_packages.txt

The page "What does this number mean?" quotes the calls and the file. Each answers with I(X;Z) and I(Y;Z); embo and rdot put a divergence in
bits into ``exp``, so what they call beta is beta ln 2.
"""

from __future__ import annotations

import contextlib
import io
import warnings

import numpy as np

import infoplane as ip

P = np.array(ip.datasets.paper_uniform().p_xy)
BETAS = (3.0, 5.0, 10.0)
Answer = tuple[float, float]


def ours(beta: float) -> Answer:
    found = ip.solve(ip.Joint.from_matrix(P), ip.bottleneck(beta=beta), rng=0)
    return found.ixz / np.log(2), found.iyz / np.log(2)  # nats


def with_embo(beta: float) -> Answer:
    from embo import InformationBottleneck

    ask = {"minbeta": beta * np.log(2), "maxbeta": beta * np.log(2), "numbeta": 1}
    exact = {"rtol": 1e-10, "iterations": 20_000, "restarts": 16, "ensure_monotonic_bound": False}
    ixz, iyz, _, _ = InformationBottleneck(pxy=P.copy(), **ask, **exact).get_bottleneck()
    return float(ixz[0]), float(iyz[0])  # bits


def with_dit(beta: float) -> Answer:
    import dit
    from dit.rate_distortion.information_bottleneck import InformationBottleneck

    outcomes = [f"{x}{y}" for x in range(P.shape[0]) for y in range(P.shape[1])]
    found = InformationBottleneck(dit.Distribution(outcomes, P.ravel().tolist()), beta=beta, rvs=[[0], [1]])
    found.optimize()
    q = found.construct_joint(found._optima)
    return float(found.complexity(q)), float(found.relevance(q))  # bits


def with_rdot(beta: float) -> Answer:
    from rdot.ba import IBOptimizer

    asked = IBOptimizer(P, np.array([beta * np.log(2)]), max_it=20_000, eps=1e-13)
    (found,) = asked.get_results()
    return float(found.rate), float(found.accuracy)  # bits


def main() -> None:
    np.random.seed(0)  # noqa: NPY002 - embo and dit draw from the global generator
    print("I(X;Z), I(Y;Z) in bits  " + "".join(f"beta {beta:<14g}" for beta in BETAS) + "from ours")
    asked = {"infoplane": ours, "embo, beta ln 2": with_embo, "dit": with_dit, "rdot, beta ln 2": with_rdot}
    for name, answer in asked.items():
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            found = np.array([answer(beta) for beta in BETAS])
        apart = np.abs(found - [ours(beta) for beta in BETAS]).max()
        print(f"{name:<24}" + "".join(f"{ixz:.5f}, {iyz:.5f}   " for ixz, iyz in found) + f"{apart:.0e}")


if __name__ == "__main__":
    main()
