"""Stores: what was finished is kept, what differs is refused, what is foreign is left alone, and nothing in a file is executed."""

import json
import os
import pickle
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import infoplane as ip
import verify
from infoplane.sweep import engine
from infoplane.sweep.store import database, writer
from infoplane.sweep.store.database import SCHEMA, StoreError, is_being_written
from infoplane.sweep.store.reader import read_store, store_status
from sweeping import Warm, assert_same_runs

UNIFORM = ip.datasets.paper_uniform()
GRID = [0.1, 0.25, 0.5, 0.8]


def swept(store=None, joint=UNIFORM, family=ip.bottleneck, grid=GRID, **options):
    options = {"solver": "ib-1", "starts": 5, "rng": 0, "chunk_seconds": 1e-9} | options
    return ip.sweep(joint, family, grid, store=store, **options)


@pytest.fixture(scope="module")
def expected():
    return swept()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "runs.db"
    swept(path)
    return path


@pytest.fixture
def store(made, tmp_path):
    """A copy of a finished store."""
    return shutil.copy(made, tmp_path / "runs.db")


def ask(path, question):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(question).fetchall()


def change(path, *commands):
    with closing(sqlite3.connect(path)) as connection:
        for command in commands:
            connection.execute(command)
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def attempts(path):
    """Each unit that a worker ever got, as (first place, solver, start), with whether its chunk ended."""
    rows = ask(path, "SELECT units, ended IS NOT NULL FROM chunks ORDER BY chunk")
    return [
        ((places[0], solver, start), bool(done)) for units, done in rows for solver, start, places in json.loads(units)
    ]


# -- there and back ------------------------------------------------------------------------------------------------------


def test_a_stored_sweep_is_the_same_to_the_bit(expected, tmp_path):
    found = swept(tmp_path / "runs.db")
    assert_same_runs(found, expected)
    assert os.listdir(tmp_path) == ["runs.db"]
    again = read_store(tmp_path / "runs.db")
    assert_same_runs(again, expected)
    assert again.complete
    assert os.listdir(tmp_path) == ["runs.db"]
    assert found.provenance == again.provenance == expected.provenance
    for row in found.best_rows():
        verify.check_solution(np.asarray(UNIFORM.p_xy), found.runs[row].problem.rho, found.solution(row))
        verify.check_solution(np.asarray(UNIFORM.p_xy), found.runs[row].problem.rho, again.runs[row])


def test_it_is_sqlite_in_wal_mode_with_a_manifest(made):
    assert ask(made, "PRAGMA journal_mode") == [("wal",)]
    assert ask(made, "PRAGMA user_version") == [(SCHEMA,)]
    manifest = {key: json.loads(value) for key, value in ask(made, "SELECT key, value FROM manifest")}
    assert manifest["joint_sha256"] == UNIFORM.fingerprint
    assert (manifest["family"], manifest["grid"]) == ("bottleneck", GRID)
    assert manifest["rho"] == [list(ip.bottleneck(gamma).rho) for gamma in GRID]
    assert (manifest["solver"], manifest["options"]["penalty"]) == ("ib-1", "auto")
    assert (manifest["seed"], manifest["starts"], manifest["version"]) == (0, 5, ip.__version__)
    assert (manifest["tol"], manifest["max_iter"], manifest["init"], manifest["clusters"]) == (1e-8, 20_000, "mixed", 3)


def test_encoders_of_the_best_are_kept_and_no_others(made):
    found = read_store(made)
    kept = [row for row in range(len(found)) if found.runs[row].has_encoder]
    assert set(found.best_rows()) <= set(kept)
    assert len(kept) == ask(made, "SELECT count(*) FROM encoders")[0][0] <= 2 * len(GRID)
    dropped = next(row for row in range(len(found)) if row not in kept)
    with pytest.raises(ip.InvalidOptionError, match=r"was not kept.*best_rows\(\)"):
        found.encoder(dropped)
    assert found.runs[dropped].clusters >= 1
    assert not hasattr(found.runs[dropped], "no_such_thing")


