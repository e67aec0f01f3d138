import numpy as np
import pytest

import infoplane as ip
from infoplane.joint.support import Support
from infoplane.runtime.budget import Budget
from infoplane.solvers.shared import self_consistent
from infoplane.solvers.shared.self_consistent import Equations, Newton, newton_for

HEART, GAMMA = ip.datasets.heart(), 0.1
SUPPORT = Support(HEART)


def logs_of(W):
    return np.log(W @ SUPPORT.P)


def rough(clusters=5, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(clusters, 0.3), size=len(SUPPORT.p_x)).T + 1e-6


@pytest.fixture(scope="module")
def stationary():
    return Equations(SUPPORT, GAMMA).at(logs_of(ip.solve(HEART, ip.bottleneck(GAMMA), "annealing", tol=1e-12).encoder))


def test_a_point_has_the_loss_of_its_encoder():
    point = Equations(SUPPORT, GAMMA).at(logs_of(rough()))
    assert point.loss == pytest.approx(ip.bottleneck(GAMMA).value(HEART, point.W) + SUPPORT.h_y, abs=1e-12)


def test_products_are_the_derivative_of_the_map_and_self_adjoint(stationary):
    equations, rng = Equations(SUPPORT, GAMMA), np.random.default_rng(0)
    d, e = rng.normal(size=(2, *stationary.u.shape))
    d -= np.vdot(stationary.q, d)  # points are scaled to mass 1
    T_d, T_e = (equations.pulled(equations.scaled(one, stationary), stationary) for one in (d, e))
    ahead, behind = (equations.at(stationary.u + h * d) for h in (1e-5, -1e-5))
    np.testing.assert_allclose((ahead.u + ahead.f - behind.u - behind.f) / 2e-5, T_d, atol=1e-5 * np.abs(T_d).max())
    left = np.vdot(stationary.q * equations.scaled(e, stationary), T_d)
    assert left == pytest.approx(np.vdot(stationary.q * equations.scaled(d, stationary), T_e), rel=1e-9)


def test_newton_ends_where_the_accelerated_map_does_in_far_fewer_evaluations_than_the_plain_one():
    """From the encoder of a gamma 2% away; the encoder found is judged by the problem's own stationarity."""
    near = ip.solve(HEART, ip.bottleneck(0.98 * GAMMA), "annealing").encoder
    problem = ip.bottleneck(GAMMA)
    W, evaluations = Newton(SUPPORT).solved(GAMMA, near, 1e-10, 20_000, Budget())
    assert problem.stationarity(HEART, W) <= 1e-10
    again = ip.solve(HEART, problem, "accelerated", init=near)
    assert problem.value(HEART, W) <= again.loss + 1e-12
    plain = ip.solve(HEART, problem, "blahut-arimoto", init=near, tol=1e-10)
    assert 5 * evaluations < plain.iterations


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gamma", [0.02, 0.1, 0.4])
def test_no_step_raises_the_loss_however_far_the_start(monkeypatch, seed, gamma):
    losses = []
    advanced = self_consistent._advanced

    def watched(equations, now, d):
        there = advanced(equations, now, d)
        losses.append((now.loss, there.loss))
        return there

    monkeypatch.setattr(self_consistent, "_advanced", watched)
    W, _ = Newton(SUPPORT).solved(gamma, rough(8, seed), 1e-9, 20_000, Budget())
    assert losses
    assert all(after <= before + 1e-13 for before, after in losses)
    np.testing.assert_allclose(W.sum(axis=0), 1.0, atol=1e-12)


def test_clusters_that_are_halves_of_one_are_merged_and_empty_ones_left_out(stationary):
    W = np.vstack([stationary.W / 2, stationary.W / 2, np.full((1, stationary.W.shape[1]), 1e-20)])
    found, _ = Newton(SUPPORT).solved(GAMMA, W, 1e-9, 20_000, Budget())
    assert len(found) == len(stationary.W)


def test_only_large_dense_tables_are_worth_it():
    assert newton_for(SUPPORT) is None
    colours = newton_for(Support(ip.datasets.colours()))
    assert colours is not None
    assert colours.serves(np.ones((30, 330)))
    assert not colours.serves(np.ones((1, 330)))
