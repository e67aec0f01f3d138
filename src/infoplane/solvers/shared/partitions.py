"""Hard partitions of the letters as answers: trivial ones, the best of a merge path, and all of them improved letter by letter.

Maps x -> z are the optima of the deterministic bottleneck, good releases for the funnel where |X| is large, and never worse than a
constant Z or Z = X, which some Lagrangians have as their best. They cost no iterations: a partition is a row of labels. Two ways lead to
maps to at most k clusters that keep much of I(Y;Z).

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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...information import Array, IntArray, entr
from ...joint.grouping import grouped
from ...joint.joint import Joint, Support
from ...kernels.partitions import HardClusters, LetterRows, cut_line, cut_sorted, move_letters
from ...posterior.merge_path import Callback, MergePath, agglomerative_bottleneck, path_for
from ...problem import MarkovLagrangian
from ..base import SIZES, near_identity, seed_sequence
from ..job import Job, Seed


class PartitionEffort(NamedTuple):
    """What merging, moving and restarting may cost, set by `benchmarks/bench_merging.py`; work is in operations."""

    merge_work: int = 150_000_000
    """Logarithms that the first costs of a merge path may take, |X|^2 |Y| / 2: 3,800 letters of X by 20 of Y. Above, no path is
    walked."""
    both_work: int = 50_000_000
    """... and above which a bottleneck's path is walked by the Lagrangian only, whose partitions were measured to be better."""
    move_work: int = 300_000_000
    """Logarithms that the moves from one partition may take: some seconds."""
    move_piece: int = 5_000_000
    """... and those of one piece, after which a caller may look."""
    groups_a_cluster: int = 5
    """Groups for each cluster asked for, which are then merged: words, 2,000 x 20 and 11,541 x 20 into 20, keep .39916 and .37055
    bits that way after moves; from 20 groups at once .39651 and .36759, from 40 .39900 and .37037."""
    grouped_work: int = 10_000_000
    """... unless merging them would take more logarithms than this: then there are as many groups as clusters."""
    brief_sweeps: int = 8
    """Sweeps of a restart, after which it must be below the best."""
    restarts_work: int = 3_000_000_000
    """Logarithms that all restarts may take: half a minute, for a hundred of them on 11,541 x 20 letters."""
    sweeps: int = 30
    """Most times that every letter is looked at."""
    spare: int = 8
    """Empty clusters beside those in use, and one more for each so many of these."""
    least_fall: float = 1e-10
    """Nats that a sweep must gain to be followed by another."""


MERGING = PartitionEffort()


class Found(NamedTuple):
    """A partition: the cluster of every letter of positive mass, numbered from 0 without gaps; how it was found; its loss in nats."""

    labels: IntArray
    found_by: str
    loss: float

    @property
    def clusters(self) -> int:
        """|Z|."""
        return int(self.labels.max()) + 1


def is_hard(problem: MarkovLagrangian) -> bool:
    """Whether hard partitions are all that counts: H(Z|X) has no weight, and Y is to be kept, as in the deterministic bottleneck."""
    return problem.rho_zx == 0.0 < problem.rho_zy and problem.rho_z < 0.0


def partition_loss(support: Support, problem: MarkovLagrangian, labels: IntArray) -> float:
    """L = rho_z H(Z) + rho_zy H(Z|Y) of a map x -> z."""
    q = cluster_table(support, labels)
    h_zy = float(entr(q).sum()) - support.h_y
    return problem.rho_z * float(entr(q.sum(axis=1)).sum()) + problem.rho_zy * h_zy


def cluster_table(support: Support, labels: IntArray) -> Array:
    """q(z, y) of a map x -> z."""
    one = np.ones(len(labels))
    members = sparse.csr_array((one, (labels, np.arange(len(labels)))), shape=(int(labels.max()) + 1, len(labels)))
    table = members @ (support.rows if support.sparse else support.P)
    return np.asarray(table.toarray() if sparse.issparse(table) else table)


