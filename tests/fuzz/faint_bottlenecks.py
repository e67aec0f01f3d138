"""Bottlenecks of noisy tables with faint cells, 1e-9 to 1e-300: no certificate above an encoder, none refuted, no posterior lost.

Each attack is two: a table is certified, and its bound is held against other encoders and against posteriors under its own multipliers; and
branch and bound is given a target a hair above the least value that is known, which it must not call proven.
"""

import warnings

import numpy as np

import infoplane as ip
import verify
from box_search import posteriors, values
from infoplane.certificate.bottleneck import OpenBoxes
from infoplane.joint.joint import Support
from infoplane.kernels.bottleneck_proof.envelope import search
from infoplane.posterior.form import Mixture, dual_of

from .calls import Broken

SOLVERS = ("blahut-arimoto", "accelerated", "annealing")
ROUNDING = 1e-11
"""Nats that the checks here may be off by themselves."""


def faint_table(rng):
    """Up to 14 x 5 cells of all sizes, some zero, some faint."""
    n_x, n_y = int(rng.integers(2, 15)), int(rng.integers(2, 6))
    P = rng.dirichlet(np.full(n_y, 10.0 ** rng.uniform(-1, 1)), size=n_x) * rng.dirichlet(np.ones(n_x))[:, None]
    P *= 10.0 ** rng.normal(scale=rng.uniform(0.0, 1.0), size=P.shape)
    P[rng.random(P.shape) < 0.2 * rng.random()] = 0.0
    faint = rng.random(P.shape) < 0.5 * rng.random()
    P[faint] = 10.0 ** -rng.uniform(9, 300, size=int(faint.sum()))
    P[int(rng.integers(n_x)), int(rng.integers(n_y))] = 1.0
    return P / P.sum()


def attack(rng):
    """How it ended; `Broken` if a promise was."""
    joint, gamma = ip.Joint.from_counts(faint_table(rng)), float(np.exp(rng.uniform(np.log(0.01), 0.0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ended = certified(joint, gamma, rng)
    return f"{ended}, {just_above(joint, gamma, rng)}"


def certified(joint, gamma, rng):
    """Certify what a solver finds, and look for what is below the bound."""
    problem, P = ip.bottleneck(gamma), np.asarray(joint.p_xy)
    losses, encoders = [], []
    for name in SOLVERS:
        W = ip.solve(joint, problem, name, starts=2, rng=int(rng.integers(2**31)), max_iter=300).encoder
        encoders.append(W)
        losses.append(verify.lagrangian(P, W, problem.rho))
    found = ip.certify(joint, problem, encoders[int(np.argmin(losses))], max_cells=50_000, max_seconds=20.0)
    if "second computation" in found.limit or "below" in found.limit:
        raise Broken(f"gamma = {gamma!r}: the proof was refuted, {found.limit}; table {P.tolist()!r}")
    if found.lower_bound > min(losses) + ROUNDING:
        above = found.lower_bound - min(losses)
        raise Broken(f"gamma = {gamma!r}: a bound {above:.3g} above an encoder; table {P.tolist()!r}")
    if found.multipliers is not None:
        support = Support(joint)
        lam = found.multipliers[support.x]
        q = posteriors(support, gamma, lam, rng, 20)
        constant = problem.value(joint, np.ones((1, len(joint.p_x)))) - values(
            support, gamma, np.zeros_like(lam), support.p_x[None]
        )
        least = found.lower_bound - float(constant[0]) - float(lam @ support.p_x)
        lowest = float(values(support, gamma, lam, q).min())
        if lowest < least - ROUNDING * (1.0 + float(np.abs(lam).max())):
            raise Broken(f"gamma = {gamma!r}: a posterior at {lowest!r}, claimed {least!r}; table {P.tolist()!r}")
    cells = "with cuts" if found.cells else "at once"
    return f"certified {cells}" if found.certified else f"not certified {cells}"


def just_above(joint, gamma, rng):
    """Branch and bound with a target a hair above the least value known: it may not be called proven."""
    support = Support(joint)
    decoders = np.vstack([support.p_y, support.T.T[rng.integers(0, len(support.p_x), 3)]])
    mixture = Mixture(rng.dirichlet(np.ones(len(decoders))), decoders)
    lam = mixture.multipliers(support, gamma) + 10.0 ** rng.uniform(-6, 0) * rng.normal(size=len(support.p_x))
    lowest = float(values(support, gamma, lam, posteriors(support, gamma, lam, rng, 20)).min())
    target = lowest + 10.0 ** rng.uniform(-10, -3) * (1.0 + abs(lowest))
    open_boxes = OpenBoxes(support.T)
    open_boxes.grow(2_001)
    search(dual_of(support, gamma, lam), open_boxes.boxes, target, 2_000)
    if open_boxes.disputed:
        raise Broken(
            f"gamma = {gamma!r}: {open_boxes.disputed} disputes; lambda {lam.tolist()!r}, table {joint.p_xy!r}"
        )
    if open_boxes.least > lowest + ROUNDING * (1.0 + float(np.abs(lam).max())):
        above = open_boxes.least - lowest
        raise Broken(
            f"gamma = {gamma!r}: proven {above:.3g} above a posterior; lambda {lam.tolist()!r}, table {joint.p_xy!r}"
        )
    return "open" if open_boxes.left else "closed below"
