"""The held-out attacker: exact intervals, all of a secret that is released, and no more than the best guess of one that is not."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import infoplane as ip
from infoplane.table.measures import clopper_pearson

pytest.importorskip("sklearn")


@pytest.mark.parametrize(("right", "tested"), [(0, 10), (3, 10), (10, 10), (250, 1000)])
def test_the_interval_is_exact(right, tested):
    low, high = clopper_pearson(right, tested, 0.9)
    assert low == 0.0 if right == 0 else stats.binom.sf(right - 1, tested, low) == pytest.approx(0.05, rel=1e-6)
    assert high == 1.0 if right == tested else stats.binom.cdf(right, tested, high) == pytest.approx(0.05, rel=1e-6)


def test_unseen_records_of_a_release_are_guessed_no_better_than_the_bound():
    joint = ip.datasets.heart()
    kept = ip.release_mechanism(joint, max_leakage=0.05 * math.log(2))
    best = (kept.encoder @ joint.p_xy).max(axis=1).sum()
    rng = np.random.default_rng(0)
    above = 0
    for _ in range(5):
        cells = rng.choice(joint.p_xy.size, 2000, p=joint.p_xy.ravel())
        x, s = np.unravel_index(cells, joint.shape)
        z = pd.Series([f"z{one}" for one in kept.assign([joint.x_labels[one] for one in x], rng=rng)])
        found = ip.held_out_attack(z, s, rng=rng, confidence=0.99)
        above += found.low > best
    assert above == 0  # 0.5% each


def test_many_values_numbers_and_what_is_refused():
    rng = np.random.default_rng(0)
    number = rng.normal(size=600)
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(600)], "number": number})
    found = ip.held_out_attack(frame, number > 0, rng=0)
    assert found.share > 0.95
    assert found.low < found.share < found.high or found.share == 1.0
    assert "without the release" in str(found)
    with pytest.raises(ip.InvalidOptionError, match="20 records at least"):
        ip.held_out_attack(frame[:5], [0] * 5)
