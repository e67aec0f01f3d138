"""Posteriors within caps: the linear programme against HiGHS, and what is proven of a cell against posteriors in it."""

import numpy as np
import pytest
from scipy.optimize import linprog

from infoplane.kernels.funnel_proof.capped_cell import (
    Multipliers,
    cell_bound,
    is_empty,
    shrunk_by_rows,
    target_least,
    target_multiplier,
)
from infoplane.kernels.funnel_proof.capped_relaxation import EMPTY, SOLVED, completed, minimise, relaxed, tableau
from infoplane.kernels.funnel_proof.relaxation import shrunk_by_bound


def entropies(p):
    return np.where(p > 0, -p * np.log(np.where(p > 0, p, 1.0)), 0.0)


def joint(rng, n, m):
    p_x, T = rng.dirichlet(np.full(n, 2.0)), rng.dirichlet(np.full(m, rng.choice([0.3, 1.0, 3.0])), size=n)
    return p_x, T, p_x @ T


def caps(rng, p_s):
    eps = rng.choice([0.05, 0.3, 1.0])
    return np.exp(-eps) * p_s * (rng.random() < 0.5), np.minimum(np.exp(eps) * p_s, 1.0)


def allowed(rng, p_x, T, p_s, L, U, count):
    """Posteriors within the caps, many of them on their boundary: random ones, drawn towards p_x as far as needed."""
    q = rng.dirichlet(np.full(len(p_x), 0.3), size=count)
    d = q @ T - p_s
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(d > 0, (U - p_s) / d, np.where(d < 0, (p_s - L) / -d, np.inf)).min(axis=1)
    share = np.minimum(room, 1.0) * rng.choice([1.0, 0.999, 0.5], size=count)
    return share[:, None] * q + (1.0 - share[:, None]) * p_x


@pytest.mark.parametrize("seed", range(30))
def test_the_simplex_agrees_with_highs(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 20)), int(rng.integers(2, 7))
    p_x, T, p_s = joint(rng, n, m)
    L, U = caps(rng, p_s)
    l = 0.5 * p_x * (rng.random(n) < 0.3)
    b = np.minimum(p_x + rng.random(n) * (rng.random(n) < 0.8), 1.0)
    if seed % 3 == 2:  # little is left of the range: sometimes nothing that the caps allow
        b = np.where(np.arange(n) % 2, 0.0, rng.random(n))
        b *= 1.05 / b.sum()
        l = np.minimum(l, b)
    lp = tableau(T)
    lp.lower[:], lp.upper[:] = np.concatenate([l, L]), np.concatenate([b, U])
    for _ in range(3):  # the later ones begin where the one before has ended
        c = rng.normal(size=n)
        status = minimise(lp, c, 1000)
        best = linprog(
            c,
            A_ub=np.vstack([T.T, -T.T]),
            b_ub=np.append(U, -L),
            A_eq=np.ones((1, n)),
            b_eq=[1.0],
            bounds=np.column_stack([l, b]),
        )
        if best.status == 2:
            assert status == EMPTY
            assert is_empty(T, L, U, l, b, -lp.y[:m])
        else:
            assert status == SOLVED
            assert c @ lp.point[:n] == pytest.approx(best.fun, abs=1e-8)
            np.testing.assert_allclose(lp.point[:n] @ T, lp.point[n:], atol=1e-9)
            assert not is_empty(T, L, U, l, b, -lp.y[:m])


@pytest.mark.parametrize("beta", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("seed", range(12))
def test_no_posterior_of_a_cell_is_below_its_bound_or_lost(seed, beta):
    rng = np.random.default_rng(100 * seed + 7)
    n, m = int(rng.integers(3, 12)), int(rng.integers(2, 6))
    p_x, T, p_s = joint(rng, n, m)
    L, U = caps(rng, p_s)
    lam = rng.normal(size=n)
    Q = allowed(rng, p_x, T, p_s, L, U, 400)
    g = entropies(Q).sum(axis=1) - beta * entropies(Q @ T).sum(axis=1) - Q @ lam
    centre = Q[rng.integers(len(Q))]
    l = centre * rng.random(n) * (rng.random(n) < 0.5)
    b = np.minimum(centre + rng.random(n), 1.0)
    inside = ((l <= Q) & (b >= Q)).all(axis=1)
    assert inside.any()
    Q, g = Q[inside], g[inside]

    low, high = l.copy(), b.copy()
    assert shrunk_by_rows(T, L, U, low, high)
    assert ((low <= Q) & (high >= Q)).all()

    lp, multipliers = tableau(T), Multipliers(np.zeros(m), np.zeros(1), np.zeros(1))
    lp.lower[:], lp.upper[:] = np.concatenate([low, L]), np.concatenate([high, U])
    slope = (entropies(high) - entropies(low)) / np.where(high > low, high - low, 1.0)
    assert relaxed(lp, slope - lam, beta, multipliers, 0.0, np.nan, lp.T.shape[1]) == SOLVED
    bounds = []
    for noise in (0.0, 0.3):  # whatever the multipliers are, what they prove is true
        multipliers.a[:] += noise * rng.normal(size=m)
        completed(lp, slope - lam, beta, multipliers, low, high)
        k, M, cut = np.empty(n), np.empty(n), np.empty((n, 2))
        bounds.append(cell_bound(T, lam, beta, 0.0, L, U, low, high, multipliers, k, M))
        assert bounds[-1] <= g.min()
        for floor in (np.quantile(g, 0.3), g.max()):
            narrow, wide = low.copy(), high.copy()
            shrunk_by_bound(narrow, wide, k, M, floor - bounds[-1], cut)
            below = Q[g < floor]
            assert ((below >= narrow) & (below <= wide)).all()
            assert ((below <= cut[:, 0]) | (below >= cut[:, 1])).all()
    assert bounds[0] >= bounds[1] - 1e-7  # and the relaxation's own multipliers prove most


@pytest.mark.parametrize("beta", [0.0, 0.2, 5.0])
def test_the_least_of_the_target_is_a_lower_bound_and_near_it(beta):
    rng = np.random.default_rng(3)
    for _ in range(40):
        m = int(rng.integers(2, 7))
        p_s = rng.dirichlet(np.ones(m))
        L, U = 0.7 * p_s, np.minimum(1.4 * p_s, 1.0)
        a = rng.normal(size=m)
        tau = target_multiplier(a, beta, L, U)
        least = target_least(a, tau, beta, L, U)
        u = p_s + 0.4 * (rng.dirichlet(np.ones(m), size=2000) - p_s)
        u = u[((u >= L) & (u <= U)).all(axis=1)]
        values = -beta * entropies(u).sum(axis=1) - u @ a
        assert len(u) == 0 or least <= values.min()
        best = linprog(-a, A_eq=np.ones((1, m)), b_eq=[1.0], bounds=np.column_stack([L, U])).fun
        assert least <= best + 1e-12  # -beta H <= 0
        if beta == 0.0:
            assert least == pytest.approx(best, abs=1e-10)
        assert target_least(a, tau + 0.1, beta, L, U) <= least + 1e-12
