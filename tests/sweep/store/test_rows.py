import numpy as np
import pytest
from scipy import sparse

import infoplane as ip
from infoplane.sweep.store.database import StoreError
from infoplane.sweep.store.reader import read_store, store_status
from storing import change, swept
from sweeping import assert_same_runs


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
    change(store, "UPDATE runs SET status = '__import__' WHERE start = 1")
    for use in (swept, read_store, store_status):
        with pytest.raises(StoreError, match="damaged"):
            use(store)


def test_an_encoder_whose_file_is_gone(store):
    found = read_store(store)
    store.unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        found.encoder(found.best_rows()[0])
