"""A search that a limit cuts short answers no worse than the default solver."""

import functools

import numpy as np
import pytest

import infoplane as ip
import verify
from batches import job_of
from infoplane.solvers import base
from infoplane.solvers.base import advanced
from infoplane.solvers.columns import Columns
from infoplane.solvers.envelope import Envelope
from infoplane.solvers.shared.fallback import default_encoder

WIDE = ip.Joint.from_counts(np.random.default_rng(0).gamma(0.3, size=(40, 8)))


@functools.cache
def loss_of_default(problem):
    return ip.solve(WIDE, problem, rng=0).loss


def test_it_is_what_the_default_finds():
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.1)
    found = default_encoder(job_of(joint, problem), 60.0)
    assert problem.value(joint, found) == pytest.approx(ip.solve(joint, problem, rng=0).loss, abs=1e-9)


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


@pytest.mark.parametrize("blocks", [0, 1, 4, 12])
def test_interrupted_it_has_an_encoder_all_the_same(blocks, monkeypatch):
    job, seen = job_of(WIDE, ip.funnel(3.0), np.eye(40)[None]), []

    def stopping(iteration, steps):
        seen.append(steps)
        if len(seen) > blocks:
            job.budget.stop()
        return advanced(iteration, steps)

    monkeypatch.setattr(base, "advanced", stopping)
    W = default_encoder(job, 60.0)
    assert len(seen) == blocks + 1
    np.testing.assert_allclose(W.sum(axis=0), np.ones(40))
