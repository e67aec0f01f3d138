"""Nothing that comes from data or names of files commands a terminal, and output that cannot be written is said to be so."""

import os
import subprocess
import sys

import pytest

from infoplane.cli.printing import TextTable, note, print_table, say

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
    made = TextTable(CLEAR, [CLEAR])
    made.add_row(CLEAR)
    print_table(made)
    printed = capsys.readouterr().out
    assert printed.count("\\x1b[2J") == 3
    assert "\x1b" not in printed


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, which other systems than Linux have not")
@pytest.mark.parametrize("command", [("--help",), ("datasets", "--json")])
def test_a_full_disk_under_stdout_is_a_sentence(command):
    with open("/dev/full", "w") as full:
        ended = subprocess.run([sys.executable, "-m", "infoplane", *command], stdout=full, stderr=subprocess.PIPE)
    assert ended.returncode == 5
    assert (
        ended.stderr.decode() == "Error: standard output: No space left on device. Make room, or name another file.\n"
    )


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
