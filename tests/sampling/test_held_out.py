"""Gains on held-out records against their slow twin; what has no parts is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infoplane as ip
from infoplane.sampling.held_out import curve_of, gain_of, without_each_part
from twins import slow_gain


@given(st.integers(0, 10**6))
def test_gain_is_that_of_its_twin(seed):
    rng = np.random.default_rng(seed)
    rest, part = rng.integers(0, 9, (5, 3)) + 1, rng.integers(0, 4, (5, 3)) + 1
    W = rng.dirichlet(np.ones(2), 5).T
    assert gain_of(W, rest, part) == pytest.approx(slow_gain(W, rest, part), abs=1e-12)


def test_a_curve_is_means_and_their_errors():
    (one,) = curve_of([7], [[0.1], [0.2], [0.3], [0.2], [0.2]])
    assert one == pytest.approx(
        (7, 0.2 / np.log(2), np.std([0.1, 0.2, 0.3, 0.2, 0.2], ddof=1) / np.sqrt(5) / np.log(2))
    )
    assert one.tells
    assert not one._replace(error_bits=1.0).tells


def test_parts_are_of_the_records_and_the_rest_is_made_alike():
    made = ip.Joint.from_counts(np.random.default_rng(0).integers(5, 40, (6, 2))).denoised()
    seen = without_each_part(made, 0, lambda rest, part: [(rest, part)])
    assert (sum(part for ((_, part),) in seen) == made.counts).all()
    assert all((rest.counts + part == made.counts).all() and rest.denoising is not None for ((rest, part),) in seen)
    for joint, found in ((ip.Joint.from_matrix(made.p_xy), "probabilities"), (ip.Joint.from_counts([[4, 5]]), "has 9")):
        with pytest.raises(ip.InvalidOptionError, match=found):
            without_each_part(joint, 0, lambda *_: [])
