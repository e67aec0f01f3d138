"""gNID against its definition, written out, and against the distance of partitions."""

import math

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from infoplane.errors import InvalidEncoderError
from infoplane.systems.distance import gnid

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


def test_it_takes_what_efficiency_takes():
    labels = ["uvw"[at % 3] for at in range(16)]
    W = np.array([[float(word == z) for word in labels] for z in "uvw"])
    V = np.random.default_rng(3).dirichlet(np.ones(4), size=16).T
    expected = gnid(JOINT, W, V)
    assert 0.0 < expected < 1.0
    by_label = pd.Series(labels, index=list(JOINT.x_labels)).sample(frac=1.0, random_state=0)
    frame = pd.DataFrame(V.T, index=list(JOINT.x_labels)).iloc[::-1]
    for one in (labels, by_label, by_label.to_dict(), W):
        for other in (V, frame):
            assert gnid(JOINT, one, other) == pytest.approx(expected, abs=1e-12)
    assert gnid(JOINT, 7.0 * W, 7.0 * W[::-1], counts=True) == pytest.approx(0.0, abs=1e-12)
    assert gnid(JOINT, W.T, V.T, axes="xz") == pytest.approx(expected, abs=1e-12)
    solved = ip.solve(JOINT, ip.bottleneck(0.2), rng=0)
    assert gnid(JOINT, solved, solved.encoder_frame()) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InvalidEncoderError, match="system 'V'"):
        gnid(JOINT, W, labels[:3])


def test_an_array_that_may_be_turned_either_way_must_be_said():
    joint = ip.datasets.paper_uniform()
    turned = np.eye(3)[[1, 2, 0]]
    with pytest.raises(InvalidEncoderError, match='axes="zx"'):
        gnid(joint, turned, turned)
    assert gnid(joint, turned, turned, axes="zx") == pytest.approx(0.0, abs=1e-12)
    # Within efficiency all is known to be (|Z|, |X|).
    assert ip.efficiency(joint, [["b", "c", "a"]])["gnid"][0] < 1.0