def test_traces_of_the_best_are_kept_and_no_others(made, expected):
    found = read_store(made)
    assert ask(made, "SELECT place, solver, start FROM traces") == ask(
        made, "SELECT place, solver, start FROM encoders"
    )
    traced = [row for row in range(len(found)) if found.runs[row].trace is not None]
    assert set(found.best_rows()) <= set(traced)
    assert traced == [row for row in range(len(expected)) if expected.runs[row].trace is not None]
    run = found.solution(found.best_rows()[0])
    assert len(run.trace) == run.iterations
    assert run.trace.loss[-1] == pytest.approx(run.loss, abs=1e-9)


@pytest.mark.parametrize(
    "spoil", ["data = x'00'", "length = length + 1", "length = 0", "length = -1", "data = zeroblob(9)"]
)
def test_a_damaged_trace_is_refused(spoil, store):
    change(store, f"UPDATE traces SET {spoil}")
    found = read_store(store)
    with pytest.raises(StoreError, match="is damaged"):
        _ = found.runs[found.best_rows()[0]].trace


def test_a_trace_that_was_dropped_meanwhile_is_none(store):
    found = read_store(store)
    change(store, "DELETE FROM traces")
    assert found.runs[found.best_rows()[0]].trace is None


def test_a_store_of_the_former_schema_is_read_but_not_continued(store, expected):
    change(store, "DROP TABLE traces", "PRAGMA user_version = 1")
    before = store.read_bytes()
    found = read_store(store)
    assert found.to_frame().equals(read_store(store).to_frame())
    assert [run.loss for run in found.runs] == [run.loss for run in expected.runs]
    assert all(run.trace is None for run in found.runs)
    assert found.encoder(found.best_rows()[0]).tobytes() == expected.encoder(expected.best_rows()[0]).tobytes()
    assert store_status(store).complete
    with pytest.raises(StoreError, match=r"has schema 1.* read and exported, but not continued.*name another file"):
        swept(store)
    assert store.read_bytes() == before


def test_best_of_every_solver_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("infoplane.solvers.registry.certifier", lambda _problem: Warm(2, claims=1e-7))
    found = swept(tmp_path / "runs.db", certify=True)
    for name in ("warm", "ib-1"):
        own = ip.Frontier(UNIFORM, [run for run in found.runs if run.solver == name])
        assert [own.encoder(row).shape[1] for row in own.best_rows()] == [3] * 4


def test_an_archive_of_a_store_comes_back(made, tmp_path):
    expected = read_store(made)
    expected.save(tmp_path / "f.npz")
    found = ip.Frontier.load(tmp_path / "f.npz")
    assert_same_runs(found, expected)
    assert found.provenance == expected.provenance
    assert [run.has_encoder for run in expected.runs] == [getattr(run, "has_encoder", True) for run in found.runs]


@pytest.mark.parametrize(
    "joint",
    [
        ip.Joint.from_counts(
            [[4, 0, 1], [0, 0, 0], [2, 3, 0]], x_labels=[("ä", 1), ("b", 2), ("b", 3)], x_names=["drug", "dose"]
        ),
        ip.Joint.from_counts(sparse.csr_array(np.array([[4.0, 0, 1], [0, 3, 2]])), y_labels=["<b>", "'; --", 7]),
    ],
    ids=["labels and a letter without mass", "sparse"],
)
def test_joints_come_back_with_their_labels(joint, tmp_path):
    found = swept(tmp_path / "runs.db", joint=joint)
    again = read_store(tmp_path / "runs.db")
    assert again.joint == joint
    assert again.joint.is_sparse == joint.is_sparse
    assert_same_runs(again, found)


@pytest.mark.parametrize("name", ["a b.db", "100%?#&.db", "ü.db", ".db"])
def test_any_file_name(name, tmp_path, expected):
    assert_same_runs(swept(tmp_path / name), expected)
    assert os.listdir(tmp_path) == [name]
    assert_same_runs(read_store(os.fspath(tmp_path / name)), expected)


# -- going on ------------------------------------------------------------------------------------------------------------


