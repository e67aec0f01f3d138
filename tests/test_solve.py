import dataclasses
import os
import signal
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import infoplane as ip
import verify
from batches import job_of
from infoplane.posterior import programme
from infoplane.runtime.budget import Limits
from infoplane.solvers.base import make_starts, near_identity, seed_sequence
from infoplane.solvers.portfolio import PATIENCE, Portfolio

UNIFORM = ip.datasets.paper_uniform()

solving = sys.modules["infoplane.solve"]  # the package has a function of that name


def test_same_seed_same_bits_whatever_the_number_of_cores(with_cores):
    with_cores(3)
    first = ip.solve(UNIFORM, ip.bottleneck(0.2), starts=5, rng=7)
    with_cores(1)
    again = ip.solve(UNIFORM, ip.bottleneck(0.2), starts=5, rng=7)
    np.testing.assert_array_equal(first.encoder, again.encoder)
    assert first.starts == again.starts
    other = ip.solve(UNIFORM, ip.bottleneck(0.2), starts=5, rng=8)
    assert other.starts[1] != first.starts[1]


def test_blas_has_one_thread_while_runs_go_side_by_side_and_all_of_them_afterwards():
    from threadpoolctl import threadpool_info

    def blas():
        return {one["filepath"]: one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    before, during = blas(), []
    ip.solve(UNIFORM, ip.bottleneck(0.2), starts=2, rng=0, callback=lambda _progress: during.extend(blas().values()))
    assert during
    assert set(during) == {1}
    assert before.items() <= blas().items()


def test_blas_has_one_thread_in_the_first_call_of_a_process_too():
    """SciPy's BLAS, which compiled code calls, is loaded by the first kernel: while `solve` is running already."""
    code = """
from threadpoolctl import threadpool_info
import infoplane as ip
threads = []
def look(progress):
    threads.append({one["filepath"]: one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"})
ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "blahut-arimoto", starts=2, rng=0, callback=look)
ends = {one["filepath"] for one in threadpool_info() if one["user_api"] == "blas"}
assert set(threads[-1]) == ends and set(threads[-1].values()) == {1}, threads[-1]
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "2"})


@pytest.mark.parametrize("solver", ["ib-2", "blahut-arimoto", "pf-2"])
def test_clusters_that_died_are_reported(solver):
    """A cluster with next to no mass is dropped, and never divided by."""
    W = np.vstack([near_identity(3, 3) * (1.0 - 1e-14), np.full((1, 3), 1e-14)])
    problem = ip.funnel(2.5) if solver.startswith("pf") else ip.bottleneck(0.2)
    found = ip.solve(UNIFORM, problem, solver, init=W / W.sum(axis=0))
    assert found.died == 1
    assert found.clusters == 3
    assert found.p_z.min() > 0


def test_more_clusters_than_letters_are_allowed():
    found = ip.solve(UNIFORM, ip.bottleneck(0.2), clusters=5, starts=2, rng=0)
    assert found.loss == pytest.approx(-0.240760, abs=2e-6)


def test_iteration_limit_says_so_and_counts():
    found = ip.solve(UNIFORM, ip.bottleneck(0.2), "drs", starts=2, rng=0, max_iter=3)
    assert found.status is ip.Status.ITERATION_LIMIT
    assert not found.converged
    assert found.iterations == len(found.trace) == 3
    assert "raise max_iter" in found.message


def test_callback_sees_progress_and_can_stop():
    seen = []
    found = ip.solve(
        ip.datasets.heart(),
        ip.bottleneck(0.1),
        "drs",
        starts=3,
        rng=0,
        callback=lambda progress: seen.append(progress) or progress.iterations >= 50,
    )
    iterations = [0, *(progress.iterations for progress in seen)]
    assert all(1 <= step <= 200 for step in np.diff(iterations))
    assert iterations[-2] < 50 <= iterations[-1] == found.iterations
    assert seen[0].runs == 3
    assert seen[-1].best_loss <= seen[-2].best_loss
    assert found.status in (ip.Status.INTERRUPTED, ip.Status.ALMOST)
    verify.check_solution(np.asarray(ip.datasets.heart().p_xy), found.problem.rho, found)


def test_interruption_returns_the_best_so_far():
    seen = []

    def press_control_c(progress):
        seen.append(progress)
        signal.raise_signal(signal.SIGINT)

    heart = ip.datasets.heart()
    found = ip.solve(heart, ip.funnel(10.0), "pf-2", starts=2, rng=0, tol=1e-15, callback=press_control_c)
    assert len(seen) == 1
    assert found.status in (ip.Status.INTERRUPTED, ip.Status.ALMOST)
    assert found.iterations == seen[0].iterations <= 200
    verify.check_solution(np.asarray(heart.p_xy), found.problem.rho, found)


def test_starts_that_wait_when_the_end_is_asked_for_do_not_begin(with_cores):
    begun = []

    class Ending(ip.Accelerated):
        """Asks for the end as soon as it begins."""

        def run(self, job):
            begun.append(len(job.starts))
            job.budget.stop()
            return super().run(job)

    with_cores(1)
    joint = ip.Joint.from_counts(np.random.default_rng(0).dirichlet(np.full(5, 0.3), size=80))
    found = ip.solve(joint, ip.bottleneck(0.1), Ending(), clusters=60, starts=6, rng=0)
    assert begun == [1]
    assert len(found.starts) == 1
    assert found.status is ip.Status.INTERRUPTED


@pytest.mark.parametrize(("solver", "encoders"), [(None, 8), ("accelerated", 4), ("blahut-arimoto", 4)])
def test_a_large_problem_takes_no_more_than_a_few_encoders(solver, encoders):
    """Beside the joint; with starts one after another. The default holds the answers of its parts while it goes on from the best."""
    joint = ip.Joint.from_counts(np.random.default_rng(0).dirichlet(np.full(20, 0.3), size=6000))
    options = {"clusters": 50, "starts": 1, "rng": 0, "max_iter": 30}
    few = ip.Joint.from_counts(np.asarray(joint.p_xy)[:300])
    ip.solve(few, ip.bottleneck(0.05), solver, **options | {"max_iter": 1})  # loads kernels
    tracemalloc.start()
    try:
        found = ip.solve(joint, ip.bottleneck(0.05), solver, **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.encoder.shape[1] == 6000
    assert peak <= encoders * 8 * 50 * 6000


def test_labels_reach_the_encoder():
    import pandas as pd

    data = pd.DataFrame({"a": ["u", "u", "v", "w"], "b": [1, 2, 1, 1], "s": ["k", "l", "l", "k"]})
    joint = ip.Joint.from_frame(data, x=["a", "b"], y="s")
    frame = ip.solve(joint, ip.bottleneck(0.2), starts=2, rng=0).encoder_frame()
    assert list(frame.index) == [("u", 1), ("u", 2), ("v", 1), ("w", 1)]
    assert list(frame.index.names) == ["a", "b"]
    np.testing.assert_allclose(frame.sum(axis=1), 1.0)
    single = ip.solve(ip.Joint.from_frame(data, x="a", y="s"), ip.bottleneck(0.2), starts=2, rng=0).encoder_frame()
    assert list(single.index) == ["u", "v", "w"]


def test_a_run_without_a_trace_has_no_rate():
    found = ip.solve(UNIFORM, ip.bottleneck(0.3), starts=1, rng=0)
    with pytest.raises(ValueError, match="kept no trace"):
        dataclasses.replace(found, trace=None).rate()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"starts": 0}, "starts must be a positive whole number"),
        ({"starts": 2.5}, "starts must be a positive whole number"),
        ({"clusters": 0}, "clusters must be a positive whole number"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": -1}, "max_iter must be"),
        ({"rng": -3}, "rng must be"),
        ({"rng": "seed"}, "rng must be"),
        ({"init": "nowhere"}, "init must be an encoder or one of"),
        ({"init": np.ones(3)}, "init must have shape"),
        ({"init": np.eye(3) * 0.9}, "must sum to 1"),
        ({"solver": "simplex"}, "there is no solver 'simplex'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ip.InfoplaneError, match=message):
        ip.solve(UNIFORM, ip.bottleneck(0.2), **options)


def test_many_starts_are_many_batches_in_order_and_large_ones_are_not(with_cores, monkeypatch):
    with_cores(2)
    heart, problem = ip.datasets.heart(), ip.bottleneck(0.2)
    W = make_starts(heart, None, 200, seed_sequence(0), "random")
    job = job_of(heart, problem, W)
    parts = solving.parts_of(ip.SOLVERS["ib-2"], job)
    assert len(parts) == W.size // solving.BATCH_ENTRIES > 2
    np.testing.assert_array_equal(np.concatenate([part.starts for part in parts]), W)
    monkeypatch.setattr(solving, "MOST_ENTRIES", W.size - 1)
    assert len(solving.parts_of(ip.SOLVERS["ib-2"], job)) == 2
    assert len(solving.parts_of(ip.SOLVERS["portfolio"], job)) == 1


def test_the_callers_error_handling_changes_nothing():
    joint = ip.Joint.from_counts([[3, 0], [0, 2], [2, 1], [2, 3], [0, 0]])
    calls = [
        lambda: ip.Joint.from_counts([[1e-308, 1.0], [1.0, 2.0]]).fingerprint,
        lambda: ip.solve(joint, ip.bottleneck(0.2), "accelerated", starts=2, rng=0).loss,
        lambda: ip.solve(joint, ip.bottleneck(0.2), "ib-1", starts=2, rng=0).loss,
        lambda: ip.solve(joint, ip.funnel(2.0), "pf-2", starts=2, rng=0).loss,
    ]
    expected = [call() for call in calls]
    with np.errstate(all="raise"):
        assert [call() for call in calls] == expected


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_the_default_is_asked_once_and_within_the_time_of_a_certified_call(monkeypatch):
    """Where |Z| is capped the default solver runs, and then the proof, which used to ask it a second time."""
    asked, run = [], Portfolio.run
    monkeypatch.setattr(Portfolio, "run", lambda self, job: asked.append(job.budget.seconds) or run(self, job))
    for problem in (ip.bottleneck(0.05), ip.funnel(4.0)):
        for seconds, allowed in ((1e-6, PATIENCE), (20.0, 10.0), (None, np.inf)):
            asked.clear()
            found = ip.solve(ip.datasets.heart(), problem, clusters=2, certify=1e-12, max_seconds=seconds, max_cells=1)
            assert asked == [allowed]
            assert found.gap is not None


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_a_limit_is_one_of_the_whole_call(monkeypatch):
    """A proof has what the default left of the time: together they took twice the limit, ten seconds more at least."""
    clock = [0.0]
    monkeypatch.setattr("infoplane.runtime.budget.clock", lambda: clock[0])
    run, budget, allowed = Portfolio.run, Limits.budget, []

    def slow(self, job):
        found = run(self, job)
        clock[0] += 12.0
        return found

    monkeypatch.setattr(Portfolio, "run", slow)
    monkeypatch.setattr(
        Limits, "budget", lambda self, whole=None: allowed.append(self.max_seconds) or budget(self, whole)
    )
    for seconds in (20.0, 5.0):
        ip.solve(ip.datasets.heart(), ip.bottleneck(0.05), clusters=2, certify=1e-12, max_seconds=seconds, max_cells=1)
    assert allowed == [8.0, 0.5]


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_a_default_that_the_clock_ends_is_not_called_interrupted(monkeypatch):
    monkeypatch.setattr(solving, "PATIENCE", 0.0)
    found = ip.solve(ip.datasets.heart(), ip.bottleneck(0.05), clusters=2, certify=1e-12, max_seconds=1e-9, max_cells=1)
    assert found.status is not ip.Status.INTERRUPTED


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_a_proof_that_cannot_begin_is_refused_before_the_default_solver_runs(monkeypatch):
    """A funnel of more letters than a linear programme holds: the default's seconds would be thrown away."""
    monkeypatch.setattr(programme, "RULES", programme.RULES._replace(most_letters=15))
    monkeypatch.setattr(Portfolio, "run", lambda *_: pytest.fail("it ran"))
    for refused in (
        lambda: ip.solve(ip.datasets.heart(), ip.funnel(3.0), clusters=4, certify=True),
        lambda: ip.sweep(ip.datasets.heart(), ip.funnel, [3.0], clusters=4, certify=True),
    ):
        with pytest.raises(ip.InvalidJointError, match="15 letters at most; found 16"):
            refused()
