"""Is any bound of the funnel ever wrong? 500 random joints, every solver, brute force, searches cut short, and caps on the leakage.

    python benchmarks/funnel_consistency.py [--joints 500] [--out funnel_consistency.json] [--table docs/explanation/exact_funnel.md]

Joints of five kinds, |X| <= 12, |Y| <= 10, beta log-uniform in [1, 30]. The optimum is certified to 1e-6 nats (five seconds each). Its
lower bound, and those of searches cut short after 3, 100 and 1,000 cells, must lie below the loss of every solver from random starts,
of Merge-Two and, where |X| <= 7, of every deterministic map. A cap on the leakage is set at what some rival leaks: the proven largest
utility must not be below that rival's. Finished joints are kept in the JSON file.
"""

from __future__ import annotations

import warnings

import numpy as np

import infoplane as ip
from infoplane.certificate.funnel.leakage import capped_curve, first_programme
from infoplane.joint.joint import Support
from infoplane.runtime.budget import Budget, Limits
from joints import KINDS, deterministic_encoders, random_joint
from page import write_block
from timing import one_by_one, resumable

RIVALS = {"merging": 500, "pf-2v": 40, "accelerated": 300, "pooling": 300}
"""Iterations a start: any encoder must lie above the bound, converged or not."""

STARTS = 8
TOL = 1e-6
ROUNDING = 1e-12
"""Nats by which a loss may be off."""


def judge(seed: int) -> dict[str, object]:
    """One joint: its certificate, and everything that could contradict it."""
    rng = np.random.default_rng([32, seed])
    kind = KINDS[seed % len(KINDS)]
    joint = random_joint(kind, int(rng.integers(2, 13)), int(rng.integers(2, 11)), rng)
    beta = float(np.exp(rng.uniform(0.0, np.log(30.0))))
    problem = ip.funnel(beta)
    best = ip.solve(joint, problem, ip.Columns(tol=TOL, max_seconds=5.0))
    assert best.lower_bound is not None
    rivals = {
        name: ip.solve(joint, problem, name, starts=STARTS, rng=seed, init="random", max_iter=limit)
        for name, limit in RIVALS.items()
    }
    losses = {name: found.loss for name, found in rivals.items()}
    if joint.shape[0] <= 7:
        losses["deterministic maps"] = min(problem.value(joint, W) for W in deterministic_encoders(joint.shape[0]))
    false = [name for name, loss in losses.items() if loss < best.lower_bound - ROUNDING]
    lowest = min(best.loss, *losses.values())
    for cells in (3, 100, 1000):
        short = ip.solve(joint, problem, ip.Columns(tol=TOL, max_cells=cells, max_seconds=5.0))
        assert short.lower_bound is not None
        if short.lower_bound > lowest + ROUNDING:
            false.append(f"cut short after {cells} cells")
    # The best release that some rival found, as a cap: nothing within it may be better than what is proven.
    leaky = [found for found in (best, *rivals.values()) if found.iyz > 1e-9]
    if leaky:
        cap = float(rng.choice([found.iyz for found in leaky]))
        support = Support(joint)
        capped = capped_curve(support, first_programme(support, Budget()), [cap], Limits(TOL, 2**40, 2.0), Budget())[0]
        within = max(found.ixz for found in leaky if found.iyz <= cap)
        if within > capped.upper_bound + ROUNDING or capped.iyz > cap:
            false.append("cap on the leakage")
    return {
        "kind": kind,
        "shape": list(joint.shape),
        "beta": beta,
        "certified": best.status is ip.Status.CERTIFIED,
        "gap": best.gap,
        "seconds": best.seconds,
        "above": {name: loss - best.loss for name, loss in losses.items()},
        "margin": min(losses.values()) - best.lower_bound,
        "false": false,
    }


def table(results: dict[str, dict[str, object]]) -> list[str]:
    """Markdown; every number from the results."""
    all_ = list(results.values())
    seconds = [one["seconds"] for one in all_]
    wrong = sum(bool(one["false"]) for one in all_)
    lines = [
        f"{len(all_)} random joints ({', '.join(KINDS)} in turn; |X| <= 12, |Y| <= 10), beta in [1, 30]: "
        f"{sum(bool(one['certified']) for one in all_)} certified to 1e-6, {np.median(seconds):.2f} s in the median, "
        f"{max(seconds):.1f} s at most; **{wrong} contradicted**. Tried: {STARTS} random starts of each rival, deterministic maps where "
        "|X| <= 7 (all of them), searches cut short after 3, 100 and 1,000 cells, and a cap on the leakage at what a rival leaks.",
        "",
        "| rival | at the certified optimum (1e-6) | median distance above it | largest |",
        "|---|---|---|---|",
    ]
    for name in (*RIVALS, "deterministic maps"):
        over = np.array([one["above"][name] for one in all_ if name in one["above"]])
        lines.append(f"| {name} | {(over <= 1e-6).mean():.0%} | {np.median(over):.1e} nats | {over.max():.1e} nats |")
    return lines


def main() -> None:
    parser = resumable(__doc__, "funnel_consistency.json")
    parser.add_argument("--joints", type=int, default=500)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # that a proof may take long
    lines = table(one_by_one(options.out, map(str, range(options.joints)), lambda seed: judge(int(seed))))
    print("\n".join(lines))
    if options.table:
        write_block(options.table, "rivals", lines)


if __name__ == "__main__":
    main()
