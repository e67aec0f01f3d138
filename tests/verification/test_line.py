"""The line below -t log t."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from infoplane_verify.line import below
from infoplane_verify.numbers import h

ENDS = st.one_of(st.just(0.0), st.floats(1e-300, 1.0), st.floats(-40, 0).map(lambda e: 10.0**e))


@settings(deadline=None)
@given(ENDS, ENDS)
def test_it_is_nowhere_above(one, other):
    low, high = np.array([min(one, other)]), np.array([max(one, other)])
    slope, offset = below(low, high)
    t = np.linspace(low[0], high[0], 101)
    assert (offset + slope * t <= h(t) + 1e-15 * (1.0 + np.abs(slope))).all()


def test_it_touches_at_both_ends_of_a_wide_interval():
    low, high = np.array([0.0, 0.1]), np.array([0.3, 0.9])
    slope, offset = below(low, high)
    np.testing.assert_allclose(offset + slope * low, h(low), rtol=0, atol=1e-15)
    np.testing.assert_allclose(offset + slope * high, h(high), rtol=0, atol=1e-15)
