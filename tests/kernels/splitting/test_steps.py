"""Every fast step against its slow twin, or against the conditions that define it."""

import numpy as np
import pytest
from scipy.optimize import minimize

import infoplane as ip
import twins
from infoplane.joint.support import Support
from infoplane.kernels.splitting.encoder import argmin_encoder, cholesky_solve, divergence_of
from infoplane.kernels.splitting.gradient import gradient_encoder, gradient_marginal
from infoplane.kernels.splitting.marginal import argmin_marginal
from infoplane.kernels.splitting.measure import lagrangian, stationarity
from infoplane.kernels.splitting.tables import Split
from infoplane.solvers.splitting.formulations import FORMULATIONS

PROBLEMS = {"ib": ip.bottleneck(0.3), "pf": ip.funnel(2.5)}
JOINTS = {"paper": ip.datasets.paper_nonuniform(), "heart": ip.datasets.heart()}


def setting(formulation, joint, seed=0, inner=1, clusters=3, proximal=0.0, adaptive=False):
    """A split, an encoder, marginals near its own, a slope and penalties: a typical moment of a run."""
    form = FORMULATIONS[formulation]
    problem = PROBLEMS[formulation[:2]]
    support = Support(joint)
    shares = form.share(problem, support.p_y)
    M = form.constraint(support.p_x, support.K)
    split = Split(
        support.p_x, support.p_y, support.P, support.T, M, np.ascontiguousarray(M.T / support.p_x),
        shares.h, np.array(shares.a), np.array(shares.d), inner, adaptive, 2.5, proximal,
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    W = rng.dirichlet(np.ones(clusters), size=support.P.shape[0]).T.copy()
    u = W @ M
    x = u * rng.uniform(0.9, 1.1, u.shape)
    x /= x.sum(0)
    s = 0.05 * rng.standard_normal(u.shape)
    c = 8.0 * np.abs(shares.h).max() / u
    return split, shares, W, x, s, c


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_marginal_step_meets_its_first_order_condition(formulation, joint):
    split, shares, W, x, s, c = setting(formulation, joint)
    v = argmin_marginal(split, x, s, c, W @ split.M)
    assert v.min() > 0
    np.testing.assert_allclose(v.sum(0), 1.0, atol=1e-14)
    slope = -shares.h * (np.log(v) + 1.0) + c * (v - x) - s
    np.testing.assert_allclose(slope - slope.mean(0), 0.0, atol=1e-9)
    if (shares.h > 0).any():  # the concave prox takes the branch on which the row is convex
        assert (c - shares.h / v)[:, shares.h > 0].min() > 0


@pytest.mark.parametrize("formulation", ["ib-1", "pf-2"])
def test_entropy_prox_is_its_slow_twin(formulation):
    split, shares, W, x, s, c = setting(formulation, JOINTS["paper"], seed=3)
    v = argmin_marginal(split, x, s, c, W @ split.M)
    for j in range(v.shape[1]):
        expected = twins.entropy_prox(-shares.h[j], x[:, j], s[:, j], c[:, j])
        np.testing.assert_allclose(v[:, j], expected, atol=1e-11)


def test_bregman_term_of_admm_ib_pulls_towards_the_old_marginal():
    split, shares, W, x, s, c = setting("ib-1", JOINTS["paper"], proximal=0.7)
    old = W @ split.M
    v = argmin_marginal(split, x, s, c, old)
    expected = twins.entropy_prox(-shares.h[0] + 0.7, x[:, 0], s[:, 0] + 0.7 * (np.log(old[:, 0]) + 1.0), c[:, 0])
    np.testing.assert_allclose(v[:, 0], expected, atol=1e-11)


def test_concave_prox_without_interior_root_raises_that_rows_penalty_or_empties_it():
    split, _shares, W, x, s, c = setting("ib-1v", JOINTS["paper"], adaptive=True)
    c[:] = 0.7  # gamma / c = 0.43 is the least mass on the convex branch: three rows need more than there is
    before = c.copy()
    v = argmin_marginal(split, x, s, c, W @ split.M)
    assert (c >= before).all()
    assert (c > before).any()
    np.testing.assert_allclose(v.sum(0), 1.0, atol=1e-14)
    fixed = split._replace(adaptive=False)
    v = argmin_marginal(fixed, x, s, before, W @ split.M)
    assert 1 <= (v == 0).sum() <= 2
    np.testing.assert_allclose(v.sum(0), 1.0, atol=1e-14)
    hopeless = np.full_like(c, 0.2)
    v = argmin_marginal(fixed, x, s, hopeless, W @ split.M)
    assert sorted(v[:, 0]) == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
@pytest.mark.parametrize("formulation", ["ib-1", "ib-2", "ib-1v", "pf-2v"])
def test_encoder_step_is_its_slow_twin(formulation, joint):
    split, shares, W, x, s, c = setting(formulation, joint, seed=5)
    fast = argmin_encoder(split, x, s, c, W)
    slow = twins.encoder_argmin_convex(split.P, split.M, shares.a, shares.d, x, s, c, W)
    np.testing.assert_allclose(fast, slow, atol=2e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_encoder_step_never_raises_its_block(formulation):
    """Majorise-minimise, mirror steps included: the block's true value with the decoders of the old W."""
    for seed in range(5):
        split, shares, W, x, s, c = setting(formulation, JOINTS["heart"], seed=seed, inner=1, clusters=6)
        value = twins.encoder_value(split.P, W, W, shares.a, shares.d) + twins.penalty(W @ split.M, x, s, c)
        for _ in range(4):
            V = argmin_encoder(split, x, s, c, W)
            new = twins.encoder_value(split.P, V, W, shares.a, shares.d) + twins.penalty(V @ split.M, x, s, c)
            assert new <= value + 1e-12
            value = twins.encoder_value(split.P, V, V, shares.a, shares.d) + twins.penalty(V @ split.M, x, s, c)
            W = V


def test_pf_2_encoder_steps_reach_a_stationary_point_of_the_block():
    split, shares, W, x, s, c = setting("pf-2", JOINTS["paper"], inner=4000)
    V = argmin_encoder(split, x, s, c, W)

    def block(theta):
        e = np.exp(theta.reshape(W.shape))
        U = e / e.sum(0)
        return twins.encoder_value(split.P, U, U, shares.a, shares.d) + twins.penalty(U @ split.M, x, s, c)

    polished = minimize(block, np.log(np.maximum(V, 1e-12)).ravel(), method="BFGS", options={"gtol": 1e-9})
    assert block(np.log(np.maximum(V, 1e-300)).ravel()) <= polished.fun + 1e-7


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_gradient_steps_follow_the_mean_subtracted_gradient(formulation):
    """Direction against finite differences of the block; the step lowers the block and keeps every simplex."""
    split, shares, W, x, s, c = setting(formulation, JOINTS["paper"], seed=2)

    def on_encoder(V):
        return twins.encoder_value(split.P, V, W, shares.a, shares.d) + twins.penalty(V @ split.M, x, s, c)

    def on_marginal(v):
        return twins.marginal_value(v, shares.h) + twins.penalty(v, x, s, c)

    for step, block, u in ((gradient_encoder, on_encoder, W), (gradient_marginal, on_marginal, W @ split.M)):
        new = step(split, x, s, c, u)
        g = np.empty_like(u)
        for index in np.ndindex(u.shape):
            bump = np.zeros_like(u)
            bump[index] = 1e-6
            g[index] = (block(u + bump) - block(u - bump)) / 2e-6
        g -= g.mean(0)
        moved = u - new
        assert np.abs(moved).max() > 0
        xi = float((moved * g).sum() / (g * g).sum())
        assert np.log2(xi) == pytest.approx(round(np.log2(xi)), abs=1e-4)  # a power of two, as back-tracking gives
        np.testing.assert_allclose(moved, xi * g, atol=1e-7 * xi * np.abs(g).max() + 1e-9)
        assert block(new) < block(u)
        assert new.min() > 0
        np.testing.assert_allclose(new.sum(0), 1.0, atol=1e-12)


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_measures_are_those_of_the_problem(joint, problem):
    split, _shares, W, _x, _s, _c = setting("ib-1", joint)
    rho = np.array(problem.rho)
    assert lagrangian(split, W, rho) == pytest.approx(problem.value(joint, W), abs=1e-13)
    assert stationarity(split, W, rho, problem.width) == pytest.approx(problem.stationarity(joint, W), abs=1e-13)


def test_divergence_is_exact_for_small_and_large_steps():
    split, _shares, W, *_ = setting("pf-2", JOINTS["paper"])
    for size in (1e-9, 1e-5, 1e-3, 0.3):
        V = W * (1.0 + size * np.linspace(-1, 1, W.size).reshape(W.shape))
        V /= V.sum(0)
        found = divergence_of(split, V, np.log(V), W, np.log(W))
        ratio = (V - W) / W
        terms = W * np.where(np.abs(ratio) < 1e-4, ratio**2 / 2 - ratio**3 / 6, (1 + ratio) * np.log1p(ratio) - ratio)
        # Logarithms of W carry a rounding of 1e-16, which is all that limits the smallest steps.
        assert found == pytest.approx(float((terms * split.p_x).sum()), rel=1e-4 + 1e-15 / size**1.5)


def test_cholesky_solve():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 12))
    A = A @ A.T + 0.1 * np.eye(12)
    b = rng.standard_normal(12)
    u = b.copy()
    cholesky_solve(A.copy(), u)
    np.testing.assert_allclose(A @ u, b, atol=1e-10)
