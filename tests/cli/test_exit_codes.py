"""Exit codes: of errors, of bugs, and of Ctrl-C."""

import itertools
import os
import signal
import sys

import pytest

from infoplane.solvers.splitting.solver import SplittingIteration

SOLVE = ("solve", "paper_uniform", "--gamma", "0.2", "--starts", "2")


def test_unknown_command_is_2(run):
    said = run("slove")
    assert (said.code, "No such command" in said.err) == (2, True)


@pytest.mark.parametrize("command", ["solve", "frontier", "compare"])
@pytest.mark.parametrize(
    ("flag", "python"),
    [
        ("--rungs", "Annealing(rungs=...)"),
        ("--depth", "Annealing(depth=...)"),
        ("--memory", "Accelerated(memory=...)"),
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


@posix
def test_solve_interrupted_is_130_with_the_best_so_far(run, monkeypatch):
    advance, blocks = SplittingIteration.advance, itertools.count()

    def advance_and_press(iteration, steps, trace):
        block = next(blocks)
        advance(iteration, steps, trace)
        if block == 3:  # block 0 is that of `prepare`
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(SplittingIteration, "advance", advance_and_press)
    said = run(
        *("solve", "heart", "--problem", "funnel", "--beta", "5", "--starts", "40"),
        *("--solver", "drs", "--tol", "1e-15", "--json"),
    )
    assert said.code == 130, said.err
    assert "Interrupted: " in said.err
    assert len(said.json["encoder"][0]) == 16
    assert said.json["iterations"] > 0
    assert "INTERRUPTED" in {one["status"] for one in said.json["starts"]}


@posix
def test_frontier_interrupted_is_130_and_not_complete(run, monkeypatch):
    module = sys.modules["infoplane.sweep.sweep"]
    told = module.SweepProgress

    def tell_and_press(**facts):
        os.kill(os.getpid(), signal.SIGINT)
        return told(**facts)

    monkeypatch.setattr(module, "SweepProgress", tell_and_press)
    said = run(
        *("frontier", "heart", "--problem", "funnel", "--grid-values", "0.5,5,6,7", "--starts", "20"),
        *("--solver", "drs", "--tol", "1e-15", "--json"),
    )
    assert said.code == 130, said.err
    assert "Interrupted: " in said.err
    assert said.json["complete"] is False
