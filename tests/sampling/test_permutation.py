import numpy as np
import pytest

import infoplane as ip
from infoplane.information import expected_information


def test_p_values_of_independent_records_are_not_too_small():
    """P(p <= a) <= a: of 300 tables, at most 5% and 20% (and three standard errors)."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(4, 2.0))[:, None] * rng.dirichlet(np.full(3, 2.0))
    found = np.array(
        [
            ip.permutation_test(rng.multinomial(60, p.ravel()).reshape(4, 3), pairings=99, rng=rng).p_value
            for _ in range(300)
        ]
    )
    for level in (0.05, 0.2):
        assert np.mean(found <= level) <= level + 3.0 * np.sqrt(level * (1 - level) / 300)
    assert np.mean(found <= 0.5) > 0.35


def test_its_mean_is_the_exact_expectation_and_encoders_are_taken():
    counts = np.array([[8, 2], [3, 9], [5, 5], [1, 4]])
    found = ip.permutation_test(counts, rng=0)
    exact = expected_information(counts.sum(axis=1), counts.sum(axis=0))
    assert found.expected == pytest.approx(exact, rel=0.08)
    assert found.information == pytest.approx(ip.Joint.from_counts(counts).mutual_information, rel=1e-12)
    hard = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]])
    merged = np.stack([counts[[0, 3]].sum(axis=0), counts[[1, 2]].sum(axis=0)])
    assert ip.permutation_test(counts, hard, rng=0).information == pytest.approx(
        ip.permutation_test(merged, rng=0).information, rel=1e-12
    )
    soft = 0.8 * hard + 0.1
    assert ip.permutation_test(counts, soft, rng=0).information < ip.permutation_test(counts, hard, rng=0).information
    joint = ip.Joint.from_counts(counts)
    with pytest.raises(ip.InvalidOptionError, match="made from these records"):
        ip.permutation_test(joint, ip.solve(joint, ip.bottleneck(0.1), rng=0))
    assert "random pairings" in str(found)
