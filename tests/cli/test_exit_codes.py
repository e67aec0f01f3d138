"""Exit codes: of errors, of bugs, and of Ctrl-C."""

import itertools
import json
import os
import signal
import subprocess
import sys

import pytest

from infoplane.cli.app import COMMANDS
from infoplane.cli.output import interruptible
from infoplane.solvers.splitting.solver import SplittingIteration

SOLVE = ("solve", "paper_uniform", "--gamma", "0.2", "--starts", "2")


def test_unknown_command_is_2(run):
    said = run("slove")
    assert (said.code, "there is no command 'slove' (did you mean 'solve'?)" in said.err) == (2, True)


SHORTER = {
    "compare": ("--grid", "0.2:0.4:2", "--starts", "2"),
    "compare-releases": ("--max-seconds", "0.2"),
    "release": ("--max-seconds", "0.2"),
}
"""What ends these commands sooner than their examples say: what is tested is that they work."""


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    """A folder in which the examples are run, and the lines that were: what one example makes, others need."""
    return tmp_path_factory.mktemp("examples"), set()


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("demo", "reproduce", "datasets")])
def test_without_arguments_a_command_shows_an_example_that_works(run, name, tried, monkeypatch):
    folder, done = tried
    monkeypatch.chdir(folder)
    said = run(name)
    *_, shown = said.err.partition("This works as it stands:\n")
    assert (said.code, said.err.count("Missing argument")) == (2, 1)
    lines = [line.split() for line in shown.strip().splitlines()]
    assert lines[-1][:2] == ["infoplane", name]
    for _, *words in lines:
        if tuple(words) not in done:
            assert run(*words, *SHORTER.get(words[0], ())).code == 0
            done.add(tuple(words))


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("solve", "haert", "--gamma", "0.2"), "heart"),
        (("solve", "heart", "--gama", "0.2"), "--gamma"),
        (("solve", "heart", "--gamma", "0.2", "--solver", "blahut-arimto"), "blahut-arimoto"),
        (("solve", "heart", "--problem", "funel"), "funnel"),
        (("frontier", "heart", "--notation", "bet"), "beta"),
        (("solve", "rows.csv", "--x", "jbo", "--y", "income", "--gamma", "0.2"), "job"),
    ],
)
def test_a_slip_of_the_pen_is_answered_by_what_was_meant(run, words, meant, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("job,income\na,1\nb,0\n")
    said = run(*words)
    assert said.code in (2, 3)
    assert f"'{meant}'" in said.err.lower().partition("did you mean")[2]


@pytest.mark.parametrize("command", ["solve", "frontier", "compare"])
@pytest.mark.parametrize(
    ("flag", "python"),
    [
        ("--rungs", "Annealing(rungs=...)"),
        ("--depth", "Annealing(depth=...) or infoplane.RootTracking(depth=...)"),
        ("--split", "Accelerated(split=...)"),
        ("--splitting", "Pooling(splitting=...)"),
        ("--inner", "DouglasRachford(inner=...) or infoplane.DifferenceOfConvex(inner=...)"),
        ("--proximal", "DouglasRachford(proximal=...)"),
    ],
)
def test_an_option_that_only_python_has_is_2_and_says_where(run, command, flag, python):
    said = run(command, "heart", flag, "1")
    assert said.code == 2
    assert f"No such option '{flag}'. It is an option of a solver in Python only: infoplane.{python}." in said.err


def test_a_misspelt_option_is_2_with_clicks_suggestion(run):
    said = run(*SOLVE, "--strts", "3")
    assert said.code == 2
    assert "'--starts'" in said.err
    assert "Python" not in said.err


def test_bad_data_is_3_in_one_line(run):
    said = run("solve", "no-such.csv", "--x", "a", "--y", "b", "--gamma", "0.2")
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith("Error: there is no file no-such.csv")
    assert len(said.err.splitlines()) == 1


def test_a_bug_is_not_caught(run, monkeypatch):
    """It leaves the process with a traceback and exit code 1."""

    def broken(*_args, **_options):
        raise RuntimeError("broken")

    monkeypatch.setattr("infoplane.cli.solve.run", broken)
    with pytest.raises(RuntimeError, match="broken"):
        run(*SOLVE)


def test_interruption_before_a_result_is_130(run, monkeypatch):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("infoplane.cli.solve.run", interrupted)
    said = run(*SOLVE)
    assert said.code == 130
    assert "interrupted" in said.err


# -- Ctrl-C, at a moment that does not depend on the machine's speed -----------------------------------------------------

posix = pytest.mark.skipif(os.name != "posix", reason="signals as a terminal sends them")


SIGNALS = [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)]


