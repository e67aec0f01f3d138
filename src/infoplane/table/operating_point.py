"""Where on the trade-off a column is encoded: one of four numbers, or none.

==================  ==========================================================================================
given               the clusters are
==================  ==========================================================================================
nothing             as many as the records support, see `column_groups`
n_clusters          at most so many: the best hard map
max_bits            the best hard map with H(Z) <= max_bits
min_relevance       the fewest that keep this share of I(X;Y)
gamma               the bottleneck's at gamma, soft; each category belongs to the likeliest. Of intervals: least gamma H(Z) - I(Y;Z)
==================  ==========================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ..checks import number, positive_number, whole_number
from ..errors import InvalidOptionError
from ..information import NATS_PER_BIT, Array


@dataclass(frozen=True)
class OperatingPoint:
    """At most one of the four is not None."""

    n_clusters: int | None = None
    gamma: float | None = None
    max_bits: float | None = None
    min_relevance: float | None = None

    def __post_init__(self) -> None:
        given = [one.name for one in fields(self) if getattr(self, one.name) is not None]
        if len(given) > 1:
            raise InvalidOptionError(
                f"give one of n_clusters, gamma, max_bits and min_relevance, or none; found {' and '.join(given)}."
            )
        if self.n_clusters is not None:
            whole_number("n_clusters", self.n_clusters)
        if self.gamma is not None:
            number("gamma", self.gamma, "a number above 0 and at most 1", above=0.0, most=1.0)
        if self.max_bits is not None:
            positive_number("max_bits", self.max_bits)
        if self.min_relevance is not None:
            number("min_relevance", self.min_relevance, "a number from 0 to 1", least=0.0, most=1.0)

    def most(self, automatic: int) -> int:
        """The most clusters to look at, if ``automatic`` is what the records support."""
        return automatic if self.n_clusters is None else self.n_clusters

    def choose(self, ixz: Array, iyz: Array) -> int:
        """Which of some hard maps, of 1, 2, ... clusters, in nats: its index."""
        if self.gamma is not None:
            return int(np.argmin(self.gamma * ixz - iyz))
        if self.max_bits is not None:
            allowed = ixz <= self.max_bits * NATS_PER_BIT + 1e-12
            return int(np.argmax(np.where(allowed, iyz, -1.0)))
        if self.min_relevance is not None:
            return int(np.flatnonzero(iyz >= self.min_relevance * iyz.max() - 1e-12)[0])
        return len(iyz) - 1
