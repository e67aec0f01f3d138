"""Growth: posteriors on at most rank(T) letters, never above where they began, with the values that are reported."""

import numpy as np
import pytest

import funnel_twin as twin
from infoplane.posterior.channel import Channel


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
