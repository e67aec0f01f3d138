"""`partition`: the map x -> z to at most k clusters that keeps most of I(Y;Z), and what is proven of it.

=======================  ==========================================================  =====================================================
|Y|, order of x          how                                                         upper bound of I(Y;Z)
=======================  ==========================================================  =====================================================
2, free                  intervals of p(y|x), dynamic programme                      the value itself: the best of all maps
any, given, <= 2,000 x   intervals of x, dynamic programme                           the value itself: the best of all intervals
2, given, monotone       neighbours pooled until p(y|z) rises, dynamic programme     the value itself: the best of all such intervals
any, given, more x       the same on 2,000 bins of equal mass                        2k - 1 intervals of the bins, and what k - 1 bins lose
> 2, free                2k groups, merged, letters moved                            I(X;Y), H(Y), log k; ``certify``: `cluster_bound`
=======================  ==========================================================  =====================================================

With a least mass of a cluster the bound is that without it, unless the order is given and not monotone: there it is exact as well. What no
encoder with k clusters exceeds (`cluster_bound`):

    I(Y;Z)  <=  gamma I(X;Z) - bound(gamma)  <=  gamma log k - bound(gamma)      for every gamma, as I(X;Z) <= H(Z) <= log k

where bound(gamma) is a proven lower bound of min gamma I(X;Z) - I(Y;Z). The right side is convex in gamma and falls as long as the optimum
at gamma has I(X;Z) > log k, so its minimum is bisected.

`partition_curve` has the best map for each k, the frontier of hard maps. A Lagrangian gamma H(Z) - I(Y;Z) reaches only the corners of
its concave hull; the points between them, often most of the k, are here too, and ``on_hull`` says which is which.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..checks import check_flag, check_one_of, number, positive_number, whole_number
from ..encoder.encoder import EncoderView
from ..errors import InvalidOptionError
from ..formatting import counted, rounded
from ..frontier.geometry import concave_hull
from ..information import Array, IntArray, Result, bits, entr
from ..joint.binning import Bin, shortest_edge
from ..joint.joint import Joint, Support, check_joint
from ..joint.tables import sealed
from ..problem import bottleneck
from ..runtime.budget import one_blas_thread
from ..sampling.held_out import HOW, HeldOut, curve_of, gain_of, without_each_part
from ..solve import solve
from ..solvers.shared.partitions import (
    Cuts,
    best_map,
    cluster_table,
    encoder_of,
    line_cuts,
    lost_in,
    maps_of_all_sizes,
    numbered,
    prebins,
    rising_cuts,
    sorted_cuts,
    tree,
)

if TYPE_CHECKING:
    import pandas as pd

    from ..solvers.job import Seed

Order = Literal["free", "given"]
Trend = Literal["rising", "falling", "either"] | None

FINEST = 2_000
"""Letters of a row up to which all cuts between them are tried, O(|X|^2): a tenth of a second. Above, as many bins of equal mass."""


@dataclass(frozen=True, eq=False)
class HardPartition(Result, EncoderView):
    """A map x -> z, and the most that any such map can keep; nats. Its arrays are read-only.

    ``encoder`` (0 and 1), ``labels()``, ``iyz``, ``ixz`` (which is H(Z)), ``p_z``, ``clusters`` and ``clusters_frame()`` are those of a
    `Solution`.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.partition(ip.Joint.from_counts([[9, 1], [2, 8], [8, 2], [1, 9]], x_labels=list("abcd")), clusters=2)
    >>> found.labels().to_dict(), found.proven
    ({'a': 0, 'b': 1, 'c': 0, 'd': 1}, True)
    """

    joint: Joint = field(repr=False)
    """What it was made for."""
    encoder: Array = field(repr=False)
    """p(z|x), 0 or 1: a row per cluster and a column per x."""
    upper_bound: float
    """What no map that was allowed exceeds: of the clusters, order and trend asked for."""
    order: str
    """``"free"``, or ``"given"``: clusters are intervals, numbered from left to right."""
    prebins: int | None = None
    """Bins between which cuts were tried, where the letters were too many; None: between all letters."""

    @property
    def gap(self) -> float:
        """upper_bound - I(Y;Z): by how much another map could be better, at most."""
        return max(self.upper_bound - self.iyz, 0.0)

    @property
    def proven(self) -> bool:
        """Whether no map is better, up to rounding."""
        # Nats between I(Y;Z) and its upper bound that count as none.
        return self.gap <= 1e-9

    @property
    def edges(self) -> tuple[Any, ...]:
        """Where the line is cut, if the order is given and x are numbers, dates or bins: cluster z holds edges[z-1] <= x < edges[z].

        Examples
        --------
        >>> import infoplane as ip
        >>> ages = ip.Joint.from_samples([20, 25, 34, 35, 40, 61], [0, 0, 0, 1, 1, 1])
        >>> ip.partition(ages, clusters=2, order="given").edges
        (35,)
        """
        labels = self.joint.x_labels
        if self.order != "given" or not all(isinstance(x, (Real, Bin)) or hasattr(x, "year") for x in labels):
            raise InvalidOptionError("edges need order='given' and x that are numbers, dates or bins.")
        ends = np.flatnonzero(np.diff(self.encoder.argmax(axis=0)))
        pairs: list[Any] = [(labels[at], labels[at + 1]) for at in ends]
        return tuple(high.low if isinstance(high, Bin) else shortest_edge(low, high) for low, high in pairs)

    def to_linkage(self) -> Array:
        """The clusters as leaves of a tree, joined by least loss of I(Y;Z), for SciPy's hierarchy functions: see `MergePath.to_linkage`."""
        support = Support(self.joint)
        return tree(support, numbered(self.encoder.argmax(axis=0)[support.x])).to_linkage()

    def __str__(self) -> str:
        proof = "no map keeps more" if self.proven else f"none keeps more than {rounded(bits(self.upper_bound))}"
        line = "" if self.prebins is None else f"; cuts between {self.prebins:,} bins"
        return (
            f"{counted(self.clusters, 'cluster')}: I(Y;Z) {rounded(bits(self.iyz))} bits of "
            f"{rounded(bits(self.joint.mutual_information))}, {proof}; H(Z) {rounded(bits(self.ixz))} bits{line}"
        )

    __repr__ = __str__


