"""Options that several functions take are checked in one place."""

import pytest

import infoplane as ip
from infoplane.options import RunOptions


@pytest.mark.parametrize(
    ("given", "message"),
    [({"tol": 0.0}, "tol"), ({"tol": 1.0}, "tol"), ({"max_iter": 0}, "max_iter"), ({"clusters": 2.5}, "clusters")],
)
def test_what_is_out_of_range_is_named(given, message):
    with pytest.raises(ip.InvalidOptionError, match=message):
        RunOptions(**given)


def test_numbers_of_other_kinds_become_pythons_own():
    import numpy as np

    options = RunOptions(tol=np.float32(0.5), max_iter=np.int64(3), clusters=np.int32(2))
    assert (type(options.tol), type(options.max_iter), type(options.clusters)) == (float, int, int)
