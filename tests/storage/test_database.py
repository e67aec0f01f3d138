import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import infoplane as ip
from infoplane.errors import InvalidOptionError, StoreError, StoreWriteError
from infoplane.storage import database
from infoplane.storage.database import SCHEMA, is_being_written
from infoplane.storage.store import read_store, store_status
from infoplane.sweep import engine
from sweeping import GRID, UNIFORM, ask, assert_same_runs, change, connecting, swept


def test_it_is_sqlite_in_wal_mode_with_a_manifest(made):
    assert ask(made, "PRAGMA journal_mode") == [("wal",)]
    assert ask(made, "PRAGMA user_version") == [(SCHEMA,)]
    found = {key: json.loads(value) for key, value in ask(made, "SELECT key, value FROM manifest")}
    assert found["joint_sha256"] == UNIFORM.fingerprint
    assert (found["family"], found["grid"]) == ("bottleneck", GRID)
    assert found["problems"] == [[gamma, *ip.bottleneck(gamma).rho] for gamma in GRID]
    assert (found["solver"], found["options"]["penalty"]) == ("ib-1", "auto")
    assert (found["seed"], found["starts"], found["version"]) == (0, 5, ip.__version__)
    assert (found["tol"], found["max_iter"], found["init"], found["clusters"]) == (1e-8, 20_000, "mixed", 3)


@pytest.mark.parametrize("name", ["a b.db", "100%?#&.db", "ü.db", ".db"])
def test_any_file_name(name, tmp_path, expected):
    assert_same_runs(swept(tmp_path / name), expected)
    assert os.listdir(tmp_path) == [name]
    assert_same_runs(read_store(os.fspath(tmp_path / name)), expected)


@pytest.mark.parametrize("schema", [SCHEMA - 1, SCHEMA + 1, 4])
def test_another_schema_is_refused(store, schema):
    change(store, f"PRAGMA user_version = {schema}")
    before = store.read_bytes()
    for use in (swept, read_store, store_status):
        with pytest.raises(
            StoreError, match=f"has schema {schema}, and this version of infoplane knows {SCHEMA}: use the"
        ):
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


def test_nothing_is_pickled(tmp_path, monkeypatch):
    def never(*_arguments, **_options):
        raise AssertionError("pickle")

    for name in ("dumps", "loads", "dump", "load", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, name, never)
    found = swept(tmp_path / "runs.db", max_iter=7)
    assert found.encoder(found.best_rows()[0]).shape[1] == 3
    assert store_status(tmp_path / "runs.db").complete


def test_a_read_only_store_is_refused_before_any_work(store, monkeypatch):
    connecting(monkeypatch, how="mode=ro")
    monkeypatch.setattr(engine, "run_chunk", None)
    with pytest.raises(StoreError, match="cannot be written: attempt to write a readonly database"):
        swept(store)


def test_a_read_only_directory(tmp_path):
    tmp_path.chmod(0o555)
    directory = Path("/proc") if os.geteuid() == 0 else tmp_path  # root may write everywhere else
    with pytest.raises(StoreWriteError, match=r"cannot be written: (Permission denied|No such file)"):
        swept(directory / "runs.db")


def test_a_store_that_cannot_be_made_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "insert", lambda *_: {}["gone"])
    with pytest.raises(KeyError):
        swept(tmp_path / "runs.db")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "write", [lambda path: path.write_bytes(b"garbage " * 100), os.mkfifo], ids=["garbage", "pipe"]
)
def test_a_lock_that_is_none_is_left_and_named(write, tmp_path):
    write(tmp_path / "runs.db-lock")
    with pytest.raises(StoreError, match=r"runs\.db-lock should be the lock|a pipe or a device"):
        swept(tmp_path / "runs.db")
    assert os.listdir(tmp_path) == ["runs.db-lock"]
    assert not is_being_written(tmp_path / "runs.db")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "runs.db")
    for use in (swept, read_store, store_status):
        with pytest.raises(StoreError, match=r"runs\.db cannot be read: it is a pipe or a device"):
            use(tmp_path / "runs.db")


@pytest.mark.parametrize("path", ["", 3, b"runs.db", "runs\0.db"])
def test_what_is_no_path_is_refused(path):
    for use in (swept, read_store, store_status):
        if path != 3 or use is not swept:
            with pytest.raises(InvalidOptionError, match="store must be a path"):
                use(path)


def test_what_a_kill_left_while_a_store_was_made_is_removed(tmp_path):
    for ending in ("-new", "-new-journal", "-lock"):
        (tmp_path / f"runs.db{ending}").write_bytes(b"")
    (tmp_path / "runs.db-new").write_bytes(b"half")
    swept(tmp_path / "runs.db", max_iter=1)
    assert os.listdir(tmp_path) == ["runs.db"]


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


@pytest.mark.parametrize("there", [True, False])
def test_a_link_leads_to_the_same_lock_and_the_same_log(there, tmp_path, expected):
    """A second sweep that knew the store by another name wrote to it at the same time."""
    (tmp_path / "elsewhere").mkdir()
    path, link = tmp_path / "runs.db", tmp_path / "elsewhere" / "link.db"
    link.symlink_to(path)
    seen = []

    def look(progress):
        for one, other in ((path, link), (link, path)):
            assert is_being_written(one)
            assert store_status(one).runs == progress.runs
            if not seen:
                with pytest.raises(StoreError, match="being written by another sweep"):
                    swept(other)
        seen.append(progress)

    found = swept(path if there else link, progress=look)
    assert len(seen) == 4
    assert_same_runs(found, expected)
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "runs.db"]
    assert os.listdir(link.parent) == ["link.db"]


def test_a_lock_whose_owner_died_is_no_lock(store, expected):
    (store.parent / "runs.db-lock").write_bytes(b"")
    assert not is_being_written(store)
    assert_same_runs(swept(store), expected)
    assert os.listdir(store.parent) == ["runs.db"]


def test_whoever_comes_by_another_name_finds_the_same_lock(tmp_path, expected):
    path, link, folder = tmp_path / "runs.db", tmp_path / "link.db", tmp_path / "folder"
    link.symlink_to(path)
    folder.symlink_to(tmp_path)
    refused = []

    def look(_progress):
        if refused:
            return
        for name in (path, link, folder / "runs.db", folder / "link.db"):
            with pytest.raises(StoreError, match="being written by another sweep"):
                swept(name)
            assert is_being_written(name)
            assert store_status(name).running
            refused.append(name)

    assert_same_runs(swept(link, progress=look), expected)  # which also makes the file that the link names
    assert len(refused) == 4
    assert sorted(os.listdir(tmp_path)) == ["folder", "link.db", "runs.db"]
    assert_same_runs(read_store(link), expected)


LEAVES_A_CHILD = """
import os, sys, time, infoplane as ip
def fork(_progress):
    if os.fork() == 0:
        os.close(1)
        time.sleep(60)
        os._exit(0)
    os.write(1, b"forked")
    os.kill(os.getpid(), 9)
ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.4], "ib-1", starts=2, rng=0, store=sys.argv[1], progress=fork)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_a_killed_writer_holds_no_lock(tmp_path):
    """Workers of a process pool may outlive the process that made them."""
    with subprocess.Popen(
        [sys.executable, "-c", LEAVES_A_CHILD, tmp_path / "runs.db"], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout.read() == b"forked"
        assert process.wait() == -signal.SIGKILL
        try:
            assert not is_being_written(tmp_path / "runs.db")
            assert swept(tmp_path / "runs.db", grid=[0.2, 0.4], starts=2).complete
        finally:
            os.killpg(process.pid, signal.SIGKILL)
