"""Engines: chunks grow to their seconds and shrink at the end; processes and a Dask cluster give the same bits, killed workers or not.

The ledger: counts and best runs, whatever the order in which runs end.
"""

import dataclasses
import json
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
from infoplane.solution import Residuals, Run, Status
from infoplane.solvers.job import RunOptions
from infoplane.storage.store import RunRecord, store_status
from infoplane.sweep import engine
from infoplane.sweep.engine import AHEAD, SMALLEST, EngineError, Ledger, Pace, completed, opened
from infoplane.sweep.plan import Chunk, ParameterGrid, Plan, Unit, identity
from sweeping import assert_same_runs

HEART = ip.datasets.heart()
GRID = np.geomspace(0.3, 0.9, 6)


def swept(**options):
    return ip.sweep(HEART, ip.bottleneck, GRID, **{"solver": "ib-1", "starts": 8, "rng": 1} | options)


@pytest.fixture(scope="module")
def expected():
    return swept()


# -- sizes of chunks -----------------------------------------------------------------------------------------------------


def test_nothing_is_known_at_first():
    assert Pace(1.0).size(0, 1000, 2) == 1


@given(
    seconds=st.floats(0.01, 10),
    unit=st.floats(1e-6, 100),
    left=st.integers(1, 10**6),
    workers=st.integers(1, 100),
)
def test_a_chunk_takes_its_seconds_and_leaves_something_for_the_others(seconds, unit, left, workers):
    pace = Pace(seconds, {0: unit})
    size = pace.size(0, left, workers)
    full, fair = seconds / unit, left / (AHEAD * workers)
    assert 1 <= size <= max(full, 1)
    assert size <= max(1, fair, SMALLEST * full)
    assert size + 1 > min(full, fair)


def test_the_pace_follows_what_chunks_took():
    pace = Pace(1.0)
    chunk = Chunk(tuple(Unit(0, start, (0,)) for start in range(4)), {})
    pace.learn(chunk, 4.0)
    assert pace.size(0, 10**6, 1) == 1
    for _ in range(20):
        pace.learn(chunk, 0.04)
    assert 95 <= pace.size(0, 10**6, 1) <= 100
    assert pace.size(1, 10**6, 1) == 1  # another solver has a pace of its own


def test_chunks_cover_the_units_once_and_are_numbered():
    plan = Plan(HEART, (ip.SOLVERS["ib-1"],), RunOptions(starts=7), np.random.SeedSequence(0))
    ledger = Ledger(plan, ParameterGrid(ip.bottleneck, [0.5, 0.6], None))
    begun = []

    def begin(units):
        begun.append(list(units))
        return 100 + len(begun)

    ledger.begin = begin
    with opened(None, "threads") as engine:
        found = dict(completed(engine, ledger, plan.units([0, 1]), seconds=1e-9))
    assert sorted(found) == list(range(101, 101 + len(begun)))
    assert [unit for units in begun for unit in units] == plan.units([0, 1])
    for number, result in found.items():
        assert [(one.index, one.start) for one in result.records] == [
            (u.indices[0], u.start) for u in begun[number - 101]
        ]
        assert result.seconds > 0


# -- processes -----------------------------------------------------------------------------------------------------------


def test_processes_give_the_same_bits(expected, tmp_path):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        worker = pool.submit(os.getpid).result()
        found = swept(executor=pool, chunk_seconds=0.02, store=tmp_path / "runs.db")
        assert_same_runs(found, expected)
        # A pool that breaks is an error that says what to do; with a store, what was finished stays.
        with pytest.raises(EngineError, match="the workers of this sweep were lost") as caught:
            swept(executor=pool, rng=2, chunk_seconds=0.02, store=tmp_path / "other.db", progress=killing(worker))
    assert caught.value.resumable
    assert_same_runs(swept(rng=2, store=tmp_path / "other.db"), swept(rng=2))


def killing(worker):
    def kill(_progress):
        with suppress(ProcessLookupError):  # another chunk may have ended before the pool knew
            os.kill(worker, signal.SIGKILL)

    return kill


def test_a_pool_that_was_shut_down():
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(EngineError, match="cannot schedule new futures after shutdown"):
        swept(executor=pool)


# -- Dask ----------------------------------------------------------------------------------------------------------------


def test_dask_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ip.MissingExtraError, match=r'pip install "infoplane\[dask\]"'):
        swept(engine="dask")


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two worker processes on loopback."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    ) as made:
        yield made