def numbered(labels: IntArray) -> IntArray:
    """The same partition, clusters numbered from 0 without gaps."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def encoder_of(labels: IntArray) -> Array:
    """W[z, x] = 1 if x lies in cluster z."""
    W = np.zeros((int(labels.max()) + 1, len(labels)))
    W[labels, np.arange(len(labels))] = 1.0
    return W


def softened(labels: IntArray) -> Array:
    """A partition from which every letter can still leave."""
    return near_identity(int(labels.max()) + 1, len(labels), labels, shared=0.01)


def labels_of(W: Array) -> IntArray:
    """Every letter in the cluster where an encoder has most of it."""
    return numbered(W.argmax(axis=0))


def moved(job: Job, labels: IntArray, most: int, sweeps: int = MERGING.sweeps) -> IntArray:
    """Letters moved one at a time, heaviest first, while that lowers L, `MERGING.move_work` lasts, and not so many sweeps are done."""
    support, problem = job.support, job.problem
    rows = support.rows if support.sparse else sparse.csr_array(support.P)
    columns = rows.indices.astype(np.int64)
    letters = LetterRows(rows.indptr.astype(np.int64), columns, rows.data.astype(float), support.p_x)
    order = np.argsort(-support.p_x, kind="stable")
    left = MERGING.move_work
    for _ in range(sweeps):
        there = _tables(support, labels, most)
        cost = len(there.mass) * (len(letters.masses) + len(labels))
        left -= cost
        if left < 0:
            break
        fall, workspace = 0.0, np.empty(len(there.mass))
        for piece in np.array_split(order, min(len(order), -(-cost // MERGING.move_piece))):
            fall += move_letters(letters, there, piece, problem.rho_z, problem.rho_zy, workspace)[1]
            job.budget.look()
        labels = numbered(there.labels)
        if fall < MERGING.least_fall:
            break
    return labels


def _tables(support: Support, labels: IntArray, most: int) -> HardClusters:
    """The tables of a partition, with some empty clusters to move to, if the cap allows them."""
    used = int(labels.max()) + 1
    q = np.zeros((len(support.p_y), min(most, len(labels), used + MERGING.spare + used // MERGING.spare)))
    q[:, :used] = cluster_table(support, labels).T
    mass = q.sum(axis=0)
    size = np.bincount(labels, minlength=len(mass))
    return HardClusters(labels.copy(), size, mass, np.asarray(entr(mass)), q, np.asarray(entr(q)))


def restarted(job: Job, begun: Found) -> Found:
    """From the best so far again and again: two clusters joined, a third cut in two at random, letters moved; as often as there are starts.

    The entries of the starts are what is random: `starts` and `rng` decide it. From random partitions themselves moves end higher.
    """
    best = begun
    for W in job.starts:
        labels = _shaken(best.labels, W)
        labels = moved(job, labels, job.most, MERGING.brief_sweeps)
        loss = partition_loss(job.support, job.problem, labels)
        if loss < best.loss - MERGING.least_fall:
            best = Found(labels, "moves", loss)
    if best is begun:
        return begun
    labels = moved(job, best.labels, job.most)
    return Found(labels, "moves", partition_loss(job.support, job.problem, labels))


def _shaken(labels: IntArray, W: Array) -> IntArray:
    """One cluster joined to another, and its number given to a random half of a third."""
    order = list(dict.fromkeys(np.argsort(W[:, 0], kind="stable") % (int(labels.max()) + 1)))
    if len(order) < 3:
        return labels
    into, freed, cut = order[:3]
    shaken = np.where(labels == freed, into, labels)
    shaken[(shaken == cut) & (W[0] > W[1])] = freed
    return numbered(shaken)


def restarts_within(support: Support, clusters: int, work: int = MERGING.restarts_work) -> int:
    """Restarts that so many logarithms hold."""
    cells = support.rows.nnz if support.sparse else int(np.count_nonzero(support.P))
    return work // (MERGING.brief_sweeps * clusters * (cells + len(support.p_x)))


def partitions(job: Job, encoders: Sequence[Array] = ()) -> list[Found]:
    """Every partition that is worth a look, with no more clusters than allowed, the best first."""
    support, problem, letters, most = job.support, job.problem, job.letters, job.most

    def one(labels: IntArray, found_by: str) -> Found:
        return Found(labels, found_by, partition_loss(support, problem, labels))

    begun = [one(np.zeros(letters, dtype=np.int64), "constant")]
    if letters <= most:
        begun.append(one(np.arange(letters), "identity"))
    hard = is_hard(problem) and job.capped and letters > SIZES.first_clusters
    logarithms = letters**2 * len(support.p_y) / 2
    if logarithms <= MERGING.merge_work and not hard:
        criteria = ["information"] if logarithms <= MERGING.both_work or problem.rho_zy <= 0.0 else []
        # Where rho_zy >= 0 and rho_z = -rho_zy the Lagrangian prefers no merge to another.
        if problem.rho_zy < 0.0 or problem.rho_z + problem.rho_zy != 0.0:
            criteria.append("lagrangian")
        begun += [one(_merged(job, criterion), "merging") for criterion in criteria]
    elif letters > most or problem.rho_zy > 0.0:
        labels = merged_groups(job) if problem.rho_zy > 0.0 else np.arange(letters) % min(most, letters)
        begun.append(one(numbered(labels), "groups"))
    begun += [one(labels_of(W), "rounding") for W in encoders if len(W) <= most]
    improved = [one(moved(job, start.labels, most), "moves") for start in begun if start.clusters > 1]
    return sorted([*begun, *improved], key=lambda found: found.loss)


def merged_groups(job: Job, groups_a_cluster: int = MERGING.groups_a_cluster) -> IntArray:
    """Letters in groups of similar p(y|x), of which there are several for each cluster allowed, merged until they are few enough."""
    support = job.support
    several = min(groups_a_cluster * job.most, job.letters)
    labels = numbered(grouped(support, several if several**2 * len(support.p_y) <= MERGING.grouped_work else job.most))
    if labels.max() < job.most:
        return labels
    merged: IntArray = tree(support, labels, lambda *_: job.budget.look()).labels_at(job.most)[labels]
    return merged


def _merged(job: Job, criterion: str) -> IntArray:
    """The best partition of a merge path."""
    path = path_for(job.support.joint, job.problem, criterion, lambda *_: job.budget.look())
    labels: IntArray = path.labels_at(path.best(job.problem, job.most))[job.support.x]
    return labels


@dataclass(frozen=True)
class Cuts:
    """The best intervals for every number of them up to a largest; ``position[x]`` is where letter x stands in the row."""

    position: IntArray
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
        return np.searchsorted(cuts[::-1], self.position, side="right").astype(np.int64)


def sorted_cuts(P: Array, most: int, least: float = 0.0) -> Cuts:
    """Two y: the letters by p(y|x), those of equal p(y|x) together; without ``least`` the best of all maps to k clusters."""
    share = P[:, 1] / P.sum(axis=1)
    _, position = np.unique(share, return_inverse=True)
    return _two_outcomes(P, position.astype(np.int64), most, least)


def rising_cuts(P: Array, most: int, least: float = 0.0) -> Cuts:
    """Two y: the letters in their row, p(y|z) rising; without ``least`` the best of all such intervals."""
    pools: list[tuple[float, float, int]] = []
    for a, b in P.tolist():
        letters = 1
        while pools and pools[-1][1] * (a + b) >= b * (pools[-1][0] + pools[-1][1]):
            before = pools.pop()
            a, b, letters = a + before[0], b + before[1], letters + before[2]
        pools.append((a, b, letters))
    position = np.repeat(np.arange(len(pools)), [letters for *_, letters in pools])
    return _two_outcomes(P, position.astype(np.int64), most, least)


def line_cuts(P: Array, most: int, least: float = 0.0) -> Cuts:
    """Any y: the letters in their row."""
    n = len(P)
    # All k of a position lie together here.
    F, last_cut = np.full((n + 1, min(most, n) + 1), np.inf), np.zeros((n + 1, min(most, n) + 1), dtype=np.int64)
    cut_line(np.ascontiguousarray(P, dtype=float), least, F, last_cut)
    return Cuts(np.arange(n), F[n], last_cut.T)


def _two_outcomes(P: Array, position: IntArray, most: int, least: float) -> Cuts:
    n = int(position.max()) + 1
    first, second = (np.concatenate([[0.0], np.cumsum(np.bincount(position, P[:, y], n))]) for y in (0, 1))
    F, last_cut = np.full((min(most, n) + 1, n + 1), np.inf), np.zeros((min(most, n) + 1, n + 1), dtype=np.int64)
    cut_sorted(first, second, least, F, last_cut)
    return Cuts(position, F[:, n], last_cut)


def prebins(p_x: Array, bins: int) -> IntArray:
    """Letters of a row in bins of about equal mass, at most so many, numbered from 0 without gaps: floor(bins (mass to the left + p/2))."""
    middles = (np.cumsum(p_x) - 0.5 * p_x) / p_x.sum()
    bins_of = np.minimum((bins * middles).astype(np.int64), bins - 1)
    return np.unique(bins_of, return_inverse=True)[1].astype(np.int64)


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
    labels: IntArray = np.arange(job.letters)
    if job.letters > most:
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


def tree(support: Support, labels: IntArray, callback: Callback | None = None) -> MergePath:
    """The clusters of a map joined one pair after the other, each time the pair that loses least of I(Y;Z)."""
    return agglomerative_bottleneck(Joint.from_counts(cluster_table(support, labels)), callback=callback)


def _groups_a_cluster(job: Job) -> int:
    # Two groups a cluster, unless X has more than 5,000 letters; else those of `partitions`, 5: moves take most of the time then.
    # Words into 20: of 2,000 x 20 they keep .39915 bits with 2 and .39916 with 5, in 1.4 times the time; of 11,541 x 20 .37037 and .37055.
    return 2 if job.letters <= 5_000 else MERGING.groups_a_cluster
