import numpy as np
import pytest
from scipy import sparse

from infoplane.kernels.moves import HardClusters, LetterRows, move_letters


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
