"""Groups of letters: together they have the mass, the mean and the covariance of all letters, in 50 digits."""

import mpmath
import numpy as np

import exact_boxes as exact
from exact_boxes import case, grouped


def test_groups_are_a_partition_of_the_letters():
    """Sums over groups of Omega, Omega m and Omega (C + m m') are those over letters; every letter lies in the ranges of a group."""
    rng = np.random.default_rng(21)
    for size in (0.3, 0.01):
        dual, work, _ = case(exact.many_columns(), size, rng)
        n_y, n_x = dual.T.shape
        groups = grouped(dual, work, rng, 24)
        a, gamma = groups.slopes[0], mpmath.mpf(dual.gamma)
        T = [[mpmath.mpf(float(s)) for s in column] for column in dual.T.T]
        omega = [
            mpmath.exp(
                (mpmath.mpf(float(l)) - mpmath.fsum(mpmath.mpf(float(b)) * s for b, s in zip(a, t, strict=True)))
                / gamma
            )
            for l, t in zip(dual.lam, T, strict=True)
        ]
        whole = mpmath.fsum(omega)
        share = [
            float(mpmath.exp((mpmath.mpf(float(l)) - mpmath.fsum(mpmath.mpf(float(v)) for v in a * m)) / gamma) / whole)
            for l, m in zip(groups.lam[0], groups.mean[0].T, strict=True)
        ]
        mass = np.array([float(one / whole) for one in omega])
        np.testing.assert_allclose(np.sum(share), 1.0, rtol=1e-9)
        np.testing.assert_allclose(groups.mean[0] @ share, dual.T @ mass, rtol=1e-9)
        second = groups.spread[0] + groups.mean[0][:, None] * groups.mean[0][None]
        np.testing.assert_allclose(second @ share, (dual.T * mass) @ dual.T.T, rtol=1e-9)
        low, high = groups.low[0][:, :, None], groups.high[0][:, :, None]
        assert ((low <= dual.T[:, None]) & (dual.T[:, None] <= high)).all(axis=0).any(axis=0).all()
        assert (groups.mean[0] + groups.above[0] >= groups.high[0]).all()
        assert (groups.mean[0] - groups.below[0] <= groups.low[0]).all()
        assert groups.largest[0] == np.abs(groups.lam[0]).max()
        assert n_x == 220
        assert n_y == 3