def test_interrupted_again_and_again_it_ends_the_same(expected, tmp_path):
    path = tmp_path / "runs.db"
    calls = 0
    while True:
        heard = []

        def press(progress, heard=heard, calls=calls):
            heard.append(progress)
            if len(heard) > calls % 2:
                raise KeyboardInterrupt

        found = swept(path, progress=press)
        calls += 1
        if found.complete:
            break
        assert is_being_written(path) is False
        partial = read_store(path)
        assert not partial.complete
        assert len(partial) == 5 * len({run.parameter for run in partial.runs})
    assert calls > 2
    assert_same_runs(found, expected)
    log = attempts(path)
    assert sorted(unit for unit, done in log if done) == [(place, 0, start) for place in range(4) for start in range(5)]
    outcomes = [outcome for (outcome,) in ask(path, "SELECT outcome FROM sessions")]
    assert outcomes == ["interrupted"] * (calls - 1) + ["complete"]


def test_a_finished_store_computes_nothing(store, expected, monkeypatch):
    monkeypatch.setattr(engine, "run_chunk", None)
    assert_same_runs(swept(store), expected)


def test_without_a_seed_the_stores_is_taken(tmp_path):
    path = tmp_path / "runs.db"
    first = swept(path, rng=None, progress=lambda progress: (_ for _ in ()).throw(KeyboardInterrupt))
    assert not first.complete
    found = swept(path, rng=None)
    (seed,) = ask(path, "SELECT value FROM manifest WHERE key = 'seed'")[0]
    assert_same_runs(found, swept(rng=int(seed)))
    with pytest.raises(StoreError, match="seed is"):
        swept(path, rng=1)


def test_segments_of_a_path_are_whole_or_not_there(tmp_path):
    solver = Warm(2)

    def press(_progress):
        raise KeyboardInterrupt

    partial = swept(tmp_path / "runs.db", solver=solver, progress=press)
    assert 2 <= ask(tmp_path / "runs.db", "SELECT count(*) FROM runs")[0][0] < 4
    assert not partial.complete
    assert_same_runs(swept(tmp_path / "runs.db", solver=solver), swept(solver=solver))


# -- refused, with the difference named ----------------------------------------------------------------------------------

DIFFERENCES = {
    "joint": ({"joint": ip.datasets.paper_nonuniform()}, 'joint_sha256 is "e5675180'),
    "family": (
        {"family": ip.deterministic_bottleneck, "solver": "ib-1"},
        'family is "bottleneck" there, "deterministic_b',
    ),
    "more parameters": ({"grid": [*GRID, 0.9]}, "grid has 4 values there, 5 here"),
    "a parameter": ({"grid": [0.1, 0.25, 0.5000001, 0.8]}, r"grid\[2\] is 0.5 there, 0.5000001 here"),
    "the same family with another a": (
        {"family": lambda gamma: ip.MarkovLagrangian(gamma - 1, -0.9 * gamma, 1.0, "bottleneck", gamma)},
        r"rho\[0\]\[1\] is -0.1 there, -0.09",
    ),
    "solver": ({"solver": "ib-2"}, 'solver is "ib-1" there, "ib-2" here; options.formulation is "ib-1" there'),
    "an option": (
        {"solver": ip.DouglasRachford("ib-1", relaxation=1.5)},
        "options.relaxation is 1.618 there, 1.5 here",
    ),
    "starts": ({"starts": 6}, "starts is 5 there, 6 here"),
    "seed": ({"rng": 1}, "seed is 0 there, 1 here"),
    "clusters": ({"clusters": 2}, "clusters is 3 there, 2 here"),
    "init": ({"init": "random"}, 'init is "mixed" there, "random" here'),
    "encoders": ({"init": np.eye(3)}, 'init is "mixed" there, "encoders 3x3, sha256'),
    "tol": ({"tol": 1e-6}, "tol is 1e-08 there, 1e-06 here"),
    "max_iter": ({"max_iter": 7}, "max_iter is 20000 there, 7 here"),
    "points": ({"points": 9}, "points is null there, 9 here"),
}


