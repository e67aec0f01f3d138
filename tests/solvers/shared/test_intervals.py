from itertools import combinations

import numpy as np
import pytest

from infoplane.solvers.shared.intervals import lost_in, prebins, rising_cuts


def kept(P, cuts):
    """I(Y;Z) of the intervals between cuts, and whether the share of the second y rises."""
    q = np.add.reduceat(P, [0, *cuts], axis=0)
    apart = q / np.outer(q.sum(axis=1), q.sum(axis=0))
    share = q[:, 1] / q.sum(axis=1)
    return float((q * np.log(np.where(q > 0, apart, 1.0))).sum()), bool((np.diff(share) >= -1e-15).all())


def test_pooling_neighbours_first_loses_no_rising_intervals():
    """The proof at the head of the module, against all intervals whose share of y rises."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        P = rng.dirichlet(np.full(18, 0.6)).reshape(9, 2)
        entropy = float(-(P.sum(axis=0) * np.log(P.sum(axis=0))).sum())
        found = rising_cuts(P, 4)
        tried = [kept(P, cuts) for k in range(4) for cuts in combinations(range(1, 9), k)]
        assert entropy - found.lost[1:].min() == pytest.approx(max(value for value, rises in tried if rises), abs=1e-13)
        labels = found.labels(found.best(4))
        assert kept(P, np.flatnonzero(np.diff(labels)) + 1)[1]


def test_prebins_have_about_equal_mass_and_what_they_lose_is_the_difference():
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(1500)).reshape(500, 3)
    bins = prebins(P.sum(axis=1), 20)
    q = np.array([P[bins == b].sum(axis=0) for b in range(20)])
    assert (np.diff(bins) >= 0).all()
    assert np.abs(q.sum(axis=1) - 0.05).max() < 2 * P.sum(axis=1).max()

    def information(p):
        return float((p * np.log(p / np.outer(p.sum(axis=1), p.sum(axis=0)))).sum())

    assert lost_in(q, P, bins).sum() == pytest.approx(information(P) - information(q), abs=1e-13)
