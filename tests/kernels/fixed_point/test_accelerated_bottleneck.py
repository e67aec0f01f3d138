import numpy as np
import pytest

import infoplane as ip
import twins
from batches import Stepped, run, starts_of
from infoplane.joint.joint import Support

HEART = ip.datasets.heart()


def test_the_objective_never_rises_at_a_point_that_is_kept():
    joint, problem = HEART, ip.bottleneck(0.1)
    batch = Stepped(
        ip.Accelerated(split=False), Support(joint), problem, starts_of(joint, 1), tol=1e-10, limit=500, record=True
    )
    bounds = []
    while batch.advance(1):
        bounds.append(batch.state.control.J[0])
    assert np.diff(bounds).max() <= 1e-13
    loss = problem.value(joint, batch.runs()[0].encoder)
    assert bounds[-1] == pytest.approx(loss + joint.entropy_y, abs=1e-12)


def test_a_saddle_is_left_by_splitting():
    """The trivial encoder is stationary at every gamma; below the first transition it is no minimum."""
    joint, problem = HEART, ip.bottleneck(0.15)
    start = np.full((1, 16, 16), 1.0 / 16)
    (stuck,) = run(ip.Accelerated(split=False), joint, problem, start)
    assert problem.value(joint, stuck.encoder) == pytest.approx(0.0, abs=1e-12)
    (free,) = run(ip.Accelerated(), joint, problem, start)
    assert free.status is ip.Status.STATIONARY
    assert problem.value(joint, free.encoder) < -0.04
    (trivial,) = run(ip.Accelerated(), joint, ip.bottleneck(0.9), start)
    assert trivial.encoder.shape[0] == 1


@pytest.mark.parametrize("gamma", [0.05, 0.1, 0.2])
def test_no_cluster_of_a_returned_bottleneck_gains_by_splitting(gamma):
    joint, problem = HEART, ip.bottleneck(gamma)
    P, starts = np.asarray(joint.p_xy), starts_of(joint, 6)
    doubted, trusted = (run(ip.Accelerated(split=on), joint, problem, starts) for on in (True, False))
    assert len(doubted) == 6
    for one, two in zip(doubted, trusted, strict=True):
        assert one.status is ip.Status.STATIONARY
        assert problem.value(joint, one.encoder) <= problem.value(joint, two.encoder) + 1e-9
        assert one.encoder.shape[0] < 16  # all clusters may still be split
        assert twins.second_correlations(P, one.encoder).max() <= 1.01 * gamma
