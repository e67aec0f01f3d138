"""A search that a limit cuts short answers no worse than the default solver."""

import functools

import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane.certificate.funnel.generation import finish
from infoplane.joint.support import Support
from infoplane.solvers.columns import Columns
from infoplane.solvers.envelope import Envelope
from infoplane.solvers.fallback import default_encoder
from infoplane.solvers.stopping import Stopping

WIDE = ip.Joint.from_counts(np.random.default_rng(0).gamma(0.3, size=(40, 8)))


@functools.cache
def loss_of_default(problem):
    return ip.solve(WIDE, problem, rng=0).loss


def test_it_is_what_the_default_finds():
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.1)
    found = finish(default_encoder(Support(joint), problem, Stopping()))
    assert not found.interrupted
    assert problem.value(joint, found.encoder) == pytest.approx(ip.solve(joint, problem, rng=0).loss, abs=1e-9)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
@pytest.mark.parametrize("limits", [{"max_seconds": 1e-6}, {"max_cells": 1}], ids=["seconds", "cells"])
@pytest.mark.parametrize(
    ("problem", "solver"), [(ip.funnel(3.0), Columns), (ip.bottleneck(0.05), Envelope)], ids=["funnel", "bottleneck"]
)
def test_no_limit_makes_an_answer_worse_than_the_default(problem, solver, limits):
    found = ip.solve(WIDE, problem, solver(**limits))
    assert found.loss <= loss_of_default(problem) + 1e-9
    verify.check_solution(WIDE.p_xy, problem.rho, found, tol=1e-9)
    assert found.lower_bound <= found.loss


@pytest.mark.parametrize("pauses", [0, 1, 4])
def test_interrupted_it_has_an_encoder_all_the_same(pauses):
    support, steps = Support(WIDE), default_encoder(Support(WIDE), ip.funnel(3.0), Stopping())
    for _ in range(pauses + 1):
        next(steps)
    with pytest.raises(StopIteration) as ended:
        steps.throw(KeyboardInterrupt)
    W, interrupted = ended.value.value
    assert interrupted
    np.testing.assert_allclose(W.sum(axis=0), np.ones(len(support.p_x)))
