"""The tables of `phases`, row by row."""

import numpy as np
import pytest

from infoplane.kernels.fixed_point.extrapolation import FIRST_CAP, GROWTH
from infoplane.kernels.fixed_point.phases import (
    ANDERSON,
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
    promote,
    refuse,
)  # fmt: skip


def run_at(**fields):
    control = beginning(4, np.array([20]))
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
        (BASE, LEAP, PAIR, {"cap": FIRST_CAP / GROWTH}),
        (ANDERSON, LEAP, PAIR, {}),
        (ANDERSON, NEWTON, ANDERSON, {"newton_wait": 2, "newton_at": 100 + 2 * 7}),
        (BASE, FEWER, PAIR, {"merge_at": 100 + PATIENCE * STRIDE}),
    ],
    ids=["SQUAREM", "Anderson", "Newton", "merging"],
)
def test_what_a_refusal_does(phase, origin, then, changed):
    run = run_at(phase=phase, origin=origin)
    before = {name: run[name] for name in run.dtype.names}
    refuse(run, 100, 7)
    after = {name: run[name] for name in run.dtype.names}
    assert after == before | {"phase": then, "origin": PLAIN} | changed


@pytest.mark.parametrize(
    ("phase", "origin", "norm", "then"),
    [(BASE, LEAP, 0.5, ANDERSON), (BASE, LEAP, 0.99, BASE), (BASE, PLAIN, 0.5, BASE), (PAIR, PLAIN, 0.5, PAIR)],
)
def test_anderson_takes_over_after_a_leap_that_shrinks_the_residual(phase, origin, norm, then):
    run = run_at(phase=phase, origin=origin, norm=1.0, held=3, merge_at=200)
    promote(run, norm, 100)
    assert run.phase == then
    assert (run.held, run.merge_at) == ((0, 100) if then == ANDERSON else (3, 200))
