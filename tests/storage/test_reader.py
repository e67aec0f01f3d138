import shutil

import numpy as np
import pytest
from scipy import sparse

import infoplane as ip
from infoplane.errors import StoreError
from infoplane.storage import database
from infoplane.storage.database import COLUMNS, checksum
from infoplane.storage.reader import read_store, store_status
from storing import change, forge, swept
from sweeping import assert_same_runs


def test_an_archive_of_a_store_comes_back(made, tmp_path):
    expected = read_store(made)
    expected.save(tmp_path / "f.npz")
    found = ip.Frontier.load(tmp_path / "f.npz")
    assert_same_runs(found, expected)
    assert found.provenance == expected.provenance
    assert [run.has_encoder for run in expected.runs] == [getattr(run, "has_encoder", True) for run in found.runs]


def test_there_is_no_such_file(tmp_path):
    for use in (read_store, store_status):
        with pytest.raises(StoreError, match=r"no\.db cannot be read: No such file"):
            use(tmp_path / "no.db")
    with pytest.raises(StoreError, match="cannot be written"):
        swept(tmp_path / "no" / "such" / "directory" / "runs.db")
    with pytest.raises(StoreError, match="cannot be read"):
        swept(tmp_path)


def test_a_store_that_changes_under_a_reader_is_read_again(store, monkeypatch):
    """At rest a file is read as if nobody could write; if somebody did, the reader notices and begins anew."""
    looks, real = [], database.contents

    def contents(connection, tables, keys):
        found = real(connection, tables, keys)
        looks.append(len(found["sessions"]))
        if len(looks) == 1:
            with monkeypatch.context() as patch:
                patch.setattr(database, "contents", real)
                swept(store)
        return found

    monkeypatch.setattr(database, "contents", contents)
    assert len(database.read(store, ["sessions"])["sessions"]) == 2
    assert looks == [1, 2]


@pytest.mark.parametrize(
    "spoil", ["data = x'00'", "length = length + 1", "length = 0", "length = -1", "data = zeroblob(9)"]
)
def test_a_damaged_trace_is_refused(spoil, store):
    forge(store, f"UPDATE traces SET {spoil}")
    found = read_store(store)
    with pytest.raises(StoreError, match="is damaged"):
        _ = found.runs[found.best_rows()[0]].trace


@pytest.mark.parametrize("spoil", ["x'00'", "x''", "zeroblob(72)", f"x'{'000000000000f87f' * 9}'", "'text'", "1.5"])
def test_an_encoder_that_is_none_is_refused(spoil, store):
    forge(store, f"UPDATE encoders SET data = {spoil}")
    found = read_store(store)
    with pytest.raises(StoreError, match="is damaged"):
        found.encoder(found.best_rows()[0])


EDITS = {
    "manifest": "value = replace(value, '0.25', '0.26')",
    "arrays": "data = zeroblob(length(data))",
    "parameters": "rho_z = rho_z - 1e-9",
    "runs": "loss = loss - 1e-9",
    "encoders": "data = zeroblob(length(data))",
    "traces": "data = zeroblob(length(data))",
    "sessions": "outcome = 'interrupted'",
    "chunks": "seconds = seconds + 1",
}

ROWS = {
    "manifest": r"key '\w+'",
    "arrays": r"name '\w+'",
    "parameters": "place 0",
    "sessions": "session 1",
    "chunks": "chunk 1",
    **dict.fromkeys(("runs", "encoders", "traces"), r"place 0, solver 0, start \d"),
}


@pytest.mark.parametrize("table", EDITS)
def test_a_changed_row_does_not_have_its_checksum(table, store):
    assert {*EDITS, "multipliers"} == COLUMNS.keys()  # those are below
    change(store, f"UPDATE {table} SET {EDITS[table]}")

    def look():
        found = read_store(store)
        best = found.runs[found.best_rows()[0]]
        return best.encoder, best.trace

    with pytest.raises(StoreError, match=f"the row of {table} with {ROWS[table]} does not have its checksum"):
        look()


