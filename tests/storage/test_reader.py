import pytest

import infoplane as ip
from infoplane.errors import StoreError
from infoplane.storage import database
from infoplane.storage.reader import read_store, store_status
from storing import swept
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
