"""Hard partitions of the letters as answers: trivial ones, the best of a merge path, and all of them improved letter by letter.

Maps x -> z are the optima of the deterministic bottleneck, good releases for the funnel where |X| is large, and never worse than a
constant Z or Z = X, which some Lagrangians have as their best. They cost no iterations: a partition is a row of labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..certificate.merge_path import merge_path
from ..information import Array, IntArray, entr
from ..joint.grouping import grouped
from ..joint.support import Support
from ..kernels.moves import HardClusters, LetterRows, move_letters
from ..problem import MarkovLagrangian
from ..solution import Run
from ..status import Residuals, Status
from .stopping import Stopping

MERGE_WORK = 150_000_000
"""Logarithms that the first costs of a merge path may take, |X|^2 |Y| / 2: 3,800 letters of X by 20 of Y. Above, no path is walked."""

BOTH_WORK = 50_000_000
"""... and above which a bottleneck's path is walked by the Lagrangian only, whose partitions were measured to be better."""

MOVE_WORK = 300_000_000
"""Logarithms that the moves from one partition may take: some seconds."""

MOVE_PIECE = 5_000_000
"""... and those of one piece, after which a caller may look."""

SWEEPS = 30
"""Most times that every letter is looked at."""

SPARE = 8
"""Empty clusters beside those in use, and one more for each so many of these."""

LEAST_FALL = 1e-10
"""Nats that a sweep must gain to be followed by another."""


class Found(NamedTuple):
    """A partition: the cluster of every letter of positive mass, numbered from 0 without gaps; how it was found; its loss in nats."""

    labels: IntArray
    found_by: str
    loss: float

    @property
    def clusters(self) -> int:
        """|Z|."""
        return int(self.labels.max()) + 1


def letters_of(support: Support) -> LetterRows:
    """P by rows, without its zeros."""
    rows = support.rows if support.sparse else sparse.csr_array(support.P)
    return LetterRows(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(float), support.p_x)


def partition_loss(support: Support, problem: MarkovLagrangian, labels: IntArray) -> float:
    """L = rho_z H(Z) + rho_zy H(Z|Y) of a map x -> z."""
    q = _marginals(support, labels, int(labels.max()) + 1)
    h_zy = float(entr(q).sum()) - support.h_y
    return problem.rho_z * float(entr(q.sum(axis=1)).sum()) + problem.rho_zy * h_zy


def _marginals(support: Support, labels: IntArray, clusters: int) -> Array:
    """q(z, y)."""
    one = np.ones(len(labels))
    members = sparse.csr_array((one, (labels, np.arange(len(labels)))), shape=(clusters, len(labels)))
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
    clusters = int(labels.max()) + 1
    W = np.full((clusters, len(labels)), 0.01 / clusters)
    W[labels, np.arange(len(labels))] += 0.99
    return W


def labels_of(W: Array) -> IntArray:
    """Every letter in the cluster where an encoder has most of it."""
    return numbered(W.argmax(axis=0))


def moved(support: Support, problem: MarkovLagrangian, labels: IntArray, most: int) -> Iterator[IntArray | None]:
    """Letters moved one at a time, heaviest first, while that lowers L and `MOVE_WORK` lasts; None between pieces, the labels last."""
    letters = letters_of(support)
    order = np.argsort(-support.p_x, kind="stable")
    left = MOVE_WORK
    for _ in range(SWEEPS):
        there = _tables(support, labels, most)
        cost = len(there.mass) * (len(letters.masses) + len(labels))
        left -= cost
        if left < 0:
            break
        fall, room = 0.0, np.empty(len(there.mass))
        for piece in np.array_split(order, min(len(order), -(-cost // MOVE_PIECE))):
            fall += move_letters(letters, there, piece, problem.rho_z, problem.rho_zy, room)[1]
            yield None
        labels = numbered(there.labels)
        if fall < LEAST_FALL:
            break
    yield labels


def _tables(support: Support, labels: IntArray, most: int) -> HardClusters:
    """The tables of a partition, with some empty clusters to move to, if the cap allows them."""
    used = int(labels.max()) + 1
    q = np.zeros((len(support.p_y), min(most, len(labels), used + SPARE + used // SPARE)))
    q[:, :used] = _marginals(support, labels, used).T
    mass = q.sum(axis=0)
    size = np.bincount(labels, minlength=len(mass))
    return HardClusters(labels.copy(), size, mass, np.asarray(entr(mass)), q, np.asarray(entr(q)))


def partitions(
    support: Support, problem: MarkovLagrangian, most: int, encoders: Sequence[Array] = ()
) -> Iterator[Found | None]:
    """Every partition that is worth a look, with no more clusters than allowed; None between pieces of work."""
    letters = len(support.p_x)

    def one(labels: IntArray, found_by: str) -> Found:
        return Found(labels, found_by, partition_loss(support, problem, labels))

    begun = [one(np.zeros(letters, dtype=np.int64), "constant")]
    if letters <= most:
        begun.append(one(np.arange(letters), "identity"))
    if letters**2 * len(support.p_y) <= 2 * MERGE_WORK:
        brief = letters**2 * len(support.p_y) > 2 * BOTH_WORK
        for criterion in ("lagrangian",) if brief and problem.rho_zy > 0.0 else ("information", "lagrangian"):
            labels = _merged(support, problem, most, criterion)
            yield None
            if labels is not None:
                begun.append(one(labels, "merging"))
    elif letters > most or problem.rho_zy > 0.0:
        groups = min(most, letters)
        labels = grouped(support, groups) if problem.rho_zy > 0.0 else np.arange(letters) % groups
        begun.append(one(numbered(labels), "groups"))
    begun += [one(labels_of(W), "rounding") for W in encoders if len(W) <= most]
    yield from begun
    for start in begun:
        if start.clusters > 1:
            for labels in moved(support, problem, start.labels, most):
                yield None if labels is None else one(labels, "moves")


def _merged(support: Support, problem: MarkovLagrangian, most: int, criterion: str) -> IntArray | None:
    """The best partition of a merge path."""
    weights = (1.0 if problem.rho_zy >= 0.0 else -1.0, 0.0)
    if criterion == "lagrangian":
        weights = (problem.rho_zy, -(problem.rho_z + problem.rho_zy))
        if weights == (0.0, 0.0) or min(weights[0], 0.0) == weights[1] == 0.0:
            return None
    path = merge_path(support.joint, iyz_weight=weights[0], ixz_weight=weights[1])
    labels: IntArray = path.labels_at(path.best(problem, most))[support.x]
    return labels


def partition_run(support: Support, problem: MarkovLagrangian, found: Found, stopping: Stopping) -> Run:
    """A partition as a run."""
    return as_run(support, problem, encoder_of(found.labels), found.found_by, stopping)


def as_run(support: Support, problem: MarkovLagrangian, W: Array, found_by: str, stopping: Stopping) -> Run:
    """An encoder as a run that ended here; STATIONARY if it is."""
    residuals = Residuals(0.0, 0.0, problem.stationarity(support.joint, support.lift(W)))
    status = stopping.judge(residuals, Status.STALLED)
    return Run(encoder=W, status=status, iterations=0, residuals=residuals, found_by=found_by)
