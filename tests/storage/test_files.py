"""JSON values with their rules, and files that are whole or not there."""

import datetime
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from infoplane.errors import InvalidOptionError
from infoplane.storage.files import check_regular, path_of, to_json, whole_file


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