def partition(
    joint: Joint,
    *,
    clusters: int,
    order: Order = "free",
    monotone: Trend = None,
    min_share: float | None = None,
    min_count: int | None = None,
    certify: bool = False,
    max_seconds: float = 60.0,
    starts: int | None = None,
    rng: Seed = None,
) -> HardPartition:
    """The deterministic map of X to at most so many clusters that keeps most of I(Y;Z).

    Parameters
    ----------
    joint
        p(x, y). It is taken as the truth: for columns with rare values, give it denoised (`Joint.denoised`).
    clusters
        The most clusters.
    order
        ``"free"``: any letters may share a cluster. ``"given"``: clusters are intervals of x in the joint's order, as of numbers.
    monotone
        With ``order="given"`` and two y: the share of the second y shall be ``"rising"`` or ``"falling"`` from one interval to the next, or
        ``"either"``, whichever keeps more.
    min_share, min_count
        The least mass of a cluster, as a share or in records. There may be fewer clusters then.
    certify, max_seconds
        Where nothing is proven as yet (free order, more than two y): prove a bound by the bottlenecks at several gammas, in this time.
    starts, rng
        Restarts of the search with more than two y, and their seed; by default as many as take no time, all with the same seed.

    Returns
    -------
    HardPartition
        ``.encoder``, ``.labels()``, ``.iyz``, ``.upper_bound``, ``.gap``, ``.proven``.

    References
    ----------
    B. M. Kurkoski, H. Yagi, "Quantization of Binary-Input Discrete Memoryless Channels", IEEE Trans. Inf. Theory 60, 2014.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.partition(ip.datasets.heart(), clusters=4)
    >>> found.clusters, round(found.iyz, 4), found.upper_bound >= found.iyz
    (4, 0.1696, True)
    """
    check_joint(joint)
    k = whole_number("clusters", clusters)
    check_flag("certify", certify)
    seconds = positive_number("max_seconds", max_seconds)
    if starts is not None:
        starts = whole_number("starts", starts, least=0)
    search = PartitionSearch(joint, order, monotone, least_mass(joint, min_share, min_count))
    with one_blas_thread():
        if search.exact:
            cuts = search.cuts(k)
            return search.made(cuts.labels(cuts.best(k))[search.bins], search.bounds(cuts, k)[-1])
        if len(search.support.p_y) == 1:
            return search.made(np.zeros(len(search.support.p_x), dtype=np.int64), 0.0)
        labels = best_map(search.support, k, least=search.least, starts=starts, rng=rng)
    return search.made(labels, cluster_bound(joint, k, seconds) if certify else plain_bound(joint, k))


