"""Draws from p(z|x): against the cumulative sums themselves, their shares, and the hash written out."""

import hashlib

import numpy as np
import pytest

import infoplane as ip
from infoplane.encoder.applying import Draw, keyed_uniforms, uniforms

KEY = bytes(range(32))


@pytest.mark.parametrize("seed", range(5))
def test_a_draw_is_the_first_cluster_whose_cumulative_mass_exceeds_u(seed):
    rng = np.random.default_rng(seed)
    W = rng.dirichlet(np.full(int(rng.integers(1, 9)), 0.3), size=6).T
    W[W < 0.05] = 0.0
    W /= W.sum(axis=0)
    x, u = rng.integers(6, size=500), rng.random(500)
    u[:6], x[:6] = np.nextafter(1.0, 0.0), np.arange(6)
    expected = [next((k for k in range(len(W)) if W[: k + 1, a].sum() > b), None) for a, b in zip(x, u, strict=True)]
    found = Draw(W)(x, u)
    assert all(z == e for z, e in zip(found, expected, strict=True) if e is not None)
    assert (W[found, x] > 0.0).all()  # also where rounding leaves the sum below u


def test_shares_are_the_encoder():
    W = np.array([[0.2, 1.0], [0.5, 0.0], [0.3, 0.0]])
    z = Draw(W)(np.repeat([0, 1], 50_000), np.random.default_rng(0).random(100_000))
    shares = np.bincount(z[:50_000], minlength=3) / 50_000
    np.testing.assert_allclose(shares, W[:, 0], atol=5 * 0.5 / np.sqrt(50_000))
    assert (z[50_000:] == 0).all()


def test_keyed_draws_repeat_and_follow_the_hash():
    u = keyed_uniforms(["a", 17, "a"], KEY)
    digest = hashlib.blake2b(b"17", key=KEY, digest_size=8).digest()
    assert u[1] == (int.from_bytes(digest, "little") >> 11) / 2**53
    assert u[0] == u[2] != u[1]
    assert keyed_uniforms(["a"], bytes(reversed(KEY)))[0] != u[0]
    many = keyed_uniforms(range(20_000), KEY)
    assert abs(many.mean() - 0.5) < 5 * np.sqrt(1 / 12 / 20_000)
    assert many.min() >= 0.0
    assert many.max() < 1.0


@pytest.mark.parametrize("key", [b"short", "x" * 32, None, bytes(65)])
def test_a_key_must_be_a_secret(key):
    with pytest.raises(ip.InvalidOptionError, match="16 to 64 random bytes"):
        keyed_uniforms(["a"], key)


def test_ids_and_key_go_together():
    rng = np.random.default_rng(0)
    with pytest.raises(ip.InvalidOptionError, match="go together"):
        uniforms(2, rng, ["a", "b"], None)
    with pytest.raises(ip.InvalidOptionError, match="one entry for each of the 3 records; found 2"):
        uniforms(3, rng, ["a", "b"], KEY)
