"""h(t) = -t log t on an interval, and a straight line below it."""

from __future__ import annotations

import numpy as np

from .numbers import Array, h


def below(low: Array, high: Array) -> tuple[Array, Array]:
    """Slope s and offset a of a line a + s t <= h(t) for low <= t <= high: the secant, up to rounding of its slope.

    Whatever the slope, h(t) - s t is concave, so that its least value on the interval is at an end: a is the smaller of the two.
    """
    width, middle = high - low, 0.5 * (low + high)
    wide = width > 1e-9 * middle
    slope = np.where(
        wide, (h(high) - h(low)) / np.where(wide, width, 1.0), -np.log(np.where(middle > 0.0, middle, 1.0)) - 1.0
    )
    return slope, np.minimum(h(low) - slope * low, h(high) - slope * high)
