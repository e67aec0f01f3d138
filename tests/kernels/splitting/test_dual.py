"""The encoder's dual with many unknowns: conjugate gradients against the system written down, and the argmin against the dense one."""

import numpy as np
import pytest

import twins
from interpreted import interpreted
from moments import JOINTS, setting

dual = interpreted("splitting.dual")
HEART = JOINTS["heart"]


def argmin(split, shares, x, s, c, W):
    return dual.dual_newton(split, np.zeros_like(W), -shares.a[1], x, s, c, W)


def block(split, shares, V, x, s, c):
    return twins.encoder_value(split.P, V, V, shares.a, shares.d) + twins.penalty(V @ split.M, x, s, c)


def test_the_product_is_the_matrix_of_second_differences_of_the_dual():
    split, shares, W, _x, _s, c = setting("ib-2", JOINTS["paper"], seed=1)
    k, m = -shares.a[1], np.random.default_rng(0).standard_normal(c.shape)

    def gradient(m):
        score = m @ split.features / k
        e = np.exp(score - score.max(0))
        return m / c + (e / e.sum(0)) @ split.M

    W = dual._primal(split.features, np.zeros_like(W), k, m, np.empty(W.shape[1]))
    d = np.random.default_rng(2).standard_normal(c.shape)
    slopes = (gradient(m + 1e-6 * d) - gradient(m - 1e-6 * d)) / 2e-6
    np.testing.assert_allclose(dual.hessian_product(split, W, k, c, d), slopes, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
def test_conjugate_gradients_solve_the_system_that_is_written_down(joint):
    split, shares, W, _x, _s, c = setting("ib-2", joint, seed=3)
    k, gradient = -shares.a[1], np.random.default_rng(0).standard_normal(c.shape)
    dense, found = np.empty_like(c), np.empty_like(c)
    fall = dual.newton_direction(split, W, k, c, gradient, dense)
    diagonal, ray = dual._preconditioner(split, W, k, c)
    assert dual.conjugate_direction(split, W, k, c, diagonal, ray, gradient, found, 1e-10) == pytest.approx(fall)
    np.testing.assert_allclose(found, dense, rtol=1e-7, atol=1e-9 * np.abs(dense).max())
    early = dual.conjugate_direction(split, W, k, c, diagonal, ray, gradient, found, 0.9)
    assert early > 0  # a direction of descent, however early it ends


def test_many_unknowns_are_solved_like_few(monkeypatch):
    """Exactly to rounding, from any multiplier; majorising to a share, with a block that falls by nearly as much."""
    split, shares, W, x, s, c = setting("ib-2", HEART, seed=2, clusters=6)
    dense = argmin(split, shares, x, s, c, W)
    monkeypatch.setattr(dual, "DENSE", 0)
    exact = split._replace(inner_tol=1e-12)
    np.testing.assert_allclose(argmin(exact, shares, x, s, c, W), dense, atol=1e-9)
    np.testing.assert_allclose(
        argmin(exact, shares, x, s, c, W), dense, atol=1e-9
    )  # begins with the multiplier that the first one left
    exact.m[0, 0] = np.nan
    rough = argmin(split, shares, x, s, c, W)
    before, after, best = (block(split, shares, V, x, s, c) for V in (W, rough, dense))
    assert 1e-7 < np.abs(rough - dense).max() < 0.05
    assert before - after > 0.9 * (before - best)
    gap = (c * ((rough - dense) @ split.M) ** 2).sum() ** 0.5
    assert gap <= dual.SHARE * (c * ((rough - W) @ split.M) ** 2).sum() ** 0.5
