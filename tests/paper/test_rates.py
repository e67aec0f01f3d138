"""Claims about linear rates, on made-up sequences whose rates are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoplane_paper.rates import linear_tails, on_its_way, straightness, worst_ratio

K = np.arange(1, 400)


def test_linear_tails_both_ways():
    linear, sublinear = -1.0 + 0.9**K, -1.0 + 1.0 / K**2
    found = tails(a=linear)
    assert found.holds is True
    assert found.said.startswith("a: x0.9000 an iteration, r^2 1.0000, 399 iterations")
    assert tails(a=linear, b=sublinear).holds is False
    assert tails(a=np.array([1.0, 0.0])).holds is None


def tails(**losses):
    return linear_tails(losses, dict.fromkeys(losses, True))


def test_a_tail_needs_an_end():
    linear, slow = -1.0 + 0.9**K, -1.0 + 0.999**K
    # Not converged, stopped while it falls, never left its start.
    assert linear_tails({"a": linear}, {"a": False}).holds is None
    assert on_its_way(slow) > 0.01 > on_its_way(linear)
    assert tails(a=slow).holds is None
    assert "stopped on its way" in tails(a=slow).said
    assert tails(a=1e-5 * linear).holds is None
    # What has no end yet leaves open what one with an end confirms, but not what one refutes.
    assert tails(a=linear, b=slow).holds is None
    assert tails(a=-1.0 + 1.0 / K**2, b=slow).holds is False


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
