"""The groups of one column's letters: from counts N[x, y] to clusters, and from other counts of the same letters to their clusters.

*Categories.* What the records support of p(y|x) is the denoised p~(y|x) (`infoplane.sampling`), and the clusters are those of the denoised
joint: a hard map, or the bottleneck's. A letter goes to the nearest centre, argmin_z KL(p~(y|x) || p(y|z)), which is what makes
cross-fitting cheap: centres are those of all records, and only p~(y|x) is computed again, from the counts of the other folds.

*Intervals of numbers* are cut by the dynamic programme, into the k that minimises the description length

    n H(Y|Z) + (k - 1)(|Y| - 1)/2 log n + log C(m - 1, k - 1),     m places between distinct values, or between 2,000 bins of equal mass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..information import Array, IntArray, entr
from ..joint.binning import shortest_edge
from ..joint.joint import Joint
from ..posterior.merge_path import agglomerative_bottleneck
from ..problem import bottleneck
from ..sampling.denoising import CONSTANT, MIXTURE, Denoising, fit
from ..sampling.distinct import DistinctRows
from ..sampling.shrinkage import HALF
from ..solve import solve
from ..solvers.shared.few_clusters import line_cuts, prebins
from .operating_point import OperatingPoint
from .partition import FINEST, partition
from .partition_curve import partition_curve

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

    def conditional(self, counts: Array) -> Array:
        """p~(y|x) of letters with these counts."""
        return self.denoising.conditional(counts)

    def labels(self, p_y_given_x: Array) -> IntArray:
        """The cluster of letters with these p~(y|x)."""
        return np.asarray(self._scores(p_y_given_x).argmax(axis=1), dtype=np.int64)

    def soft(self, counts: Array, p_y_given_x: Array) -> Array:
        """p(z|x): the bottleneck's, or that of the groups of the denoising; where it has none, the nearest centre."""
        if self.gamma is not None:
            scores = self._scores(p_y_given_x)
            W = np.exp(scores - scores.max(axis=1, keepdims=True))
            return np.asarray(W / W.sum(axis=1, keepdims=True))
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
    W = _encoder(Joint.from_counts(P), denoising, point)
    q: Array = W @ (P / P.sum())
    alive = q.sum(axis=1) > 0.0
    q = q[alive]
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
    several = 2 * denoising.groups if denoising.how == MIXTURE else letters
    most = point.most(min(several, MOST))
    if point.max_bits is None and point.min_relevance is None:
        # Restarts would take as long as all the rest, for clusters that no model downstream tells from these.
        W = partition(joint, clusters=most, starts=0).encoder
        # Of few categories each keeps its own group, as it keeps its own p~(y|x).
        return _told_apart(joint, W) if point.n_clusters is None and denoising.how == MIXTURE else W
    curve = partition_curve(joint, clusters=most)
    return curve.at(1 + point.choose(curve.ixz, curve.iyz)).encoder


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
    distinct, place = np.unique(values, return_inverse=True)
    bins: IntArray = np.arange(len(distinct))
    if len(distinct) > FINEST:
        bins = prebins(np.asarray(np.bincount(place, weights), dtype=float), FINEST)
    counts = cross_counts(bins[place], codes, weights, (int(bins.max()) + 1, outcomes))
    n, places = float(counts.sum()), len(counts)
    cuts = line_cuts(counts / n, min(point.most(MOST), MOST))
    k = np.arange(1, len(cuts.lost))
    ways = np.array([math.lgamma(places) - math.lgamma(one) - math.lgamma(places - one + 1) for one in k])
    length = n * cuts.lost[1:] + 0.5 * (k - 1) * (outcomes - 1) * math.log(max(n, 2.0)) + ways
    best = 1 + int(np.argmin(length))
    points = [_plane(counts / n, cuts.labels(one)) for one in range(1, best + 1)]
    chosen = 1 + point.choose(*np.array(points).T)
    homes = cuts.labels(chosen)[bins]
    ends = np.flatnonzero(np.diff(homes))
    return tuple(float(shortest_edge(float(distinct[i]), float(distinct[i + 1]))) for i in ends)


def cross_counts(letters: IntArray, classes: IntArray, weights: Array, shape: tuple[int, int]) -> Array:
    """N[x, y]: the weight of the rows with this letter and this class."""
    cells = letters * shape[1] + classes
    return np.asarray(np.bincount(cells, weights, shape[0] * shape[1]), dtype=float).reshape(shape)


def interval_centres(counts: Array) -> Array:
    """p(y|z) of intervals with these counts, half a record of each y added."""
    centres: Array = (counts + HALF) / (counts + HALF).sum(axis=1, keepdims=True)
    return centres


def _plane(P: Array, labels: IntArray) -> tuple[float, float]:
    """H(Z) and I(Y;Z) of a map, nats."""
    q = np.zeros((int(labels.max()) + 1, P.shape[1]))
    np.add.at(q, labels, P)
    h_z = float(entr(q.sum(axis=1)).sum())
    return h_z, h_z + float(entr(q.sum(axis=0)).sum()) - float(entr(q).sum())
