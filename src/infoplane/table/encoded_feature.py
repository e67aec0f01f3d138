"""One feature, encoded: a column, or several as one; from counts N[x, y] of its letters to clusters, and what every letter becomes.

*Categories.* What the records support of p(y|x) is the denoised p~(y|x) (`infoplane.sampling`), and the clusters are those of the denoised
joint: a hard map, or the bottleneck's. A letter goes to the nearest centre, argmin_z KL(p~(y|x) || p(y|z)), which is what makes
cross-fitting cheap: centres are those of all records, and only p~(y|x) is computed again, from the counts of the other folds.

*Intervals of numbers* are cut by the dynamic programme, into the k that minimises the description length

    n H(Y|Z) + (k - 1)(|Y| - 1)/2 log n + log C(m - 1, k - 1),     m distinct values, or 2,000 bins of equal mass.

*A letter that was never met* becomes what the prior p(y) says: the cluster nearest to it, p(y) itself, p(z). Where on the trade-off:

==================  ==========================================================================================
given               the clusters are
==================  ==========================================================================================
nothing             as many as the records support
n_clusters          at most so many: the best hard map
max_bits            the best hard map with H(Z) <= max_bits
min_relevance       the fewest that keep this share of I(X;Y), `MOST` at most; of intervals, of what the shortest description keeps
gamma               the bottleneck's at gamma, soft; each category belongs to the likeliest. Of intervals: least gamma H(Z) - I(Y;Z)
==================  ==========================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import number, positive_number, whole_number
from ..encoder.encoder import by_mass, predicted, typical
from ..encoder.letters import UNSEEN, IntervalLetters, RowLetters
from ..errors import InvalidJointError, InvalidOptionError
from ..formatting import label_text
from ..information import NATS_PER_BIT, Array, IntArray, plane_point
from ..joint.binning import shortest_edge
from ..joint.joint import Joint
from ..joint.tables import LARGEST_TABLE
from ..posterior.merge_path import agglomerative_bottleneck
from ..problem import bottleneck
from ..sampling.denoising import CONSTANT, HALF, MIXTURE, Denoising, DistinctRows, fit, overall, shrunk, softmax
from ..solve import solve
from ..solvers.shared.partitions import encoder_of, line_cuts, prebins
from .partition import FINEST, map_plane, partition, partition_curve

if TYPE_CHECKING:
    import pandas as pd


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
        checks: dict[str, Callable[..., Any]] = {
            "n_clusters": whole_number,
            "gamma": partial(number, expected="a number above 0 and at most 1", above=0.0, most=1.0),
            "max_bits": positive_number,
            "min_relevance": partial(number, expected="a number from 0 to 1", least=0.0, most=1.0),
        }
        for name in given:
            checks[name](name, getattr(self, name))

    def choose(self, ixz: Array, iyz: Array, information: float) -> int:
        """Which of some hard maps, of 1, 2, ... clusters, of x that hold so much ``information`` of y, in nats: its index."""
        if self.gamma is not None:
            return int(np.argmin(self.gamma * ixz - iyz))
        if self.max_bits is not None:
            allowed = ixz <= self.max_bits * NATS_PER_BIT + 1e-12
            return int(np.argmax(np.where(allowed, iyz, -1.0)))
        if self.min_relevance is not None:
            enough = iyz >= self.min_relevance * information - 1e-12
            return int(np.argmax(enough)) if enough.any() else len(iyz) - 1
        return len(iyz) - 1


MOST = 32
"""Clusters of a column by default, at most; intervals of a column of numbers, too."""

KEPT = 0.999
"""Share of I(Y;Z) that the default's clusters keep when those that are all but equal are joined."""


