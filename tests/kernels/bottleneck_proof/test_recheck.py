"""The second computation: it confirms what is true to the last bit that rounding allows, and nothing that is not."""

import mpmath
import numpy as np
import pytest

import exact_boxes as exact
from compiled import interpreted
from exact_boxes import case, joints
from infoplane.certificate.bottleneck import OpenBoxes
from infoplane.joint.joint import Support
from infoplane.kernels.bottleneck_proof.ascent import locate
from infoplane.kernels.bottleneck_proof.cell_bound import bound_with, propagate, reduce
from infoplane.kernels.bottleneck_proof.envelope import search
from infoplane.kernels.bottleneck_proof.recheck import (
    bound_agrees,
    chosen,
    empty,
    keep_box,
    ranges_agree,
    second_workspace,
    sums_agree,
)
from infoplane.posterior.form import Mixture, dual_of


@joints
@pytest.mark.parametrize("size", [1.0, 0.1, 1e-4, 1e-9, 0.0])
def test_a_bound_is_confirmed_and_one_above_the_exact_value_is_not(joint, size):
    rng = np.random.default_rng([21, int(1e9 * size)])
    T = exact.channel(joint)
    for _ in range(4):
        dual, work, _ = case(joint, size, rng)
        second = second_workspace(dual.T)
        keep_box(work, second)
        bound, _ = bound_with(dual, work, work.v)
        B, _ = exact.bound(T, dual.gamma, dual.lam, work.low, work.high, work.slope, work.v)
        assert bound_agrees(dual, second, work, bound)
        assert not bound_agrees(dual, second, work, float(B) + 1e-12 * (1.0 + dual.largest + np.abs(work.v).max()))
        assert not bound_agrees(dual, second, work, np.nan)


@joints
def test_an_end_is_confirmed_and_one_inside_the_exact_reach_is_not(joint):
    """Of (rho + log E_w exp(theta (T - c))) / theta in 50 digits, for every end that range reduction moves."""
    rng = np.random.default_rng(22)
    T = exact.channel(joint)
    moved = 0
    for _ in range(12):
        dual, work, _ = case(joint, 1.0, rng)
        work.v[: work.low.size] *= 0.1
        second = second_workspace(dual.T)
        keep_box(work, second)
        bound, _ = bound_with(dual, work, work.v)
        B, w = exact.bound(T, dual.gamma, dual.lam, work.low, work.high, work.slope, work.v)
        locate(work)
        target = bound + float(10.0 ** rng.uniform(-9, -2))
        reduce(dual, work, target - bound)
        assert ranges_agree(dual, second, work, target, False)
        rho = (mpmath.mpf(target) - B) / mpmath.mpf(dual.gamma)
        before = second.low.copy(), second.high.copy()
        after = work.low.copy(), work.high.copy()
        for y in range(work.low.size):
            for end, tilt, sign in ((0, work.tilt_low, -1), (1, work.tilt_high, 1)):
                if after[end][y] == before[end][y] or after[end][y] == 1e-100:
                    continue
                moved += 1
                theta = mpmath.mpf(float(tilt[y]))
                assert sign * theta > 0
                tilted = mpmath.fsum(p * mpmath.exp(theta * row[y]) for p, row in zip(w, T, strict=True))
                exact_end = (rho + mpmath.log(tilted)) / theta
                work.low[:], work.high[:] = before
                shrunk = work.high if end else work.low
                shrunk[y] = after[end][y]
                assert ranges_agree(dual, second, work, target, False)
                inside = float(exact_end) - sign * 1e-9 * (1.0 + dual.largest) / min(dual.gamma * abs(tilt[y]), 1.0)
                shrunk[y] = inside
                assert not ranges_agree(dual, second, work, target, False)
                shrunk[y] = np.nan
                assert not ranges_agree(dual, second, work, target, False)
                work.low[:], work.high[:] = after
    assert moved > 10


