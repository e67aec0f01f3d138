"""Caps that wait as codes of one byte: rounded up, by little."""

import numpy as np

from compiled import compiled
from infoplane.kernels.funnel_proof.slot_bound import GONE, decoded, encoded

decoded, encoded = map(compiled, (decoded, encoded))


def test_caps_are_rounded_up():
    rng = np.random.default_rng(0)
    for cap in (1.0, 0.5, 1e-300, 1e-12, *10.0 ** rng.uniform(-10, 0, 2000), *2.0 ** (-0.125 * np.arange(200))):
        code = encoded(float(cap))
        assert code < GONE
        assert decoded(code) >= cap
        assert decoded(code) <= max(cap * 2.0**0.1251, 2.0**-31.7)
    assert decoded(encoded(0.0)) == 0.0
