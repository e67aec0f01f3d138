"""Bounds over boxes of p(u|z) within caps: never above a posterior that is there, as good as HiGHS's; empty ones are seen."""

import numpy as np
import pytest
from scipy.optimize import linprog

from infoplane.kernels.funnel_proof.kept_boxes import weigh_kept_boxes


def h(t):
    return np.where(t > 0, -t * np.log(np.where(t > 0, t, 1.0)), 0.0)


def case(seed, n=7, m=3, s=3):
    rng = np.random.default_rng(seed)
    T_u, T_s = rng.dirichlet(np.ones(m), n), rng.dirichlet(np.ones(s), n)
    p_s = rng.dirichlet(np.ones(n)) @ T_s
    L, U = p_s * np.exp(-0.4), np.minimum(p_s * np.exp(0.4), 1.0)
    T = np.ascontiguousarray(np.hstack([T_s, T_u]))
    lower = np.concatenate([np.zeros(n), L, np.zeros(m)])
    upper = np.concatenate([np.ones(n), U, np.ones(m)])
    low, high = np.sort(rng.uniform(T_u.min(axis=0), T_u.max(axis=0), (2, m)), axis=0)
    return rng, T, T_u, T_s, L, U, lower, upper, low, high, 0.3 * rng.normal(size=n)


def weighed(T, lam, beta, lower, upper, low, high):
    bounds, found = np.empty(1), np.empty((1, len(lam)))
    weigh_kept_boxes(T, 3, lam, beta, lower, upper, low[None].copy(), high[None].copy(), bounds, found)
    return bounds[0], found[0]


@pytest.mark.parametrize("beta", [0.0, 0.7])
def test_no_posterior_of_a_box_is_below_its_bound(beta):
    met = 0
    for seed in range(25):
        rng, T, T_u, T_s, L, U, lower, upper, low, high, lam = case(seed)
        bound, _ = weighed(T, lam, beta, lower, upper, low, high)
        rows = np.vstack([T_s.T, -T_s.T, T_u.T, -T_u.T])
        right = np.concatenate([U, -L, high, -low])
        for _ in range(8):
            found = linprog(rng.normal(size=len(lam)), A_ub=rows, b_ub=right, A_eq=np.ones((1, len(lam))), b_eq=[1.0])
            if found.status == 2:
                break
            q = np.maximum(found.x, 0.0)
            met += 1
            assert h(q @ T_u).sum() - beta * h(q @ T_s).sum() - lam @ q >= bound - 1e-7  # HiGHS's tolerance
    assert met > 20


def test_without_an_average_cap_the_bound_is_the_programme_s_value():
    solved = empty = 0
    for seed in range(60):
        _, T, T_u, T_s, L, U, lower, upper, low, high, lam = case(seed)
        if low.sum() > 1.0 or high.sum() < 1.0:
            continue
        slope = (h(high) - h(low)) / (high - low)
        rows, right = np.vstack([T_s.T, -T_s.T, T_u.T, -T_u.T]), np.concatenate([U, -L, high, -low])
        best = linprog(T_u @ slope - lam, A_ub=rows, b_ub=right, A_eq=np.ones((1, len(lam))), b_eq=[1.0])
        bound, q = weighed(T, lam, 0.0, lower, upper, low, high)
        if best.status == 2:
            empty += 1
            assert bound == np.inf
        else:
            solved += 1
            assert bound == pytest.approx(best.fun + (h(low) - slope * low).sum(), abs=1e-7)
            assert q.sum() == pytest.approx(1.0)
    assert solved > 5
    assert empty > 5


@pytest.mark.parametrize("beta", [0.0, 1.5])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bound_that_is_no_number_closes_nothing(bad, beta):
    """Whichever letter has a multiplier that is no number."""
    _, T, _, _, _, _, lower, upper, low, high, lam = case(0)
    for x in range(lam.size):
        wrong = lam.copy()
        wrong[x] = bad
        bound, _ = weighed(T, wrong, beta, lower, upper, low, high)
        assert not bound > -np.inf
