"""Falls to the last digit; tables of moved letters computed afresh; dynamic programmes against all ways to cut a line."""

import itertools
from decimal import Decimal, localcontext
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from infoplane.kernels import partitions as kernel
from infoplane.kernels.partitions import HardClusters, LetterRows, cut_line, cut_sorted, move_letters


def test_falls_keep_their_digits_where_information_nearly_vanishes():
    P = np.array(
        [
            [0.25, 0.25],
            [0.25 + 2.0**-40, 0.25 - 2.0**-40],
            [1e-30, 3e-30],
            [1e-50, 0.0],
            [1e-3, 2e-3],
            [1e-25, 0.5],
            [1e-25, 1e-9],
        ]
    )
    c = kernel.singletons(P, remember=False)
    for i, j in itertools.combinations(range(len(P)), 2):
        with localcontext(prec=120):
            p, q = ([Decimal(v) for v in P[x].tolist()] for x in (i, j))
            both = [u + v for u, v in zip(p, q, strict=True)]
            terms = [(r, sum(row), sign) for row, sign in ((p, 1), (q, 1), (both, -1)) for r in row if r > 0]
            fall = float(sum(sign * r * (r / total).ln() for r, total, sign in terms))
        assert kernel.falls(c.p_zy, c.p_z, i, j)[0] == pytest.approx(fall, rel=1e-8, abs=0)
        assert kernel.cost(c, 1.0, 0.0, i, j) == pytest.approx(fall, rel=1e-8, abs=0)


def test_tables_stay_those_of_the_labels():
    """After moves, q(z, y) and its entropies are those of the partition, computed afresh; the fall is the change of sum G."""
    rng = np.random.default_rng(0)
    P = rng.random((12, 3)) * (rng.random((12, 3)) < 0.7) + 1e-3
    P /= P.sum()
    rows = sparse.csr_array(P)
    letters = LetterRows(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data, P.sum(axis=1))

    def h(p):
        return -p * np.log(np.where(p > 0, p, 1.0))

    def tables(labels):
        q = np.array([P[labels == z].sum(axis=0) for z in range(5)]).T
        return q, q.sum(axis=0)

    labels = rng.integers(0, 4, 12)
    q, mass = tables(labels)
    there = HardClusters(labels.copy(), np.bincount(labels, minlength=5), mass.copy(), h(mass), q.copy(), h(q))
    moved, fall = move_letters(letters, there, np.arange(12), 2.0, -3.0, np.empty(5))
    assert moved == (there.labels != labels).sum() > 0
    q_new, mass_new = tables(there.labels)
    np.testing.assert_allclose(there.q, q_new, atol=1e-14)
    np.testing.assert_allclose(there.h_mass, h(mass_new), atol=1e-13)
    value = [2.0 * h(m).sum() - 3.0 * h(t).sum() for t, m in ((q, mass), (q_new, mass_new))]
    assert fall == pytest.approx(value[0] - value[1], abs=1e-12)


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
