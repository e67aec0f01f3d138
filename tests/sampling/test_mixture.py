import numpy as np
import pytest

from infoplane.sampling.distinct import DistinctRows
from infoplane.sampling.mixture import _step, fitted
from infoplane.sampling.shrinkage import concentrated
from planted import CENTRES, three_kinds


def plain_step(counts, p, q):
    """The three equations, letter by letter."""
    new_p, new_q = np.zeros_like(p), np.full_like(q, 0.5)
    total = 0.0
    for row in counts:
        w = p * np.prod(q**row, axis=1)
        total += np.log(w.sum())
        w /= w.sum()
        new_p += w / len(counts)
        new_q += np.outer(w, row)
    return new_p, new_q / new_q.sum(axis=1, keepdims=True), total + 0.5 * np.log(q).sum()


def test_a_step_is_the_equations():
    rng = np.random.default_rng(0)
    counts, _ = three_kinds(rng, 60, 4)
    p, q = np.array([0.2, 0.3, 0.5]), rng.dirichlet(np.ones(3), 3)
    found, value = _step(DistinctRows.of(counts), np.log(np.column_stack([p, q])))
    new_p, new_q, expected = plain_step(counts, p, q)
    np.testing.assert_allclose(np.exp(found), np.column_stack([new_p, new_q]), rtol=1e-12)
    assert value == pytest.approx(expected, rel=1e-12)


def test_planted_groups_are_found_as_well_as_a_thousand_plain_steps_find_them():
    rng = np.random.default_rng(0)
    counts, _ = three_kinds(rng, 2000, 8)
    rows = DistinctRows.of(counts)
    found = fitted(rows, 3, concentrated(rows))
    order = np.argsort(-found.weights)
    np.testing.assert_allclose(found.weights[order], [0.5, 0.3, 0.2], atol=0.04)
    np.testing.assert_allclose(found.centres[order], CENTRES, atol=0.04)
    p, q = np.array([0.4, 0.3, 0.3]), 0.5 * CENTRES + 0.5 / 3
    for _ in range(1000):
        theta, value = _step(rows, np.log(np.column_stack([p, q])))
        p, q = np.exp(theta[:, 0]), np.exp(theta[:, 1:])
    assert found.likelihood + 0.5 * np.log(found.centres).sum() > value - 1e-5 * abs(value)
    np.testing.assert_allclose(found.posterior(np.zeros((1, 3)))[0], found.weights)
