"""The one loop: pauses follow the clock, limits and statuses are its own, and being stopped leaves runs as they stand."""

import numpy as np
import pytest

import infoplane as ip
from batches import job_of, starts_of
from infoplane.kernels.common import RUNNING, TRACE_COLUMNS
from infoplane.runtime.budget import Budget
from infoplane.solvers.base import LONGEST_BLOCK, PAUSE, BlockPace, Progress, drive, near_identity, together

HEART = ip.datasets.heart()


@pytest.mark.parametrize(
    ("seconds", "asked"),
    [(1e-9, [1, 4, 16, 64, LONGEST_BLOCK, LONGEST_BLOCK]), (10.0, [1] * 6), (PAUSE / 10.0, [1, 4, 10, 10, 10, 10])],
)
def test_steps_between_pauses_follow_the_clock(seconds, asked):
    pace, steps = (
        BlockPace(job_of(HEART, ip.bottleneck(0.1), starts_of(HEART, 3000))),
        [],
    )  # a step of all of them is a block's work
    for _ in asked:
        steps.append(pace.steps)
        pace.learn(seconds * pace.steps)
    assert steps == asked


@pytest.mark.parametrize("name", ["ib-1", "blahut-arimoto", "accelerated"])
def test_no_run_goes_beyond_its_limit_and_says_so(name):
    job = job_of(HEART, ip.bottleneck(0.1), starts_of(HEART, 3), tol=1e-15, limit=7, record=True)
    runs = drive(ip.SOLVERS[name].begin(job))
    assert len(runs) == 3
    for run in runs:
        assert run.iterations == len(run.trace) == 7
        assert run.status in (ip.Status.ITERATION_LIMIT, ip.Status.ALMOST)


@pytest.mark.parametrize("name", ["ib-1", "blahut-arimoto", "accelerated"])
def test_stopped_before_its_first_step_a_run_stands_where_it_began(name):
    job = job_of(HEART, ip.bottleneck(0.1), starts_of(HEART, 2))
    job.budget.stop()
    runs = drive(ip.SOLVERS[name].begin(job))
    assert len(runs) == 2
    for run in runs:
        assert (run.status, run.iterations) == (ip.Status.INTERRUPTED, 0)
        np.testing.assert_allclose(run.encoder.sum(axis=0), 1.0)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("ib-1", ip.bottleneck(0.1)),
        ("pf-2", ip.funnel(2.5)),
        ("blahut-arimoto", ip.bottleneck(0.1)),
        ("accelerated", ip.bottleneck(0.1)),
        ("accelerated", ip.funnel(2.5)),
    ],
)
@pytest.mark.parametrize("record", [False, True])
def test_each_run_does_the_steps_it_is_asked_for(name, problem, record):
    """Any number of any run, none included, in any order: the run is the same as if it had been alone."""
    starts, columns = starts_of(HEART, 3), TRACE_COLUMNS if record else 0
    job = job_of(HEART, problem, starts, tol=1e-15, limit=40, record=record)
    iteration, rows = ip.SOLVERS[name].begin(job), [[], [], []]
    for steps in ([0, 3, 9], [7, 0, 1], [0, 0, 0], [4, 8, 0]):
        before, trace = iteration.state.iterations.copy(), np.full((3, 9, columns), np.inf)
        iteration.advance(np.array(steps), trace)
        np.testing.assert_array_equal(iteration.state.iterations - before, steps)
        for run, number in enumerate(steps):
            assert np.isinf(trace[run, number:]).all()
            rows[run].append(trace[run, :number])
    assert (iteration.state.outcome == RUNNING).all()
    for run, W in enumerate(iteration.encoders()):
        own = ip.SOLVERS[name].begin(job_of(HEART, problem, starts[run : run + 1], tol=1e-15, limit=40, record=record))
        number = int(iteration.state.iterations[run])
        trace = np.full((1, number, columns), np.inf)
        own.advance(np.array([number]), trace)
        np.testing.assert_array_equal(np.concatenate(rows[run]), trace[0])
        np.testing.assert_array_equal(own.encoders()[0], W)


def test_a_budget_of_work_limits_iterations_but_for_the_first_hundred():
    assert Budget(iterations=5000).affordable(10**9) == 5000
    assert Budget(iterations=5000, work=10**9).affordable(10**6) == 1000
    assert Budget(iterations=5000, work=10**9).affordable(10**8) == 100
    assert Budget(iterations=50, work=10**9).affordable(10**8) == 50


def test_progress_of_several_threads_is_that_of_all():
    assert together([Progress(3, 2, 1, -0.1), Progress(5, 4, 4, -0.3)]) == Progress(5, 6, 5, -0.3)


UNIFORM = ip.datasets.paper_uniform()


def test_a_start_depends_on_its_number_only():
    few = ip.solve(UNIFORM, ip.funnel(2.0), starts=3, rng=1)
    many = ip.solve(UNIFORM, ip.funnel(2.0), starts=6, rng=1)
    assert few.starts[:3] == many.starts[:3]  # after them comes what the pool has found, if it is better


def test_generators_seeds_and_nothing_are_all_accepted():
    by_generator = ip.solve(UNIFORM, ip.bottleneck(0.2), starts=2, rng=np.random.default_rng(3))
    again = ip.solve(UNIFORM, ip.bottleneck(0.2), starts=2, rng=np.random.default_rng(3))
    np.testing.assert_array_equal(by_generator.encoder, again.encoder)
    assert ip.solve(UNIFORM, ip.bottleneck(0.2), starts=2).converged


def test_init_by_the_user_is_used_and_left_alone():
    W = near_identity(3, 3)
    before = W.copy()
    found = ip.solve(UNIFORM, ip.bottleneck(0.2), "drs", init=W)
    assert len(found.starts) == 1
    np.testing.assert_array_equal(W, before)
    stacked = ip.solve(UNIFORM, ip.bottleneck(0.2), "drs", init=np.stack([W, W]))
    assert [start.loss for start in stacked.starts] == [found.loss] * 2
    assert len(ip.solve(UNIFORM, ip.bottleneck(0.2), "drs", init="identity").starts) == 1


@pytest.mark.parametrize("asked", [{"clusters": 10**9}, {"starts": 10**9}])
def test_starts_that_no_memory_holds_are_refused_before_it_is_asked_for(asked):
    with pytest.raises(ip.InvalidOptionError, match=r"would take [\d,]+ GB, more than 4: ask for fewer"):
        ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "blahut-arimoto", rng=0, **asked)