@pytest.mark.filterwarnings("default")  # the cluster's own, while a worker dies
def test_a_dask_worker_killed_in_the_middle_loses_nothing(cluster, expected, tmp_path):
    distributed = pytest.importorskip("distributed")
    store = tmp_path / "runs.db"
    with distributed.Client(cluster, set_as_default=False) as client:
        workers = client.run(os.getpid)
    assert len(workers) == 2
    killed = []

    def kill(progress):
        if not killed and progress.runs >= 10:
            killed.append(next(iter(workers.values())))
            os.kill(killed[0], signal.SIGKILL)

    found = swept(engine=f"dask:{cluster.scheduler_address}", store=store, progress=kill, chunk_seconds=0.02)
    assert len(killed) == 1
    assert found.complete
    assert_same_runs(found, expected)
    with closing(sqlite3.connect(store)) as connection:
        log = connection.execute("SELECT units, ended IS NOT NULL FROM chunks").fetchall()
    assert all(done for _, done in log)
    units = [tuple(unit[:2]) + tuple(unit[2]) for text, _ in log for unit in json.loads(text)]
    assert sorted(units) == [(0, start, place) for start in range(8) for place in range(6)]


@pytest.mark.filterwarnings("default")
def test_the_client_in_use_is_used_and_left_open(cluster, expected):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster) as client:
        assert_same_runs(swept(engine="dask"), expected, encoders="all")
        assert client.submit(int, "1").result() == 1


