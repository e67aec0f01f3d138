"""Proposals: the linear programme against HiGHS, and the least of a convex function against SciPy."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from infoplane_verify.programme import programme, proposals


def test_the_programme_is_highs_s():
    rng = np.random.default_rng(1)
    for _ in range(40):
        n, m = 8, 3
        T, c = rng.dirichlet(np.ones(m), n), rng.normal(size=n)
        p = rng.dirichlet(np.ones(n)) @ T
        L, U = 0.7 * p, np.minimum(1.4 * p, 1.0)
        q, _, _ = programme(T, c, np.zeros(n), np.full(n, 0.7), L, U, None)
        best = linprog(
            c, A_ub=np.vstack([T.T, -T.T]), b_ub=np.append(U, -L), A_eq=np.ones((1, n)), b_eq=[1.0], bounds=(0, 0.7)
        )
        assert c @ q == pytest.approx(best.fun, abs=1e-8)


def test_the_mixture_is_the_least_of_the_convex_function_and_its_tangent_proves_it():
    rng = np.random.default_rng(2)
    for _ in range(10):
        n, m, beta = 7, 3, 0.8
        T, c = rng.dirichlet(np.ones(m), n), 0.3 * rng.normal(size=n)
        p = rng.dirichlet(np.ones(n)) @ T
        L, U, high = 0.7 * p, np.minimum(1.4 * p, 1.0), np.full(n, 0.8)

        def value(q, c=c, T=T, beta=beta):
            s = np.maximum(q @ T, 1e-300)
            return c @ q + beta * (s * np.log(s)).sum()

        best = np.inf, np.inf
        for v, _, q in proposals(T, T, c, beta, np.zeros(n), high, L, U):
            below = linprog(
                c + beta * (T @ np.log(v)), A_ub=np.vstack([T.T, -T.T]), b_ub=np.append(U, -L), A_eq=np.ones((1, n)), b_eq=[1.0],
                bounds=(0, 0.8),
            ).fun  # fmt: skip
            best = min(best, (value(q) - below, value(q)))
        assert 0.0 <= best[0] + 1e-12 < 1e-9
        within = [{"type": "eq", "fun": lambda q: q.sum() - 1.0}]
        within += [{"type": "ineq", "fun": lambda q, T=T, U=U, L=L: np.append(U - q @ T, q @ T - L)}]
        others = minimize(value, q, bounds=[(0, 0.8)] * n, constraints=within, method="SLSQP")
        assert best[1] <= others.fun + 1e-7
