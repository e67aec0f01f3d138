import itertools

import numpy as np
import pytest

from funnel_twin import channels
from infoplane.posterior.channel import Channel


@pytest.mark.parametrize("seed", range(10))
def test_descent_reaches_a_local_minimum_and_never_climbs(seed):
    T, rng = channels(seed)
    channel, n = Channel(T), T.shape[1]
    beta = float(rng.uniform(1.2, 8.0))
    lam = -beta * rng.random(n)

    def g(q):
        u = T @ q
        return -sum(v * np.log(v) for v in q if v > 0) + beta * sum(v * np.log(v) for v in u if v > 0) - lam @ q

    starts = rng.dirichlet(np.full(n, 0.5), 12).T
    ends, values = channel.descend(lam, beta, starts)
    np.testing.assert_allclose(ends.sum(axis=0), 1.0, atol=1e-12)
    for start, end, value in zip(starts.T, ends.T, values, strict=True):
        assert value == pytest.approx(g(end), abs=1e-10)
        assert value <= g(start) + 1e-12
        # No small move between two letters in use goes further down.
        for i, j in itertools.permutations(np.flatnonzero(end > 1e-6), 2):
            moved = end.copy()
            moved[i] -= 1e-7
            moved[j] += 1e-7
            assert g(moved) >= value - 1e-9
