import numpy as np
import pytest

from infoplane.certificate.funnel.linear import linear_programme, repaired


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
