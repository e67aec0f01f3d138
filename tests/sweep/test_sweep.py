"""`sweep`: one frontier, to the bit, however the work is cut, ordered and handed out; progress, proofs, interruption, resuming."""

import random
import signal
import sys
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import verify
from infoplane.errors import InvalidOptionError
from infoplane.solvers.base import make_starts, random_encoder
from infoplane.sweep import engine
from infoplane.sweep.plan import BUDGETS
from infoplane.sweep.progress import Bar
from strategies import joints
from sweeping import Warm, assert_same_runs

UNIFORM = ip.datasets.paper_uniform()
GRID = np.geomspace(0.1, 0.9, 5)


def swept(**options):
    return ip.sweep(UNIFORM, ip.bottleneck, GRID, **{"solver": "ib-1", "starts": 6, "rng": 3} | options)


@pytest.fixture(scope="module")
def expected():
    return swept()


class Shuffled(Executor):
    """One worker that takes whatever it likes of what waits, so that chunks end in any order."""

    def __init__(self, seed):
        self.random, self.waiting, self.any = random.Random(seed), [], threading.Semaphore(0)
        threading.Thread(target=self.serve, daemon=True).start()

    def submit(self, fn, /, *args, **kwargs):
        self.waiting.append((Future(), fn, args))
        future = self.waiting[-1][0]
        self.any.release()
        return future

    def serve(self):
        while True:
            self.any.acquire()
            future, fn, args = self.waiting.pop(self.random.randrange(len(self.waiting)))
            if future.set_running_or_notify_cancel():
                future.set_result(fn(*args))


# -- one result, however it is made --------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk_seconds", [1e-9, 0.003, 100.0])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_do_not_depend_on_threads_or_chunks(expected, workers, chunk_seconds):
    with ThreadPoolExecutor(workers) as pool:
        found = swept(executor=pool, chunk_seconds=chunk_seconds)
    assert_same_runs(found, expected, encoders="all")


@pytest.mark.parametrize("seed", [0, 1])
def test_results_do_not_depend_on_the_order_of_completion(expected, seed):
    assert_same_runs(swept(executor=Shuffled(seed), chunk_seconds=0.001), expected, encoders="all")


@pytest.mark.parametrize("init", ["random", "identity", "mixed", "given"])
def test_every_kind_of_start(init):
    rng = np.random.default_rng(0)
    given = np.stack([random_encoder(4, 3, rng) for _ in range(3)]) if init == "given" else init
    found = swept(init=given)
    each = {"identity": 1, "given": 3}.get(init, 6)
    assert [run.start for run in found.runs] == list(range(each)) * 5
    assert_same_runs(swept(init=given, chunk_seconds=1e-9), found, encoders="all")
    W = make_starts(UNIFORM, None, 6, np.random.SeedSequence(3).spawn(5)[4], given)
    alone = ip.solve(UNIFORM, ip.bottleneck(GRID[4]), "ib-1", init=W)
    assert [run.loss for run in found.runs[4 * each :]] == [start.loss for start in alone.starts]


@settings(max_examples=10, deadline=None)
@given(joint=joints(), family=st.sampled_from([ip.bottleneck, ip.funnel]))
def test_any_joint(joint, family):
    """Zeros and empty letters included: numbers are true, and cutting the work finer changes none."""
    found = ip.sweep(joint, family, [0.4, 0.9], starts=2, rng=0, max_iter=40)
    for row in range(len(found)):
        verify.check_solution(np.asarray(joint.p_xy), found.runs[row].problem.rho, found.solution(row))
    assert_same_runs(ip.sweep(joint, family, [0.4, 0.9], starts=2, rng=0, max_iter=40, chunk_seconds=1e-9), found)


def test_the_callers_arrays_are_not_modified():
    grid = GRID.copy()
    given = np.stack([np.full((3, 3), 1 / 3)] * 2)
    ip.sweep(UNIFORM, ip.bottleneck, grid, "ib-1", init=given, rng=0)
    np.testing.assert_array_equal(grid, GRID)
    np.testing.assert_array_equal(given, 1 / 3)


def test_a_generator_and_a_seed_sequence_are_seeds():
    one, two = (swept(rng=np.random.default_rng(5)) for _ in range(2))
    assert_same_runs(one, two)
    root = np.random.SeedSequence(9)
    assert_same_runs(swept(rng=root), swept(rng=root))
    assert swept(rng=root.spawn(1)[0]).provenance["spawn_key"] == [0]


# -- paths ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("segment", [None, 2])
def test_a_path_solver_follows_its_segments(segment):
    found = swept(solver=Warm(segment))
    assert [run.solver for run in found.runs] == ["warm"] * 5
    assert_same_runs(swept(solver=Warm(segment), chunk_seconds=1e-9), found, encoders="all")
    for row in range(5):
        verify.check_solution(np.asarray(UNIFORM.p_xy), found.runs[row].problem.rho, found.solution(row))
    # Warm starts are for real: within a segment, the neighbour was the start.
    cold = [swept(solver=Warm(1)).runs[place].iterations for place in range(5)]
    begins = range(0, 5, segment or 5)
    assert [found.runs[place].iterations for place in begins] == [cold[place] for place in begins]
    assert [run.iterations for run in found.runs] != cold


