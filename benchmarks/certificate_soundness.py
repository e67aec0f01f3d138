"""Does branch and bound on boxes ever lose a posterior? Millions of them, sampled and locally minimised, against the open boxes.

    python benchmarks/certificate_soundness.py --points 5000000 [--letters 3 30]

For random joints with so many letters (of 200 different columns or more bounds are computed in another way) and |Y| <= 10, multipliers of
a constant Z with noise of several sizes, and targets at several quantiles of the values f(q) - lambda.q: after 0, 1, 5, 25 and 125 cuts,
every q whose value lies below the target must have Tq in an open box, with a bound no higher than that value. Prints how many were looked
at, and ends with status 1 if one was lost.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from infoplane.certificate.bottleneck import OpenBoxes
from infoplane.information import Array, entr
from infoplane.joint.joint import Support
from infoplane.kernels.bottleneck_proof.envelope import OPEN, search
from infoplane.posterior.form import Mixture, climb, dual_of, posterior
from joints import KINDS, random_joint

SAMPLES = 4_000
ROUNDING = 1e-12


def posteriors(support: Support, gamma: float, lam: Array, rng: np.random.Generator) -> Array:
    """Random q of all shapes, the corners of the simplex, and what local search makes of some."""
    n_x = support.p_x.size
    some = np.vstack([rng.dirichlet(np.full(n_x, a), size=SAMPLES) for a in (0.03, 0.1, 0.3, 1.0, 5.0)])
    corners = np.eye(n_x)
    peaks, _ = climb(support, gamma, lam, np.vstack([some[::200], corners]) @ support.T.T)
    minimised = np.array([posterior(support, gamma, lam, u) for u in peaks])
    near = 0.98 * minimised[rng.integers(0, len(minimised), SAMPLES)] + 0.02 * some[:SAMPLES]
    return np.vstack([some, corners, minimised, near])


def lost(support: Support, gamma: float, lam: Array, target: float, q: Array, values: Array) -> tuple[int, int]:
    """How many of the q below the target were looked for in the open boxes, and how many are in none that allows for them."""
    below = values < target - ROUNDING
    u, values = q[below] @ support.T.T, values[below]
    open_boxes, dual = OpenBoxes(support.T), dual_of(support, gamma, lam)
    seen = missed = 0
    for cuts in (0, 1, 4, 20, 100):
        open_boxes.grow(cuts + 1)
        search(dual, open_boxes.boxes, target, cuts)
        held = np.zeros(len(u), dtype=bool)
        for k in open_boxes.boxes.heap[: open_boxes.boxes.counts[OPEN]]:
            inside = ((open_boxes.boxes.low[k] <= u + 1e-14) & (u <= open_boxes.boxes.high[k] + 1e-14)).all(axis=1)
            held |= inside & (values >= open_boxes.boxes.bounds[k] - ROUNDING)
        seen += len(u)
        missed += int((~held).sum())
    return seen, missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=5_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--letters", type=int, nargs=2, default=(3, 30), help="fewest and most of X")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    seen = missed = joints = 0
    while seen < options.points:
        letters = int(rng.integers(options.letters[0], options.letters[1] + 1))
        joint = random_joint(KINDS[joints % len(KINDS)], letters, int(rng.integers(2, 11)), rng)
        joints += 1
        support, gamma = Support(joint), float(np.exp(rng.uniform(np.log(0.02), 0.0)))
        lam = Mixture(np.ones(1), support.p_y[None]).multipliers(support, gamma)
        lam = lam + rng.choice([0.0, 1e-4, 1e-2, 0.3]) * rng.normal(size=lam.size)
        q = posteriors(support, gamma, lam, rng)
        values = entr(q @ support.T.T).sum(axis=1) - gamma * entr(q).sum(axis=1) - q @ lam
        for share in (0.002, 0.05, 0.5):
            target = float(np.quantile(values, share)) + 1e-9
            some, gone = lost(support, gamma, lam, target, q, values)
            seen, missed = seen + some, missed + gone
    print(f"{seen:,} posteriors below their target in {joints} joints: {missed} outside the open boxes")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