@dataclass(frozen=True, eq=False)
class ColumnGroups:
    """The clusters of the categories of one column."""

    denoising: Denoising = field(repr=False)
    centres: Array
    """p(y|z), (|Z|, |Y|)."""
    p_z: Array
    gamma: float | None = None
    """If the clusters are a bottleneck's."""

    @property
    def clusters(self) -> int:
        """|Z|."""
        return len(self.centres)

    def labels(self, p_y_given_x: Array) -> IntArray:
        """The cluster of letters with these p~(y|x)."""
        return np.asarray(self._scores(p_y_given_x).argmax(axis=1), dtype=np.int64)

    def soft(self, counts: Array, p_y_given_x: Array) -> Array:
        """p(z|x): the bottleneck's, or that of the groups of the denoising; where it has none, the nearest centre."""
        if self.gamma is not None:
            return softmax(self._scores(p_y_given_x))[0]
        if self.denoising.how == MIXTURE:
            return np.ascontiguousarray(self.denoising.posterior(counts).T)
        return np.eye(self.clusters)[self.labels(p_y_given_x)]

    def _scores(self, p_y_given_x: Array) -> Array:
        """-KL(p~(y|x) || p(y|z)) up to what does not depend on z; divided by gamma, and with log p(z), for a bottleneck."""
        near: Array = p_y_given_x @ np.log(np.maximum(self.centres, np.finfo(float).tiny)).T
        return near if self.gamma is None else near / self.gamma + np.log(self.p_z)


def grouped_categories(counts: Array, point: OperatingPoint) -> ColumnGroups:
    """The clusters of the letters of a column, from their counts of each y."""
    denoising = fit(counts)
    rows = DistinctRows.of(counts[counts.sum(axis=1) > 0.0])
    weight = rows.times * rows.rows.sum(axis=1)
    P = weight[:, None] * denoising.conditional(rows.rows)
    q: Array = _encoder(Joint.from_counts(P), denoising, point) @ (P / P.sum())
    q = q[q.sum(axis=1) > 0.0]
    gamma = point.gamma if len(q) > 1 else None
    return ColumnGroups(denoising, q / q.sum(axis=1, keepdims=True), q.sum(axis=1), gamma)


def _encoder(joint: Joint, denoising: Denoising, point: OperatingPoint) -> Array:
    """p(z|x) of the distinct rows."""
    letters = joint.shape[0]
    if denoising.how == CONSTANT or letters == 1:
        return np.ones((1, letters))
    if point.gamma is not None:
        return solve(joint, bottleneck(point.gamma), clusters=min(letters, MOST), rng=0).encoder
    # Clusters for each group of the denoising: a category of few records lies between two of them. MATHS (b).
    several = 2 * denoising.groups if denoising.how == MIXTURE and point.min_relevance is None else letters
    most = point.n_clusters or min(several, MOST)
    if point.max_bits is None and point.min_relevance is None:
        # Restarts would take as long as all the rest, for clusters that no model downstream tells from these.
        W = partition(joint, clusters=most, starts=0).encoder
        # Of few categories each keeps its own group, as it keeps its own p~(y|x).
        return _told_apart(joint, W) if point.n_clusters is None and denoising.how == MIXTURE else W
    curve = partition_curve(joint, clusters=most)
    return curve.at(1 + point.choose(curve.ixz, curve.iyz, joint.mutual_information)).encoder


def _told_apart(joint: Joint, W: Array) -> Array:
    """The clusters joined as long as `KEPT` of their I(Y;Z) is kept: of those that nobody tells apart one is left."""
    path = agglomerative_bottleneck(Joint.from_counts(W @ joint.p_xy))
    k = int(path.clusters[np.flatnonzero(path.iyz >= KEPT * path.iyz[0])[-1]])
    return np.eye(k)[:, path.labels_at(k)[W.argmax(axis=0)]]


