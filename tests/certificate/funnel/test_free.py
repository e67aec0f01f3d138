"""Searches for posteriors below the bound: what is true is proven, what is false is found, and wherever one stops its bound holds."""

import itertools

import numpy as np
import pytest

import infoplane as ip
from funnel_twin import channels
from funnel_twin import values as g
from infoplane.certificate.funnel.free import Pricing
from infoplane.joint.joint import Support
from infoplane.posterior.channel import Channel


def many_posteriors(n, rng, steps=40):
    """A grid on every edge and random points of every small face: obvious, and far from all of the simplex."""
    t = np.linspace(0.0, 1.0, steps + 1)
    blocks = [np.eye(n)]
    for i, j in itertools.combinations(range(n), 2):
        Q = np.zeros((n, steps + 1))
        Q[i], Q[j] = t, 1.0 - t
        blocks.append(Q)
    for size in range(3, min(n, 4) + 1):
        for face in itertools.combinations(range(n), size):
            Q = np.zeros((n, 60))
            Q[list(face)] = rng.dirichlet(np.full(size, 0.7), 60).T
            blocks.append(Q)
    return np.hstack(blocks)


@pytest.mark.parametrize("seed", range(30))
def test_pricing_proves_what_is_true_and_finds_what_is_false(seed):
    """With lambda shifted so that the lowest g on a fine net is 0, and then so that it is not."""
    T, rng = channels(seed)
    n = T.shape[1]
    beta = float(rng.choice([1.1, 1.6, 3.0, 9.0]))
    lam = -beta * rng.random(n)
    channel = Channel(T)
    net = many_posteriors(n, rng)
    net = np.hstack([net, channel.descend(lam, beta, net[:, rng.permutation(net.shape[1])[:400]])[0]])
    low = g(T, lam, beta, net).min()

    proof = Pricing(channel, lam + low, beta, -1e-2)
    while proof.advance(5000):
        pass
    if not proof.violating().shape[1]:
        assert -1e-2 <= proof.least() <= 1e-9
        assert proof.left == 0
    else:  # lower than the net, then: truly so
        assert g(T, lam + low, beta, proof.violating()).min() < -1e-3

    attack = Pricing(channel, lam + low + 0.1, beta, -1e-3)
    while attack.advance(5000):
        pass
    assert attack.least() <= -0.1 + 1e-9
    found = attack.violating()
    assert found.shape[1] >= 1
    np.testing.assert_allclose(found.sum(axis=0), 1.0, atol=1e-12)
    assert (g(T, lam + low + 0.1, beta, found) < -1e-4).all()


@pytest.mark.parametrize("seed", range(8))
def test_wherever_a_search_stops_its_bound_holds(seed):
    T, rng = channels(seed)
    n = T.shape[1]
    lam = -3.0 * rng.random(n)
    channel = Channel(T)
    low = g(T, lam, 3.0, many_posteriors(n, rng)).min()
    for cells in (1, 2, 3, 10, 50):
        search = Pricing(channel, lam + low, 3.0, -1e-4)
        search.advance(cells)
        assert search.cells <= 1 + cells  # the whole simplex, and pairs
        assert search.least() <= 1e-9


def test_letters_that_say_the_same_of_y_count_as_one():
    T = np.array([[0.7, 0.2, 0.7, 0.2], [0.3, 0.8, 0.3, 0.8]])
    channel = Channel(T)
    assert len(channel.T) == 2
    assert channel.rank == 2
    lam, letter = channel.gather(np.array([1.0, 2.0, 3.0, 0.5]))
    assert lam.tolist() == [3.0, 2.0]
    assert letter.tolist() == [2, 1]
    # An independent pair: every column the same up to rounding.
    flat = Channel(Support(ip.Joint.from_matrix(np.outer([0.3, 0.3, 0.4], [0.1, 0.7, 0.2]))).T)
    assert (len(flat.T), flat.rank) == (1, 1)


def test_pricing_wants_beta_above_one():
    with pytest.raises(ip.InvalidOptionError, match="beta > 1"):
        Pricing(Channel(np.eye(2)), np.zeros(2), 1.0, -0.1)
