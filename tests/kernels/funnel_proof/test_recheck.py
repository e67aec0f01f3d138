"""What is computed once more: equal to the formulas in 50 digits, and no claim that is false gets through."""

import mpmath
import numpy as np
import pytest

import funnel_twin as twin
from funnel_twin import mp
from infoplane.certificate.funnel.generation import FreeSearch
from infoplane.kernels.funnel_proof import recheck
from infoplane.kernels.funnel_proof.recheck import (
    BoxTrail,
    SlotTrail,
    followed,
    followed_slots,
    plain_bound,
    plain_sums,
)
from infoplane.kernels.funnel_proof.search import LEAST
from infoplane.posterior import programme as channels
from infoplane.posterior.programme import Channel


def numbers(beta, floor):
    number = np.zeros(LEAST + 1)
    number[:2] = beta, floor
    number[2] = 1e-13
    return number


def instance(seed):
    """T with a row per letter, lambda, beta, log v and nu."""
    T, rng = twin.channels(seed)
    T = np.ascontiguousarray(T.T)
    v = rng.dirichlet(np.ones(T.shape[1])) + 1e-9
    beta, nu = float(10.0 ** rng.uniform(0.05, 1.5)), float(rng.standard_normal())
    return T, rng.standard_normal(len(T)), beta, np.log(v / v.sum()), nu, rng


def box(n, rng):
    """A box with a point of sum 1 in it."""
    q = rng.dirichlet(np.ones(n))
    l = np.where(rng.random(n) < 0.5, 0.0, q * rng.random(n))
    return q, l, np.minimum(q + rng.random(n) * 0.3, 1.0)


@pytest.mark.parametrize("seed", range(15))
def test_a_bound_is_that_of_the_formula_and_below_g(seed):
    T, lam, beta, w, nu, rng = instance(seed)
    q, l, b = box(len(T), rng)
    k, M = np.empty(len(T)), np.empty(len(T))
    found = plain_bound(T, lam, numbers(beta, 0.0), l, b, w, nu, k, M)
    slopes = twin.slopes(T, lam, beta, [mpmath.exp(mp(float(t))) for t in w], nu)
    least = [
        min(twin.h(mp(float(t))) + slope * mp(float(t)) for t in ends)
        for slope, ends in zip(slopes, zip(l, b, strict=True), strict=True)
    ]
    exact = mp(nu) + mpmath.fsum(least)
    assert exact - mp(1e-11) <= mp(found) <= exact
    total = mpmath.fsum(mp(float(t)) for t in q)
    assert mp(found) <= twin.g(T, lam, beta, [mp(float(t)) / total for t in q]) + mp(10) ** -14


def test_what_is_no_distribution_bounds_nothing():
    T, lam, beta, w, nu, _ = instance(0)
    n = len(T)
    number = numbers(beta, 0.0)
    assert plain_bound(T, lam, number, np.zeros(n), np.ones(n), w, nu, np.empty(n), np.empty(n)) > -np.inf
    assert plain_bound(T, lam, number, np.zeros(n), np.ones(n), w + 1e-9, nu, np.empty(n), np.empty(n)) == -np.inf


@pytest.mark.parametrize("seed", range(20))
def test_sums_take_no_point_away(seed):
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    for _ in range(50):
        q = np.zeros(n)
        q[rng.choice(n, r, replace=False)] = rng.dirichlet(np.ones(r))
        l, b = q * np.where(rng.random(n) < 0.5, 0.0, rng.random(n)), np.minimum(q + 0.5 * rng.random(n) ** 3, 1.0)
        assert plain_sums(l, b, r)
        assert (l <= q + 1e-15).all()
        assert (q <= b + 1e-15).all()


def box_trail(T, l, b, w, nu, bound, closed=0):
    """One round."""
    return BoxTrail(l[None].copy(), b[None].copy(), w[None], np.array([nu]), np.array([bound]), np.array([1, closed]))


