import numpy as np
import pytest

import infoplane as ip
from infoplane.joint.support import Support
from infoplane.solvers.shared import coarse_space
from infoplane.solvers.shared.coarse_space import CoarseSpace, LocalFunctions
from infoplane.solvers.shared.self_consistent import Equations

HEART, GAMMA = ip.datasets.heart(), 0.1
SUPPORT = Support(HEART)


def equations_at(W):
    equations = Equations(SUPPORT, GAMMA)
    return equations, equations.at(np.log(W @ SUPPORT.P))


@pytest.fixture(scope="module")
def solution():
    return equations_at(ip.solve(HEART, ip.bottleneck(GAMMA), "annealing", tol=1e-13).encoder)


def test_the_basis_is_orthonormal(solution):
    equations, point = solution
    V = CoarseSpace(SUPPORT, GAMMA, point.q, point.W, LocalFunctions(SUPPORT)).V
    for z, rows in enumerate(V):
        for i, row in enumerate(rows):
            d = np.zeros_like(point.u)
            d[z] = row
            products = rows @ (point.q * equations.scaled(d, point))[z]
            np.testing.assert_allclose(products, np.eye(len(rows))[i], atol=1e-6)


def test_with_all_functions_of_y_it_is_the_inverse(solution, monkeypatch):
    monkeypatch.setattr(coarse_space, "FUNCTIONS", len(SUPPORT.p_y) - 1)
    monkeypatch.setattr(coarse_space, "RIDGE", 1e-6)
    equations, point = solution
    coarse = CoarseSpace(SUPPORT, GAMMA, point.q, point.W, LocalFunctions(SUPPORT))
    d = np.random.default_rng(0).normal(size=point.u.shape)
    r = d - equations.pulled(equations.scaled(d, point), point)
    found = coarse.corrected(r, point.q * equations.scaled(r, point))
    np.testing.assert_allclose(found, d, atol=1e-2 * np.abs(d).max())


def test_it_saves_products():
    """On colours, 60 clusters: one function against four."""
    support, gamma = Support(ip.datasets.colours()), 0.6
    W = np.random.default_rng(0).dirichlet(np.full(60, 0.05), size=330).T + 1e-9
    equations = Equations(support, gamma)
    point = equations.at(np.log(W @ support.P))
    for _ in range(60):
        point = equations.at(point.u + point.f)
    spent = []
    for few in (1, 4):
        functions = LocalFunctions(support)
        functions.of_y, functions.of_x = functions.of_y[:few], functions.of_x[:few]
        before = equations.evaluations
        equations.step(point, 1e-2, CoarseSpace(support, gamma, point.q, point.W, functions))
        spent.append(equations.evaluations - before)
    assert spent[1] < 0.8 * spent[0]
