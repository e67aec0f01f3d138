"""Intervals against the spread of many samples of known populations; benchmarks/bench_coverage.py has the table by size."""

import numpy as np
import pytest
from scipy.stats import ncx2

from infoplane.sampling.intervals import complexity, interval_of, relevance
from infoplane.sampling.leakage import bound_of


def information(p):
    inside = p > 0
    return float((p[inside] * np.log(p[inside] / np.outer(p.sum(1), p.sum(0))[inside])).sum())


def soft(rng, clusters, letters):
    W = np.exp(2.0 * rng.standard_normal((clusters, letters)))
    return W / W.sum(axis=0)


@pytest.mark.parametrize("share", [1.0, 0.1, 0.0], ids=["strong", "weak", "independent"])
def test_intervals_hold(share):
    """95% intervals hold in 93% of 600 samples or more, and the corrected value has a tenth of the plug-in's bias, or is within noise."""
    rng = np.random.default_rng(4)
    n, p_x, p_y = 500, rng.dirichlet(np.full(16, 2.0)), rng.dirichlet(np.full(4, 3.0))
    P = p_x[:, None] * (share * rng.dirichlet(np.ones(4), 16) + (1 - share) * p_y)
    for W in (np.eye(6)[:, rng.integers(0, 6, 16)], soft(rng, 6, 16)):
        told, kept = information(W @ P), information(W * p_x)
        held, plain, centre = [], [], []
        for _ in range(300):
            N = rng.multinomial(n, P.ravel()).reshape(P.shape)
            y, x = relevance(W, N), complexity(W, N.sum(axis=1))
            for truth, moments in ((told, y), (kept, x)):
                found = interval_of([moments], 0.95)
                held.append(found.low <= truth + 1e-12 and truth <= found.high)
            plain.append(y.value - told)
            centre.append(y.centre - told)
        assert np.mean(held) > 0.93
        assert abs(np.mean(centre)) < max(0.1 * abs(np.mean(plain)), 3.0 * np.std(centre) / np.sqrt(300))


def test_a_narrower_confidence_and_parts_of_the_records():
    rng = np.random.default_rng(0)
    P, W = rng.dirichlet(np.ones(12)).reshape(4, 3), soft(rng, 2, 4)
    N = rng.multinomial(9000, P.ravel()).reshape(4, 3)
    wide, narrow = (interval_of([relevance(W, N)], share) for share in (0.95, 0.5))
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(1.959964 / 0.674490, rel=1e-5)
    parts = [relevance(W, rng.multinomial(3000, P.ravel()).reshape(4, 3)) for _ in range(3)]
    joined = interval_of(parts, 0.95)
    assert joined.high - joined.low == pytest.approx(wide.high - wide.low, rel=0.1)
    assert "bits" in str(joined)


def test_the_formula():
    """Psi, df and the two branches of the bound, with SciPy's distributions."""
    rng = np.random.default_rng(1)
    n, N, W = 400, rng.multinomial(400, rng.dirichlet(np.full(24, 3.0))).reshape(8, 3), rng.dirichlet(np.ones(3), 8).T
    P = N / n
    q = W @ P
    logs = np.log(q / (q.sum(axis=1, keepdims=True) * q.sum(axis=0)))
    psi, value = W.T @ logs, (q * logs).sum()
    variance = (P * psi**2).sum() - value**2
    degrees = 2.0 * ((W**2 @ P.sum(axis=1)) / q.sum(axis=1)).sum() - 2.0
    found = relevance(W, N)
    assert found[1:4] == pytest.approx((value, variance, degrees), rel=1e-10)
    assert found.expected == pytest.approx(degrees / 800)
    bound = bound_of(W, N, 0.95, (0, 1, 2)).bound
    normal = max(value - degrees / 800, 0.0) + 1.6448536 * np.sqrt(variance / n + degrees / 2 / n**2)
    below = ncx2.cdf(2 * n * value, degrees, 2 * n * bound)
    assert bound == pytest.approx(normal, rel=1e-6) or below == pytest.approx(0.05, rel=1e-6)
    assert bound >= normal * (1.0 - 1e-6)
    assert below <= 0.05 * (1.0 + 1e-6)


def test_degrees_of_freedom_are_the_bias_of_a_soft_encoder():
    """At independence the mean of 2n I^ over samples is df, of a soft encoder too: 600 samples, four standard errors."""
    rng = np.random.default_rng(2)
    W, P, n = rng.dirichlet(np.ones(4), 10).T, np.outer(rng.dirichlet(np.full(10, 5.0)), [0.2, 0.3, 0.5]), 2000
    found = [relevance(W, N.reshape(P.shape)) for N in rng.multinomial(n, P.ravel(), 600)]
    shown = 2.0 * n * np.array([one.value for one in found])
    assert abs(shown.mean() - found[0].degrees) <= 4.0 * shown.std() / np.sqrt(600.0)
