"""Merge-Two with its constraint (Makhdoumi, Salamatian, Fawaz, Medard 2014, Algorithm 1).

From Z = X on, merge the two clusters that lower the leakage I(Y;Z) most among those that keep the utility I(X;Z) >= R, until no
merge keeps it. `infoplane.merge_two` is the path for R = 0; the paper compares with one point of the plane for each R.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..information import Array, bits, entropy, mutual_information
from ..joint import Joint

LEVELS = 100
"""Values of R, equally spaced in [0, H(X)]."""


def merge_two_ends(joint: Joint, levels: int = LEVELS) -> tuple[Array, Array]:
    """I(X;Z) and I(Y;Z), in bits, of the distinct partitions where the algorithm ends, in the order of I(X;Z)."""
    rows = joint.p_xy.toarray() if joint.is_sparse else joint.p_xy
    rows = rows[joint.p_x > 0]
    ends = {merged(rows, R) for R in np.linspace(0.0, entropy(rows.sum(axis=1)), levels)}
    ixz, iyz = np.array(sorted(ends)).T
    return ixz, iyz


def merged(rows: Array, R: float) -> tuple[float, float]:
    """Where the algorithm ends for one R (nats) from clusters p(z, y), a row each: I(X;Z) and I(Y;Z) in bits, rounded to 1e-9."""
    while len(rows) > 1:
        allowed = [one for one in map(list, combinations(range(len(rows)), 2)) if _utility(rows, one) >= R - 1e-12]
        if not allowed:
            break
        rows = min((_merge(rows, pair) for pair in allowed), key=mutual_information)
    return round(bits(entropy(rows.sum(axis=1))), 9), round(bits(mutual_information(rows)), 9)


def _merge(rows: Array, pair: list[int]) -> Array:
    return np.vstack([np.delete(rows, pair, axis=0), rows[pair].sum(axis=0)])


def _utility(rows: Array, pair: list[int]) -> float:
    return entropy(_merge(rows, pair).sum(axis=1))