@pytest.mark.parametrize(("options", "words"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_a_store_of_another_sweep_is_refused(options, words, store):
    before = store.read_bytes()
    with pytest.raises(StoreError, match=rf"runs\.db belongs to another sweep: {words}"):
        swept(store, **options)
    assert store.read_bytes() == before
    assert os.listdir(store.parent) == ["runs.db"]


def test_another_version_is_refused(store, monkeypatch):
    monkeypatch.setattr(writer, "__version__", "0.2.0.dev")
    with pytest.raises(StoreError, match=r'version is ".*" there, "0\.2\.0\.dev" here'):
        swept(store)


def test_labels_may_differ(store, expected):
    relabelled = ip.Joint.from_matrix(UNIFORM.p_xy, x_labels=["a", "b", "c"])
    found = swept(store, joint=relabelled)
    assert found.joint.x_labels == ("a", "b", "c")
    assert found.to_frame().equals(read_store(store).to_frame())


def test_a_newer_schema_is_refused(store):
    change(store, f"PRAGMA user_version = {SCHEMA + 1}")
    before = store.read_bytes()
    for use in (swept, read_store, store_status):
        with pytest.raises(StoreError, match=f"schema {SCHEMA + 1}; this version of infoplane knows {SCHEMA}"):
            use(store)
    assert store.read_bytes() == before


# -- files that are no stores --------------------------------------------------------------------------------------------


def another_database(path):
    path.unlink()
    change(path, "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)")


FOREIGN = {
    "text": lambda path: path.write_text("parameter,loss\n0.2,-0.24\n" * 20),
    "empty": lambda path: path.write_bytes(b""),
    "pickle": lambda path: path.write_bytes(pickle.dumps(list(range(1000)))),
    "another database": another_database,
    "cut in the header": lambda path: path.write_bytes(path.read_bytes()[:60]),
    "cut after a page": lambda path: path.write_bytes(path.read_bytes()[:4096]),
    "cut in half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "without its end": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "overwritten inside": lambda path: path.write_bytes(
        path.read_bytes()[:4096] + bytes(4 * 4096) + path.read_bytes()[5 * 4096 :]
    ),
    "a trigger": lambda path: change(path, "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM manifest; END"),
    "a view": lambda path: change(path, "DROP TABLE encoders", "CREATE VIEW encoders AS SELECT * FROM runs"),
    "a column more": lambda path: change(path, "ALTER TABLE runs ADD COLUMN more DEFAULT 1"),
    "an index": lambda path: change(path, "CREATE INDEX i ON runs (abs(loss))"),
    "no manifest": lambda path: change(path, "DELETE FROM manifest"),
    "words for numbers": lambda path: change(path, "UPDATE manifest SET value = '{'"),
}


@pytest.mark.parametrize("spoil", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_or_damaged_file_is_refused_and_not_touched(spoil, store):
    spoil(store)
    before = store.read_bytes()
    for use in (swept, read_store, store_status):
        with pytest.raises(StoreError, match=r"runs\.db (is|has|belongs)"):
            use(store)
    assert store.read_bytes() == before
    assert os.listdir(store.parent) == ["runs.db"]


def test_a_status_that_is_none_is_a_damaged_store(store):
    change(store, "UPDATE runs SET status = '__import__' WHERE start = 1")
    for use in (swept, read_store, store_status):
        with pytest.raises(StoreError, match="damaged"):
            use(store)


def test_nothing_is_pickled(tmp_path, monkeypatch):
    def never(*_arguments, **_options):
        raise AssertionError("pickle")

    for name in ("dumps", "loads", "dump", "load", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, name, never)
    found = swept(tmp_path / "runs.db", max_iter=7)
    assert found.encoder(found.best_rows()[0]).shape[1] == 3
    assert store_status(tmp_path / "runs.db").complete


def test_there_is_no_such_file(tmp_path):
    for use in (read_store, store_status):
        with pytest.raises(StoreError, match=r"no\.db cannot be read: No such file"):
            use(tmp_path / "no.db")
    with pytest.raises(StoreError, match="cannot be written"):
        swept(tmp_path / "no" / "such" / "directory" / "runs.db")
    with pytest.raises(StoreError, match="cannot be read"):
        swept(tmp_path)


def test_an_encoder_whose_file_is_gone(store):
    found = read_store(store)
    store.unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        found.encoder(found.best_rows()[0])


# -- disks that end ------------------------------------------------------------------------------------------------------


def connecting(monkeypatch, *pragmas, how=None):
    """Let the writer's connection be of another kind."""
    real = database._connect

    def connect(path, given):
        connection = real(path, given if how is None or given != "mode=rw" else how)
        for pragma in pragmas if given == "mode=rw" else ():
            connection.execute(f"PRAGMA {pragma}")
        return connection

    monkeypatch.setattr(database, "_connect", connect)


def test_a_full_disk_ends_the_sweep_and_keeps_what_was_finished(tmp_path, monkeypatch):
    path = tmp_path / "runs.db"
    options = {"starts": 60, "max_iter": 5}
    with monkeypatch.context() as patch:
        connecting(patch, "max_page_count = 14")
        with pytest.raises(StoreError, match=r"cannot be written: database or disk is full.*repeat the call") as caught:
            swept(path, **options)
    assert caught.value.resumable
    assert os.listdir(tmp_path) == ["runs.db"]
    kept = ask(path, "SELECT count(*) FROM runs")[0][0]
    assert 0 < kept < 240
    status = store_status(path)
    assert (status.runs, status.complete, status.running) == (kept, False, False)
    assert_same_runs(swept(path, **options), swept(**options))
    finished = [unit for unit, done in attempts(path) if done]
    assert len(finished) == len(set(finished)) == 240


def test_a_read_only_store_is_refused_before_any_work(store, monkeypatch):
    connecting(monkeypatch, how="mode=ro")
    monkeypatch.setattr(engine, "run_chunk", None)
    with pytest.raises(StoreError, match="cannot be written: attempt to write a readonly database"):
        swept(store)


def test_a_read_only_directory(tmp_path):
    tmp_path.chmod(0o555)
    directory = Path("/proc") if os.geteuid() == 0 else tmp_path  # root may write everywhere else
    with pytest.raises(StoreError, match="cannot be written: unable to open database file"):
        swept(directory / "runs.db")


def test_a_store_that_cannot_be_made_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "joint_meta", lambda _: {}["gone"])
    with pytest.raises(KeyError):
        swept(tmp_path / "runs.db")
    assert os.listdir(tmp_path) == []


# -- others, meanwhile ---------------------------------------------------------------------------------------------------


def test_one_writer_at_a_time_and_readers_look_on(tmp_path, expected):
    path = tmp_path / "runs.db"
    seen = []

    def look(progress):
        assert is_being_written(path)
        status = store_status(path)
        assert status.running
        assert not status.complete
        assert status.runs == progress.runs
        assert status.parameters == progress.done
        assert status.total_runs == 20
        assert status.converged == progress.converged
        partial = read_store(path)
        assert len({run.parameter for run in partial.runs}) == progress.done
        assert len(partial.encoder(partial.best_rows()[0])) > 0
        if not seen:
            with pytest.raises(StoreError, match="being written by another sweep"):
                swept(path)
        seen.append(status)

    found = swept(path, progress=look)
    assert_same_runs(found, expected)
    assert [one.parameters for one in seen] == [1, 2, 3, 4]
    done = store_status(path)
    assert (done.running, done.complete, done.runs, done.under_way, done.sessions) == (False, True, 20, 0, 1)
    assert done.seconds_left == 0


def test_a_store_that_changes_under_a_reader_is_read_again(store):
    """At rest a file is read as if nobody could write; if somebody did, the reader notices and begins anew."""
    looks = []

    def look(connection):
        looks.append(connection.execute("SELECT count(*) FROM sessions").fetchone()[0])
        if len(looks) == 1:
            swept(store)
        return looks[-1]

    assert database.read(store, look) == 2
    assert looks == [1, 2]


def test_a_lock_whose_owner_died_is_no_lock(store, expected):
    (store.parent / "runs.db-lock").write_bytes(b"")
    assert not is_being_written(store)
    assert_same_runs(swept(store), expected)
    assert os.listdir(store.parent) == ["runs.db"]
