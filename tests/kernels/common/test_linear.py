import numpy as np
import pytest

from compiled import compiled
from infoplane.kernels.common.linear import solve, solve_definite

solve, solve_definite = map(compiled, (solve, solve_definite))


def definite(n=12, seed=0):
    """A positive definite matrix with unit diagonal, and a right side."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    A = A @ A.T + 0.1 * np.eye(n)
    scale = 1.0 / np.sqrt(np.diag(A))
    return A * np.outer(scale, scale), rng.standard_normal(n)


@pytest.mark.parametrize("solved", [lambda A, u: solve_definite(A, u, 1e-10), solve])
def test_a_definite_system_is_solved(solved):
    A, b = definite()
    u = b.copy()
    assert solved(A.copy(), u)
    np.testing.assert_allclose(A @ u, b, atol=1e-10)


def test_elimination_pivots_and_says_if_a_matrix_is_singular():
    A, b = np.array([[0.0, 2.0], [1.0, 3.0]]), np.array([4.0, 5.0])
    u = b.copy()
    assert solve(A.copy(), u)
    np.testing.assert_allclose(A @ u, b)
    assert not solve(np.array([[1.0, 2.0], [2.0, 4.0]]), b.copy())


def test_cholesky_says_if_a_matrix_is_indefinite_and_goes_on_damped():
    A, b = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([1.0, 1.0])
    assert not solve_definite(A.copy(), b, 1e-10)
    assert np.isfinite(b).all()
