"""The funnel's branch and bound: every bound holds, in exact arithmetic too, and nothing is missed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import verify
from infoplane.certificate.funnel import gap
from infoplane.certificate.funnel.gap import coarser, simple_bound
from infoplane.joint.joint import Support
from infoplane.posterior.form import scaled
from strategies import joints


def test_an_optimal_encoder_is_certified_and_a_spoilt_one_is_not():
    joint, problem = ip.datasets.paper_uniform(), ip.funnel(2.5)
    certificate = ip.certify(joint, problem, np.eye(3))
    assert not certificate.certified
    assert certificate.posterior is not None
    better = ip.certify(joint, problem, np.eye(3), tol=1e-8)
    assert better.lower_bound <= certificate.loss
    best = better.lower_bound
    rng = np.random.default_rng(0)
    for W in (np.ones((1, 3)), np.eye(3), rng.dirichlet(np.ones(3), 3).T):
        one = ip.certify(joint, problem, W, tol=1e-7)
        assert one.gap == one.loss - one.lower_bound
        assert one.loss == pytest.approx(verify.lagrangian(joint.p_xy, W, problem.rho), abs=1e-12)
        assert abs(one.lower_bound - best) <= 1e-7
        assert not one.certified
        assert one.posterior.sum() == pytest.approx(1.0)
        assert one.left == 0


@pytest.mark.parametrize("start", ["merging", "trivial", "identity", "random"])
def test_the_reported_posterior_lowers_the_loss(start):
    """A new cluster with a little mass and that posterior, taken from the others in proportion to p(z|x)."""
    joint, problem = ip.datasets.heart(), ip.funnel(3.5)
    W = {
        "merging": lambda: ip.solve(joint, problem, "merging").encoder,
        "trivial": lambda: np.ones((1, 16)),
        "identity": lambda: np.eye(16),
        "random": lambda: np.random.default_rng(0).dirichlet(np.ones(5), 16).T,
    }[start]()
    certificate = ip.certify(joint, problem, W, tol=1e-5)
    assert not certificate.certified
    moved = 1e-4 * certificate.posterior / joint.p_x
    spoilt = np.vstack([W * (1.0 - moved), moved])
    assert verify.lagrangian(joint.p_xy, spoilt, problem.rho) < verify.lagrangian(joint.p_xy, W, problem.rho) - 1e-7


@pytest.mark.parametrize("scale", [1.0, 0.01, 40.0])
def test_any_positive_multiple_is_the_same_problem(scale):
    joint = ip.datasets.paper_nonuniform()
    rho = tuple(scale * r for r in ip.funnel(3.0).rho)
    W = ip.solve(joint, ip.funnel(3.0), "merging").encoder
    one = ip.certify(joint, ip.funnel(3.0), W, tol=1e-7)
    many = ip.certify(joint, ip.MarkovLagrangian(*rho), W, tol=1e-7 * scale)
    assert many.lower_bound == pytest.approx(scale * one.lower_bound, abs=2e-7 * scale)


def test_other_problems_are_refused():
    for problem in (ip.bottleneck(0.3), ip.deterministic_bottleneck(0.3), ip.MarkovLagrangian(1.0, 1.0, -1.0)):
        with pytest.raises(ip.UnsupportedProblemError, match="rho"):
            scaled(problem)


def test_limits_are_honoured_and_the_bound_still_holds():
    joint, problem = ip.datasets.heart(), ip.funnel(10.0)
    full = ip.certify(joint, problem, np.eye(16), tol=1e-7)
    for max_cells in (1, 30, 1000):
        short = ip.certify(joint, problem, np.eye(16), max_cells=max_cells)
        assert short.cells <= max_cells
        assert short.lower_bound <= full.lower_bound + 1e-7
        assert np.isfinite(short.lower_bound)
        assert not short.certified


@settings(max_examples=60, deadline=None)
@given(joint=joints(max_x=5, max_y=4), beta=st.floats(0.2, 20.0), data=st.data())
def test_simple_and_coarse_bounds_hold(joint, beta, data):
    support = Support(joint)
    n = joint.shape[0]
    W = np.array(data.draw(st.lists(st.floats(0.01, 1.0), min_size=3 * n, max_size=3 * n))).reshape(3, n)
    W /= W.sum(axis=0)
    P = np.asarray(joint.p_xy)
    for encoder in (W, np.eye(n), np.ones((1, n))):
        ixz, iyz = verify.mutual_informations(P, encoder)
        assert simple_bound(support, beta) <= beta * iyz - ixz
        letters = data.draw(st.integers(1, int((joint.p_y > 0).sum())))
        merged = coarser(joint, letters)
        assert merged.shape == (n, letters)
        assert verify.mutual_informations(np.asarray(merged.p_xy), encoder)[1] <= iyz + 1e-12


def test_a_coarser_y_bounds_a_problem_that_is_too_large(monkeypatch):
    """Where not even the first tolerance is proven within three quarters of the limits, the last quarter goes to a coarser Y."""
    rng = np.random.default_rng(3)
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(7, 0.15), 14) * rng.dirichlet(np.ones(14))[:, None])
    problem = ip.funnel(3.0)
    coarse = []
    monkeypatch.setattr(gap, "coarser", lambda *arguments: coarse.append(arguments) or coarser(*arguments))
    certificate = ip.certify(joint, problem, np.eye(14), max_cells=12)
    assert len(coarse) == 1
    assert certificate.left > 0
    assert certificate.cells <= 12
    assert simple_bound(Support(joint), 3.0) <= certificate.lower_bound <= ip.solve(joint, problem, "merging").loss
    # It is certified when there is room.
    full = ip.certify(joint, problem, ip.solve(joint, problem, "columns").encoder)
    assert full.certified
    assert len(coarse) == 1


FAINT = (
    (1.36e-3, 5.50e-2, 2.93e-3, 0.0, 1e-9),
    (7.32e-2, 9.34e-2, 4.39e-3, 0.0, 0.0),
    (8.03e-2, 1.66e-4, 1.20e-6, 1e-30, 1e-30),
    (5.87e-3, 1.78e-2, 1.67e-2, 0.0, 0.0),
    (2.65e-2, 3.32e-2, 2.51e-5, 0.0, 0.0),
    (9.96e-2, 5.92e-2, 2.95e-2, 0.0, 0.0),
    (3.54e-5, 1.24e-5, 1.03e-1, 0.0, 0.0),
    (9.35e-2, 1.05e-11, 4.68e-4, 0.0, 0.0),
    (2.09e-2, 3.30e-4, 1.62e-2, 0.0, 0.0),
    (6.97e-2, 8.01e-3, 8.06e-3, 0.0, 0.0),
    (3.77e-2, 3.62e-3, 1.85e-2, 0.0, 0.0),
    (1.96e-2, 1.26e-3, 8.63e-6, 0.0, 0.0),
)
"""A noisy table with faint cells: here a move of the relaxation often has no length, and the bound is computed a second time."""


def test_a_bound_on_a_table_with_faint_cells_is_below_what_another_solver_finds():
    joint, problem = ip.Joint.from_counts(FAINT), ip.funnel(3.0)
    certified = ip.solve(joint, problem, certify=True)
    assert certified.status is ip.Status.CERTIFIED
    assert certified.lower_bound <= ip.solve(joint, problem, "pooling", starts=4, rng=1).loss