def least_mass(joint: Joint, min_share: float | None, min_count: int | None) -> float:
    """The least mass of a cluster, from a share or a number of records."""
    least = 0.0
    if min_share is not None:
        least = number("min_share", min_share, "a number from 0 to 1", least=0.0, most=1.0)
    if min_count is not None:
        count = whole_number("min_count", min_count, least=0)
        if joint.records is None:
            raise InvalidOptionError(
                "min_count needs a joint made from records (from_frame, from_samples, whole-number counts); use min_share for this one."
            )
        if count > joint.records:
            raise InvalidOptionError(f"min_count must be at most the {joint.records:,} records; found {count:,}.")
        least = max(least, count / joint.records)
    # Share of a least mass that rounding may take: ten records of thirty are a third.
    return least * (1.0 - 1e-12)


SOLVES = 8
"""Slopes that are tried: each halves the logarithm of the range of gamma, which is a factor of `RANGE` to begin with."""

RANGE = 300.0
"""The frontier's slope at I(X;Z) = log k is below its mean slope up to there; by more than this factor in none of the tables tried."""


def plain_bound(joint: Joint, clusters: int) -> float:
    """What needs no search: the least of I(X;Y), H(Y) and log k, in nats."""
    return min(joint.mutual_information, joint.entropy_y, math.log(clusters))


def cluster_bound(joint: Joint, clusters: int, max_seconds: float) -> float:
    """The proven bound of I(Y;Z) over all encoders with so many clusters, in nats; the time is for all slopes together."""
    best, width = max(plain_bound(joint, clusters), 0.0), math.log(clusters)
    if best == 0.0:
        return best
    high = min(best / width, 1.0)
    low = high / RANGE
    for _ in range(SOLVES):
        gamma = math.sqrt(low * high)
        found = solve(joint, bottleneck(gamma), certify=1e-5 * best, max_seconds=max_seconds / SOLVES, rng=0)
        if found.lower_bound is not None:
            best = min(best, gamma * width - found.lower_bound)
        # A share of log k: an optimum whose I(X;Z) is that near is the tangent that was looked for.
        if abs(found.ixz - width) < 1e-3 * width:
            break
        low, high = (gamma, high) if found.ixz > width else (low, gamma)
    return best


