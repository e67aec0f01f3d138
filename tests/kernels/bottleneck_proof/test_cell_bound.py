"""The bound of a box: its theorem in 50 digits, and the compiled evaluation never above the exact value."""

import mpmath
import numpy as np
import pytest

import exact_boxes as exact
from compiled import compiled
from exact_boxes import case, joints
from infoplane.certificate.bottleneck.partition import Partition
from infoplane.joint.joint import Support
from infoplane.kernels.bottleneck_proof.cell_bound import bound_with
from infoplane.kernels.bottleneck_proof.envelope import search
from infoplane.posterior.mixture import dual_of

bound_with = compiled(bound_with)


@joints
@pytest.mark.parametrize("size", [1.0, 0.1, 1e-4, 1e-9, 0.0])
def test_the_theorem_and_its_evaluation(joint, size):
    """f(q) - lambda.q >= B + gamma KL(q || w) exactly, and the computed bound is below B, and close to it."""
    rng = np.random.default_rng([3, int(1e9 * size)])
    T = exact.channel(joint)
    for _ in range(4):
        dual, work, q = case(joint, size, rng)
        found, _ = bound_with(dual, work, work.v)
        B, w = exact.bound(T, dual.gamma, dual.lam, work.low, work.high, work.slope, work.v)
        q = exact.normalised(q)
        u = exact.pushed(T, q)
        assert all(l <= s <= b for l, s, b in zip(work.low, u, work.high, strict=True))
        assert (
            exact.value(T, dual.gamma, dual.lam, q) >= B + dual.gamma * exact.divergence(q, w) - mpmath.mpf(10) ** -40
        )
        assert found <= B
        assert B - found <= 1e-12 * (1.0 + dual.largest + np.abs(work.v).max())
        np.testing.assert_allclose(work.w, [float(one) for one in w], rtol=1e-9, atol=1e-200)


@joints
def test_the_minorant_is_below_h_on_the_box_and_concave(joint):
    rng = np.random.default_rng(4)
    for size in (1.0, 0.1, 1e-3):
        _, work, _ = case(joint, size, rng)
        n_y = work.low.size
        for y in range(n_y):
            ends = (work.low[y], work.high[y], work.slope[y], work.v[n_y + y])
            inside = [mpmath.mpf(float(s)) for s in np.linspace(work.low[y], work.high[y], 9)]
            assert all(exact.minorant(s, *ends) <= exact.h(s) + mpmath.mpf(10) ** -40 for s in inside)
            grid = [mpmath.mpf(k) / 40 for k in range(41)]
            r = [exact.minorant(s, *ends) for s in grid]
            assert all(r[k] * 2 >= r[k - 1] + r[k + 1] - mpmath.mpf(10) ** -40 for k in range(1, 40))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bound_that_is_no_number_closes_nothing(bad):
    """Multipliers that are no numbers: the search ends without having proven anything."""
    support = Support(exact.with_zeros())
    lam = np.zeros(5)
    lam[2] = bad
    partition = Partition(support.T)
    partition.grow(50)
    search(dual_of(support, 0.3, lam), partition.boxes, -1e-6, 50)
    assert partition.least == -np.inf
