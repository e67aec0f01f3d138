"""Reference points beside the solvers' runs: Merge-Two's, the best release without leakage, and the random starts themselves.

Merge-Two with its constraint (Makhdoumi, Salamatian, Fawaz, Medard 2014, Algorithm 1): from Z = X on, merge the two clusters that lower
the leakage I(Y;Z) most among those that keep the utility I(X;Z) = H(Z) >= R, until no merge keeps it. `infoplane.merge_two` is the path for
R = 0; the paper compares with one point of the plane for each R. All informations are in bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import entr

import infoplane as ip

from .methods import load
from .piece import Array, Arrays, Instant
from .points import information
from .settings import NATS_PER_BIT, SEED
from .sweeps import random_starts

LEVELS = 100
"""Values of R, equally spaced in [0, H(X)]."""


@dataclass(frozen=True)
class Private(Instant):
    """The largest utility I(X;Z) without any leakage, I(Y;Z) = 0, exactly: one linear programme."""

    name: str
    joint: str

    def run(self) -> Arrays:
        """``utility``: what the best release has, and a bound that no release without leakage exceeds."""
        found = ip.perfect_privacy(load(self.joint))
        return {"utility": np.array([found.utility, found.upper_bound]) / NATS_PER_BIT}


@dataclass(frozen=True)
class Starts(Instant):
    """The points of the plane at which random starts lie."""

    name: str
    joint: str
    clusters: int
    trials: int
    seed: int = SEED

    def run(self) -> Arrays:
        """``ixz`` and ``iyz``, one entry per start."""
        joint = load(self.joint)
        starts = random_starts(self.trials, self.clusters, joint.shape[0], self.seed)
        ixz = np.array([information(W * joint.p_x) for W in starts])
        return {"ixz": ixz, "iyz": np.array([information(W @ joint.p_xy) for W in starts])}


@dataclass(frozen=True)
class Merges(Instant):
    """The points of the plane at which Merge-Two ends, over all levels of utility that it may be asked to keep."""

    name: str
    joint: str

    def run(self) -> Arrays:
        """``ixz`` and ``iyz``, one entry per distinct end, in the order of ``ixz``."""
        joint = load(self.joint)
        ends = {_end(joint.p_xy, R) for R in np.linspace(0.0, joint.entropy_x, LEVELS)}
        ixz, iyz = np.array(sorted(ends)).T
        return {"ixz": ixz, "iyz": iyz}


def _end(rows: Array, R: float) -> tuple[float, float]:
    """I(X;Z) and I(Y;Z) in bits where Merge-Two ends for one R, in nats. ``rows`` is p(z, y) at the start.

    Rounded to 1e-9 bits, so that equal partitions, merged in another order, give equal numbers.
    """
    while len(rows) > 1:
        i, j = np.triu_indices(len(rows), 1)
        merged = rows[i] + rows[j]
        # H(Z) and I(Y;Z) - H(Y) are sums over clusters, so a merge changes three terms of each.
        h, h_merged = entr(rows.sum(axis=1)), entr(merged.sum(axis=1))
        t, t_merged = h - entr(rows).sum(axis=1), h_merged - entr(merged).sum(axis=1)
        kept = h.sum() + h_merged - h[i] - h[j] >= R - 1e-12
        if not kept.any():
            break
        pair = int(np.argmin(np.where(kept, t_merged - t[i] - t[j], np.inf)))
        rows = np.vstack([np.delete(rows, [i[pair], j[pair]], axis=0), merged[pair]])
    return round(float(entr(rows.sum(axis=1)).sum()) / NATS_PER_BIT, 9), round(information(rows), 9)