def test_multipliers_come_back_and_are_checked(tmp_path):
    options = {"grid": [0.1, 0.4], "starts": 2, "certify": True}
    expected, found = swept(**options), swept(tmp_path / "runs.db", **options)
    again = read_store(tmp_path / "runs.db")
    for one in (found, again):
        assert_same_runs(one, expected)
        assert all(run.multipliers.shape == (3,) for run in one.runs)
    for spoil, said in (("zeroblob(16)", "2 letters"), (f"x'{'000000000000f87f' * 3}'", "not finite")):
        forge(tmp_path / "runs.db", f"UPDATE multipliers SET data = {spoil}")
        with pytest.raises(StoreError, match=said):
            read_store(tmp_path / "runs.db")
    change(tmp_path / "runs.db", "UPDATE multipliers SET data = zeroblob(24)")
    with pytest.raises(
        StoreError, match=r"the row of multipliers with place 0, solver \d, start 0 does not have its checksum"
    ):
        read_store(tmp_path / "runs.db")


def test_a_changed_row_is_not_continued_from(store):
    change(store, "UPDATE runs SET loss = loss - 1e-9 WHERE start = 1")
    with pytest.raises(StoreError, match="the row of runs with place 0, solver 0, start 1 does not have its checksum"):
        swept(store)


@pytest.fixture(scope="module")
def continued(tmp_path_factory):
    """A sweep that was interrupted, and then completed: two sessions."""
    path = tmp_path_factory.mktemp("continued") / "runs.db"
    assert not swept(path, progress=_interrupt).complete
    assert swept(path).complete
    return path


@pytest.mark.parametrize("use", [read_store, store_status, swept])
@pytest.mark.parametrize(
    ("table", "edit", "row"),
    [
        ("sessions", "began = began - 1 WHERE session = 2", "session 2"),
        ("sessions", "outcome = 'complete'", "session 1"),
        ("sessions", "engine = 'dask' WHERE session = 2", "session 2"),
        ("chunks", "units = '[]' WHERE chunk = 3", "chunk 3"),
        ("chunks", "ended = NULL WHERE chunk = 2", "chunk 2"),
        ("chunks", "session = 2", "chunk 1"),
    ],
)
def test_changed_bookkeeping_is_refused_by_whatever_reads_it(table, edit, row, use, continued, tmp_path):
    path = tmp_path / "runs.db"
    shutil.copy(continued, path)
    change(path, f"UPDATE {table} SET {edit}")
    with pytest.raises(StoreError, match=f"the row of {table} with {row} does not have its checksum"):
        use(path)


def _interrupt(_):
    raise KeyboardInterrupt


def test_the_status_is_of_rows_with_their_checksums(store):
    change(store, "UPDATE runs SET status = 'STALLED' WHERE start = 4")
    with pytest.raises(StoreError, match="the row of runs with place 0, solver 0, start 4"):
        store_status(store)


@pytest.mark.parametrize("row", [(1, 0.5, "a", b"x", None), (1.0, 0.5, "a", b"x", float("nan"))])
def test_a_checksum_is_of_what_sqlite_gives_back(row):
    assert checksum(row) == checksum((1, 0.5, "a", b"x", None))
    assert checksum((-0.0,)) == checksum((0,))
    assert len({checksum(one) for one in ((1,), ("1",), (b"1",), (None,), (1, 1))}) == 5


def test_another_joint_is_refused_by_its_digest(store):
    forge(store, "UPDATE arrays SET data = (SELECT data FROM arrays WHERE name = 'p_column') WHERE name = 'p_row'")
    with pytest.raises(StoreError, match="damaged"):
        read_store(store)
    manifest = "UPDATE manifest SET value = replace(value, 'a', 'b') WHERE key = 'joint_sha256'"
    forge(store, manifest)
    with pytest.raises(StoreError, match="damaged"):
        read_store(store)


def test_a_trace_that_was_dropped_meanwhile_is_none(store):
    found = read_store(store)
    change(store, "DELETE FROM traces")
    assert found.runs[found.best_rows()[0]].trace is None


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


def test_a_status_that_is_none_is_a_damaged_store(store):
    forge(store, "UPDATE runs SET status = '__import__' WHERE start = 1")
    for use in (swept, read_store, store_status):
        with pytest.raises(StoreError, match="damaged"):
            use(store)


def test_an_encoder_whose_file_is_gone(store):
    found = read_store(store)
    store.unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        found.encoder(found.best_rows()[0])
