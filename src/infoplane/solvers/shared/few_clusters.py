"""Maps of X to at most k clusters that keep much of I(Y;Z), for any |Y|: groups, merged, then moved letter by letter.

    2k groups of similar p(y|x)  ->  the two that lose least of I(Y;Z) joined, until k are left  ->  letters moved while I(Y;Z) rises

Of a map I(Y;Z) is -L at rho = (-1, 0, 1), so that the partitions of the deterministic bottleneck serve as they are. Small tables are
restarted: from the best so far with two clusters joined and a third cut at random.
"""

from __future__ import annotations

import numpy as np

from ...information import IntArray
from ...joint.grouping import grouped
from ...joint.joint import Joint, Support
from ...posterior.merge_path import MergePath, agglomerative_bottleneck
from ...problem import MarkovLagrangian
from ..job import Job, Seed
from .intervals import lost_by
from .partitions import (
    MERGING,
    Found,
    cluster_table,
    merged_groups,
    moved,
    numbered,
    partition_loss,
    restarted,
)
from .starts import seed_sequence

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
    count = _restarts(support, most) if starts is None else starts
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


def _restarts(support: Support, clusters: int) -> int:
    cells = support.rows.nnz if support.sparse else int(np.count_nonzero(support.P))
    # Logarithms that the restarts of one map may take by default, some hundredths of a second, and how many there are at most.
    return min(100, 3_000_000 // (MERGING.brief_sweeps * clusters * (cells + len(support.p_x))))
