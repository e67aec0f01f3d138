"""A look at runs on their way: the residual is that of the encoder shown, and nothing that the run needs to go on is changed."""

import numpy as np
import pytest

import infoplane as ip
from batches import Stepped, starts_of
from infoplane.kernels.common.rows import STATIONARY

HEART = ip.datasets.heart()
CASES = [
    (ip.BlahutArimoto(), ip.bottleneck(0.1)),
    (ip.BlahutArimoto(), ip.generalised_bottleneck(0.1, 0.5)),
    (ip.Accelerated(), ip.bottleneck(0.1)),
    (ip.Accelerated(), ip.funnel(2.5)),
]
MEASURED = ("W", "alive", "residuals")


def contents(state):
    return {name: np.array(table) for name, table in state._asdict().items() if name not in MEASURED}


@pytest.mark.parametrize("steps", [1, 2, 3, 11])
@pytest.mark.parametrize(("solver", "problem"), CASES)
def test_a_look_shows_an_encoder_with_its_residual_and_changes_nothing_else(solver, problem, steps):
    batch = Stepped(solver, HEART, problem, starts_of(HEART, 3), tol=1e-12)
    batch.iteration.advance(np.array([0, steps, 2 * steps]), np.zeros((3, 2 * steps, 0)))
    before = contents(batch.state)
    for W, residuals in zip(batch.encoders(), batch.state.residuals, strict=True):
        np.testing.assert_allclose(W.sum(axis=0), 1.0)
        assert residuals[2] == pytest.approx(problem.stationarity(HEART, W), abs=1e-13)
    for name, table in contents(batch.state).items():
        np.testing.assert_array_equal(table, before[name])


@pytest.mark.parametrize(("solver", "problem"), CASES)
def test_runs_that_have_ended_are_not_looked_at(solver, problem):
    batch = Stepped(solver, HEART, problem, starts_of(HEART, 2), tol=1e-6)
    batch.iteration.advance(np.array([5000, 1]), np.zeros((2, 5000, 0)))
    W, residual = batch.state.W[0].copy(), batch.state.residuals[0, 2]
    assert batch.state.outcome[0] == STATIONARY
    batch.encoders()
    np.testing.assert_array_equal(batch.state.W[0], W)
    assert batch.state.residuals[0, 2] == residual <= 1e-6
