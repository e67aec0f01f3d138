import numpy as np

from infoplane.solvers.splitting.sets import minimise, on_simplex


def test_columns_of_a_table_are_projected_one_by_one():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((5, 4))
    found = on_simplex(table)
    np.testing.assert_allclose(found.sum(axis=0), 1.0)
    for j in range(4):
        np.testing.assert_allclose(found[:, j], on_simplex(table[:, j]))
    for _ in range(200):  # no other point of the simplex is nearer
        other = rng.dirichlet(np.ones(5), size=4).T
        assert (((table - found) ** 2).sum(axis=0) <= ((table - other) ** 2).sum(axis=0) + 1e-12).all()


def test_a_minimum_at_an_edge_of_the_simplex_and_one_inside():
    """|u - centre|^2 with its centre outside, where the answer is a projection, and inside."""
    rng = np.random.default_rng(1)
    for centre in (rng.standard_normal(6), rng.dirichlet(np.ones(6))):
        found = minimise(lambda u, m=centre: (float(((u - m) ** 2).sum()), 2.0 * (u - m)), np.full(6, 1 / 6), "simplex")
        np.testing.assert_allclose(found, on_simplex(centre), atol=1e-12)