# -- proofs --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def claiming(monkeypatch):
    """A certifier whose bound lies 1e-7 below what it finds."""
    monkeypatch.setattr(sys.modules["infoplane.solve"], "certifier", lambda _problem: Warm(2, claims=1e-7))


def test_certify_alone_runs_the_certifier_only(claiming):
    found = swept(solver=None, certify=True)
    assert {run.solver for run in found.runs} == {"warm"}
    assert {run.status for run in found.runs} == {ip.Status.CERTIFIED}
    assert all(0.0 <= run.gap <= 1.1e-7 for run in found.runs)
    assert found.provenance["certify_nats"] == 1e-6


@pytest.mark.parametrize("stored", [False, True])
def test_with_a_solver_every_run_gets_the_bound_of_its_parameter(claiming, tmp_path, stored):
    options = {"certify": 1e-3, "starts": 8, "init": "random", "max_iter": 4}
    plain = swept(starts=8, init="random", max_iter=4)
    found = swept(**options, store=tmp_path / "runs.db" if stored else None)
    assert len(found) == 5 * 9
    bounds = {run.parameter: run.lower_bound for run in found.runs if run.solver == "warm"}
    own = [run for run in found.runs if run.solver != "warm"]
    assert [run.loss for run in own] == [run.loss for run in plain.runs]
    for run, before in zip(own, plain.runs, strict=True):
        assert run.lower_bound == bounds[run.parameter]
        proven = abs(run.loss - run.lower_bound) <= 1e-3  # a bound farther above the loss than that proves nothing
        assert run.status is (ip.Status.CERTIFIED if proven else before.status)
    assert {ip.Status.CERTIFIED} < {run.status for run in own}


def test_the_best_run_has_its_encoder_whatever_became_certified(claiming, tmp_path):
    """A run that had not converged may be certified, and then be the best: its encoder must have been kept."""
    options = {"certify": 1e-2, "starts": 8, "init": "random", "max_iter": 12}
    assert_same_runs(swept(**options, store=tmp_path / "runs.db", chunk_seconds=1e-9), swept(**options))


def test_a_problem_without_certificate_is_refused():
    with pytest.raises(ip.UnsupportedProblemError, match="a global certificate needs"):
        ip.sweep(UNIFORM, lambda rho: ip.MarkovLagrangian(-rho, -0.2, 0.5), [1.0], certify=True)
    with pytest.raises(ip.InvalidOptionError, match="certify must be"):
        swept(certify=-1.0)


# -- progress ------------------------------------------------------------------------------------------------------------


def test_a_callback_is_told_after_every_parameter():
    seen = []
    swept(progress=seen.append, chunk_seconds=0.001)
    assert [one.done for one in seen] == [1, 2, 3, 4, 5]
    last = seen[-1]
    assert (last.runs, last.total_runs, last.total, last.converged) == (30, 30, 5, 30)
    assert last.seconds > 0
    assert last.rate == pytest.approx(30 / last.seconds)
    assert last.seconds_left == 0


def test_a_callback_hears_of_long_parameters_in_between():
    seen = []
    ip.sweep(
        UNIFORM, ip.bottleneck, [0.5], "ib-1", starts=350, rng=0, max_iter=5, progress=seen.append, chunk_seconds=1e-9
    )
    assert [one.runs for one in seen] == [100, 200, 300, 350]
    assert [one.done for one in seen] == [0, 0, 0, 1]


def test_a_bar_hears_of_every_chunk():
    seen = []
    swept(progress=Bar(seen.append), chunk_seconds=1e-9)
    assert [one.runs for one in seen] == list(range(1, 31))


# -- interruption --------------------------------------------------------------------------------------------------------


def test_control_c_keeps_what_was_finished_and_stops_the_threads():
    def press(progress):
        if progress.done == 2:
            signal.raise_signal(signal.SIGINT)

    found = swept(progress=press, chunk_seconds=1e-9)
    assert not found.complete
    assert len({run.parameter for run in found.runs}) * 6 == len(found)
    assert 12 <= len(found) < 30
    assert BUDGETS == {}


def test_an_exception_of_the_callback_stops_the_sweep():
    def fail(_progress):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        swept(progress=fail)
    assert BUDGETS == {}


def test_an_error_of_a_worker_is_the_sweeps(monkeypatch):
    def broken(*_arguments):
        raise ZeroDivisionError("in a worker")

    monkeypatch.setattr(engine, "run_chunk", broken)
    with pytest.raises(ZeroDivisionError, match="in a worker"):
        swept()


