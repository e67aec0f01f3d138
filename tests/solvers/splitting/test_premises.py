"""Counterexamples to premises of the paper's theorems (docs/explanation/theory.md), computed."""

import numpy as np
import pytest

import infoplane as ip
import twins
from infoplane.joint.joint import Support
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.thresholds import theorem_2


def second_difference(f, W, d, step=1e-4):
    return (f(W + step * d) - 2.0 * f(W) + f(W - step * d)) / step**2


@pytest.mark.parametrize("gamma", [0.1, 0.2, 0.5, 0.55, 0.65, 0.9])
def test_restricted_weak_convexity_fails(gamma):
    """Theorem 4: Q_x d = 0, so that omega_G |Q_x d|^2 = 0 whatever omega_G is, while G curves downwards along d."""
    joint = ip.datasets.paper_uniform()
    W, d = np.full((2, 3), 0.5), np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]])
    np.testing.assert_allclose(d @ joint.p_x, 0.0, atol=1e-16)

    def G(W):
        return twins.encoder_value(joint.p_xy, W, W, (0.0, -gamma, 1.0), (0.0, 0.0))

    curvature = second_difference(G, W, d)
    assert curvature == pytest.approx(2.667 * gamma - 1.592, abs=1e-3)
    assert (curvature < 0) == (gamma < 0.597)


@pytest.mark.parametrize("name", ip.datasets.names())
def test_a_of_ib_2_never_has_full_row_rank(name):
    support = Support(ip.datasets.load(name))
    n_z, n_y = 2, len(support.p_y)
    M = FORMULATIONS["ib-2"].constraint(support.p_x, support.K)
    A = np.kron(np.eye(n_z), M.T)
    np.testing.assert_allclose(
        A[0], support.p_y @ A[1 : n_y + 1], atol=1e-15
    )  # the row of p(x) is a mixture of those of p(x|y)
    assert n_z * np.linalg.matrix_rank(M) <= n_z * n_y < A.shape[0] == n_z * (n_y + 1)  # A has a block M.T for every z


def test_a_lipschitz_G_gives_no_reverse_norm_bound():
    """Theorem 3 uses |q - q'| <= M_q |Bq - Bq'|: here are two encoders of the heart data with one p(z|y), far from each other."""
    support = Support(ip.datasets.heart())
    null = np.linalg.svd(support.K.T)[2][-1]  # a direction in x that no p(x|y) sees
    W = np.full((2, len(support.p_x)), 0.5)
    other = W + 0.4 * np.outer([1.0, -1.0], null / np.abs(null).max())
    assert other.min() >= 0.1 - 1e-12
    np.testing.assert_allclose(other.sum(axis=0), 1.0)
    np.testing.assert_allclose(other @ support.K, W @ support.K, atol=1e-12)
    assert np.abs(other - W).max() == pytest.approx(0.4)


def test_the_lemmas_extra_condition_is_not_implied():
    """The rate of Theorem 2 also needs c > 2 mu_B^2 L_q, which its threshold need not reach."""
    assert theorem_2(0.5, sigma_G=1.0, L_q=1.0) == pytest.approx(4 / 3)
    for alpha, sigma in ((0.5, 1.0), (1.0, 0.1), (1.0, 0.0)):
        assert theorem_2(alpha, sigma_G=sigma, L_q=1.0) < 2.0
