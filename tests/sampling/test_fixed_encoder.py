"""I(Y;Z) of a fixed encoder from records: the formula written out, and what its corrections correct."""

import numpy as np
import pytest
from scipy.stats import ncx2

from infoplane.sampling.fixed_encoder import sampled_information
from infoplane.sampling.leakage import bound_of


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
    found = sampled_information(W, N)
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
    found = [sampled_information(W, N.reshape(P.shape)) for N in rng.multinomial(n, P.ravel(), 600)]
    shown = 2.0 * n * np.array([one.value for one in found])
    assert abs(shown.mean() - found[0].degrees) <= 4.0 * shown.std() / np.sqrt(600.0)