class PartitionSearch:
    """What is asked for: a joint, the order of its letters, the trend and the least mass."""

    def __init__(self, joint: Joint, order: Order, monotone: Trend, least: float) -> None:
        check_one_of("order", order, ("free", "given"))
        check_one_of("monotone", monotone, (None, "rising", "falling", "either"))
        self.joint, self.order, self.monotone, self.least = joint, order, monotone, least
        self.support = Support(joint)
        self.two = len(self.support.p_y) == 2
        if monotone is not None and (order == "free" or not self.two):
            raise InvalidOptionError(
                f"monotone needs order='given' and two y; found order={order!r} and {counted(len(self.support.p_y), 'y')} of positive mass."
            )
        self.exact = order == "given" or self.two
        """Whether cuts of a line are all that is asked for."""
        self.bins: IntArray = np.arange(len(self.support.p_x))
        """Of every letter, where letters are too many for a line."""
        self.lost: Array | None = None
        """What every bin loses of I(X;Y); None if a bin is a letter."""
        if self.exact:
            self.P: Array = self.support.P
            """Masses p(x, y) of the letters, or bins of them, that are cut."""
            if len(self.bins) > FINEST and order == "given" and monotone is None:
                self.bins = prebins(self.support.p_x, FINEST)
                self.P = cluster_table(self.support, self.bins)
                self.lost = lost_in(self.P, self.support.P, self.bins)

    def cuts(self, most: int, least: float | None = None) -> Cuts:
        """The best intervals for all numbers of them up to ``most``."""
        P, least = self.P, self.least if least is None else least
        if self.monotone is None:
            return sorted_cuts(P, most, least) if self.order == "free" else line_cuts(P, most, least)
        # What falls for the second y rises for the first.
        tables = {"rising": (P,), "falling": (P[:, ::-1],), "either": (P, P[:, ::-1])}[self.monotone]
        return min((rising_cuts(table, most, least) for table in tables), key=lambda cuts: float(cuts.lost.min()))

    def bounds(self, cuts: Cuts, most: int) -> list[float]:
        """What no map of the kind exceeds with at most k clusters, for k = 1, ..., ``most``."""
        plain = [plain_bound(self.joint, k) for k in range(1, most + 1)]
        if self.lost is not None:
            fine = self._kept(line_cuts(self.P, 2 * most - 1), 2 * most - 1)[::2]
            spilt = np.concatenate([[0.0], np.cumsum(np.sort(self.lost)[::-1])])
            kept = [value + float(spilt[min(k, len(spilt) - 1)]) for k, value in enumerate(fine)]
        else:
            exact = self.least == 0.0 or (self.order == "given" and self.monotone is None)
            kept = self._kept(cuts if exact else self.cuts(most, 0.0), most)
        return [min(pair) for pair in zip(plain, kept, strict=True)]

    def _kept(self, cuts: Cuts, most: int) -> list[float]:
        """I(Y;Z) of the best at most k intervals, k = 1, ..., ``most``."""
        lost = np.minimum.accumulate(cuts.lost[1:])
        kept = np.maximum(self.support.h_y - lost, 0.0)
        return [float(kept[min(k, len(kept)) - 1]) for k in range(1, most + 1)]

    def made(self, labels: IntArray, upper_bound: float) -> HardPartition:
        """The partition; letters without mass are where their neighbours to the left are, or spread as p(z) where there is no order."""
        if self.order == "given":
            W = encoder_of(labels[np.maximum(np.cumsum(self.support.x) - 1, 0)])
        else:
            labels = numbered(labels)
            if not self.two:  # two y: by the share of the second, as they come; more: by falling mass
                mass = np.bincount(labels, self.support.p_x)
                labels = np.argsort(np.argsort(-mass, kind="stable"))[labels]
            W = self.support.lift(encoder_of(labels))
        bins = None if self.lost is None else len(self.P)
        made = HardPartition(self.joint, sealed(W), upper_bound, self.order, bins)
        # The bound of what is exact is the value itself, whichever formula it was summed by.
        return made if upper_bound >= made.iyz else replace(made, upper_bound=made.iyz)

    def every(self, most: int) -> list[tuple[IntArray, float]]:
        """The labels of the best map to k clusters, and its bound, for each k = 1, 2, ... up to ``most``."""
        if self.exact:
            cuts = self.cuts(most)
            bounds = self.bounds(cuts, len(cuts.lost) - 1)
            return [(cuts.labels(k)[self.bins], bounds[k - 1]) for k in range(1, len(cuts.lost))]
        maps = maps_of_all_sizes(self.support, most)
        return [(maps[k], plain_bound(self.joint, k)) for k in sorted(maps)]


def map_plane(q: Array) -> tuple[float, float]:
    """H(Z) and I(Y;Z) of a hard map, from p(z, y); nats."""
    h_z = float(entr(q.sum(axis=1)).sum())
    return h_z, max(h_z + float(entr(q.sum(axis=0)).sum()) - float(entr(q).sum()), 0.0)


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
        return self.search.made(self.labels[k - 1], float(self.upper_bound[k - 1]))

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

        hull, information = concave_hull(self.ixz.tolist(), self.iyz.tolist()), self.joint.mutual_information
        return pd.DataFrame(
            {
                "clusters": self.clusters,
                "iyz_bits": [bits(value) for value in self.iyz],
                "upper_bound_bits": [bits(value) for value in self.upper_bound],
                "ixz_bits": [bits(value) for value in self.ixz],
                "share": self.iyz / information if information > 0.0 else np.ones(len(self.iyz)),
                "on_hull": np.isin(np.arange(len(self.clusters)), hull),
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
        found = search.every(most)
    labels, bounds = zip(*found, strict=True)
    ixz, iyz = np.array([map_plane(cluster_table(search.support, one)) for one in labels]).T
    return PartitionCurve(joint, np.arange(1, len(found) + 1), iyz, ixz, np.maximum(bounds, iyz), search, labels)
