"""What tests of branch and bound on boxes look at: the open boxes, and posteriors that they must hold."""

import numpy as np

from infoplane.certificate.bottleneck.mixture import climb, posterior
from infoplane.information import entr
from infoplane.kernels.bottleneck_proof.boxes import OPEN


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
