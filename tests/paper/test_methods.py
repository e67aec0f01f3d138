"""The paper's way to run a solver, against its equations and its stopping rule."""

from dataclasses import replace

import numpy as np
import pytest

import infoplane as ip
from infoplane_paper.methods import Method
from infoplane_paper.pieces import Sweep
from infoplane_paper.points import Points


def back_tracked(f, gradient, u, xi):
    """One mean-subtracted gradient step, quartered from xi on until the entries lie in [0, 1] and Armijo's condition holds.

    As the published scripts do, 1e-9 is added to every entry, and the columns are normalised.
    """
    g = gradient(u)
    g = g - g.mean(axis=0)
    while (u - xi * g).min() < 0.0 or (u - xi * g).max() > 1.0:
        xi /= 4
    while f(u - xi * g) > f(u) - 1e-4 * xi * (g**2).sum():
        xi /= 4
    new = u - xi * g + 1e-9
    return new / new.sum(axis=0)


def solver_one_by_hand(P, gamma, W, c, alpha, xi, iterations):
    """ib-1 with the paper's steps, written from its equations: p = p(z), q = W."""
    p_x, p_y = P.sum(axis=1), P.sum(axis=0)
    K, T = P / p_y, (P / p_x[:, None]).T

    def step_p(p, W, nu):
        return back_tracked(
            lambda p: (1 - gamma) * (p * np.log(p)).sum() + nu @ p + c / 2 * ((p - W @ p_x) ** 2).sum(),
            lambda p: (1 - gamma) * (np.log(p) + 1) + nu + c * (p - W @ p_x),
            p,
            xi,
        )

    def value(p, W, nu):
        entropies = gamma * (p_x * W * np.log(W)).sum() - (p_y * (W @ K) * np.log(W @ K)).sum()
        return entropies - nu @ (W @ p_x) + c / 2 * ((p - W @ p_x) ** 2).sum()

    def slope(p, W, nu):
        return p_x * (gamma * (np.log(W) + 1) - (np.log(W @ K) + 1) @ T - (nu + c * (p - W @ p_x))[:, None])

    def step_W(p, W, nu):
        return back_tracked(lambda W: value(p, W, nu), lambda W: slope(p, W, nu), W, xi)

    p, nu = W @ p_x, np.zeros(len(W))
    for _ in range(iterations):
        nu = nu - (1 - alpha) * c * (p - W @ p_x)
        p = step_p(p, W, nu)
        nu = nu + c * (p - W @ p_x)
        W = step_W(p, W, nu)
    return W


@pytest.mark.parametrize("first_step", [1.0, 0.1, 0.01])
@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_the_papers_step_against_its_equations(first_step):
    joint = ip.datasets.paper_nonuniform()
    start = np.random.default_rng(1).random((4, 3))
    start /= start.sum(axis=0)
    method = Method("ib-1", "gradient", 16.0, 1.618, first_step=first_step)
    found = ip.solve(joint, ip.bottleneck(0.2), method.options(), init=start, max_iter=8)
    expected = solver_one_by_hand(joint.p_xy, 0.2, start, 16.0, 1.618, first_step, 8)
    np.testing.assert_allclose(found.encoder, expected, atol=1e-9)


def test_converged_is_each_ways_own_rule():
    sweep = Sweep("s", "paper_uniform", "bottleneck", (0.2, 0.5), Method("ib-1", "gradient", 16.0, 1.618), 4, 3)
    gradient = Points.from_columns(sweep.run())
    exact = Points.from_columns(replace(sweep, method=Method("ib-1", "majorise", 16.0, 1.618)).run())
    assert gradient.converged.all()
    assert not gradient.stationary.any()
    np.testing.assert_array_equal(exact.converged, exact.stationary)
    assert exact.converged.all()
    cut = Points.from_columns(replace(sweep, method=sweep.method.within(3)).run())
    assert not cut.converged.any()
