"""The one loop: pauses follow the clock, limits and statuses are its own, and being stopped leaves runs as they stand."""

import numpy as np
import pytest

import infoplane as ip
from batches import job_of, starts_of
from infoplane.runtime.budget import Budget
from infoplane.solvers.driver import LONGEST_BLOCK, PAUSE, BlockPace, Progress, drive, together

HEART = ip.datasets.heart()


@pytest.mark.parametrize(
    ("seconds", "asked"),
    [(1e-9, [1, 4, 16, 64, LONGEST_BLOCK, LONGEST_BLOCK]), (10.0, [1] * 6), (PAUSE / 10.0, [1, 4, 10, 10, 10, 10])],
)
def test_steps_between_pauses_follow_the_clock(seconds, asked):
    pace, steps = BlockPace(), []
    for _ in asked:
        steps.append(pace.steps)
        pace.learn(seconds * pace.steps)
    assert steps == asked


@pytest.mark.parametrize("name", ["ib-1", "blahut-arimoto", "accelerated"])
def test_no_run_goes_beyond_its_limit_and_says_so(name):
    job = job_of(HEART, ip.bottleneck(0.1), starts_of(HEART, 3), tol=1e-15, limit=7, record=True)
    for run in drive(ip.SOLVERS[name].begin(job)):
        assert run.iterations == len(run.trace) == 7
        assert run.status in (ip.Status.ITERATION_LIMIT, ip.Status.ALMOST)


@pytest.mark.parametrize("name", ["ib-1", "blahut-arimoto", "accelerated"])
def test_stopped_before_its_first_step_a_run_stands_where_it_began(name):
    job = job_of(HEART, ip.bottleneck(0.1), starts_of(HEART, 2))
    job.budget.stop()
    for run in drive(ip.SOLVERS[name].begin(job)):
        assert (run.status, run.iterations) == (ip.Status.INTERRUPTED, 0)
        np.testing.assert_allclose(run.encoder.sum(axis=0), 1.0)


def test_a_budget_of_work_limits_iterations_but_for_the_first_hundred():
    assert Budget(iterations=5000).affordable(10**9) == 5000
    assert Budget(iterations=5000, work=10**9).affordable(10**6) == 1000
    assert Budget(iterations=5000, work=10**9).affordable(10**8) == 100
    assert Budget(iterations=50, work=10**9).affordable(10**8) == 50


def test_progress_of_several_threads_is_that_of_all():
    assert together([Progress(3, 2, 1, -0.1), Progress(5, 4, 4, -0.3)]) == Progress(5, 6, 5, -0.3)