def test_sums_to_one_are_confirmed_and_nothing_tighter():
    rng = np.random.default_rng(23)
    tightened = 0
    for _ in range(50):
        dual, work, _ = case(exact.with_zeros(), 0.2, rng)
        second = second_workspace(dual.T)
        keep_box(work, second)
        assert propagate(work)
        assert sums_agree(second, work)
        assert not empty(second)
        for y in range(3):
            if work.high[y] < second.high[y]:
                tightened += 1
                work.high[y] -= 1e-12
                assert not sums_agree(second, work)
                work.high[y] += 1e-12
            if work.low[y] > second.low[y]:
                tightened += 1
                work.low[y] += 1e-12
                assert not sums_agree(second, work)
                work.low[y] -= 1e-12
    assert tightened > 20
    second.low[:] = 0.334
    assert empty(second)
    second.low[:], second.high[:] = 0.0, 0.333
    assert empty(second)


def test_what_takes_most_of_a_side_away_is_always_looked_at_and_of_the_rest_one_in_eight():
    _, work, _ = case(exact.many_letters(), 0.3, np.random.default_rng(24))
    second = second_workspace(np.full((8, 1), 0.125))
    keep_box(work, second)
    assert 100 < sum(chosen(second, work, number) for number in range(1000)) < 150
    work.high[3] = work.low[3] + 0.01 * (second.high[3] - second.low[3])
    assert all(chosen(second, work, number) for number in range(1000))


WRONG = {
    "a bound": ("bound_with", lambda found: (found[0] + 1e-4, found[1])),
    "a range": ("reduce", None),
    "a sum": ("propagate", None),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_search_that_errs_leaves_the_cell_open_and_counts_it(monkeypatch, what):
    """The search with a fault planted in it, interpreted: bounds too high by 1e-4, ends too near, cells called empty."""
    envelope = interpreted("bottleneck_proof.envelope")
    name, change = WRONG[what]
    right = getattr(envelope, name)

    def wrong(*arguments):
        found = right(*arguments)
        if change is not None:
            return change(found)
        if name == "propagate":
            return False
        work = arguments[1]
        centre = work.mean[0]
        work.high[0] = min(work.high[0], 0.5 * (centre + max(work.low[0], 1e-9)))
        work.tilt_high[0] = 1.0
        return found

    support, gamma = Support(exact.with_zeros()), 0.2
    lam = Mixture(np.ones(1), support.p_y[None]).multipliers(support, gamma)
    dual = dual_of(support, gamma, lam)
    found = {}
    for fault in (False, True):
        if fault:
            monkeypatch.setattr(envelope, name, wrong)
            monkeypatch.setattr(envelope, "chosen", lambda *_: True)
        open_boxes = OpenBoxes(support.T)
        open_boxes.grow(201)
        envelope.search(dual, open_boxes.boxes, -0.2, 200)
        found[fault] = open_boxes
    assert found[False].disputed == 0
    assert found[True].disputed > 0
    assert found[True].least <= found[False].least


@joints
@pytest.mark.parametrize("gamma", [0.05, 0.4])
def test_nothing_is_disputed_and_what_is_left_in_scratch_is_never_read(joint, gamma):
    """One search, and one that is given fresh arrays for every cut: the same boxes to the bit."""
    rng = np.random.default_rng(25)
    support = Support(joint)
    lam = Mixture(np.ones(1), support.p_y[None]).multipliers(support, gamma) + 0.01 * rng.normal(size=support.p_x.size)
    dual = dual_of(support, gamma, lam)
    one, two = OpenBoxes(support.T), OpenBoxes(support.T)
    one.grow(61)
    search(dual, one.boxes, -1e-4, 60)
    for cuts in [0] + 60 * [1]:
        two.grow(cuts + 1)
        search(dual, two.boxes, -1e-4, cuts)
    assert one.cuts > 0
    assert one.disputed == two.disputed == 0
    assert (one.left, one.cuts, one.least, one.met) == (two.left, two.cuts, two.least, two.met)
    for name in ("low", "high", "multipliers", "bounds"):
        places = one.boxes.heap[: one.left]
        np.testing.assert_array_equal(getattr(one.boxes, name)[places], getattr(two.boxes, name)[places])
