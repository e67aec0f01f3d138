"""Perfect privacy on letters that are nearly the same: no proven bound below the best release on vertices that rational numbers give.

Tables of whole numbers up to 10^13 in which letters agree to as many digits, or are copies of each other: bases that are nearly singular.
"""

import numpy as np
from scipy.optimize import linprog

import infoplane as ip
from rational import rational_vertices

from .calls import Broken

ROUNDING = 1e-10
"""Nats; HiGHS solves the programme over the rational vertices to so much."""


def table(rng):
    """Whole numbers, most of the same size, in 3 to 7 rows."""
    m = int(rng.integers(2, 4))
    n, large = int(rng.integers(m, 8)), 10 ** int(rng.integers(1, 13))
    small = rng.integers(0, 10, (n, m))
    kinds = (
        small + 1,
        small * large + rng.integers(0, 3, (n, m)) + 1,
        (small * large + 1)[rng.integers(0, max(n // 2, 1), n)] + rng.integers(0, 2, (n, m)),
        np.where(rng.random((n, m)) < 0.5, large, 1) * small + 1,
        large + rng.integers(0, 7, (n, m)),
    )
    return kinds[int(rng.integers(len(kinds)))].tolist()


def attack(rng):
    """The bound of one table, by one of the ways to ask for it."""
    counts = table(rng)
    Q = rational_vertices(counts)
    joint = ip.Joint.from_counts(counts)
    entropies = -(Q * np.log(np.where(Q > 0.0, Q, 1.0))).sum(axis=0)
    tight = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10)
    best = linprog(entropies, A_eq=Q, b_eq=joint.p_x, method="highs", options=tight)
    if best.x is None:
        return "no rational answer"
    if rng.random() < 0.8:
        found = ip.perfect_privacy(joint)
    else:
        found = ip.funnel_at_leakage(joint, 0.0)
    if not found.upper_bound >= joint.entropy_x - best.fun - ROUNDING:
        raise Broken(f"at most {found.upper_bound!r}, and {joint.entropy_x - best.fun!r} is reached; counts {counts}")
    if not found.iyz <= 1e-13:
        raise Broken(f"I(Y;Z) = {found.iyz!r}; counts {counts}")
    return "certified" if found.certified else "not certified"
