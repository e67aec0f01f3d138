"""The group, ``datasets``, ``demo``, and the command as a real process."""

import json
import os
import subprocess
import sys

import pytest

import infoplane as ip
from infoplane.cli import demo, output
from infoplane.kernels.common.jit import COMPILING

COMMAND = [sys.executable, "-m", "infoplane.cli"]


def test_version_and_help(run):
    assert run("--version").out == f"infoplane {ip.__version__}\n"
    said = run("--help")
    for name in ("solve", "frontier", "compare", "datasets", "demo"):
        assert name in said.out
        shown = run(name, "--help")
        assert shown.code == 0
        assert f"infoplane {name}" in shown.out.partition("Example")[2]
        assert "\\b" not in shown.out


def test_unknown_command_is_2(run):
    said = run("slove")
    assert (said.code, "No such command" in said.err) == (2, True)


def test_datasets(run):
    said = run("datasets")
    assert all(name in said.out for name in ip.datasets.names())
    found = run("datasets", "--json").json["datasets"]
    assert [one["name"] for one in found] == list(ip.datasets.names())
    assert found[2]["shape"] == [16, 4]
    assert found[2]["ixy_bits"] == pytest.approx(0.292701, abs=1e-6)


def test_demo_writes_tables_and_a_picture(run, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(demo, "QUICK", (demo.Part("bottleneck", 2, 1, 50), demo.Part("funnel", 2, 1, 5)))
    said = run("demo", "--quick", "--out", tmp_path / "new" / "pictures")
    assert said.code == 0
    assert "bottleneck frontier of heart: 1 start of annealing" in said.out
    assert "funnel frontier of heart: 1 start of " in said.out
    assert "infoplane solve heart" in said.out
    assert (tmp_path / "new" / "pictures" / demo.PICTURE).read_bytes().startswith(b"\x89PNG")


def test_demo_refuses_a_file_as_directory(run, tmp_path):
    (tmp_path / "file").write_text("")
    said = run("demo", "--out", tmp_path / "file")
    assert (said.code, "cannot be made a directory" in said.err) == (2, True)


def test_demo_interrupted_is_130(run, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "sweep", lambda joint, *_, **__: ip.Frontier(joint, [], complete=False))
    said = run("demo", "--quick", "--out", tmp_path)
    assert (said.code, "Interrupted" in said.err) == (130, True)


def test_commands_of_the_demo_can_be_parsed(run, monkeypatch, tmp_path):
    """Every command line that the demo ends with, up to the point where it would begin to solve."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "YOUR.csv").write_text("COLUMNS,B\n1,2\n2,1\n")
    began = []

    def stop(*_args, **_options):
        began.append(True)
        raise KeyboardInterrupt

    monkeypatch.setattr(output, "prepare", stop)
    lines = [line.split("  ")[1].split()[1:] for line in demo.NEXT.splitlines()[1:]]
    for words in lines:
        arguments = ["B" if word == "COLUMNS" and words[i - 1] == "--y" else word for i, word in enumerate(words)]
        assert run(*arguments).code == 130
    assert len(began) == len(lines) == 4


# -- as a process ------------------------------------------------------------------------------------------------------


def process(*arguments):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=240, check=False)


def test_process_json_on_stdout_and_nothing_else():
    done = process("solve", "paper_uniform", "--gamma", "0.2", "--starts", "2", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["loss_nats"] == pytest.approx(-0.240760, abs=2e-6)
    assert done.stderr in ("", f"{COMPILING}\n")


def test_process_error_has_no_traceback():
    done = process("solve", "no-such.csv", "--x", "a", "--y", "b", "--gamma", "0.2")
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.startswith("Error: there is no file no-such.csv")
    assert len(done.stderr.splitlines()) == 1


def test_process_bug_shows_its_traceback():
    code = (
        "import infoplane.cli.solve, infoplane.cli\n"
        "def broken(*a, **k): raise RuntimeError('broken')\n"
        "infoplane.cli.solve.output.prepare = broken\n"
        "infoplane.cli.main(['solve', 'heart', '--gamma', '0.2'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "RuntimeError: broken" in done.stderr


# Ctrl-C arrives at a moment that is known, however fast the machine: once a block of iterations is done, or once a parameter is.
SOLVE_INTERRUPTED = """
from infoplane.splitting.solver import SplittingBatch
import itertools
advance, blocks = SplittingBatch.advance, itertools.count()
def advance_and_press(batch, iterations):
    block = next(blocks)
    more = advance(batch, iterations)
    if block == 3:  # 0 is that of `prepare`
        os.kill(os.getpid(), signal.SIGINT)
    return more
SplittingBatch.advance = advance_and_press
"""
FRONTIER_INTERRUPTED = """
import sys, infoplane
module = sys.modules["infoplane.sweep.sweep"]
told = module._told
def tell_and_press(*arguments):
    os.kill(os.getpid(), signal.SIGINT)
    return told(*arguments)
module._told = tell_and_press
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as a terminal sends them")
@pytest.mark.parametrize(
    ("moment", "arguments"),
    [
        (SOLVE_INTERRUPTED, ("solve", "heart", "--problem", "funnel", "--beta", "5", "--starts", "40")),
        (
            FRONTIER_INTERRUPTED,
            ("frontier", "heart", "--problem", "funnel", "--grid-values", "0.5,5,6,7", "--starts", "20"),
        ),
    ],
    ids=["solve", "frontier"],
)
def test_process_interrupted_is_130_with_what_there_is(moment, arguments):
    # Under a shell's & a process ignores SIGINT, and so would its children: this one is told not to.
    begin = "import os, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    words = [*arguments, "--solver", "drs", "--tol", "1e-15", "--json"]
    code = f"{begin}{moment}\nfrom infoplane.cli import main\nmain({words!r})\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 130, done.stderr
    assert "nterrupted" in done.stderr
    assert "Traceback" not in done.stderr
    found = json.loads(done.stdout)
    if arguments[0] == "solve":
        assert len(found["encoder"][0]) == 16
        assert found["iterations"] > 0
        assert "INTERRUPTED" in {one["status"] for one in found["starts"]}
    else:
        assert found["complete"] is False
