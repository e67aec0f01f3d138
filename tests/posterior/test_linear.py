import numpy as np
import pytest

from infoplane.posterior import linear
from infoplane.posterior.linear import linear_programme, repaired


def test_repaired_prices_leave_no_column_below():
    rng = np.random.default_rng(0)
    p_x = rng.dirichlet(np.full(5, 0.2))
    Q = np.column_stack([np.eye(5), rng.dirichlet(np.ones(5), 40).T])
    costs = rng.standard_normal(45)
    weights, lam, _ = linear_programme(Q, costs, p_x)
    np.testing.assert_allclose(Q @ weights, p_x, atol=1e-12)
    good = repaired(lam, Q, costs, p_x)
    assert (costs - good @ Q).min() >= -1e-12
    assert good @ p_x == pytest.approx(costs @ weights, abs=1e-9)
    spoilt = repaired(lam + 0.1, Q, costs, p_x)
    assert (costs - spoilt @ Q).min() >= -1e-12


def test_an_attempt_that_would_not_end_is_given_up_for_the_next(monkeypatch):
    """By iterations, which interior points need fewer of."""
    rng = np.random.default_rng(1)
    A = np.column_stack([np.eye(60), rng.random((60, 200))])
    costs = rng.random(260)
    simplex = ("highs-ds", 1e-7)
    expected = linear.solved(costs, A, attempts=[simplex])
    monkeypatch.setattr(linear, "LIMITS", linear.LIMITS._replace(fewest_iterations=20, iterations_per_row=0))
    assert linear.solved(costs, A, attempts=[simplex]) is None
    found = linear.solved(costs, A, attempts=[simplex, ("highs-ipm", 1e-7)])
    assert costs @ found.weights == pytest.approx(costs @ expected.weights, abs=1e-6)
