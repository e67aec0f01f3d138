"""gNID against its definition, written out, and against the distance of partitions."""

import math

import numpy as np
import pytest

import infoplane as ip
from infoplane.errors import InvalidEncoderError
from infoplane.nid import gnid

JOINT = ip.datasets.heart()


def shared(p_x, W, V):
    p = [[math.fsum(p_x * W[w] * V[v]) for v in range(len(V))] for w in range(len(W))]
    rows, columns = [math.fsum(r) for r in p], [math.fsum(c) for c in zip(*p, strict=True)]
    return math.fsum(
        p[w][v] * math.log(p[w][v] / rows[w] / columns[v])
        for w in range(len(W))
        for v in range(len(V))
        if p[w][v] > 0.0
    )


def test_the_definition():
    rng = np.random.default_rng(0)
    for _ in range(10):
        W, V = (rng.dirichlet(np.ones(k), size=16).T for k in rng.integers(2, 6, 2))
        p = JOINT.p_x
        expected = 1.0 - shared(p, W, V) / max(shared(p, W, W), shared(p, V, V))
        assert gnid(JOINT, W, V) == pytest.approx(expected, abs=1e-12)
        assert gnid(JOINT, W, V) == pytest.approx(gnid(JOINT, V, W), abs=1e-12)


def test_names_of_z_do_not_matter_and_hard_maps_are_partitions():
    labels = np.arange(16) // 4
    W = np.eye(4)[:, labels]
    assert gnid(JOINT, W, W[[3, 1, 0, 2]]) == pytest.approx(0.0, abs=1e-12)
    coarse = np.eye(2)[:, labels // 2]
    h = [-math.fsum(q * math.log(q) for q in V @ JOINT.p_x) for V in (W, coarse)]
    assert gnid(JOINT, W, coarse) == pytest.approx(1.0 - h[1] / h[0], abs=1e-12)


def test_two_that_say_nothing_are_alike():
    assert gnid(JOINT, np.ones((1, 16)), np.full((2, 16), 0.5)) == 0.0
    assert gnid(JOINT, np.ones((1, 16)), np.eye(16)) == pytest.approx(1.0, abs=1e-12)


def test_encoders_are_checked():
    with pytest.raises(InvalidEncoderError):
        gnid(JOINT, np.ones((2, 16)), np.ones((1, 16)))
