import numpy as np
import pytest
from scipy import sparse

import infoplane as ip
from infoplane.sampling.folds import parts_of


@pytest.mark.parametrize("made", [np.array, sparse.csr_array])
def test_parts_sum_to_the_table_and_have_one_size(made):
    counts = np.random.default_rng(0).poisson(3.0, (40, 3))
    parts = parts_of(made(counts), 7, np.random.default_rng(1))
    assert abs(sum(parts) - counts).sum() == 0
    sizes = [int(part.sum()) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    assert {sparse.issparse(part) for part in parts} == {made is sparse.csr_array}
    for y in range(3):  # stratified by y
        of_y = [int(part[:, [y]].sum()) for part in parts]
        assert max(of_y) - min(of_y) <= 1


def test_parts_are_drawn_as_if_records_were_shuffled():
    """Mean and variance of a cell's share in a part: hypergeometric, n_xy records of the n_y, a third of which are drawn."""
    counts, rng = np.array([[6, 2], [12, 4]]), np.random.default_rng(0)
    first = np.array([parts_of(counts, 3, rng)[0][0, 0] for _ in range(1500)])
    assert first.mean() == pytest.approx(2.0, abs=0.1)
    assert first.var() == pytest.approx(6 * (6 / 18) * (12 / 18) * (12 / 17), abs=0.1)


def test_too_few_records_are_refused():
    with pytest.raises(ip.InvalidOptionError, match="need 20 records"):
        parts_of(np.array([[3, 3]]), 10, np.random.default_rng(0))
