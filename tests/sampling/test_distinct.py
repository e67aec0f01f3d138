import numpy as np

from infoplane.sampling.distinct import DistinctRows


def test_distinct_rows_are_the_table_again():
    counts = np.random.default_rng(0).integers(0, 3, (200, 3))
    found = DistinctRows.of(counts)
    np.testing.assert_array_equal(found.rows[found.place], counts)
    assert len(found.rows) == len(np.unique(counts, axis=0)) < 28
    np.testing.assert_array_equal(np.bincount(found.place), found.times)
