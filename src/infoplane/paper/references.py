"""Reference points beside the solvers' runs: Merge-Two's, the best release without leakage, and the random starts themselves.

All informations are in bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..certificate.funnel.privacy import perfect_privacy
from ..information import NATS_PER_BIT, plane_points
from ..solvers.starts import make_starts, seed_sequence
from .joints import load
from .merge_two import merge_two_ends
from .piece import Arrays
from .settings import SEED


class Instant:
    """A piece that takes next to no time."""

    def estimate(self) -> float:
        """No seconds."""
        return 0.0


@dataclass(frozen=True)
class Private(Instant):
    """The largest utility I(X;Z) without any leakage, I(Y;Z) = 0, exactly: one linear programme."""

    name: str
    joint: str

    def run(self) -> Arrays:
        """``utility``: what the best release has, and a bound that no release without leakage exceeds."""
        found = perfect_privacy(load(self.joint))
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
        starts = make_starts(joint, self.clusters, self.trials, seed_sequence(self.seed), "random")
        ixz, iyz = np.array(plane_points(joint, list(starts)), dtype=float).T / NATS_PER_BIT
        return {"ixz": ixz, "iyz": iyz}


@dataclass(frozen=True)
class Merges(Instant):
    """The points of the plane at which Merge-Two ends, over all levels of utility that it may be asked to keep."""

    name: str
    joint: str

    def run(self) -> Arrays:
        """``ixz`` and ``iyz``, one entry per distinct end."""
        ixz, iyz = merge_two_ends(load(self.joint))
        return {"ixz": ixz, "iyz": iyz}
