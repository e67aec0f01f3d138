"""Claims about linear rates, on made-up sequences whose rates are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoplane.paper.rates import linear_tails, straightness, worst_ratio

K = np.arange(1, 400)


def test_linear_tails_both_ways():
    linear, sublinear = -1.0 + 0.9**K, -1.0 + 1.0 / K**2
    found = linear_tails({"a": linear})
    assert found.holds is True
    assert found.numbers["a, factor"] == pytest.approx(0.9, abs=1e-3)
    assert linear_tails({"a": linear, "b": sublinear}).holds is False
    assert linear_tails({"a": np.array([1.0, 0.0])}).holds is None


@given(factor=st.floats(0.2, 0.97), scale=st.floats(1e-6, 1e6))
def test_a_geometric_path_is_linear(factor, scale):
    steps = scale * factor ** np.arange(2000)
    assert worst_ratio(steps) == pytest.approx(factor, abs=2e-3)
    assert straightness(steps) >= 0.999


def test_an_oscillating_path_is_linear_in_what_remains():
    # Complex eigenvalues: single steps grow at times, what remains shrinks throughout.
    k = np.arange(600)
    steps = 0.9**k * (1.2 + np.cos(1.3 * k))
    assert (steps[1:] > steps[:-1]).any()
    assert worst_ratio(steps) < 1.0
    assert straightness(steps) >= 0.99


def test_a_slow_path_is_not():
    steps = 1.0 / np.arange(1, 20_000) ** 2.0
    assert worst_ratio(steps) > 1 - 1e-3
    assert straightness(steps) < 0.99
