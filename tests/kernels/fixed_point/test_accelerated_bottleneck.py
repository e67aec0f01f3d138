"""The tables of phases and origins, row by row; runs against plain iteration."""

import numpy as np
import pytest

import infoplane as ip
import twins
from batches import Stepped, run, starts_of
from infoplane.joint.joint import Support
from infoplane.kernels.fixed_point.accelerated_bottleneck import (
    BASE,
    FEWER,
    LEAP,
    NEWTON,
    PAIR,
    PATIENCE,
    PLAIN,
    STRIDE,
    accepts,
    beginning,
    refuse,
)  # fmt: skip
from infoplane.kernels.fixed_point.extrapolation import FIRST_CAP, STRETCH

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


def run_at(**fields):
    control = beginning(4, 3, np.array([20]))
    for name, value in fields.items():
        control[name] = value
    return control[0]


@pytest.mark.parametrize("origin", [PLAIN, LEAP, NEWTON, FEWER])
@pytest.mark.parametrize(
    ("J", "norm", "kept"),
    [(0.9, 5.0, True), (1.0, 1.9, True), (1.0, 2.1, False), (1.0 + 1e-12, 0.1, False)],
    ids=["J falls", "J stays", "J stays and the residual doubles", "J rises"],
)
def test_a_point_is_kept_if_the_objective_does_not_rise(origin, J, norm, kept):
    assert accepts(run_at(origin=origin, J=1.0, norm=1.0), J, norm) == (kept or origin == PLAIN)


@pytest.mark.parametrize(
    ("phase", "origin", "then", "changed"),
    [
        (BASE, LEAP, PAIR, {"cap": FIRST_CAP / STRETCH}),
        (BASE, NEWTON, BASE, {"newton_wait": 2, "newton_at": 100 + 2 * 7}),
        (BASE, FEWER, PAIR, {"merge_at": 100 + PATIENCE * STRIDE}),
    ],
    ids=["SQUAREM", "Newton", "merging"],
)
def test_what_a_refusal_does(phase, origin, then, changed):
    run = run_at(phase=phase, origin=origin, products=7)
    before = {name: run[name] for name in run.dtype.names}
    refuse(run, 100)
    after = {name: run[name] for name in run.dtype.names}
    assert after == before | {"phase": then, "origin": PLAIN} | changed
