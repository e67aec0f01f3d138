import math

import numpy as np
import pytest

from infoplane.sampling.mixture import DistinctRows, _step, concentrated, fitted, log_likelihood, overall, shrunk
from made_up import CENTRES, three_kinds


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


def test_likelihood_is_that_of_drawing_one_record_after_another():
    """Polya's urn: record k of a row has probability (count so far + alpha_y) / (k + a). No gamma function needed."""
    counts, alpha = np.array([[2, 0, 1], [0, 0, 4], [2, 0, 1]]), np.array([0.3, 1.1, 0.7])
    expected = 0.0
    for row in counts:
        drawn = [0, 0, 0]
        for y, times in enumerate(row):
            for _ in range(times):
                expected += math.log((drawn[y] + alpha[y]) / (sum(drawn) + alpha.sum()))
                drawn[y] += 1
    assert log_likelihood(DistinctRows.of(counts), alpha) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("planted", [2.0, 20.0])
def test_a_planted_concentration_is_found(planted):
    rng = np.random.default_rng(1)
    pi = np.array([0.5, 0.3, 0.2])
    counts = np.array([rng.multinomial(30, p) for p in rng.dirichlet(planted * pi, 3000)])
    alpha = concentrated(DistinctRows.of(counts))
    assert alpha.sum() == pytest.approx(planted, rel=0.1)
    np.testing.assert_allclose(alpha / alpha.sum(), overall(counts.sum(axis=0)), rtol=1e-12)
    seldom, often = shrunk(np.array([[0, 0, 1], [0, 0, 100_000]]), alpha)
    assert abs(often[2] - 1.0) < 1e-3
    assert 0.2 < seldom[2] < 0.55


def test_distinct_rows_are_the_table_again():
    counts = np.random.default_rng(0).integers(0, 3, (200, 3))
    found = DistinctRows.of(counts)
    np.testing.assert_array_equal(found.rows[found.place], counts)
    assert len(found.rows) == len(np.unique(counts, axis=0)) < 28
    np.testing.assert_array_equal(np.bincount(found.place), found.times)
