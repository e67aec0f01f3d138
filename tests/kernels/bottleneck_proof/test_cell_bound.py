"""The bound of a box: its theorem in 50 digits, and the compiled evaluation never above the exact value."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import exact_boxes as exact
from compiled import compiled
from exact_boxes import case, joints
from infoplane.certificate.bottleneck import OpenBoxes
from infoplane.joint.joint import Support
from infoplane.kernels.bottleneck_proof.ascent import locate
from infoplane.kernels.bottleneck_proof.cell_bound import (
    LOOSE,
    bound_with,
    moments,
    near,
    propagate,
    reach,
    reduce,
    rest_of_exp,
    workspace,
)
from infoplane.kernels.bottleneck_proof.envelope import search
from infoplane.posterior.form import dual_of

bound_with, locate, moments, near = map(compiled, (bound_with, locate, moments, near))
propagate, reach, reduce, rest_of_exp = map(compiled, (propagate, reach, reduce, rest_of_exp))


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
    open_boxes = OpenBoxes(support.T)
    open_boxes.grow(50)
    search(dual_of(support, 0.3, lam), open_boxes.boxes, -1e-6, 50)
    assert open_boxes.least == -np.inf


@pytest.mark.parametrize("n_y", [2, 3, 7, 20])
def test_sum_to_one_in_rational_numbers(n_y):
    """Every u of the box that sums to one stays in it; and the ends are those of the formula, to rounding."""
    rng = np.random.default_rng(n_y)
    for size in (1.0, 0.1, 1e-6, 1e-13):
        for _ in range(20):
            u = rng.dirichlet(np.full(n_y, 0.5))
            whole = [Fraction(float(v)) for v in u]
            whole = [v / sum(whole) for v in whole]
            work = workspace(np.full((n_y, 1), 1.0 / n_y))
            work.low[:] = np.maximum(u - size * rng.random(n_y), 0.0) * (1.0 - 1e-15)
            work.high[:] = (u + size * rng.random(n_y)) * (1.0 + 1e-15) + 1e-100
            low, high = work.low.copy(), work.high.copy()
            assert propagate(work)
            for y in range(n_y):
                assert Fraction(float(work.low[y])) <= whole[y] <= Fraction(float(work.high[y]))
            assert (work.low >= low).all()
            assert (work.high <= high).all()
            once = np.minimum(high, 1.0 - (low.sum() - low))
            assert (work.high <= once + 1e-12).all()
            assert (work.low >= np.maximum(low, 1.0 - (once.sum() - once)) - 1e-12).all()


def test_a_box_that_no_distribution_meets_is_empty():
    for low, high in (([0.6, 0.5], [0.9, 0.9]), ([0.0, 0.0], [0.4, 0.5])):
        work = workspace(np.full((2, 1), 0.5))
        work.low[:], work.high[:] = low, high
        assert not propagate(work)


@joints
@pytest.mark.parametrize("size", [1.0, 0.1, 1e-4])
def test_no_posterior_below_the_target_leaves_the_box(joint, size):
    """The target a little above the value of a q of the box: the box shrinks, and Tq is still in it, exactly."""
    rng = np.random.default_rng([6, int(1e6 * size)])
    T = exact.channel(joint)
    for above in (1e-3, 1e-9, 1e-14):
        for _ in range(5):
            dual, work, q = case(joint, size, rng)
            q = exact.normalised(q)
            value = exact.value(T, dual.gamma, dual.lam, q)
            target = float(value) + above * (1.0 + abs(float(value)))
            bound, _ = bound_with(dual, work, work.v)
            locate(work)
            assert reduce(dual, work, target - bound)
            assert propagate(work)
            u = exact.pushed(T, q)
            assert all(l <= s <= b for l, s, b in zip(work.low, u, work.high, strict=True))


def test_a_softmax_at_the_target_is_where_the_range_is_tight():
    """q = w has KL(q || w) = 0: with the target at B the range is Tw, up to rounding.

    In two looks: an end that is near on the scale of the whole box is not moved by the first.
    """
    rng = np.random.default_rng(7)
    dual, work, _ = case(exact.many_letters(), 1.0, rng)
    bound_with(dual, work, work.v)
    locate(work)
    before = work.mean[:8].copy()
    work.low[:], work.high[:] = 0.0, 1.0
    assert reduce(dual, work, 1e-12)
    assert reduce(dual, work, 1e-12)
    assert (work.low <= before).all()
    assert (work.high >= before).all()
    assert (work.high - work.low).max() < 1e-4


@joints
def test_the_reach_is_rounded_up(joint):
    """c + (rho + log E_w exp(theta (T - c))) / theta with the exact B and w of the same multipliers, for both signs of theta."""
    rng = np.random.default_rng(9)
    T = exact.channel(joint)
    n_y = len(T[0])
    for _ in range(6):
        dual, work, _ = case(joint, 0.3, rng)
        bound, _ = bound_with(dual, work, work.v)
        locate(work)
        B, w = exact.bound(T, dual.gamma, dual.lam, work.low, work.high, work.slope, work.v)
        target = bound + float(10.0 ** rng.uniform(-9, 0))
        rho = (mpmath.mpf(target) - B) / mpmath.mpf(dual.gamma)
        for y in range(n_y):
            c = mpmath.mpf(float(work.mean[y]))
            for theta in (0.01, -3.0, 40.0, -390.0):
                tilted = mpmath.fsum(p * mpmath.exp(theta * (row[y] - c)) for p, row in zip(w, T, strict=True))
                far = (rho + mpmath.log(tilted)) / abs(theta)
                found, _ = reach(dual, work, y, theta, (target - bound) / dual.gamma * (1.0 + 1e-15))
                assert found >= far
                assert found - far <= 1e-10 * (1.0 + 1.0 / abs(theta)) / dual.gamma * (
                    1 + dual.largest + np.abs(work.v).max()
                )


def test_the_rest_of_the_exponential_series_is_rounded_up():
    for z in [0.0, 1e-300, 1e-9, 0.1, 0.5, 1.0 - 1e-12, 1.0, 1.0 + 1e-12, 2.0, 7.0, 20.0]:
        Z = mpmath.mpf(z)
        exact_rest = (mpmath.exp(Z) - 1 - Z - Z**2 / 2 - Z**3 / 6) / Z**4 if z > 1e-9 else mpmath.mpf(1) / 24 + Z / 120
        assert exact_rest <= rest_of_exp(z) <= exact_rest * (1 + mpmath.mpf("2e-12"))


@joints
def test_the_reach_from_moments_is_never_below_that_from_exponentials(joint):
    """With the exact B and w of the same multipliers, for both signs of theta; and no farther out than promised."""
    rng = np.random.default_rng(10)
    T = exact.channel(joint)
    n_y = len(T[0])
    looked_at = 0
    for _ in range(6):
        dual, work, _ = case(joint, 0.3, rng)
        bound, _ = bound_with(dual, work, work.v)
        locate(work)
        B, w = exact.bound(T, dual.gamma, dual.lam, work.low, work.high, work.slope, work.v)
        target = bound + float(10.0 ** rng.uniform(-3, 0))
        rho = (mpmath.mpf(target) - B) / mpmath.mpf(dual.gamma)
        for y in range(n_y):
            c = mpmath.mpf(float(work.mean[y]))
            moment = moments(work.w, dual.T[y], work.mean[y])
            for theta in (0.01, -0.3, 1.0, -3.0, 10.0, -19.0):
                tilted = mpmath.fsum(p * mpmath.exp(theta * (row[y] - c)) for p, row in zip(w, T, strict=True))
                far = (rho + mpmath.log(tilted)) / abs(theta)
                found = near(dual, work, y, theta, (target - bound) / dual.gamma * (1.0 + 1e-15), moment)
                assert found >= far
                if found < np.inf:
                    looked_at += 1
                    assert found - far <= LOOSE * rho / abs(theta) + mpmath.mpf("1e-9")
    assert looked_at > 20


def test_moments_shrink_a_box_of_many_letters_nearly_as_far_as_exponentials_do():
    """Near the target, where both give about the reach of a normal distribution; where moments say too little, exponentials are left."""
    rng = np.random.default_rng(11)
    finite = 0
    for _ in range(10):
        dual, work, _ = case(exact.many_columns(), 1.0, rng)
        work.v[:] = 0.0
        bound_with(dual, work, work.v)
        locate(work)
        for y in range(3):
            moment = moments(work.w, dual.T[y], work.mean[y])
            rho = 1e-4
            theta = np.sqrt(2.0 * rho / moment[0])
            for sign in (1.0, -1.0):
                far, _ = reach(dual, work, y, sign * theta, rho)
                found = near(dual, work, y, sign * theta, rho, moment)
                assert found >= far * (1 - 1e-9)
                if found < np.inf:
                    finite += 1
                    assert found <= 1.06 * far
    assert finite > 20
