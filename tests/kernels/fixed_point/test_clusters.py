import numpy as np

from interpreted import interpreted

reduce = interpreted("fixed_point.clusters").reduce


def test_equal_clusters_are_merged_and_shrinking_ones_pruned():
    q = np.array([[0.2, 0.1], [0.1, 0.05], [0.05, 0.5 - 1e-7], [4e-8, 6e-8]])
    before, keep = q.copy(), np.empty(4, dtype=bool)
    before[3] *= 2.0
    assert reduce(q, before, 1e-6, keep) == 2
    assert keep.tolist() == [True, False, True, False]
    np.testing.assert_allclose(q[0], [0.3, 0.15])
    growing = np.array([[0.2, 0.1], [0.2, 0.5 - 1e-7], [4e-8, 6e-8]])
    assert reduce(growing.copy(), 0.5 * growing, 1e-6, keep[:3]) == 3
