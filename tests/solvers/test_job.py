"""What a solver is asked for: caps, losses, and how an encoder becomes a run."""

import numpy as np
import pytest

import infoplane as ip
import verify
from batches import job_of, starts_of
from infoplane.joint.support import Support
from infoplane.solvers.job import work_of

HEART = ip.datasets.heart()


def test_the_cap_on_clusters_is_at_most_the_letters():
    job = job_of(HEART, ip.bottleneck(0.1))
    assert (job.most, job.capped) == (16, False)
    assert (job.but(clusters=4).most, job.but(clusters=4).capped) == (4, True)
    assert (job.but(clusters=99).most, job.but(clusters=99).capped) == (16, False)


def test_losses_are_those_of_the_definition_and_the_best_is_the_lowest():
    job, encoders = job_of(HEART, ip.funnel(3.0)), list(starts_of(HEART, 4))
    expected = [verify.lagrangian(HEART.p_xy, W, ip.funnel(3.0).rho) for W in encoders]
    assert job.losses(encoders) == pytest.approx(expected, abs=1e-12)
    assert job.best(encoders) == int(np.argmin(expected))
    runs = [job.standing(W, "given") for W in encoders]
    assert job.best_run(runs) is runs[job.best(encoders)]


def test_a_standing_encoder_is_stationary_only_if_it_is():
    problem = ip.bottleneck(0.1)
    job, optimum = job_of(HEART, problem), ip.solve(HEART, problem, rng=0).encoder
    assert job.standing(optimum, "given").status is ip.Status.STATIONARY
    assert job.standing(starts_of(HEART, 1)[0], "given").status is ip.Status.STALLED


def test_changes_leave_the_job_as_it_was_and_parts_stop_with_it():
    job = job_of(HEART, ip.bottleneck(0.1), limit=50)
    brief = job.within(work=10.0)
    assert (job.budget.work, brief.budget.work, brief.budget.iterations) == (np.inf, 10.0, 50)
    job.budget.stop()
    assert brief.budget.stopped


def test_work_grows_with_letters_clusters_and_outcomes():
    dense = Support(ip.Joint.from_counts(np.ones((10, 5))))
    assert work_of(dense, 2) == 10 * 2 * 25
    assert work_of(dense, 4) == 2 * work_of(dense, 2)
