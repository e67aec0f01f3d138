"""Deterministic encoders by greedy merging: the agglomerative bottleneck, and Merge-Two for the privacy funnel.

Begin with Z = X and, until one cluster is left, merge the two clusters that minimise

    a (fall of I(Y;Z)) + b (fall of I(X;Z)),      I(X;Z) = H(Z) since Z is a function of X,

where merging i and j costs, with p_i = p(z=i) and w = p_i / (p_i + p_j),

    fall of I(X;Z) = (p_i + p_j) h(w),  h the binary entropy
    fall of I(Y;Z) = (p_i + p_j) JS_w(p(y|i), p(y|j)),  JS the Jensen-Shannon divergence with weights w, 1 - w.

=====================================  =======  ========  ==========================================================
path                                   a        b         each merge is the one with
=====================================  =======  ========  ==========================================================
agglomerative_bottleneck               1        0         the smallest loss of relevance I(Y;Z)
agglomerative_bottleneck, gamma        1        -gamma    the largest decrease of gamma I(X;Z) - I(Y;Z)
merge_two                              -1       0         the largest decrease of leakage I(Y;Z)
merge_two, lagrangian, beta            -beta    1         the largest decrease of beta I(Y;Z) - I(X;Z)
=====================================  =======  ========  ==========================================================

The whole path is kept, from one cluster per letter of positive mass down to one cluster for all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..checks import check_callable, check_one_of, number, whole_number
from ..errors import InvalidOptionError
from ..information import Array, IntArray, Result
from ..joint.joint import Joint, Support, check_joint
from ..joint.tables import dense
from ..kernels import partitions as kernel
from ..problem import MarkovLagrangian, funnel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Callback = Callable[[int, int], object]

BLOCK = 64
"""Merges, or rows to begin with, between two calls of a callback: where a long run can show progress or be stopped."""


@dataclass(frozen=True, eq=False)
class MergePath(Result):
    """Every partition that a greedy merging passes through, with its place on the information plane; arrays are read-only.

    Attributes
    ----------
    merges : (n - 1, 2) array of int
        The clusters (i, j), i < j, merged at each step. A cluster is named by its smallest letter x: i stays, j goes.
    clusters : (n,) array of int
        Number of clusters: n, n - 1, ..., 1, where n is the number of letters of positive mass.
    ixz, iyz : (n,) arrays
        I(X;Z) = H(Z) and I(Y;Z) in nats, for each entry of ``clusters``.
    p_x : (|X|,) array
        The letters' masses.
    x_labels : tuple
        The letters' labels.

    Examples
    --------
    >>> import infoplane as ip
    >>> path = ip.agglomerative_bottleneck(ip.Joint.from_counts([[9, 1], [2, 8], [8, 2]]))
    >>> path.clusters.tolist(), path.labels_at(2).tolist()
    ([3, 2, 1], [0, 1, 0])
    """

    merges: IntArray
    clusters: IntArray
    ixz: Array
    iyz: Array
    p_x: Array
    x_labels: tuple[Hashable, ...] = field(repr=False)

    def labels_at(self, k: int) -> IntArray:
        """The cluster 0, ..., k - 1 of every letter x, numbered by smallest letter; -1 where p(x) = 0."""
        done = len(self.clusters) - self._check(k)
        root = np.arange(len(self.p_x), dtype=np.int64)
        root[self.merges[:done, 1]] = self.merges[:done, 0]
        # Every step leads to a smaller letter, and each jump doubles the steps taken: log2(n) jumps at most.
        while not np.array_equal(root[root], root):
            root = root[root]
        seen = self.p_x > 0
        labels = np.full(len(self.p_x), -1, dtype=np.int64)
        labels[seen] = np.unique(root[seen], return_inverse=True)[1]
        return labels

    def encoder_at(self, k: int) -> Array:
        """W[z, x] = 1 if x lies in cluster z, else 0, as a (k, |X|) array; an x of zero mass gets the column p(z)."""
        labels = self.labels_at(k)
        seen = labels >= 0
        encoder = np.zeros((k, len(labels)))
        encoder[labels[seen], np.flatnonzero(seen)] = 1.0
        p_z = encoder @ self.p_x
        encoder[:, ~seen] = (p_z / p_z.sum())[:, None]
        return encoder

    def losses(self, problem: MarkovLagrangian) -> Array:
        """L = rho_z H(Z) + rho_zy H(Z|Y) = (rho_z + rho_zy) I(X;Z) - rho_zy I(Y;Z) in nats, all along the path."""
        return (problem.rho_z + problem.rho_zy) * self.ixz - problem.rho_zy * self.iyz

    def best(self, problem: MarkovLagrangian, most: int | None = None) -> int:
        """The number of clusters, at most ``most``, with the lowest L along the path; the fewest, if several attain it."""
        first = 0 if most is None else max(len(self.clusters) - most, 0)
        losses = self.losses(problem)[first:]
        return int(self.clusters[first + np.flatnonzero(losses == losses.min())[-1]])

    def to_linkage(self) -> Array:
        """The path as SciPy's hierarchy functions take it (`scipy.cluster.hierarchy.linkage`): an (n - 1, 4) array.

        Step t joins the clusters numbered in its first two columns to the cluster n + t. Clusters 0 to n - 1 are the letters of positive
        mass, in their order. The third column is the I(Y;Z) that was lost by then, I(X;Y) - I(Y;Z) in nats, which never falls; the fourth
        is the number of letters in the new cluster.

        Examples
        --------
        >>> from scipy.cluster.hierarchy import fcluster
        >>> from infoplane import datasets
        >>> path = agglomerative_bottleneck(datasets.paper_uniform())
        >>> path.to_linkage().round(4).tolist()
        [[0.0, 2.0, 0.1023, 2.0], [1.0, 3.0, 0.4541, 3.0]]
        >>> fcluster(path.to_linkage(), 2, "maxclust").tolist()
        [1, 2, 1]
        """
        letters = np.flatnonzero(self.p_x > 0)
        n = len(letters)
        number = dict(zip(letters.tolist(), range(n), strict=True))
        size, rows = [1] * n, np.empty((n - 1, 4))
        lost = np.maximum.accumulate(self.iyz[0] - self.iyz[1:])  # rounding may not make a merge gain
        for t, (i, j) in enumerate(self.merges.tolist()):
            first, second = sorted((number[i], number.pop(j)))
            size.append(size[first] + size[second])
            rows[t] = first, second, max(lost[t], 0.0), size[-1]
            number[i] = n + t
        return rows

    def plot(self, ax: Axes | None = None, *, leaves: int = 60) -> Axes:
        """The dendrogram: letters by their labels, joined at the I(Y;Z) that is lost by then, in bits; see `infoplane.view.pictures`.

        Above so many ``leaves`` the last clusters of the path are the leaves, each called by its most frequent letter.
        """
        from ..view.pictures import plot_merges

        return plot_merges(self, ax, leaves=leaves)

    def _check(self, k: int) -> int:
        if not 1 <= k <= len(self.clusters):
            raise InvalidOptionError(
                f"the path has 1 to {len(self.clusters)} clusters (one per letter of positive mass); found k = {k!r}."
            )
        return k


def merge_path(
    joint: Joint,
    *,
    iyz_weight: float,
    ixz_weight: float = 0.0,
    memory_limit: int = 2**29,
    callback: Callback | None = None,
) -> MergePath:
    """Merge, n - 1 times, the pair that minimises iyz_weight (fall of I(Y;Z)) + ixz_weight (fall of I(X;Z)).

    Ties go to the pair (i, j), i < j, that comes first; letters of zero mass take no part. Every pair is evaluated
    once, then a merge evaluates only the pairs of the new cluster: O(n^2 |Y|) in all, plus at worst O(n^3) look-ups.
    Greedy descent of a `MarkovLagrangian` is ``iyz_weight=rho_zy, ixz_weight=-(rho_z + rho_zy)``.

    Parameters
    ----------
    joint
        p(x, y), dense or sparse; the clusters' p(z, y) are kept dense.
    iyz_weight, ixz_weight
        a and b above: finite, not both zero. A negative weight seeks the fall instead of avoiding it.
    memory_limit
        Bytes that the table of all n (n - 1) / 2 costs may take. Above it (by default 512 MiB, n > 11,585) costs are
        computed again when asked for: the merges are the same, the time on adverse data is not.
    callback
        Called as ``callback(merges done, merges in all)`` every 64 merges and at the end, and with 0 done while the
        first costs are computed; an exception that it raises ends the run.

    Examples
    --------
    >>> import numpy as np
    >>> from infoplane.joint import Joint
    >>> joint = Joint.from_matrix(np.array([[0.2, 0.1], [0.1, 0.2], [0.0, 0.0], [0.2, 0.2]]))
    >>> path = merge_path(joint, iyz_weight=1.0)
    >>> path.merges.tolist(), path.clusters.tolist()
    ([[0, 3], [0, 1]], [3, 2, 1])
    >>> path.labels_at(2)
    array([ 0,  1, -1,  0])
    """
    check_joint(joint)
    memory_limit = whole_number("memory_limit", memory_limit, least=0)
    if callback is not None:
        check_callable("callback", callback)
    a, b = (
        number(name, weight, "a finite number")
        for name, weight in (("iyz_weight", iyz_weight), ("ixz_weight", ixz_weight))
    )
    if a == b == 0:
        raise InvalidOptionError(
            f"iyz_weight and ixz_weight must not both be zero, found {iyz_weight!r} and {ixz_weight!r}."
        )
    # Only the ratio of the weights matters, and costs that cannot overflow can always be compared.
    scale = max(abs(a), abs(b))
    a, b = a / scale, b / scale
    letters = np.flatnonzero(joint.p_x > 0)
    n, total = len(letters), len(letters) - 1
    state = kernel.singletons(dense(joint.p_xy[letters]), remember=4 * n * (n - 1) <= memory_limit)

    for first in range(0, n, BLOCK):
        kernel.open_rows(state, a, b, first, min(first + BLOCK, n))
        if callback is not None:
            callback(0, total)
    pairs, falls = np.empty((total, 2), dtype=np.int64), np.empty((total, 2))
    for done in range(0, total, BLOCK):
        block = slice(done, min(done + BLOCK, total))
        kernel.merge(state, a, b, n - done, pairs[block], falls[block])
        if callback is not None:
            callback(block.stop, total)

    # Both informations vanish with one cluster; summed from there, no difference of large numbers is ever taken.
    iyz, ixz = np.cumsum(np.vstack([falls, np.zeros(2)])[::-1], axis=0)[::-1].T
    return MergePath(letters[pairs], np.arange(n, 0, -1), ixz, iyz, joint.p_x, joint.x_labels)


def agglomerative_bottleneck(
    joint: Joint, *, gamma: float = 0.0, memory_limit: int = 2**29, callback: Callback | None = None
) -> MergePath:
    """Merge, each time, the pair that minimises (p_i + p_j) JS(p(y|i), p(y|j)), the fall of I(Y;Z).

    With gamma > 0, the pair with the largest decrease (or smallest increase) of gamma I(X;Z) - I(Y;Z).

    References
    ----------
    N. Slonim, N. Tishby, "Agglomerative Information Bottleneck", NIPS 12, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from infoplane.joint import Joint
    >>> from infoplane.problem import deterministic_bottleneck
    >>> path = agglomerative_bottleneck(Joint.from_matrix(np.array([[0.3, 0.0], [0.1, 0.3], [0.2, 0.0], [0.1, 0.0]])))
    >>> path.merges.tolist()
    [[0, 2], [0, 3], [0, 1]]
    >>> path.iyz.round(4)  # nats; three letters that say the same of y are merged without loss
    array([0.3859, 0.3859, 0.3859, 0.    ])
    >>> path.best(deterministic_bottleneck(gamma=0.5))
    2
    """
    gamma = number("gamma", gamma, "a finite number, 0 or positive", least=0.0)
    return merge_path(joint, iyz_weight=1.0, ixz_weight=-gamma, memory_limit=memory_limit, callback=callback)


def merge_two(
    joint: Joint,
    *,
    criterion: Literal["leakage", "lagrangian"] = "leakage",
    beta: float | None = None,
    memory_limit: int = 2**29,
    callback: Callback | None = None,
) -> MergePath:
    """Merge, each time, the pair with the largest fall of leakage I(Y;Z): what remains leaks least.

    The authors take, among the merges that keep the utility I(X;Z) >= R, the one that lowers the leakage most; this is
    their path for R = 0. ``criterion="lagrangian"`` weighs utility at each merge instead: the pair with the largest
    decrease (or smallest increase) of beta I(Y;Z) - I(X;Z).

    References
    ----------
    A. Makhdoumi, S. Salamatian, N. Fawaz, M. Médard, "From the Information Bottleneck to the Privacy Funnel", ITW 2014,
    Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from infoplane.joint import Joint
    >>> path = merge_two(Joint.from_matrix(np.array([[0.25, 0.0], [0.0, 0.25], [0.2, 0.05], [0.05, 0.2]])))
    >>> path.merges.tolist()
    [[0, 1], [2, 3], [0, 2]]
    >>> path.iyz.round(4)  # nats; two clusters still tell half of H(X), and nothing of y
    array([0.4429, 0.0964, 0.    , 0.    ])
    """
    check_one_of("criterion", criterion, ("leakage", "lagrangian"))
    if criterion == "leakage" and beta is None:
        weights = (-1.0, 0.0)
    elif criterion == "lagrangian" and beta is not None:
        weights = (funnel(beta).rho_zy, 1.0)
    else:
        raise InvalidOptionError(
            'criterion must be "leakage", without a beta, or "lagrangian", with a beta > 0; '
            f"found criterion = {criterion!r} and beta = {beta!r}."
        )
    return merge_path(joint, iyz_weight=weights[0], ixz_weight=weights[1], memory_limit=memory_limit, callback=callback)


def path_for(joint: Joint, problem: MarkovLagrangian, criterion: str, callback: Callback | None = None) -> MergePath:
    """The path that serves a problem: the ``"lagrangian"`` itself, or the classical one, Merge-Two's where H(Z|Y) weighs less than 0."""
    a, b = (1.0 if problem.rho_zy >= 0.0 else -1.0), 0.0
    if criterion == "lagrangian":
        a, b = problem.rho_zy, -(problem.rho_z + problem.rho_zy)
    return merge_path(joint, iyz_weight=a, ixz_weight=b, callback=callback)


def first_columns(support: Support, callback: Callback | None = None) -> Array:
    """The posteriors of all clusters on Merge-Two's path, a column each; none if there are many letters."""
    n = len(support.p_x)
    clusters = dict(zip(np.flatnonzero(support.x), np.eye(n), strict=True))
    columns = []
    # Up to 2,000 letters the clusters of Merge-Two's path are among them.
    if n <= 2000:
        for i, j in merge_two(support.joint, callback=callback).merges:
            clusters[i] = clusters[i] + clusters.pop(j)
            columns.append(clusters[i] * support.p_x)
    return np.array(columns).reshape(-1, n).T