@pytest.mark.parametrize("seed", range(5))
def test_false_claims_of_boxes_are_counted_and_change_nothing(seed):
    T, lam, beta, w, nu, _ = instance(seed)
    n = len(T)
    whole = np.zeros(n), np.ones(n)
    true = plain_bound(T, lam, numbers(beta, 0.0), *whole, w, nu, np.empty(n), np.empty(n))
    number = numbers(beta, true + 1e4)  # so far above that nothing can be left out

    def after(l, b, bound, closed=0):
        low, high = whole[0].copy(), whole[1].copy()
        best, mistakes, _ = followed(T, lam, number, n, low, high, box_trail(T, l, b, w, nu, bound, closed))
        np.testing.assert_array_equal(low, 0.0)
        np.testing.assert_allclose(high, 1.0, rtol=1e-13)
        return best, mistakes

    assert after(*whole, true) == (true, 0)
    assert after(*whole, true + 1e-6) == (true, 1)  # a bound that is too high,
    assert after(*whole, true + 2e4) == (true, 1)  # high enough to close the cell,
    assert after(*whole, true, closed=1) == (true, 1)  # a box called empty that is not,
    best, mistakes = after(np.full(n, 0.4), np.full(n, 0.6), true)  # and ranges cut off where g may be below the floor
    assert best == true
    assert mistakes > 0


@pytest.mark.parametrize("seed", range(5))
def test_false_claims_of_slots_are_counted_and_change_nothing(seed):
    T, lam, beta, w, nu, _ = instance(seed)
    n, r = len(T), min(T.shape)
    number = numbers(beta, 100.0)

    def after(L, cap, bound, closed=0):
        low, high, caps = np.zeros(r), np.ones(r), np.ones((r, n))
        rows = L[None], cap[None], w[None], np.array([nu]), np.array([bound]), np.array([1, closed])
        best, mistakes, _ = followed_slots(T, lam, number, low, high, caps, SlotTrail(*rows))
        return best, mistakes, low, caps

    best, mistakes, low, caps = after(np.zeros(r), np.ones((r, n)), -1e9)
    assert mistakes == 0
    for claim in (
        (np.zeros(r), np.ones((r, n)), best + 1e-6),
        (np.zeros(r), np.ones((r, n)), best, 1),
        (np.zeros(r), np.zeros((r, n)), best),
        (np.full(r, 0.9), np.ones((r, n)), best),
    ):
        again, mistakes, same_low, same_caps = after(*claim)
        assert mistakes > 0
        assert again == best
        np.testing.assert_array_equal(same_low, low)
        np.testing.assert_array_equal(same_caps, caps)


@pytest.mark.parametrize("slots", [0, 9])
@pytest.mark.parametrize("seed", range(10))
def test_a_search_makes_no_false_claim(seed, slots, monkeypatch):
    monkeypatch.setattr(channels, "SLOTS_RANK", slots)
    monkeypatch.setattr(channels, "SLOTS_LETTERS", 0)
    monkeypatch.setattr(channels, "MEMORY", 2**22)
    T, rng = twin.channels(seed, largest=10)
    lam = -2.0 * rng.random(T.shape[1])
    channel, beta = Channel(T), 3.0
    Q = channel.descend(lam, beta, twin.sparse_posteriors(T.shape[1], channel.rank, rng, 300))[0]
    search = FreeSearch(channel, lam + twin.values(T, lam, beta, Q).min(), beta, -1e-3)
    while search.advance(500) and search.cells < 5000:
        pass
    assert search.cells > 1 or search.left == 0
    assert search.mistakes == 0


def test_nothing_is_shared_with_the_search():
    """But T, lambda, and the places of its numbers."""
    used = {getattr(one, "py_func", one).__module__ for one in vars(recheck).values() if callable(one)}
    assert recheck.__name__ in used
    assert {name for name in used if name.startswith(recheck.__name__.rpartition(".")[0])} == {recheck.__name__}
