import itertools

import numpy as np
import pytest

import funnel_twin as twin
from funnel_twin import channels
from infoplane.posterior.programme import Channel


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


@pytest.mark.parametrize("seed", range(10))
def test_growth_never_climbs_and_tells_the_value(seed):
    T, rng = twin.channels(seed, largest=12)
    n = T.shape[1]
    channel, beta = Channel(T), float(rng.choice([1.2, 3.0, 20.0]))
    lam = -beta * rng.random(n)
    used = twin.sparse_posteriors(n, channel.rank, rng, 6)
    seeds = channel.seeds(lam, used)
    first = twin.values(channel.T.T, channel.gather(lam)[0], beta, seeds.T)
    Q, values = channel.grow(lam, beta, seeds.copy())
    np.testing.assert_allclose(Q.sum(axis=0), 1.0, atol=1e-12)
    assert ((Q > 0.0).sum(axis=0) <= max(channel.rank, (seeds > 0.0).sum(axis=1).max())).all()
    np.testing.assert_allclose(twin.values(T, lam, beta, Q), values, atol=1e-10 * (1.0 + beta))
    assert values.min() <= first.min() + 1e-12
    # The single letters are seeds, and so are columns in use less a letter.
    assert (seeds[: len(channel.T)] == np.eye(len(channel.T))).all()
    assert len(seeds) >= len(channel.T)


def test_growth_adds_a_letter_that_descent_cannot():
    """Two letters whose mixture hides y: no small step from either leads there."""
    T = np.array([[0.9, 0.1], [0.1, 0.9]])
    channel, lam = Channel(T), np.zeros(2)
    _, alone = channel.descend(lam, 3.0, np.eye(2))
    _, grown = channel.grow(lam, 3.0, np.eye(2))
    assert grown.min() < alone.min() - 0.1
