"""JSON values with their rules, and files that are whole or not there.

Arrays of a .npz file that is not trusted: refused with a ValueError, whatever was done to it.
"""

import datetime
import decimal
import io
import json
import os
import random
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from infoplane.errors import InvalidOptionError
from infoplane.joint.binning import Cut
from infoplane.storage import files
from infoplane.storage.files import Expected, check_regular, path_of, read_npy, read_npz, to_json, whole_file


def test_json_values_have_no_nan_and_keep_labels_readable():
    value = {"a": float("nan"), "b": np.array([1.0, np.inf]), "c": (("x", np.int64(1)), None, True), 2: object}
    found = to_json(value)
    assert found["a"] is None
    assert found["b"] == [1.0, None]
    assert found["c"] == [["x", 1], None, True]
    assert found["2"] == str(object)
    json.dumps(found, allow_nan=False)


def test_each_rule_can_be_another():
    value = [(1, (np.nan,)), np.eye(2), datetime.date(2024, 5, 1)]
    found = to_json(value, nonfinite=str, arrays=lambda array: list(array.shape), others=repr)
    assert found == [[1, ["nan"]], [2, 2], "datetime.date(2024, 5, 1)"]


def test_numpys_scalars_become_pythons():
    found = to_json([np.float64(0.5), np.bool_(True), np.str_("a"), np.int8(3)])
    assert found == [0.5, True, "a", 3]
    assert [type(one) for one in found] == [float, bool, str, int]


LABELS = [
    (datetime.date(2024, 5, 1), datetime.datetime(2024, 5, 1, 12), pd.Timestamp("2024-05-01T12:30:00.000000001")),
    ((datetime.date(2024, 5, 1), "a"), (datetime.date(2024, 5, 2), 1), "2024-05-01"),
    (True, 2, 0.5),
    tuple(
        map(Cut("edges", (datetime.datetime(2024, 5, 1), datetime.datetime(2024, 6, 1)), dates=True).label, range(3))
    ),
]


@pytest.mark.parametrize("labels", LABELS, ids=["dates", "tuples", "numbers", "bins"])
def test_labels_come_back_as_what_they_are(labels):
    joint = ip.Joint.from_counts([[3, 1], [1, 3], [2, 2]], x_labels=labels)
    meta = json.loads(json.dumps(files.joint_meta(joint)))
    found = files.joint_from(meta, files.joint_arrays(joint))
    assert found == joint
    assert found.x_labels == labels
    assert [type(one) for one in found.x_labels] == [type(one) for one in labels]
    if labels is LABELS[-1]:
        assert [(one.low, one.high, one.rule) for one in found.x_labels] == [
            (one.low, one.high, one.rule) for one in labels
        ]


def test_days_of_numpy_come_back_as_times_of_pandas():
    days = np.arange("2024-05-01", "2024-05-04", dtype="M8[D]")
    joint = ip.Joint.from_counts(np.eye(3), x_labels=days)
    found = files.joint_from(json.loads(json.dumps(files.joint_meta(joint))), files.joint_arrays(joint))
    assert found.x_labels == tuple(pd.to_datetime(days))


def test_labels_that_would_become_one_are_refused():
    joint = ip.Joint.from_counts([[3, 1], [1, 3]], x_labels=[decimal.Decimal(1), "1"])
    with pytest.raises(InvalidOptionError, match="x_labels are not told apart in a file"):
        files.joint_meta(joint)


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "f.txt"
    with whole_file(path) as file:
        file.write(b"first")

    def fail():
        with whole_file(path) as file:
            file.write(b"half")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        fail()
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["f.txt"]
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask


