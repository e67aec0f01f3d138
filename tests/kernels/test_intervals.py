"""Dynamic programmes against all ways to cut a line."""

from itertools import combinations

import numpy as np
import pytest

from infoplane.kernels.intervals import cut_line, cut_sorted


def lost(q):
    mass = q.sum()
    return float(-(q[q > 0] * np.log(q[q > 0] / mass)).sum())


def all_cuts(P, k, least):
    """The least sum of p(z) H(Y|z) over all ways to cut the rows into k intervals of mass ``least`` or more."""
    sums = []
    for cuts in combinations(range(1, len(P)), k - 1):
        parts = [P[i:j].sum(axis=0) for i, j in zip((0, *cuts), (*cuts, len(P)), strict=True)]
        sums.append(sum(map(lost, parts)) if min(part.sum() for part in parts) >= least else np.inf)
    return min(sums)


@pytest.mark.parametrize("least", [0.0, 0.12, 0.4])
def test_both_equal_all_ways_to_cut(least):
    rng = np.random.default_rng(3)
    for n_y in (2, 2, 2, 3):
        P = rng.dirichlet(np.full(9 * n_y, 0.4)).reshape(9, n_y)
        F, cuts = np.full((10, 6), np.inf), np.zeros((10, 6), dtype=np.int64)
        cut_line(P, least, F, cuts)
        wanted = [all_cuts(P, k, least) for k in range(1, 6)]
        np.testing.assert_allclose(F[9, 1:], wanted, atol=1e-14)
        if n_y == 2:
            P = P[np.argsort(P[:, 1] / P.sum(axis=1))]
            first, second = np.vstack([np.zeros(2), P.cumsum(axis=0)]).T.copy()
            F, cuts = np.full((6, 10), np.inf), np.zeros((6, 10), dtype=np.int64)
            cut_sorted(first, second, least, F, cuts)
            np.testing.assert_allclose(F[1:, 9], [all_cuts(P, k, least) for k in range(1, 6)], atol=1e-14)
