"""Releases over two caps: nothing is better with more caps, costs are differences, and caps hold."""

import math

import pytest

import infoplane as ip

BIT = math.log(2)


def test_utility_falls_with_each_cap_and_caps_hold():
    joint = ip.datasets.paper_uniform()
    found = ip.release_frontier(joint, [0.005, None], [0.3 * BIT, 0.05 * BIT], rng=0, max_seconds=20)
    frame = found.to_frame()
    assert len(frame) == 5
    capped = frame[frame.max_lift_bits.notna()]
    assert (capped[["worst_lift_bits"]].to_numpy()[:, 0] <= capped.max_lift_bits + 1e-9).all()
    assert (-capped.least_lift_bits <= capped.max_lift_bits + 1e-9).all()
    assert (frame.iyz_bits[frame.max_leakage_bits.notna()] <= 0.005 / BIT + 1e-9).all()
    for _, group in frame.groupby("max_leakage_bits", dropna=False):
        # From loose to tight; what is proven allows for the gap.
        upper = group.ixz_bits + group.gap_bits
        assert (group.ixz_bits.to_numpy()[1:] <= upper.to_numpy()[:-1] + 1e-9).all()
    alone = frame[frame.max_lift_bits.isna()].iloc[0]
    assert alone.cost_bits == 0.0
    assert frame.cost_bits[1] == pytest.approx(alone.ixz_bits - frame.ixz_bits[1])
    free = frame[frame.max_leakage_bits.isna()].iloc[0]
    assert free.cost_bits == pytest.approx(joint.entropy_x / BIT - free.ixz_bits)
    ax = found.plot()
    assert len(ax.containers) == 2
    assert "certified" in str(found)


def test_no_caps_are_refused():
    with pytest.raises(ip.InvalidOptionError, match="one at least"):
        ip.release_frontier(ip.datasets.paper_uniform(), [0.01], [])
