"""The argmins of both blocks against their slow twins, or the conditions that define them; the encoder's dual with many unknowns."""

import numpy as np
import pytest
from scipy.optimize import minimize

import twins
from compiled import interpreted
from infoplane.solvers.splitting.formulations import FORMULATIONS
from recursions import JOINTS, setting

blocks = interpreted("splitting.blocks")
argmin_marginal = blocks.argmin_marginal


def argmin_encoder(split, x, *rest):
    """The argmin, without multipliers to begin with."""
    return blocks.argmin_encoder(split, np.full_like(x, np.nan), x, *rest)


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
    split, shares, W, x, s, c = setting("pf-2", JOINTS["paper"], inner=1000)
    V = argmin_encoder(split, x, s, c, W)

    def block(theta):
        e = np.exp(theta.reshape(W.shape))
        U = e / e.sum(0)
        return twins.encoder_value(split.P, U, U, shares.a, shares.d) + twins.penalty(U @ split.M, x, s, c)

    polished = minimize(block, np.log(np.maximum(V, 1e-12)).ravel(), method="BFGS", options={"gtol": 1e-9})
    assert block(np.log(np.maximum(V, 1e-300)).ravel()) <= polished.fun + 1e-7


@pytest.mark.parametrize("formulation", ["ib-1", "pf-1", "pf-2v"])
def test_the_exact_step_ends_where_the_block_is_stationary_and_one_majorised_step_does_not(formulation):
    """The slope of the block in the logits of W, the decoders those of the W before, by central differences."""
    split, shares, W, x, s, c = setting(formulation, JOINTS["paper"], seed=2, inner=10_000, inner_tol=1e-12)

    def slope(V):
        logits, found = np.log(V), np.zeros_like(V)
        for at in np.ndindex(V.shape):
            for sign in (1.0, -1.0):
                moved = logits.copy()
                moved[at] += sign * 1e-5
                U = np.exp(moved) / np.exp(moved).sum(axis=0)
                value = twins.encoder_value(split.P, U, W, shares.a, shares.d) + twins.penalty(U @ split.M, x, s, c)
                found[at] += sign * value / 2e-5
        return np.abs(found).max()

    assert slope(argmin_encoder(split, x, s, c, W)) < 1e-8
    once = split._replace(inner=10 if formulation == "pf-1" else 1, inner_tol=0.0)
    assert slope(argmin_encoder(once, x, s, c, W)) > 1e-4


def test_divergence_is_exact_for_small_and_large_steps():
    split, _shares, W, *_ = setting("pf-2", JOINTS["paper"])
    for size in (1e-9, 1e-5, 1e-3, 0.3):
        V = W * (1.0 + size * np.linspace(-1, 1, W.size).reshape(W.shape))
        V /= V.sum(0)
        found = blocks.divergence_of(split, V, np.log(V), W, np.log(W))
        ratio = (V - W) / W
        terms = W * np.where(np.abs(ratio) < 1e-4, ratio**2 / 2 - ratio**3 / 6, (1 + ratio) * np.log1p(ratio) - ratio)
        # Logarithms of W carry a rounding of 1e-16, which is all that limits the smallest steps.
        assert found == pytest.approx(float((terms * split.p_x).sum()), rel=1e-4 + 1e-15 / size**1.5)


HEART = JOINTS["heart"]


def argmin(split, known, shares, x, s, c, W):
    return blocks.dual_newton(split, known, np.zeros_like(W), -shares.a[1], x, s, c, W)


def value_of(split, shares, V, x, s, c):
    return twins.encoder_value(split.P, V, V, shares.a, shares.d) + twins.penalty(V @ split.M, x, s, c)


def test_the_product_is_the_matrix_of_second_differences_of_the_dual():
    split, shares, _W, _x, _s, c = setting("ib-2", JOINTS["paper"], seed=1)
    k, m = -shares.a[1], np.random.default_rng(0).standard_normal(c.shape)

    def encoder(m):
        score = m @ split.features / k
        e = np.exp(score - score.max(0))
        return e / e.sum(0)

    def gradient(m):
        return m / c + encoder(m) @ split.M

    W = encoder(m)
    d = np.random.default_rng(2).standard_normal(c.shape)
    slopes = (gradient(m + 1e-6 * d) - gradient(m - 1e-6 * d)) / 2e-6
    np.testing.assert_allclose(blocks.hessian_product(split, W, k, c, d), slopes, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
def test_conjugate_gradients_solve_the_system_that_is_written_down(joint):
    split, shares, W, _x, _s, c = setting("ib-2", joint, seed=3)
    k, gradient = -shares.a[1], np.random.default_rng(0).standard_normal(c.shape)
    dense = blocks.newton_direction(split, W, k, c, gradient)
    found = blocks.conjugate_direction(split, W, k, c, gradient, 1e-10)
    np.testing.assert_allclose(found, dense, rtol=1e-7, atol=1e-9 * np.abs(dense).max())
    early = blocks.conjugate_direction(split, W, k, c, gradient, 0.9)
    assert (early * gradient).sum() > 0  # a direction of descent, however early it ends


def test_many_unknowns_are_solved_like_few(monkeypatch):
    """Exactly to rounding, from any multiplier; majorising to a share, with a block that falls by nearly as much."""
    split, shares, W, x, s, c = setting("ib-2", HEART, seed=2, clusters=6)
    known = np.full_like(x, np.nan)
    dense = argmin(split, known, shares, x, s, c, W)
    monkeypatch.setattr(blocks, "DENSE", 0)
    exact = split._replace(inner_tol=1e-12)
    for _ in range(2):  # the second begins with the multipliers that the first one left
        np.testing.assert_allclose(argmin(exact, known, shares, x, s, c, W), dense, atol=1e-9)
    known[:] = np.nan
    rough = argmin(split, known, shares, x, s, c, W)
    before, after, best = (value_of(split, shares, V, x, s, c) for V in (W, rough, dense))
    assert 1e-7 < np.abs(rough - dense).max() < 0.05
    assert before - after > 0.9 * (before - best)
    gap = (c * ((rough - dense) @ split.M) ** 2).sum() ** 0.5
    assert gap <= blocks.SHARE * (c * ((rough - W) @ split.M) ** 2).sum() ** 0.5


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
    fixed = split._replace(kappa=0.0)
    v = argmin_marginal(fixed, x, s, before, W @ split.M)
    assert 1 <= (v == 0).sum() <= 2
    np.testing.assert_allclose(v.sum(0), 1.0, atol=1e-14)
    hopeless = np.full_like(c, 0.2)
    v = argmin_marginal(fixed, x, s, hopeless, W @ split.M)
    assert sorted(v[:, 0]) == [0.0, 0.0, 1.0]
