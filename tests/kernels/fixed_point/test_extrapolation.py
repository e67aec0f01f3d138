import numpy as np
import pytest

from interpreted import interpreted

extrapolation = interpreted("fixed_point.extrapolation")
anderson, squarem = extrapolation.anderson, extrapolation.squarem


def test_squarem_finds_the_limit_of_a_single_mode():
    limit, mode = np.array([-1.0, -2.0]), np.array([0.3, -0.1])
    u0, u1, u2 = (limit + 0.8**k * mode for k in range(3))
    out = np.empty_like(limit)
    a = squarem(u0, u1 - u0, u2 - u1, np.full_like(limit, 0.5), 100.0, out)
    assert a == pytest.approx(5.0)
    np.testing.assert_allclose(out, limit, atol=1e-14)
    assert squarem(u0, u1 - u0, u2 - u1, np.full_like(limit, 0.5), 3.0, out) == 3.0


def test_anderson_solves_a_linear_map_once_it_has_seen_every_direction():
    rng = np.random.default_rng(0)
    M, b, q = 0.25 * rng.random((4, 4)), rng.random(4), rng.random(4)
    fixed = np.linalg.solve(np.eye(4) - M, b)
    points = rng.random((6, 4))
    f = points @ M.T + b - points
    D_F, D_G = np.diff(f, axis=0), np.diff(points @ M.T, axis=0)
    out = np.empty(4)
    anderson(points[5], f[5], q, D_F, D_G, 5, out)
    np.testing.assert_allclose(out, fixed, atol=1e-6)  # the ridge
