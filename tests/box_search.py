"""What tests of branch and bound on boxes look at: the open boxes, and posteriors that they must hold."""

import numpy as np

from infoplane.certificate.bottleneck import OpenBoxes
from infoplane.information import entr
from infoplane.kernels.bottleneck_proof.envelope import OPEN
from infoplane.posterior.form import climb, posterior


def open_boxes(partition):
    places = partition.boxes.heap[: partition.boxes.counts[OPEN]]
    return partition.boxes.low[places], partition.boxes.high[places], partition.boxes.bounds[places]


def posteriors(support, gamma, lam, rng, count):
    """Random q of all shapes, corners and edges of the simplex, and what local search makes of their Tq."""
    n_x = support.p_x.size
    some = np.vstack([rng.dirichlet(np.full(n_x, a), size=count) for a in (0.05, 0.3, 1.0, 5.0)])
    corners = np.eye(n_x)
    pairs = 0.5 * (corners[rng.integers(0, n_x, count)] + corners[rng.integers(0, n_x, count)])
    starts = np.vstack([some[:count], corners]) @ support.T.T
    peaks, _ = climb(support, gamma, lam, starts)
    return np.vstack(
        [some, corners, pairs, *(posterior(support, gamma, lam, u)[None] for u in np.vstack([peaks, starts]))]
    )


def values(support, gamma, lam, q):
    """f(q) - lambda.q of each row."""
    return entr(q @ support.T.T).sum(axis=1) - gamma * entr(q).sum(axis=1) - q @ lam


def watched(search, given, T, target, found, u):
    """Search with what is given, a few cuts at a time: what is proven only rises, and no posterior below the target, Tq = u, leaves the
    open boxes; how many were looked at.
    """
    partition, least, looked_at = OpenBoxes(T), -np.inf, 0
    for cuts in (0, 1, 3, 10, 40):
        partition.grow(cuts + 1)
        search(*given, partition.boxes, target, cuts)
        low, high, bounds = open_boxes(partition)
        assert least <= partition.least <= target
        least = partition.least
        for k in np.flatnonzero(found < target - 1e-12):
            holds = ((low <= u[k] + 1e-14) & (u[k] <= high + 1e-14)).all(axis=1)
            assert holds.any(), "a posterior below the target that no open box holds"
            assert found[k] >= bounds[holds].min() - 1e-12
            looked_at += 1
    return looked_at
