"""Where a constant Z stops being optimal, and where clusters appear: judged by certificates on both sides."""

import numpy as np
import pytest
from hypothesis import given, settings

import infoplane as ip
import verify
from infoplane.frontier.transitions import critical_gamma, onset_gamma, transitions
from strategies import joints


def dense(joint):
    return np.asarray(joint.p_xy)


def constant(joint):
    return np.ones((1, joint.shape[0]))


@settings(max_examples=50, deadline=None)
@given(joints())
def test_the_critical_gamma_is_the_second_variation(joint):
    """Second differences of the loss along every direction of a small deviation from a constant Z."""
    found = critical_gamma(joint)
    seen_x, seen_y = joint.support()
    P = dense(joint)[np.ix_(seen_x, seen_y)]
    values = np.linalg.svd(P / np.sqrt(np.outer(P.sum(axis=1), P.sum(axis=0))), compute_uv=False)
    expected = values[1] ** 2 if len(values) > 1 else 0.0
    assert found == pytest.approx(expected, abs=1e-12)
    assert 0.0 <= found <= 1.0


@pytest.mark.parametrize("make", [ip.datasets.paper_uniform, ip.datasets.paper_nonuniform, ip.datasets.heart])
def test_a_constant_is_a_local_minimum_above_the_critical_gamma_and_none_below(make):
    joint = make()
    P = dense(joint)
    critical = critical_gamma(joint)
    B = P / np.sqrt(np.outer(joint.p_x, joint.p_y))
    d = np.sqrt(joint.p_x) * np.linalg.svd(B)[0][:, 1]  # the direction that gains most
    rng = np.random.default_rng(0)
    for e in (1e-3, 1e-4):
        W = np.array([0.5 + e * d / joint.p_x, 0.5 - e * d / joint.p_x])
        assert verify.lagrangian(P, W, ip.bottleneck(critical * 0.99).rho) < -1e-3 * e**2
        for direction in (d, *rng.normal(size=(10, len(d)))):
            W = np.array([0.5 + e * direction / joint.p_x, 0.5 - e * direction / joint.p_x])
            if W.min() >= 0:
                assert verify.lagrangian(P, W, ip.bottleneck(critical * 1.01).rho) > 0.0


@pytest.mark.parametrize("make", [ip.datasets.paper_uniform, ip.datasets.paper_nonuniform, ip.datasets.heart])
def test_certificates_on_both_sides_of_the_onset(make):
    """A constant Z is certified just above the onset and refuted just below; the second variation alone would put it too low."""
    joint = make()
    critical, onset = critical_gamma(joint), onset_gamma(joint)
    assert critical <= onset <= 1.0
    above = ip.certify(joint, ip.bottleneck(min(onset * 1.001, 1.0)), constant(joint), tol=1e-9)
    below = ip.certify(joint, ip.bottleneck(onset * 0.98), constant(joint), tol=1e-9)
    assert above.certified
    assert not below.certified
    assert below.posterior is not None
    # Not a matter of tolerance: some encoder is strictly better there.
    better = ip.solve(joint, ip.bottleneck(onset * 0.98), certify=1e-9)
    assert verify.lagrangian(dense(joint), better.encoder, better.problem.rho) < -1e-8
    if make is ip.datasets.heart:
        assert onset > 1.3 * critical


def test_ends_of_the_onset():
    assert onset_gamma(ip.Joint.from_matrix(np.outer([0.6, 0.4], [0.5, 0.3, 0.2]))) == pytest.approx(0.0, abs=1e-12)
    assert onset_gamma(ip.Joint.from_matrix(np.diag([0.5, 0.3, 0.2]))) == pytest.approx(1.0, abs=1e-12)
    # A binary symmetric channel with uniform input: both constants are (1 - 2e)^2.
    e = 0.1
    joint = ip.Joint.from_matrix([[0.5 * (1 - e), 0.5 * e], [0.5 * e, 0.5 * (1 - e)]])
    assert critical_gamma(joint) == pytest.approx(0.64, abs=1e-12)
    assert onset_gamma(joint) == pytest.approx(0.64, rel=2e-6)


def test_transitions_of_the_papers_data():
    joint = ip.datasets.paper_uniform()
    found = transitions(joint, 0.1, 1.0, points=9)
    assert [(t.clusters_below, t.clusters_above) for t in found] == [(3, 2), (2, 1)]
    for t in found:
        assert t.low < t.gamma < t.high <= t.low * 1.001
        assert t.below.ixz >= t.above.ixz >= -1e-12
        assert t.below.iyz >= t.above.iyz >= -1e-12
        assert "certified" in t.found
        assert "clusters below" in str(t)
    assert "second variation" in found[-1].found
    assert found[-1].low <= critical_gamma(joint) * 1.001
    # Below and above each of them the optimum is certified afresh, and has so many clusters.
    for t in found:
        for gamma, clusters in ((t.low * 0.98, t.clusters_below), (t.high * 1.02, t.clusters_above)):
            assert ip.solve(joint, ip.bottleneck(gamma), certify=1e-9).clusters == clusters


def test_ranges_are_checked():
    with pytest.raises(ip.InvalidOptionError, match="low"):
        transitions(ip.datasets.paper_uniform(), 0.5, 0.4)
    for points in (1, 100_001, 10**9):
        with pytest.raises(ip.InvalidOptionError, match="from 2 to 100,000 points"):
            transitions(ip.datasets.paper_uniform(), points=points)


def test_more_points_than_anybody_can_wait_for_are_refused():
    with pytest.raises(ip.InvalidOptionError, match=r"expected from 2 to 100,000 points, .* found 1,000,000,000,000"):
        ip.transitions(ip.datasets.paper_uniform(), points=10**12)
