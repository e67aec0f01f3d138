"""`partition_curve`: for each number of clusters k, the most that a map x -> z keeps of I(Y;Z).

The primal frontier of hard maps. A Lagrangian gamma H(Z) - I(Y;Z) reaches only the corners of its concave hull; the points between them,
often most of the k, are here too, and ``on_hull`` says which is which.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..checks import whole_number
from ..errors import InvalidOptionError
from ..formatting import counted, rounded
from ..frontier.cluster_bound import plain_bound
from ..frontier.hull import concave_hull
from ..information import Array, IntArray, bits, entr
from ..joint.joint import Joint, Support, check_joint
from ..results import Result
from ..runtime.work import one_blas_thread
from ..sampling.held_out import HOW, HeldOut, curve_of, gain_of, without_each_part
from ..solvers.shared.few_clusters import maps_of_all_sizes
from ..solvers.shared.partitions import cluster_table
from .partition import HardPartition, Order, PartitionSearch

if TYPE_CHECKING:
    import pandas as pd


class GroupChoice(NamedTuple):
    """The number of clusters that held-out records prefer; ``print`` it to read it."""

    clusters: int
    curve: tuple[HeldOut, ...]
    """Of every k."""
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False)
class PartitionCurve(Result):
    """The best maps found for k = 1, 2, ... clusters, each with its proven upper bound; nats. ``at(k)`` is one of them.

    Examples
    --------
    >>> import infoplane as ip
    >>> curve = ip.partition_curve(ip.Joint.from_counts([[9, 1], [2, 8], [5, 5], [1, 9]]), clusters=3)
    >>> curve.clusters.tolist(), bool((curve.iyz <= curve.upper_bound).all())
    ([1, 2, 3], True)
    """

    joint: Joint = field(repr=False)
    """What it was made for."""
    clusters: IntArray
    """k."""
    iyz: Array
    """I(Y;Z)."""
    ixz: Array
    """I(X;Z) = H(Z)."""
    upper_bound: Array
    """What no map to k clusters exceeds; equal to ``iyz`` where the dynamic programme is exact."""
    search: PartitionSearch = field(repr=False)
    """How maps were searched for: it answers `at(k)`."""
    labels: tuple[IntArray, ...] = field(repr=False)
    """Of the letters of positive mass, for each k."""

    def at(self, k: int) -> HardPartition:
        """The map to k clusters."""
        if k not in self.clusters:
            raise InvalidOptionError(
                f"the curve has {self.clusters[0]} to {self.clusters[-1]} clusters; found k = {k!r}."
            )
        at = int(np.flatnonzero(self.clusters == k)[0])
        return self.search.made(self.labels[at], float(self.upper_bound[at]))

    def suggest(self, *, rng: int = 0) -> GroupChoice:
        """How many clusters: as many as tell most of Y on held-out records, in five parts of the joint's in turn.

        Each part is judged by maps made from the others (`sampling/held_out.py`). ``curve`` has every k; where no k is above its standard
        error one cluster is suggested. `Joint.denoised` chooses groups by a criterion instead, without folds.

        Examples
        --------
        >>> import infoplane as ip
        >>> found = ip.partition_curve(ip.Joint.from_counts([[9, 1], [2, 8]] * 6), clusters=4).suggest()
        >>> found.clusters, len(found.curve)
        (2, 2)
        """
        most = int(self.clusters[-1])

        def gains(rest: Joint, part: Any) -> list[float]:
            made = partition_curve(rest, clusters=most, order=self.search.order)
            # A part of the records may have fewer letters than clusters were asked for: more add nothing there.
            return [gain_of(made.at(min(k, int(made.clusters[-1]))).encoder, rest.counts, part) for k in self.clusters]

        curve = curve_of(self.clusters.tolist(), without_each_part(self.joint, rng, gains))
        top = max(curve, key=lambda one: one.gain_bits)
        how = HOW.format(records=self.joint.records)
        found = f"{top.gain_bits:.4f} bits of Y (s.e. {top.error_bits:.4f})"
        if not top.tells:
            said = "One cluster: on held-out records no number of them tells of Y more than chance does"
            return GroupChoice(1, curve, f"{said}; the best, {top.parameter}, has {found}. {how}")
        k = int(top.parameter)
        table = f"where the table says {bits(float(self.iyz[k - 1])):.4f}"
        return GroupChoice(k, curve, f"Held-out records prefer {counted(k, 'cluster')}: {found}, {table}. {how}")

    def to_frame(self) -> pd.DataFrame:
        """A row for each k: clusters, iyz_bits, upper_bound_bits, ixz_bits, the share of I(X;Y) that is kept, and on_hull."""
        import pandas as pd

        on_hull = np.zeros(len(self.clusters), dtype=bool)
        on_hull[concave_hull(self.ixz.tolist(), self.iyz.tolist())] = True
        information = self.joint.mutual_information
        return pd.DataFrame(
            {
                "clusters": self.clusters,
                "iyz_bits": [bits(value) for value in self.iyz],
                "upper_bound_bits": [bits(value) for value in self.upper_bound],
                "ixz_bits": [bits(value) for value in self.ixz],
                "share": self.iyz / information if information > 0.0 else np.ones(len(self.iyz)),
                "on_hull": on_hull,
            }
        )

    def __repr__(self) -> str:
        ends = " to ".join(rounded(bits(float(value))) for value in self.iyz[[0, -1]])
        return f"PartitionCurve(1 to {counted(int(self.clusters[-1]), 'cluster')}: I(Y;Z) {ends} bits)"


def partition_curve(joint: Joint, *, clusters: int = 32, order: Order = "free") -> PartitionCurve:
    """The best map to k clusters for each k = 1, ..., ``clusters``: one dynamic programme, or one tree with moves.

    Parameters
    ----------
    joint, order
        As in `partition`.
    clusters
        The largest k; there are no more than letters, or distinct p(y|x).

    Examples
    --------
    >>> import infoplane as ip
    >>> curve = ip.partition_curve(ip.Joint.from_counts([[9, 1], [2, 8], [5, 5], [1, 9]]), clusters=4)
    >>> curve.to_frame().share.round(3).tolist()
    [0.0, 0.75, 0.977, 1.0]
    >>> curve.at(2).labels().tolist()
    [0, 1, 1, 1]
    """
    check_joint(joint)
    most = whole_number("clusters", clusters)
    search = PartitionSearch(joint, order, None, 0.0)
    with one_blas_thread():
        found = _exact(search, most) if search.exact else _searched(search, most)
    labels = [one for one, _ in found]
    points = [_point(search.support, one) for one in labels]
    iyz, ixz = np.array(points).T
    bound = np.maximum([bound for _, bound in found], iyz)
    return PartitionCurve(joint, np.arange(1, len(found) + 1), iyz, ixz, bound, search, tuple(labels))


def _exact(search: PartitionSearch, most: int) -> list[tuple[IntArray, float]]:
    cuts = search.cuts(most)
    bounds = search.bounds(cuts, len(cuts.lost) - 1)
    return [(cuts.labels(k)[search.line.bins], bounds[k - 1]) for k in range(1, len(cuts.lost))]


def _searched(search: PartitionSearch, most: int) -> list[tuple[IntArray, float]]:
    maps = maps_of_all_sizes(search.support, most)
    return [(maps[k], plain_bound(search.joint, k)) for k in sorted(maps)]


def _point(support: Support, labels: IntArray) -> tuple[float, float]:
    """I(Y;Z) and H(Z) of a map."""
    q: Any = cluster_table(support, labels)
    h_z = float(entr(q.sum(axis=1)).sum())
    return max(support.h_y + h_z - float(entr(q).sum()), 0.0), max(h_z, 0.0)