KILLED = """
import os, pathlib, signal, sys
from infoplane.storage.files import whole_file
with whole_file(pathlib.Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "[f].txt"
    assert subprocess.run([sys.executable, "-c", KILLED, path]).returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 1
    with whole_file(path) as file:
        # What another writes at the same time is left alone.
        with whole_file(path) as other:
            other.write(b"second")
        assert path.read_bytes() == b"second"
        file.write(b"first")
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_bytes() == b"first"


def test_only_files_are_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a pipe or a device"):
        check_regular(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        check_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        check_regular(tmp_path / "missing")


@pytest.mark.parametrize("given", [3, None, b"runs.db", "", "a\0b"])
def test_a_path_is_a_text(given):
    with pytest.raises(InvalidOptionError, match="store must be a path"):
        path_of("store", given)


ARRAYS = {
    "text": np.array("größe {}"),
    "table": np.arange(30.0).reshape(5, 6),
    "flags": np.array([True, False]),
    "empty": np.empty((0, 3)),
    "swapped": np.arange(3, dtype=">i8"),
    "by columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
}
EXPECTED = {name: Expected(array.dtype.kind, (None,) * array.ndim) for name, array in ARRAYS.items()}
ANY = {"a": Expected("f", (None,))}


def packed(write=np.savez_compressed, **arrays):
    file = io.BytesIO()
    write(file, **arrays)
    return file.getvalue()


def zipped(*members, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return file.getvalue()


def header(shape, dtype="<f8", order=False):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": order, "shape": shape})
    return file.getvalue()


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_what_numpy_wrote_comes_back(write, tmp_path):
    (tmp_path / "f.npz").write_bytes(packed(write, **ARRAYS))
    found = read_npz(tmp_path / "f.npz", EXPECTED)
    assert set(found) == set(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype.newbyteorder("=")
        assert found[name].flags.c_contiguous


NUMBERS = np.arange(3.0)
BAD = {
    "nothing": b"",
    "no zip": b"no zip at all",
    "cut off": packed(a=NUMBERS)[:-30],
    "another member": packed(b=NUMBERS),
    "no array": zipped(("a.npy", b"no array")),
    "a byte less than its shape": zipped(("a.npy", header((3,)) + bytes(23))),
    "a shape of petabytes": zipped(("a.npy", header((10**15,)))),
    "a shape that overflows": zipped(("a.npy", header((2**40, 2**40)))),
    "a negative shape": zipped(("a.npy", header((-1,)))),
    "objects": zipped(("a.npy", header((1,), "|O") + bytes(8))),
    "a pickle": packed(a=np.array([{}], dtype=object)),
    "complex": zipped(("a.npy", header((1,), "<c16") + bytes(16))),
    "four bytes": packed(a=NUMBERS.astype("f4")),
    "two dimensions": packed(a=np.eye(2)),
    "a header without end": zipped(("a.npy", b"\x93NUMPY\x01\x00\xff\x00" + b"(" * 255)),
    "another version": zipped(("a.npy", b"\x93NUMPY\x07\x00")),
    "packed otherwise": zipped(("a.npy", header((3,)) + bytes(24)), method=zipfile.ZIP_BZIP2),
    "another data": packed(np.savez, a=NUMBERS).replace(NUMBERS.tobytes(), NUMBERS[::-1].tobytes()),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_anything_else_is_refused(bad, tmp_path):
    (tmp_path / "f.npz").write_bytes(bad)
    with pytest.raises(ValueError, match=r"."):
        read_npz(tmp_path / "f.npz", ANY)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("second", ["a.npy", "a"])
def test_an_array_that_is_there_twice_is_refused(second, tmp_path):
    data = header((1,)) + bytes(8)
    (tmp_path / "f.npz").write_bytes(zipped(("a.npy", data), (second, data)))
    with pytest.raises(ValueError, match="twice"):
        read_npz(tmp_path / "f.npz", ANY)


def test_more_than_a_file_may_hold_is_not_unpacked(tmp_path, monkeypatch):
    (tmp_path / "f.npz").write_bytes(packed(a=np.zeros(1000)))
    assert read_npz(tmp_path / "f.npz", ANY)["a"].shape == (1000,)
    monkeypatch.setattr(files, "MOST_BYTES", 7999)
    monkeypatch.setattr(np, "load", None)
    with pytest.raises(ValueError, match="more than 7,999 bytes"):
        read_npz(tmp_path / "f.npz", ANY)


def test_damage_anywhere_is_a_value_error_or_harmless(tmp_path):
    choose, good = random.Random(0), (packed(**ARRAYS), packed(np.savez, **ARRAYS))
    ended = set()
    for _ in range(1_000):
        data = bytearray(choose.choice(good))
        for _ in range(choose.randint(1, 4)):
            data[choose.randrange(len(data))] = choose.randrange(256)
        if choose.random() < 0.2:
            del data[choose.randrange(len(data)) :]
        (tmp_path / "f.npz").write_bytes(data)
        try:
            read_npz(tmp_path / "f.npz", EXPECTED)
            ended.add("read")
        except ValueError:
            ended.add("refused")
    assert ended == {"read", "refused"}


@pytest.mark.parametrize(
    "array", [np.arange(6.0).reshape(2, 3), np.asfortranarray(np.eye(3)), np.arange(3, dtype=">i2")]
)
def test_a_matrix_comes_back(array, tmp_path):
    np.save(tmp_path / "matrix.npy", array)
    np.testing.assert_array_equal(read_npy(tmp_path / "matrix.npy"), array)


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        header((3,)) + bytes(23),
        header((10**15,)),
        header((1,), "|O") + bytes(8),
        b"\x93NUMPY\x01\x00\x40\x00" + b"{'descr': '<f8', 'shape': (2, 2" + b" " * 33,
    ],
)
def test_a_matrix_that_is_none_is_refused(bad, tmp_path):
    (tmp_path / "matrix.npy").write_bytes(bad)
    with pytest.raises(ValueError, match=r"."):
        read_npy(tmp_path / "matrix.npy")
