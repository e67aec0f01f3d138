"""Maps of X to at most k clusters that keep much of I(Y;Z): the best intervals of letters in a row; groups, merged and moved, for any |Y|.

**Intervals.** Two y: some best map of X to k clusters has intervals of p(y|x) as its clusters (Kurkoski, Yagi 2014), so letters in that
order, cut at the best places, are the optimum over all maps.

A rising order: p(y|z) shall rise from one interval to the next. Neighbours that violate it are pooled first (isotonic regression), and no
best cut is lost. *Proof.* In a pool the first letters have no less of y than the whole, on average, and the last no more. With D the
Kullback-Leibler divergence, rising levels a_1 <= ... <= a_r within the pool, and m its mean,

    sum_i D(x_i, a_i) >= const + sum_i D(m, a_i)

since D(x, a) is affine in x up to a term without a, with a slope that falls in a, and summation by parts meets suffix sums of x - m, none
positive. So the level among a_1, ..., a_r that is nearest to m serves the whole pool as well, without a cut in it. After pooling every cut
is a rising one.

**Any |Y|.**

    2k groups of similar p(y|x)  ->  the two that lose least of I(Y;Z) joined, until k are left  ->  letters moved while I(Y;Z) rises

Of a map I(Y;Z) is -L at rho = (-1, 0, 1), so that the partitions of the deterministic bottleneck serve as they are. Small tables are
restarted: from the best so far with two clusters joined and a third cut at random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...information import Array, IntArray, entr
from ...joint.grouping import grouped
from ...joint.joint import Joint, Support
from ...kernels.partitions import cut_line, cut_sorted
from ...posterior.merge_path import MergePath, agglomerative_bottleneck
from ...problem import MarkovLagrangian
from ..base import seed_sequence
from ..job import Job, Seed
from .partitions import (
    MERGING,
    Found,
    cluster_table,
    merged_groups,
    moved,
    numbered,
    partition_loss,
    restarted,
    restarts_within,
)


@dataclass(frozen=True)
class Cuts:
    """The best intervals for every number of them up to a largest; ``place[x]`` is where letter x stands in the row."""

    place: IntArray
    lost: Array
    """H(Y|Z) of k intervals, in nats, at index k; infinite where no k intervals are heavy enough."""
    last_cut: IntArray

    def best(self, most: int) -> int:
        """The number of intervals, at most so many, that keeps most; the fewest, if several do."""
        return 1 + int(self.lost[1 : most + 1].argmin())

    def labels(self, intervals: int) -> IntArray:
        """The interval 0, 1, ... of every letter, from left to right."""
        end = self.last_cut.shape[1] - 1
        cuts = []
        for k in range(intervals, 1, -1):
            end = int(self.last_cut[k, end])
            cuts.append(end)
        return np.searchsorted(cuts[::-1], self.place, side="right").astype(np.int64)


def sorted_cuts(P: Array, most: int, least: float = 0.0) -> Cuts:
    """Two y: the letters by p(y|x), those of equal p(y|x) together; without ``least`` the best of all maps to k clusters."""
    share = P[:, 1] / P.sum(axis=1)
    _, place = np.unique(share, return_inverse=True)
    return _two_outcomes(P, place.astype(np.int64), most, least)


def rising_cuts(P: Array, most: int, least: float = 0.0) -> Cuts:
    """Two y: the letters in their row, p(y|z) rising; without ``least`` the best of all such intervals."""
    pools: list[tuple[float, float, int]] = []
    for a, b in P.tolist():
        letters = 1
        while pools and pools[-1][1] * (a + b) >= b * (pools[-1][0] + pools[-1][1]):
            before = pools.pop()
            a, b, letters = a + before[0], b + before[1], letters + before[2]
        pools.append((a, b, letters))
    place = np.repeat(np.arange(len(pools)), [letters for *_, letters in pools])
    return _two_outcomes(P, place.astype(np.int64), most, least)


def line_cuts(P: Array, most: int, least: float = 0.0) -> Cuts:
    """Any y: the letters in their row."""
    n = len(P)
    # All k of a place lie together here.
    F, last_cut = np.full((n + 1, min(most, n) + 1), np.inf), np.zeros((n + 1, min(most, n) + 1), dtype=np.int64)
    cut_line(np.ascontiguousarray(P, dtype=float), least, F, last_cut)
    return Cuts(np.arange(n), F[n], last_cut.T)


def _two_outcomes(P: Array, place: IntArray, most: int, least: float) -> Cuts:
    n = int(place.max()) + 1
    first, second = (np.concatenate([[0.0], np.cumsum(np.bincount(place, P[:, y], n))]) for y in (0, 1))
    F, last_cut = np.full((min(most, n) + 1, n + 1), np.inf), np.zeros((min(most, n) + 1, n + 1), dtype=np.int64)
    cut_sorted(first, second, least, F, last_cut)
    return Cuts(place, F[:, n], last_cut)


def prebins(p_x: Array, bins: int) -> IntArray:
    """Letters of a row in bins of about equal mass, at most so many, numbered from 0 without gaps: floor(bins (mass to the left + p/2))."""
    middles = (np.cumsum(p_x) - 0.5 * p_x) / p_x.sum()
    places = np.minimum((bins * middles).astype(np.int64), bins - 1)
    return np.unique(places, return_inverse=True)[1].astype(np.int64)


def lost_in(q: Array, P: Array, bins: IntArray) -> Array:
    """p(b) I(X;Y | b) of every bin: what is not told of Y by those who know the bin only; q(b, y) are its masses."""
    within = np.bincount(bins, lost_by(P), len(q))
    return np.maximum(lost_by(q) - within, 0.0)


def lost_by(q: Array) -> Array:
    """p(z) H(Y|z) of every row of q(z, y)."""
    lost: Array = entr(q).sum(axis=1) - entr(q.sum(axis=1))
    return lost


KEEP_Y = MarkovLagrangian(-1.0, 0.0, 1.0)
"""-I(Y;Z) of a map x -> z."""


def best_map(
    support: Support, most: int, *, least: float = 0.0, starts: int | None = None, rng: Seed = None
) -> IntArray:
    """The cluster of every letter, at most so many; each of at least the mass ``least``, if that is above 0."""
    job = Job(support, KEEP_Y, np.empty((0, most, 0)), clusters=most)
    if job.letters <= most:
        labels: IntArray = np.arange(job.letters)
        return labels if least == 0.0 else heavy_enough(job, labels, least)
    labels = moved(job, merged_groups(job, _groups_a_cluster(job)), most)
    # Logarithms that the restarts of one map may take by default, some hundredths of a second, and how many there are at most.
    count = min(100, restarts_within(support, most, 3_000_000)) if starts is None else starts
    if count and most > 2:
        random = np.random.default_rng(seed_sequence(0 if rng is None else rng))
        found = Found(labels, "moves", partition_loss(support, KEEP_Y, labels))
        labels = restarted(job.but(starts=random.random((count, most, job.letters))), found).labels
    return labels if least == 0.0 else heavy_enough(job, labels, least)


def heavy_enough(job: Job, labels: IntArray, least: float) -> IntArray:
    """The lightest cluster joined to the one where that loses least, until none is lighter than ``least``; moves that keep it so."""
    labels = numbered(labels)
    while (q := cluster_table(job.support, labels)).sum(axis=1).min() < least and len(q) > 1:
        lightest = int(q.sum(axis=1).argmin())
        cost = lost_by(q + q[lightest]) - lost_by(q)
        cost[lightest] = np.inf
        labels = numbered(np.where(labels == lightest, int(cost.argmin()), labels))
    better = moved(job, labels, int(labels.max()) + 1)
    return better if cluster_table(job.support, better).sum(axis=1).min() >= least else labels


def maps_of_all_sizes(support: Support, most: int) -> dict[int, IntArray]:
    """A map for each number of clusters from ``most`` down to 1, each the better of two, after moves.

    One comes from the tree of all groups, the other from the map with one cluster more, whose two cheapest are joined.
    """
    job = Job(support, KEEP_Y, np.empty((0, most, 0)), clusters=most)
    several = min(_groups_a_cluster(job) * most, job.letters)
    groups = np.arange(job.letters) if several == job.letters else numbered(grouped(support, several))
    path = tree(support, groups)
    found: dict[int, IntArray] = {}
    for k in range(min(most, int(groups.max()) + 1), 0, -1):
        begun = [path.labels_at(k)[groups]]
        if k + 1 in found:
            begun.append(tree(support, found[k + 1]).labels_at(k)[found[k + 1]])
        maps = [moved(job, labels, k) for labels in begun]
        found[k] = min(maps, key=lambda labels: partition_loss(support, KEEP_Y, labels))
    return found


def tree(support: Support, labels: IntArray) -> MergePath:
    """The clusters of a map joined one pair after the other, each time the pair that loses least of I(Y;Z)."""
    return agglomerative_bottleneck(Joint.from_counts(cluster_table(support, labels)))


def _groups_a_cluster(job: Job) -> int:
    # Two groups a cluster, unless X has more than 5,000 letters; else those of `partitions`, 5: moves take most of the time then.
    # Words into 20: of 2,000 x 20 they keep .39915 bits with 2 and .39916 with 5, in 1.4 times the time; of 11,541 x 20 .37037 and .37055.
    return 2 if job.letters <= 5_000 else MERGING.groups_a_cluster
