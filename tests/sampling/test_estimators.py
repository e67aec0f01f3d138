"""Estimators against their formulas in exact arithmetic or as recursions, and against what they are for: less bias."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import infoplane as ip
from infoplane.information import expected_information

TABLE = np.array([[6, 1, 2, 0], [2, 7, 1, 1], [0, 0, 3, 4]])
METHODS = ("plug-in", "miller-madow", "grassberger", "chao-shen", "shrinkage")


def three(entropy_of, table):
    rows, columns, cells = ([int(n) for n in part if n] for part in (table.sum(1), table.sum(0), table.ravel()))
    return entropy_of(rows) + entropy_of(columns) - entropy_of(cells)


def plug_in(counts):
    n = sum(counts)
    return -math.fsum(c / n * math.log(c / n) for c in counts)


def miller_madow(counts):
    return plug_in(counts) + (len(counts) - 1) / (2 * sum(counts))


def grassberger(counts):
    """By the recursion of the paper: G_1 = -gamma - log 2, G_2 = 2 + G_1, G_(2k+1) = G_2k, G_(2k+2) = G_2k + 2/(2k+1)."""

    def G(n):
        value = -0.5772156649015329 - math.log(2.0)
        return value + math.fsum(2.0 / odd for odd in range(1, n, 2))

    n = sum(counts)
    return math.log(n) - math.fsum(c * G(int(c)) for c in counts) / n


def chao_shen(counts):
    n = sum(counts)
    C = 1 - Fraction(sum(c == 1 for c in counts), int(n))
    p = [C * Fraction(int(c), int(n)) for c in counts]
    return -math.fsum(float(q) * math.log(q) / float(1 - (1 - q) ** int(n)) for q in p)


def shrunk(table):
    """Hausser and Strimmer's lambda, in fractions."""
    n, m = int(table.sum()), table.size
    p = [Fraction(int(c), n) for c in table.ravel()]
    share = (1 - sum(q * q for q in p)) / ((n - 1) * sum((Fraction(1, m) - q) ** 2 for q in p))
    share = min(share, Fraction(1))
    return np.array([float(share / m + (1 - share) * q) for q in p]).reshape(table.shape)


def test_formulas():
    expected = [three(one, TABLE) for one in (plug_in, miller_madow, grassberger, chao_shen)]
    p = shrunk(TABLE)
    expected.append(float((p * np.log(p / np.outer(p.sum(1), p.sum(0)))).sum()))
    for table in (TABLE, sparse.csr_array(TABLE), ip.Joint.from_counts(TABLE, smoothing=0.5)):
        found = [ip.estimate_information(table, method) for method in METHODS]
        np.testing.assert_allclose(found, np.maximum(expected, 0.0), rtol=1e-10)


def test_what_corrects_for_bias_has_less():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(30)).reshape(6, 5)
    truth = float((P * np.log(P / np.outer(P.sum(1), P.sum(0)))).sum())
    tables = [rng.multinomial(150, P.ravel()).reshape(6, 5) for _ in range(150)]
    bias = {
        method: abs(np.mean([ip.estimate_information(t, method) for t in tables]) - truth) for method in METHODS[:4]
    }
    assert max(value for name, value in bias.items() if name != "plug-in") < 0.4 * bias["plug-in"], bias


def test_the_ends():
    """Every record alone, one record, one cell: finite, and not below 0."""
    for table in (np.eye(5, dtype=int), [[1]], [[9, 0], [0, 0]], [[1, 1], [1, 1]]):
        for method in METHODS:
            value = ip.estimate_information(table, method)
            assert math.isfinite(value)
            assert value >= 0.0
    with pytest.raises(ip.InvalidOptionError, match="method must be 'plug-in' or"):
        ip.estimate_information(TABLE, "nsb")
    with pytest.raises(ip.InvalidJointError, match="whole numbers"):
        ip.estimate_information(TABLE / 2)
    with pytest.raises(ip.InvalidJointError, match="needs counts"):
        ip.estimate_information(ip.datasets.paper_uniform())


def test_p_values_of_independent_records_are_not_too_small():
    """P(p <= a) <= a: of 300 tables, at most 5% and 20% (and three standard errors)."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(4, 2.0))[:, None] * rng.dirichlet(np.full(3, 2.0))
    found = np.array(
        [
            ip.permutation_test(rng.multinomial(60, p.ravel()).reshape(4, 3), pairings=19, rng=rng).p_value
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


def test_a_result_is_taken_by_the_labels_of_its_x():
    """Records of other people, with the x in another order: z is that of their x."""
    counts = np.array([[40, 3], [5, 30], [12, 14], [2, 25]])
    made = ip.partition(ip.Joint.from_counts(counts, x_labels=list("abcd")), clusters=2)
    other = ip.Joint.from_counts(2 * counts[[1, 0, 3, 2]] + 1, x_labels=list("badc"))
    found = ip.permutation_test(other, made, pairings=9, rng=0).information
    same = ip.Joint.from_counts(2 * counts + 1, x_labels=list("abcd"))
    assert found == pytest.approx(ip.permutation_test(same, made.encoder, pairings=9, rng=0).information, abs=1e-12)
