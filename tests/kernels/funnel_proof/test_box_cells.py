"""Propagation of sum q = 1 and of the rank through a box: nothing is lost, and what is empty is dropped."""

from fractions import Fraction

import numpy as np
import pytest

from compiled import compiled
from infoplane.kernels.funnel_proof.box_cells import propagate

propagate = compiled(propagate)


@pytest.mark.parametrize("seed", range(400))
def test_propagation_keeps_every_posterior_of_the_box(seed):
    """Exact fractions on at most r letters, in a box drawn around them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    r = int(rng.integers(1, n + 1))
    size = int(rng.integers(1, r + 1))
    letters = rng.choice(n, size, replace=False)
    counts = 1 + rng.integers(0, 2**20, size)
    q = [Fraction(0)] * n
    for x, count in zip(letters, counts, strict=True):
        q[x] = Fraction(int(count), int(counts.sum()))
    l, b = np.zeros(n), np.ones(n)
    for x in range(n):
        # Ranges that are sometimes a hair wide.
        wide = 10.0 ** rng.uniform(-17, 0)
        high = float(q[x]) + wide * rng.random()
        low = float(q[x]) - wide * rng.random() if rng.random() < 0.5 else 0.0
        b[x] = min(np.nextafter(high, 2.0), 1.0)
        l[x] = max(np.nextafter(low, -1.0), 0.0)
    assert propagate(l, b, r, np.zeros(r + 1, dtype=np.int64))
    for x in range(n):
        assert Fraction(l[x]) <= q[x] <= Fraction(b[x])


def test_propagation_drops_what_is_empty():
    def left(l, b, r):
        return propagate(np.array(l), np.array(b), r, np.zeros(r + 1, dtype=np.int64))

    assert not left([0.0, 0.0], [0.4, 0.4], 2)
    assert not left([0.6, 0.6], [1.0, 1.0], 2)
    assert not left([0.1, 0.1, 0.1], [1.0, 1.0, 1.0], 2)
    assert not left([0.0, 0.0, 0.0], [0.4, 0.4, 0.4], 2)
    assert left([0.0, 0.0, 0.0], [0.4, 0.4, 0.4], 3)
