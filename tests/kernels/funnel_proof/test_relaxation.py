"""What a bound excludes of a range is truly excluded, in 50 digits."""

import mpmath
import numpy as np
import pytest

from compiled import compiled
from funnel_twin import h, mp
from infoplane.kernels.funnel_proof.relaxation import entropy, excluded, phi

entropy, excluded, phi = map(compiled, (entropy, excluded, phi))


def cases(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        k = float(rng.choice([rng.normal(), 30.0 * rng.normal(), -3.0 * rng.random(), 1e5 * rng.normal()]))
        b = float(rng.choice([1.0, rng.random(), 10.0 ** rng.uniform(-12, 0)]))
        l = float(rng.choice([0.0, b * rng.random(), b * (1.0 - 10.0 ** rng.uniform(-15, -1))]))
        yield k, l, b, rng


def test_phi_is_rounded_downward():
    for k, l, b, _ in cases(3000, 0):
        for t in (l, b):
            exact = h(mp(t)) + mp(k) * mp(t)
            below = phi(entropy(t), k, t)
            assert mp(below) <= exact
            assert exact - mp(below) <= 1e-14 * (h(mp(t)) + abs(mp(k)) * mp(t))


@pytest.mark.parametrize("seed", range(4))
def test_between_the_two_ends_phi_reaches_the_level(seed):
    some = 0
    for k, l, b, rng in cases(1000, seed):
        ends = min(phi(entropy(l), k, l), phi(entropy(b), k, b))
        level = ends + float(10.0 ** rng.uniform(-9, 0))
        t1, t2 = excluded(k, l, b, level)
        if not t1 < t2:
            continue
        some += 1
        assert l <= t1 < t2 <= b
        for t in (t1, t2, *rng.uniform(t1, t2, 4)):
            assert h(mp(float(t))) + mp(k) * mp(float(t)) >= mp(level)
    assert some > 100


def test_what_is_excluded_is_nearly_all_there_is():
    """Against the roots by bisection: a few chords leave little."""
    for k, b in ((-1.0, 1.0), (0.5, 1.0), (-3.0, 0.5), (0.0, 0.2)):
        top = min(float(np.exp(k - 1.0)), b)
        peak = float(entropy(top) + k * top)
        for share in (0.01, 0.1, 0.5, 0.9):
            level = share * peak
            t1, _ = excluded(k, 0.0, b, level)
            low, high = 0.0, top
            for _ in range(200):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if entropy(middle) + k * middle < level else (low, middle)
            assert high * (1 - 1e-9) <= t1 <= 1.3 * high + 1e-12


def test_nothing_is_excluded_where_nothing_can_be():
    assert excluded(0.0, 0.0, 1.0, 10.0) == (1.0, 0.0)
    t1, t2 = excluded(0.0, 0.0, 1.0, float("nan"))
    assert t1 >= t2
    t1, t2 = excluded(float("nan"), 0.0, 1.0, 0.1)
    assert t1 >= t2
    assert mpmath.mp.dps == 50
