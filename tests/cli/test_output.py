"""What commands print and write: JSON that every reader takes, files that can be written, nothing that commands a terminal."""

import csv
import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from infoplane.cli.output import note, print_table, say, write_table
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


def test_only_columns_that_are_there_are_said_to_be_missing(monkeypatch, capsys):
    """A column that the table does not have, such as one of proofs that nobody asked for, is not missing."""
    monkeypatch.setenv("COLUMNS", "40")
    print_table("t", [{"a": "1" * 20, "b": "2" * 30}], expendable=("proven", "a", "b"))
    printed = capsys.readouterr().out
    assert "want of room: a;" in " ".join(printed.split())
    assert "2" * 30 in printed


LABELS = [
    "=1+1",
    "+cmd|'/C calc'!A0",
    "-2+3+cmd|x",
    "@SUM(A1)",
    "\t=1",
    "plain",
    "-5",
    "+3.5",
    "-5 to 3",
    "-1e-3",
    "-5 to under 3",
    "-5 and over",
]


def written(run, tmp_path, *more):
    table, out = tmp_path / "table.csv", tmp_path / "encoder.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([("=name", "y"), *((label, "ab"[n % 2]) for n, label in enumerate(LABELS))])
    options = ("--x", "=name", "--y", "y", "--gamma", "0.4", "--starts", "1", "--solver", "blahut-arimoto")
    said = run("solve", table, *options, "--out", out, *more).err
    with out.open(newline="") as file:
        return said, [row[0] for row in csv.reader(file)]


def test_formulas_are_said_and_labels_kept(run, tmp_path):
    said, cells = written(run, tmp_path)
    assert "a spreadsheet would run 6 cells of" in said
    assert "--escape-formulas" in said
    assert cells == ["=name", *sorted(LABELS)]


def test_formulas_are_escaped_if_asked_for(run, tmp_path):
    said, cells = written(run, tmp_path, "--escape-formulas")
    assert "6 cells that a spreadsheet would run as a formula got an apostrophe" in said
    assert cells == ["'=name", *(f"'{one}" if one in LABELS[:5] else one for one in sorted(LABELS))]


def test_numbers_and_plain_labels_are_not_spoken_of(tmp_path, capsys):
    frame = pd.DataFrame({"x": ["a", "-5", None], "n": [-1.0, 2.0, 3.0]}, index=pd.Index([1, 2, 3], name="run"))
    write_table(frame.reset_index(), tmp_path / "f.csv")
    assert capsys.readouterr().err == f"wrote {tmp_path / 'f.csv'}\n"
    assert (tmp_path / "f.csv").read_text() == "run,x,n\n1,a,-1.0\n2,-5,2.0\n3,,3.0\n"


@pytest.mark.parametrize("more", [(), ("--escape-formulas",)])
def test_names_of_systems_too(run, tmp_path, more):
    table, out = tmp_path / "systems.csv", tmp_path / "out.csv"
    table.write_text("system,x,word\n=who,a,u\n=who,b,v\n=who,c,u\n")
    joint = tmp_path / "joint.csv"
    joint.write_text("x,low,high\na,3,1\nb,1,3\nc,2,2\n")
    run("efficiency", joint, table, "--out", out, "--max-solves", "1", *more)
    assert out.read_text().splitlines()[1].startswith("'=who" if more else "=who")


CLEAR = "\x1b[2J"

OPTIONS = ("--gamma", "0.5", "--solver", "merging")


@pytest.fixture
def hostile(tmp_path):
    path = tmp_path / f"t{CLEAR}.csv"
    rows = [f"a{CLEAR},\x1b]0;renamed\x07y", f"x{CLEAR},p", "x2,\x9b5mq", f"x{CLEAR},p", "x2,p\u202e"]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def commands(path):
    columns = ("--x", f"a{CLEAR}", "--y", "\x1b]0;renamed\x07y")
    yield "solve", path, *columns, *OPTIONS
    yield "solve", path, *columns, *OPTIONS, "--out", path.parent / f"{CLEAR}.csv"
    yield "solve", path, "--x", CLEAR, "--y", "b", *OPTIONS
    yield "solve", f"{path}.none", *OPTIONS
    yield "frontier", path, *columns, "--grid-values", "0.5", "--solver", "merging"
    yield "compare", path, *columns, "--grid-values", "0.5", "--solver", "merging"
    yield "status", f"{CLEAR}.db"
    yield "export", f"{CLEAR}.db", "--out", "f.csv"
    yield (f"{CLEAR}",)
    yield (f"--{CLEAR}",)
    yield "solve", "heart", f"--{CLEAR}"
    yield "solve", "heart", "--solver", CLEAR


def test_nothing_commands_the_terminal(run, hostile):
    spelled = 0
    for command in commands(hostile):
        said = run(*command)
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(said.out + said.err), command
        spelled += "\\x1b[2J" in said.out + said.err
    assert spelled == 12


def test_lines_and_tables(capsys):
    say(f"one{CLEAR}\ntwo")
    note("three\r")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("one\\x1b[2J\ntwo\n", "three\\r\n")
    print_table(CLEAR, [{CLEAR: CLEAR}])
    printed = capsys.readouterr().out
    assert printed.count("\\x1b[2J") == 3
    assert "\x1b" not in printed


IN_TURN = """
import os, sys
from infoplane.cli import main

for words in (["--help"], ["datasets", "--json"]):
    if os.fork() == 0:
        main(words)
    sys.stderr.write(f"{os.waitstatus_to_exitcode(os.wait()[1])}\\n")
    sys.stderr.flush()
"""
"""Two commands, each in a process of its own, and their exit codes."""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, which other systems than Linux have not")
def test_a_full_disk_under_stdout_is_a_sentence():
    with open("/dev/full", "w") as full:
        ended = subprocess.run([sys.executable, "-c", IN_TURN], stdout=full, stderr=subprocess.PIPE, text=True)
    said = "Error: standard output: No space left on device. Make room, or name another file.\n5\n"
    assert (ended.returncode, ended.stderr) == (0, 2 * said)


@pytest.mark.parametrize("target", ["--out=f.csv", "--out=f.npz", "--out=f.parquet", "--plot=f.png", "--report=f.html"])
def test_a_full_disk_under_a_file_is_a_sentence(run, target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("infoplane.storage.files.os.replace", full)
    said = run("frontier", "paper_uniform", "--grid-values", "0.5", "--solver", "merging", target)
    assert said.code == 5
    assert f"Error: {target.partition('=')[2]}: No space left on device. Make room, or name another file.\n" in said.err
    assert os.listdir(tmp_path) == []