@pytest.mark.filterwarnings("default")
def test_without_a_client_workers_of_this_machine_are_started_and_ended(expected, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(engine, "cores", lambda: 1)  # each takes seconds to start
    pids = set()

    def note(_progress):
        for pid, ignored in distributed.default_client().run(worker_process).values():
            pids.add(pid)
            assert ignored

    assert_same_runs(swept(engine="dask", progress=note), expected)
    assert len(pids) == 1
    with pytest.raises(ValueError, match="No client"):
        distributed.default_client()


def worker_process():
    """Its id, and whether it leaves signals to the sweep."""
    return os.getpid(), all(signal.getsignal(one) is signal.SIG_IGN for one in (signal.SIGINT, signal.SIGHUP))


@pytest.mark.filterwarnings("default")
def test_no_scheduler_at_the_address(monkeypatch):
    distributed = pytest.importorskip("distributed")
    real = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda address, timeout: real(address, timeout=0.2))
    with pytest.raises(EngineError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        swept(engine="dask:tcp://127.0.0.1:9")


# -- nobody there --------------------------------------------------------------------------------------------------------


@pytest.fixture
def nobody(monkeypatch):
    """A scheduler without a worker, and a client of it; a sweep gives up at its second look."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(engine, "WORKERLESS_SECONDS", 0.0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("way", ["address", "the client in use", "executor"])
def test_a_scheduler_without_workers_is_said_and_not_waited_for_for_ever(nobody, way):
    options = {
        "address": lambda: {"engine": f"dask:{nobody.scheduler.address}"},
        "the client in use": lambda: {"engine": "dask"},
        "executor": lambda: {"executor": nobody.get_executor()},
    }[way]()
    with (
        pytest.warns(ip.NoWorkerWarning, match="the cluster has no worker: waiting 0 s for one"),
        pytest.raises(EngineError, match=r"had no worker for 0 s\. Start one, .*repeat the call"),
    ):
        swept(**options)


def test_workers_that_leave_for_good_end_the_sweep_and_those_that_come_back_do_not(monkeypatch):
    """Chunks are done or left lying, by what the cluster says of its workers."""
    monkeypatch.setattr(engine, "WAITING_SECONDS", 0.0)

    class Idle(Executor):
        def submit(self, work, *arguments):
            return Future()

    plan = Plan(HEART, (ip.SOLVERS["ib-1"],), RunOptions(starts=1), np.random.SeedSequence(0))
    ledger = Ledger(plan, ParameterGrid(ip.bottleneck, [0.5], None))
    monkeypatch.setattr(engine, "WORKERLESS_SECONDS", 0.0)
    with (
        pytest.warns(ip.NoWorkerWarning),
        pytest.raises(EngineError, match="had no worker") as gone,
    ):
        list(completed(engine.Engine(Idle(), lambda: 0), ledger, plan.units([0])))
    assert gone.value.resumable
    attendance = engine.Attendance()
    with pytest.warns(ip.NoWorkerWarning) as said:
        assert [attendance.checked(count) for count in (0, 2, 0, 1)] == [0, 2, 0, 1]
    assert len(said) == 2


class Foreign(Executor):
    """Runs chunks as a worker with another infoplane would: one of another version, or one that does not know of versions."""

    def __init__(self, said):
        self.said = said

    def submit(self, work, *arguments):
        future = Future()
        future.set_result(dataclasses.replace(work(*arguments), made_by=self.said))
        return future


@pytest.mark.parametrize(
    ("said", "named"), [("0.0.9 (sources 1234)", r"0\.0\.9"), ("", "of a version that cannot say which")]
)
def test_the_numbers_of_another_version_are_refused_and_not_stored(said, named, tmp_path):
    with pytest.raises(EngineError, match=f"a worker has infoplane {named}.*this process {ip.__version__}") as refused:
        swept(executor=Foreign(said), store=tmp_path / "runs.db")
    assert identity() in str(refused.value)
    assert store_status(tmp_path / "runs.db").runs == 0


def test_dask_workers_are_asked_before_any_work():
    class Client:
        def run(self, _function, on_error):
            assert on_error == "return"
            return {"tcp://a": identity(), "tcp://b": AttributeError("no such function")}

    with pytest.raises(EngineError, match="the worker at tcp://b has infoplane of a version that cannot say which"):
        engine.refuse_other_versions(Client())


@pytest.mark.filterwarnings("default", "ignore:the cluster has no worker")  # until it has started
def test_a_worker_that_has_an_edited_infoplane_installed_is_refused(tmp_path):
    """A real worker, of a copy of the package, found by its own process before ours. Its version is the same, one comment is not."""
    distributed = pytest.importorskip("distributed")
    package = tmp_path / "site" / "infoplane"
    shutil.copytree(Path(ip.__file__).parent, package, ignore=shutil.ignore_patterns("*.nb?"))
    source = package / "formatting.py"
    source.write_text(f"{source.read_text(encoding='utf-8')}# edited\n", encoding="utf-8")
    named = rf"{ip.__version__} \(sources \w+\)"
    with distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster:
        address = cluster.scheduler_address
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
        worker = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(package.parent)}, cwd=tmp_path)
        try:
            with pytest.raises(
                EngineError, match=f"the worker at .* has infoplane {named}, and this process"
            ) as refused:
                swept(engine=f"dask:{address}", store=tmp_path / "runs.db")
            assert identity() in str(refused.value)
            assert not (tmp_path / "runs.db").exists() or store_status(tmp_path / "runs.db").runs == 0
        finally:
            worker.terminate()
            worker.wait()


def ended_with(status):
    return Run(np.ones((1, 1)), status, 1, Residuals(0.0, 0.0, 0.0))


records = st.builds(
    RunRecord,
    index=st.just(7),
    solver=st.integers(0, 1),
    start=st.integers(0, 10**6),
    loss=st.sampled_from([0.0, 4e-10, 8e-10, 1.2e-9, 0.5]),
    ixz=st.just(0.0),
    iyz=st.just(0.0),
    run=st.sampled_from([ended_with(Status.STATIONARY), ended_with(Status.ITERATION_LIMIT)]),
)


@settings(max_examples=50)
@given(runs=st.lists(records, min_size=1, max_size=12, unique_by=lambda one: one.key), seed=st.integers())
def test_the_best_of_a_ledger_is_the_frontiers_whatever_the_order(runs, seed):
    """Against the rule of `Frontier.best_rows`, spelled out: the lowest; among those within 1e-9, converged ones first."""
    rows = sorted(runs, key=lambda one: (one.solver, one.start))
    lowest = min(one.loss for one in rows)
    near = [one for one in rows if one.loss <= lowest + 1e-9]
    expected = min(near, key=lambda one: (not one.run.status.converged, one.loss))
    ledger = Ledger(None, None)
    random.Random(seed).shuffle(runs)
    ledger.count(runs)
    kept = {one.key for one in ledger.contenders(7)}
    assert ledger.best(7).key == expected.key
    assert min(near, key=lambda one: one.loss).key in kept  # the best, should it be proven optimal
    assert expected.key in kept
    assert len(kept) <= 4
    assert (len(ledger.done), ledger.converged) == (len(runs), sum(one.run.status.converged for one in runs))
    assert ledger.runs_at == {7: len(runs)}
