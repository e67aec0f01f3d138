import numpy as np
import pytest

import infoplane as ip
from infoplane.joint.joint import Support
from infoplane.solvers import root_tracking
from infoplane.solvers.root_tracking import Root

JOINT, HEART = ip.datasets.paper_nonuniform(), ip.datasets.heart()


def logs(beta):
    """Log q(z, y) of the optimum, its clusters in the order of their decoders."""
    found = ip.solve(JOINT, ip.bottleneck(1.0 / beta), "accelerated", rng=0, tol=1e-13, init=START)
    q = found.encoder @ JOINT.p_xy
    return np.log(q[np.argsort(q[:, 0] / q.sum(axis=1))])


START = np.array([[0.9, 0.05, 0.1], [0.1, 0.95, 0.9]])


def test_the_optimum_moves_as_the_equation_says():
    """Against the difference of two optima, solved by themselves: two clusters at gamma = 0.4, far from every bifurcation."""
    beta, little = 2.5, 1e-4
    found = ip.solve(JOINT, ip.bottleneck(1.0 / beta), "accelerated", rng=0, tol=1e-13, init=START)
    root = Root(Support(JOINT), found.encoder, beta)
    velocity, _ = root.velocity()
    order = np.argsort(root.decoder[:, 0])
    apart = (logs(beta + little) - logs(beta - little)) / (2.0 * little)
    assert np.abs(apart).max() > 0.1
    np.testing.assert_allclose(velocity[order], apart, atol=2e-3 * np.abs(apart).max())


@pytest.mark.parametrize("joint", [JOINT, HEART])
def test_the_certified_optimum_along_the_curve(joint):
    """Transitions included: its clusters fall from |X| to 1 on the way."""
    found = ip.sweep(joint, ip.bottleneck, [0.7, 0.1, 0.2, 0.4], ip.RootTracking())
    assert [run.parameter for run in found.runs] == [0.7, 0.1, 0.2, 0.4]
    for run in found.runs:
        best = ip.solve(joint, run.problem, certify=True, rng=0)
        assert run.loss <= best.lower_bound + 2e-6
        assert run.clusters == best.clusters
        assert run.converged


def test_the_equation_makes_the_way(monkeypatch):
    """At gamma = 0.2 no cluster has died yet: the map is iterated at the beginning and at the end only."""
    mapped, iterate = [], root_tracking._mapped
    monkeypatch.setattr(root_tracking, "_mapped", lambda job, W: mapped.append(W) or iterate(job, W))
    errors = []
    for step in (0.04, 0.01):
        mapped.clear()
        found = ip.solve(JOINT, ip.bottleneck(0.2), ip.RootTracking(stride=step))
        assert len(mapped) == 2
        errors.append(np.abs(mapped[1] - found.encoder).max())
    assert errors[0] < 0.05
    # Euler's error is of order one; the evaluation of the map after each step takes more of it away.
    assert errors[1] < errors[0] / 3.0


def test_a_jump_of_the_optimum_is_not_seen():
    """Erasures, I(Y;Z) = 0.6 I(X;Z) for every Z: above gamma = 0.6 a constant is better, but the branch Z = X stays stationary."""
    joint = ip.Joint.from_matrix(np.column_stack([0.6 * np.eye(2) / 2, [0.2, 0.2]]))
    below, above = (ip.solve(joint, ip.bottleneck(gamma), ip.RootTracking()) for gamma in (0.59, 0.61))
    assert below.loss == pytest.approx(-0.01 * np.log(2), abs=1e-9)
    assert above.converged
    assert above.loss == pytest.approx(0.01 * np.log(2), abs=1e-9)


def test_only_bottlenecks_and_sensible_steps():
    with pytest.raises(ip.UnsupportedProblemError, match=r"root-tracking follows the bottleneck.*found rho"):
        ip.solve(JOINT, ip.funnel(2.0), "root-tracking")
    with pytest.raises(ip.InvalidOptionError, match="stride must be positive"):
        ip.RootTracking(stride=0.0)


@pytest.mark.parametrize("gamma", [1.5, 20.0])
def test_a_bottleneck_beyond_gamma_1_is_trivial_however_far_beyond(gamma):
    """At 20 even the beginning of the path, 8 times below, lies above 1."""
    found = ip.solve(JOINT, ip.MarkovLagrangian(gamma - 1.0, -gamma, 1.0), "root-tracking")
    assert found.converged
    assert found.loss == pytest.approx(0.0, abs=1e-12)
