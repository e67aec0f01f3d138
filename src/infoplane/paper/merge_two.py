"""Merge-Two with its constraint (Makhdoumi, Salamatian, Fawaz, Medard 2014, Algorithm 1).

From Z = X on, merge the two clusters that lower the leakage I(Y;Z) most among those that keep the utility I(X;Z) = H(Z) >= R, until no
merge keeps it. `infoplane.merge_two` is the path for R = 0; the paper compares with one point of the plane for each R.
"""

from __future__ import annotations

import numpy as np

from ..information import Array, bits, entr, entropy, mutual_information
from ..joint.joint import Joint

LEVELS = 100
"""Values of R, equally spaced in [0, H(X)]."""


def merge_two_ends(joint: Joint, levels: int = LEVELS) -> tuple[Array, Array]:
    """I(X;Z) and I(Y;Z), in bits, of the distinct partitions where the algorithm ends, in the order of I(X;Z)."""
    rows = joint.p_xy.toarray() if joint.is_sparse else joint.p_xy
    rows = rows[joint.p_x > 0]
    ends = {_end(rows, R) for R in np.linspace(0.0, entropy(rows.sum(axis=1)), levels)}
    ixz, iyz = np.array(sorted(ends)).T
    return ixz, iyz


def _end(rows: Array, R: float) -> tuple[float, float]:
    """I(X;Z) and I(Y;Z) in bits where the algorithm ends for one R, in nats. ``rows`` is p(z, y) at the start.

    Rounded to 1e-9 bits, so that equal partitions, merged in another order, give equal numbers.
    """
    while len(rows) > 1:
        i, j = np.triu_indices(len(rows), 1)
        merged = rows[i] + rows[j]
        # H(Z) and I(Y;Z) - H(Y) are sums over clusters, so a merge changes three terms of each.
        h, h_merged = entr(rows.sum(axis=1)), entr(merged.sum(axis=1))
        t, t_merged = h - entr(rows).sum(axis=1), h_merged - entr(merged).sum(axis=1)
        utility = h.sum() + h_merged - h[i] - h[j]
        leakage = t_merged - t[i] - t[j]
        kept = utility >= R - 1e-12
        if not kept.any():
            break
        pair = int(np.argmin(np.where(kept, leakage, np.inf)))
        rows = np.vstack([np.delete(rows, [i[pair], j[pair]], axis=0), merged[pair]])
    return round(bits(entropy(rows.sum(axis=1))), 9), round(bits(mutual_information(rows)), 9)
