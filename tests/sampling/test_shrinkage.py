import math

import numpy as np
import pytest

from infoplane.sampling.distinct import DistinctRows
from infoplane.sampling.shrinkage import concentrated, log_likelihood, overall, shrunk


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