def interval_edges(
    values: Array, codes: IntArray, weights: Array, outcomes: int, point: OperatingPoint
) -> tuple[Any, ...]:
    """Where a column of numbers is cut; ``codes`` are the y of the rows. No value may be missing."""
    if len(values) == 0:
        return ()
    distinct, numbers = np.unique(values, return_inverse=True)
    bins: IntArray = np.arange(len(distinct))
    if len(distinct) > FINEST:
        bins = prebins(np.asarray(np.bincount(numbers, weights), dtype=float), FINEST)
    counts = cross_counts(bins[numbers], codes, weights, (int(bins.max()) + 1, outcomes))
    n, m = float(counts.sum()), len(counts)
    cuts = line_cuts(counts / n, min(point.n_clusters or MOST, MOST))
    k = np.arange(1, len(cuts.lost))
    ways = np.array([math.lgamma(m) - math.lgamma(one) - math.lgamma(m - one + 1) for one in k])
    length = n * cuts.lost[1:] + 0.5 * (k - 1) * (outcomes - 1) * math.log(max(n, 2.0)) + ways
    best = 1 + int(np.argmin(length))
    points = [map_plane(encoder_of(cuts.labels(one)) @ counts / n) for one in range(1, best + 1)]
    ixz, iyz = np.array(points).T
    chosen = 1 + point.choose(ixz, iyz, float(iyz.max()))
    ends = np.flatnonzero(np.diff(cuts.labels(chosen)[bins]))
    return tuple(float(shortest_edge(float(distinct[i]), float(distinct[i + 1]))) for i in ends)


def cross_counts(letters: IntArray, classes: IntArray, weights: Array, shape: tuple[int, int]) -> Array:
    """N[x, y]: the weight of the rows with this letter and this class."""
    cells = np.bincount(letters * shape[1] + classes, weights, shape[0] * shape[1])
    return np.asarray(cells, dtype=float).reshape(shape)


OUTPUTS = ("cluster", "posterior", "log_posterior", "soft")

OTHER = "other"
"""The label of all categories that are too rare to stand alone, if a least count is asked for."""

TYPICAL = 5
"""Categories of a cluster that are called typical of it."""


