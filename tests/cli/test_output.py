"""What commands print and write: JSON that every reader takes, files that can be written, warnings in one line."""

import json
import re

import numpy as np
import pytest

from infoplane.storage.files import to_json

FRONTIER = ("frontier", "paper_uniform", "--solver", "drs", "--starts", "2", "--grid", "0.1:0.5:3")


def test_plain_has_no_nan_and_keeps_labels_readable():
    value = {"a": float("nan"), "b": np.array([1.0, np.inf]), "c": (("x", np.int64(1)), None, True), 2: object}
    found = to_json(value)
    assert found["a"] is None
    assert found["b"] == [1.0, None]
    assert found["c"] == [["x", 1], None, True]
    json.dumps(found, allow_nan=False)


def test_warning_is_one_line(run):
    said = run(
        "solve", "paper_uniform", "--starts", "2", "--gamma", "0.2", "--solver", "ib-1", "--penalty", "0.5", "--json"
    )
    lines = said.err.splitlines()
    assert lines[0].startswith("Warning: penalty c = 0.5 lies below")
    assert all(line.startswith(("Warning: ", "Not converged: ")) for line in lines)
    assert said.json["solver"] == "ib-1"


def test_directory_as_target_is_refused(run, tmp_path):
    (tmp_path / "f.csv").mkdir()
    said = run(*FRONTIER, "--out", tmp_path / "f.csv")
    assert (said.code, "names a directory" in said.err) == (2, True)


def test_missing_extras_are_named_before_any_work(run, monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    said = run(*FRONTIER, "--out", tmp_path / "f.parquet")
    assert (said.code, 'pip install "infoplane[parquet]"' in said.err) == (2, True)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    said = run(*FRONTIER, "--plot", tmp_path / "f.png")
    assert (said.code, 'pip install "infoplane[plot]"' in said.err) == (2, True)


COMPLETE_NUMBER = re.compile(r"-?\d+\.\d{6}\b")


@pytest.mark.parametrize("command", ["frontier", "compare"])
def test_tables_fit_80_columns_with_every_digit(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    solvers = ("--solver", "ib-1,blahut-arimoto") if command == "compare" else ("--solver", "ib-1")
    said = run(command, "heart", *solvers, "--starts", "2", "--grid", "0.05:0.5:3")
    assert max(map(len, said.out.splitlines())) <= 80
    assert "…" not in said.out
    losses = [line for line in said.out.splitlines() if "*" in line or "Pareto" in line]
    assert sum(len(COMPLETE_NUMBER.findall(line)) >= 3 for line in losses) >= 3
    assert "not shown for want of room: " in said.out


def test_wide_terminals_get_every_column(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    said = run("frontier", "heart", "--solver", "ib-1", "--starts", "2", "--grid", "0.05:0.5:3")
    assert "seconds" in said.out
    assert "want of room" not in said.out