@pytest.fixture
def sent(request):
    """Send this process a signal, which must be heard by the command: one that is not ends the test, and not pytest."""

    def missed(number, _frame):
        raise AssertionError(f"{signal.Signals(number).name} was not heard")

    number = getattr(signal, request.param)
    before = signal.getsignal(number)
    if number != signal.SIGINT:
        signal.signal(number, missed)
    yield lambda: os.kill(os.getpid(), number)
    signal.signal(number, before)


@posix
@pytest.mark.parametrize(("sent", "code"), SIGNALS, indirect=["sent"])
def test_solve_interrupted_gives_the_best_so_far(run, monkeypatch, sent, code):
    advance, blocks = SplittingIteration.advance, itertools.count()

    def advance_and_press(iteration, steps, trace):
        block = next(blocks)
        advance(iteration, steps, trace)
        if block == 3:  # block 0 is that of `prepare`
            sent()

    monkeypatch.setattr(SplittingIteration, "advance", advance_and_press)
    said = run(
        *("solve", "heart", "--problem", "funnel", "--beta", "5", "--starts", "40"),
        *("--solver", "drs", "--tol", "1e-15", "--json"),
    )
    assert said.code == code, said.err
    assert "Interrupted: " in said.err
    assert len(said.json["encoder"][0]) == 16
    assert said.json["iterations"] > 0
    assert "INTERRUPTED" in {one["status"] for one in said.json["starts"]}


@posix
@pytest.mark.parametrize(("sent", "code"), SIGNALS, indirect=["sent"])
def test_frontier_interrupted_is_not_complete(run, monkeypatch, sent, code):
    module = sys.modules["infoplane.sweep.sweep"]
    told = module.SweepProgress

    def tell_and_press(**facts):
        sent()
        return told(**facts)

    monkeypatch.setattr(module, "SweepProgress", tell_and_press)
    said = run(
        *("frontier", "heart", "--problem", "funnel", "--grid-values", "0.5,5,6,7", "--starts", "20"),
        *("--solver", "drs", "--tol", "1e-15", "--json"),
    )
    assert said.code == code, said.err
    assert "Interrupted: " in said.err
    assert said.json["complete"] is False


@posix
@pytest.mark.parametrize(("sent", "code"), SIGNALS, indirect=["sent"])
def test_a_signal_while_data_are_read_ends_the_command_too(run, monkeypatch, sent, code):
    monkeypatch.setattr("infoplane.cli.options.Source.load", lambda _source: sent())
    said = run(*SOLVE)
    assert (said.code, said.err) == (code, "Error: interrupted before there was a result.\n")


BATCH_JOB = """
import os, signal, sys
from infoplane.cli import main
import infoplane.sweep.sweep

sweep = sys.modules["infoplane.sweep.sweep"]
told = sweep.SweepProgress
def tell(**facts):
    if facts["done"] == 2:
        os.kill(os.getpid(), signal.Signals[sys.argv[1]])
    return told(**facts)

sweep.SweepProgress = tell
main(sys.argv[2:])
"""
"""A process that its batch system ends once two parameters are done."""


@posix
def test_what_a_batch_system_ends_is_stored_and_can_be_resumed(run, tmp_path):
    store = str(tmp_path / "runs.db")
    command = ("frontier", "heart", "--solver", "ib-1", "--grid-values", "0.3,0.4,0.5,0.6", "--starts", "2", "--json")
    ended = subprocess.run(
        [sys.executable, "-c", BATCH_JOB, "SIGTERM", *command, "--store", store, "--chunk-seconds", "1e-6"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ended.returncode == 143, ended.stderr
    (sentence,) = [line for line in ended.stderr.splitlines() if line.startswith("Interrupted: ")]
    assert f"All finished runs are in {store}: repeat the same command to continue." in sentence
    assert 4 <= len(json.loads(ended.stdout)["runs"]) < 8
    resumed = run("resume", store, "--json")
    assert (resumed.code, len(resumed.json["runs"])) == (0, 8)


@posix
def test_what_nohup_ignores_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible() as interruption:
            os.kill(os.getpid(), signal.SIGHUP)
        assert not interruption.seen
    finally:
        signal.signal(signal.SIGHUP, before)