@dataclass(frozen=True, eq=False)
class EncodedFeature:
    """A feature's letters, their counts and their clusters: what every letter becomes."""

    name: str
    columns: tuple[int, ...]
    letters: RowLetters = field(repr=False)
    rows: IntArray = field(repr=False)
    """The row of ``counts`` of every letter: rare letters share the last."""
    counts: Array = field(repr=False)
    """N[x, y] of the training rows, or their weight."""
    labels: tuple[Hashable, ...] = field(repr=False)
    """What every row of ``counts`` is called."""
    prior: Array = field(repr=False)
    """p(y)."""
    groups: ColumnGroups | None = field(repr=False)
    """None for intervals of numbers, which are clusters as they are."""

    @classmethod
    def of(
        cls,
        name: str,
        columns: tuple[int, ...],
        letters: RowLetters,
        rows: tuple[IntArray, IntArray, Array],
        outcomes: int,
        point: OperatingPoint,
        min_count: int,
    ) -> EncodedFeature:
        """The feature whose training ``rows`` have these codes of its letters, classes and weights."""
        if letters.size * outcomes > LARGEST_TABLE:
            raise InvalidJointError(
                f"the counts of a feature are a table of at most {LARGEST_TABLE:,} cells; {name!r} has {letters.size:,} categories, and "
                f"there are {outcomes:,} classes. Group rare categories first."
            )
        N, labels = cross_counts(*rows, (letters.size, outcomes)), letters.labels
        numbers, intervals = np.arange(len(N)), letters.met is None and isinstance(letters.parts[0], IntervalLetters)
        rare = (N.sum(axis=1) < min_count) & (not intervals)
        if rare.sum() > 1:
            kept = np.flatnonzero(~rare)
            numbers = np.where(rare, len(kept), np.cumsum(~rare) - 1)
            names = [labels[i] for i in kept]
            labels = [*names, OTHER if OTHER not in names else f"{OTHER} (rare)"]
            N = np.vstack([N[kept], N[rare].sum(axis=0)])
        groups = None if intervals else grouped_categories(N, point)
        prior = overall(N.sum(axis=0)) if groups is None else np.asarray(groups.denoising.prior)
        return cls(name, columns, letters, numbers, N, tuple(labels), prior, groups)

    @property
    def clusters(self) -> int:
        """|Z|."""
        return len(self.counts) if self.groups is None else self.groups.clusters

    @cached_property
    def centres(self) -> Array:
        """p(y|z)."""
        return shrunk(self.counts, np.full(len(self.prior), HALF)) if self.groups is None else self.groups.centres

    def codes(self, columns: Sequence[pd.Series[Any]]) -> IntArray:
        """Rows of the tables for other rows of the columns; -1 is the last, of what was never met."""
        return np.append(self.rows, UNSEEN)[self.letters.codes(columns)]

    def table(self, output: str) -> Array:
        """What every letter becomes, and in the last row what was never met."""
        table: Array = self.tables(output)[0]
        return table

    def tables(self, output: str, counts: Array | None = None) -> tuple[Any, IntArray]:
        """The same and the cluster of each; from other counts of the same letters, if they are given."""
        N = np.vstack([self.counts if counts is None else counts, np.zeros(len(self.prior))])
        if self.groups is None:
            labels = np.array([*range(self.clusters), int((np.log(self.centres) @ self.prior).argmax())])
            p_y_given_x = posterior = np.vstack([self.centres, self.prior])
        else:
            p_y_given_x = self.groups.denoising.conditional(N)
            labels = self.groups.labels(p_y_given_x)
            posterior = self.centres[labels]
        if output == "soft":
            if self.groups is not None:
                return self.groups.soft(N, p_y_given_x), labels
            return np.vstack([np.eye(self.clusters), self.counts.sum(axis=1) / self.counts.sum()]), labels
        if output == "log_posterior":
            return np.log(p_y_given_x), labels
        return (labels[:, None] if output == "cluster" else posterior), labels

    @property
    def width(self) -> int:
        """Columns of ``table("soft")``."""
        return int(self.table("soft").shape[1])

    def descriptions(self, classes: Sequence[Hashable]) -> list[str]:
        """What each cluster holds, in words: how many of the records, its likeliest classes, its typical categories."""
        said = []
        for one in sorted(by_mass(self.joint, self.encoder, TYPICAL), key=lambda one: one.z):
            names = "; ".join(label_text(self.labels[x], 40) for x in one.typical)
            said.append(f"{one.mass:.1%} of the records; {predicted(one, tuple(classes), 3)}; {names}")
        return said

    def mapping(self, classes: Sequence[Hashable]) -> pd.DataFrame:
        """A row for each category: count, cluster, p(y|z), and whether it is typical of its cluster."""
        import pandas as pd

        labels = self.encoder.argmax(axis=0)
        best = {x for row in self.encoder for x in typical(self.joint, row, TYPICAL)}
        frame = pd.DataFrame(
            {
                "feature": self.name,
                "category": pd.Series(self.labels, dtype=object),
                "count": self.counts.sum(axis=1),
                "cluster": labels,
                **{f"p({label_text(one)}|z)": self.centres[labels, y] for y, one in enumerate(classes)},
                "typical": [x in best for x in range(len(labels))],
            }
        )
        return frame.sort_values(["cluster", "count"], ascending=[True, False], kind="stable", ignore_index=True)

    @cached_property
    def encoder(self) -> Array:
        """The hard map of the letters, W[z, x] = 0 or 1."""
        W: Array = np.eye(self.clusters)[:, self.tables("cluster")[1][:-1]]
        return W

    @property
    def iyz(self) -> float:
        """I(Y;Z) of the hard map on the denoised joint, in nats."""
        return plane_point(self.joint, self.encoder).iyz

    @cached_property
    def joint(self) -> Joint:
        """What the records support of p(x, y): denoised, or of intervals as it is."""
        T = self.centres if self.groups is None else self.groups.denoising.conditional(self.counts)
        return Joint.from_counts(self.counts.sum(axis=1)[:, None] * T, x_labels=self.labels)