# -- what is refused, and what is told -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"starts": 0}, "starts must be a positive whole number, found 0"),
        ({"starts": True}, "starts must be a positive whole number"),
        ({"starts": 1.5}, "starts must be a positive whole number"),
        ({"clusters": 0}, "clusters must be"),
        ({"init": "nowhere"}, "init must be"),
        ({"points": 4}, "points must be a whole number, at least the grid's 5; found 4"),
        ({"points": 7.0}, "points must be"),
        ({"chunk_seconds": 0.0}, "chunk_seconds must be"),
        ({"engine": "slurm"}, "engine must be 'threads', 'dask' or 'dask:ADDRESS', found 'slurm'"),
        ({"executor": 4}, r"executor must be a concurrent\.futures\.Executor, found 4"),
        ({"solver": "simplex"}, "there is no solver"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ip.InvalidOptionError, match=message):
        swept(**options)


def test_executor_and_engine_together_are_refused():
    with ThreadPoolExecutor(1) as pool, pytest.raises(ip.InvalidOptionError, match="leave one out"):
        swept(executor=pool, engine="threads")


def test_provenance_says_what_was_run():
    found = swept()
    said = found.provenance
    assert said["solver"] == "ib-1"
    assert said["options"]["relaxation"] == 1.618
    assert said["grid"] == GRID.tolist()
    assert (said["seed"], said["starts"], said["clusters"], said["init"]) == (3, 6, 3, "mixed")
    assert (said["tol"], said["max_iter"], said["version"]) == (1e-8, 20_000, ip.__version__)
    assert said["joint_sha256"] == UNIFORM.fingerprint


def test_a_grid_of_betas_is_one_of_gammas():
    joint = ip.datasets.paper_uniform()
    by_beta = ip.sweep(joint, ip.bottleneck, [2.0, 4.0], notation="beta")
    by_gamma = ip.sweep(joint, ip.bottleneck, [0.5, 0.25])
    assert by_beta.to_frame()["loss_nats"].tolist() == by_gamma.to_frame()["loss_nats"].tolist()
    assert by_beta.to_frame()["parameter"].tolist() == [0.5, 0.25]
    assert by_beta.to_frame()["beta"].tolist() == [2.0, 4.0]
    with pytest.raises(InvalidOptionError, match="notation must be 'gamma' or 'beta'"):
        ip.sweep(joint, ip.bottleneck, [0.5], notation="b")


JOINT = ip.datasets.heart()


def interrupt_after(count):
    def tell(progress):
        if progress.done >= count:
            raise KeyboardInterrupt

    return tell


@pytest.mark.parametrize(
    ("family", "grid", "options"),
    [
        (ip.bottleneck, [0.1, 0.2, 0.4], {"solver": "ib-1", "starts": 3}),
        (ip.funnel, [2.0, 4.0], {"solver": ip.DouglasRachford("pf-2v", penalty=200.0), "starts": 2, "clusters": 5}),
        (lambda g: ip.generalised_bottleneck(g, 0.5), [0.2, 0.4], {"solver": "drs", "starts": 2, "points": 3}),
        (ip.bottleneck, [0.2, 0.4], {"solver": "accelerated", "starts": 2, "certify": 1e-3, "max_seconds": 50.0}),
        (ip.bottleneck, [0.2, 0.4], {"certify": True}),
    ],
)
def test_an_interrupted_sweep_ends_as_if_it_had_not_been(tmp_path, family, grid, options):
    whole = ip.sweep(JOINT, family, grid, rng=5, **options)
    part = ip.sweep(
        JOINT, family, grid, rng=5, store=tmp_path / "s.db", progress=interrupt_after(1), chunk_seconds=1e-3, **options
    )
    found = ip.resume(tmp_path / "s.db")
    assert len(part.runs) <= len(found.runs)
    assert found.complete
    assert found.joint == JOINT
    assert [run.loss for run in found.runs] == [run.loss for run in whole.runs]
    assert found.to_frame().gap_nats.tolist() == pytest.approx(whole.to_frame().gap_nats.tolist(), nan_ok=True)


def test_starts_that_were_not_kept_are_refused(tmp_path):
    ip.sweep(JOINT, ip.bottleneck, [0.2], "accelerated", init=np.eye(16), store=tmp_path / "s.db")
    with pytest.raises(ip.InvalidOptionError, match="repeat the call that made it"):
        ip.resume(tmp_path / "s.db")


def test_records_are_kept_in_stores_and_archives(tmp_path):
    joint = ip.Joint.from_counts([[3, 1], [1, 3]])
    found = ip.sweep(joint, ip.bottleneck, [0.2], "accelerated", starts=1, rng=0, store=tmp_path / "s.db")
    assert ip.resume(tmp_path / "s.db").joint.records == 8
    found.save(tmp_path / "f.npz")
    loaded = ip.Frontier.load(tmp_path / "f.npz").joint
    assert (loaded.records, loaded.caution) == (8, joint.caution)


def test_a_sweep_of_something_else_than_the_parameter_keeps_its_problems(tmp_path):
    def older(beta):
        return ip.bottleneck(beta=beta)

    ip.sweep(
        JOINT,
        older,
        [3.0, 7.0],
        starts=2,
        rng=5,
        store=tmp_path / "s.db",
        progress=interrupt_after(1),
        chunk_seconds=1e-3,
    )
    found = ip.resume(tmp_path / "s.db")
    assert {(run.parameter, run.problem) for run in found.runs} == {(beta, older(beta)) for beta in (3.0, 7.0)}
