"""The bound by groups is never above that by letters, and never reaches less far: each inequality in 50 digits, zeros in T included."""

import mpmath
import numpy as np
import pytest

import exact_boxes as exact
from compiled import compiled
from exact_boxes import case, grouped
from infoplane.kernels.bottleneck_proof.ascent import locate
from infoplane.kernels.bottleneck_proof.cell_bound import bound_with, room
from infoplane.kernels.bottleneck_proof.group_bound import (
    as_letters,
    doubt,
    growth,
    prepare_groups,
    reduce_by_groups,
    settle,
    tilt_room,
    tilted_groups,
)
from infoplane.kernels.bottleneck_proof.ranges import propagate

as_letters, bound_with, doubt, growth, locate = map(compiled, (as_letters, bound_with, doubt, growth, locate))
prepare_groups, propagate, reduce_by_groups = map(compiled, (prepare_groups, propagate, reduce_by_groups))
settle, tilted_groups = map(compiled, (settle, tilted_groups))

mpf = mpmath.mpf


def test_growth_is_above_the_mean_of_every_exponential():
    """Of random variables with mean 0 and few values, and infinite where nothing is said."""
    rng = np.random.default_rng(22)
    for size in (1e-9, 1e-3, 0.3, 0.999, 1.0, 1.001, 5.0, 80.0):
        for _ in range(10):
            p = [mpf(float(v)) for v in rng.dirichlet(np.full(6, 0.5)) + 1e-12]
            p = [v / mpmath.fsum(p) for v in p]
            Z = [mpf(float(v)) for v in rng.normal(size=6)]
            mid = mpmath.fsum(a * b for a, b in zip(p, Z, strict=True))
            scale = mpf(size) / max(v - mid for v in Z)
            Z = [scale * (v - mid) for v in Z]
            z, second = float(max(Z)) * (1.0 + 1e-15), float(mpmath.fsum(a * b * b for a, b in zip(p, Z, strict=True)))
            exact_mean = mpmath.fsum(a * mpmath.exp(b) for a, b in zip(p, Z, strict=True))
            assert growth(z, second * (1.0 + 1e-15)) >= exact_mean * (1 - mpf(10) ** -15)
            assert growth(z, second) <= mpmath.exp(z) * (1 + mpf(10) ** -11)
    assert growth(601.0, 0.0) == np.inf
    assert not growth(np.nan, 1.0) <= 1e300


@pytest.mark.parametrize("size", [1.0, 0.1, 1e-3])
def test_bounds_and_reaches_by_groups(size):
    """For random multipliers, boxes and slopes: B falls, exactly; tilted sums grow; and no q below the target leaves the box."""
    rng = np.random.default_rng([23, int(1e3 * size)])
    joint = exact.many_columns()
    T = exact.channel(joint)
    close = 0
    for trial in range(4):
        dual, work, q = case(joint, size, rng)
        groups = grouped(dual, work, rng, 24 if trial % 2 else 96)
        small, tilt = room(groups.mean[0]), tilt_room(groups)
        small.low[:], small.high[:], small.v[:] = work.low, work.high, work.v
        prepare_groups(groups, 0, small, tilt)
        optimistic, potential = bound_with(as_letters(groups, 0, dual.gamma), small, small.v)
        locate(small)
        grew, fall = settle(dual, groups, 0, small, tilt)
        found = optimistic - fall
        B, _ = exact.bound(T, dual.gamma, dual.lam, work.low, work.high, small.slope, work.v)
        assert not found > B
        close += B - found < 0.5
        e = exact.exponents(T, dual.lam, work.low, work.high, small.slope, work.v)
        for y in range(3):
            for theta in (0.5, -30.0):
                c = float(small.mean[y])
                extent = groups.above[0, y] if theta > 0.0 else groups.below[0, y]
                rows = (groups.mean[0, y], extent, groups.spread[0, y, y], tilt.moved[y], tilt.most, tilt.second)
                total, _ = tilted_groups(small.w, *rows, c, theta, 1.0 + doubt(3, 220))
                if total < np.inf:
                    letters = mpmath.fsum(
                        mpmath.exp((one - mpf(potential)) / mpf(dual.gamma) + mpf(theta) * (row[y] - mpf(c)))
                        for one, row in zip(e, T, strict=True)
                    )
                    assert total * (1.0 + 1e-9 / dual.gamma) >= letters
        q = exact.normalised(q)
        u = exact.pushed(T, q)
        target = float(exact.value(T, dual.gamma, dual.lam, q)) + 1e-3
        assert reduce_by_groups(dual, groups, 0, small, tilt, target - found, grew)
        assert propagate(small)
        assert all(l <= s <= b for l, s, b in zip(small.low, u, small.high, strict=True))
    assert close > 0


def test_groups_made_at_a_box_lose_little():
    """At the slope of its own exponents all that is left is what the curved part of r_y loses."""
    rng = np.random.default_rng(24)
    dual, work, _ = case(exact.many_columns(), 0.01, rng)
    work.v[:3], work.v[3:] = rng.normal(size=3), 1.0
    letters, _ = bound_with(dual, work, work.v)
    groups = grouped(dual, work, rng, 96, at=work.v[:3] + work.slope)
    small, tilt = room(groups.mean[0]), tilt_room(groups)
    small.low[:], small.high[:], small.v[:] = work.low, work.high, work.v
    prepare_groups(groups, 0, small, tilt)
    optimistic, _ = bound_with(as_letters(groups, 0, dual.gamma), small, small.v)
    _, fall = settle(dual, groups, 0, small, tilt)
    assert letters - 1e-9 <= optimistic - fall <= letters
