"""Is a cluster missing? The bottleneck's dual says so: D(u) <= 1 for every decoder u if and only if an encoder is optimal.

D(u) = sum_x p(x) k(x, u) / m(x) is climbed from letters that lie far apart (`certificate/bottleneck/mixture.py`); a peak above 1 is a
cluster that lowers the loss, however far it is from those there are. The split test of the accelerated solver sees only what is near.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ..certificate.bottleneck.mixture import Mixture, cover, peaks_above
from ..certificate.bottleneck.proof import gamma_of
from ..joint.support import Support
from ..problem import MarkovLagrangian
from ..solution import Run
from .base import losses_of
from .fixed_point.accelerated import Accelerated
from .stopping import Stopping

ROUNDS = 6
"""Most times that clusters are added."""

HIGH = 1e-7
"""Nats, gamma log D, that a peak must rise above 0."""

LARGEST_TABLE = 20_000_000
"""Letters x outcomes y x starts of a climb above which the dual is not asked: one step would take a second."""


def completed(support: Support, problem: MarkovLagrangian, run: Run, stopping: Stopping) -> Generator[None, None, Run]:
    """The run with clusters added while the dual says that some are missing and the cap on |Z| allows them."""
    gamma, letters = gamma_of(problem), len(support.p_x)
    most = min(stopping.most_clusters(letters), letters)
    loss = losses_of(support, problem, [run.encoder])[0]
    if support.sparse:
        return run
    starts = cover(support)
    for _ in range(ROUNDS):
        if len(run.encoder) >= most or starts.shape[0] * support.cells > LARGEST_TABLE:
            break
        mixture = Mixture.of(support, run.encoder)
        lam = mixture.multipliers(support, gamma)
        peaks, _ = peaks_above(support, gamma, lam, starts, HIGH)
        yield None
        peaks = peaks[: most - len(run.encoder)]
        if not len(peaks):
            break
        W = mixture.joined(peaks).encoder(support, gamma)
        batch = Accelerated().begin(support, [problem], np.ascontiguousarray(W)[None], stopping, False)
        while batch.advance(200):
            yield None
        better = batch.runs()[0]
        now = losses_of(support, problem, [better.encoder])[0]
        if now > loss - HIGH:
            break
        run, loss = better, now
    return run
