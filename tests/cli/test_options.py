"""The options that commands share: read from the records of problems and the fields of solvers."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

import infoplane as ip
from infoplane.cli import options
from infoplane.problem import FAMILIES
from infoplane.runtime import work as runtime
from infoplane.solvers.job import ProofOptions


def test_options_come_from_the_solvers_fields(run):
    said = run("solve", "--help")
    for flag in ("--step", "--penalty", "--relaxation", "--criterion", "--max-cells", "--max-seconds"):
        assert f"  {flag} " in said.out
    for flag in options.IN_PYTHON.keys() - {"--tol"}:
        assert f"  {flag} " not in said.out
    words = " ".join(said.out.split())
    assert "For drs, ib-1, ib-2, ...: alpha, 0 < alpha <= 2; 1 is ADMM, 2 is Peaceman-Rachford." in words
    assert "For --certify: most cells that branch and bound may open, for each parameter." in words
    assert "blahut-arimoto" in said.out


@pytest.mark.parametrize("solver", ip.SOLVERS.values(), ids=ip.SOLVERS)
def test_every_field_is_an_option_or_marked_as_pythons(solver):
    for field in dataclasses.fields(solver):
        flag = options.flag_of(field.name)
        assert options.has_option(solver, field.name) != (flag in options.IN_PYTHON)


def test_every_family_is_a_problem_with_its_own_options(run):
    said = run("solve", "--help")
    for family in FAMILIES.values():
        assert family.loss in said.out
        assert family.name.replace("_", "-") in said.out
    assert "over the joint's own range]" in " ".join(run("frontier", "--help").out.split())
    assert "[default: mixed, funnel spread]" in " ".join(said.out.split())


def test_problems_and_families_are_those_of_the_library():
    nothing = dict.fromkeys(options.PROBLEM_OPTIONS)
    made = options.make_problem("generalised-bottleneck", {**nothing, "gamma": 0.3, "a": 0.5})
    assert made == ip.generalised_bottleneck(0.3, 0.5)
    assert options.make_problem("lagrangian", {**nothing, "rho": (1, -1, 1)}) == ip.MarkovLagrangian(1, -1, 1)
    family, parameters, problems = options.make_family("funnel", {"a": None}, (0.5, 20.0, 5), None)
    assert family(2.0) == ip.funnel(2.0)
    np.testing.assert_array_equal(parameters, np.geomspace(0.5, 20, 5))
    assert problems == [ip.funnel(beta) for beta in parameters]
    assert options.make_family("funnel", {"a": None}, None, None)[1] is None


def test_a_solver_is_chosen_only_if_something_was_asked():
    nothing = {"penalty": None, "relaxation": None}
    assert options.choose(None, nothing) is None
    assert options.choose(None, {**nothing, "penalty": 2.0}) == ip.DouglasRachford(penalty=2.0)
    assert options.choose("ib-1", nothing) == ip.DouglasRachford("ib-1")


def test_the_limits_of_a_proof_leave_the_solvers_options_with_certify_only():
    given = {"penalty": 2.0, "max_cells": 5, "max_seconds": None}
    assert options.make_proof(None, given) == ProofOptions()
    assert given["max_cells"] == 5
    assert options.make_proof(1e-3, given) == ProofOptions(1e-3, max_cells=5)
    assert given == {"penalty": 2.0}


def test_python_without_docstrings_has_the_same_options():
    ended = subprocess.run(
        [sys.executable, "-OO", "-m", "infoplane", "solve", "--help"], capture_output=True, text=True
    )
    assert ended.returncode == 0
    assert "--max-cells" in ended.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "paper_uniform", "--gamma", "0.2", "--starts", "2"),
        ("frontier", "paper_uniform", "--grid-values", "0.2", "--starts", "2"),
        ("compare", "paper_uniform", "--grid-values", "0.2", "--starts", "2", "--solver", "ib-1"),
        ("efficiency", "paper_uniform", "systems.csv"),
        ("resume", "runs.db"),
    ],
)
def test_threads_are_those_asked_for_while_the_command_runs(run, tmp_path, monkeypatch, with_cores, arguments):
    """Every pool of threads that a command makes has so many, and afterwards nothing is changed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "systems.csv").write_text("x,z\n" + "".join(f"{x},{x % 2}\n" for x in range(3)))
    ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2], "ib-1", starts=2, rng=0, store="runs.db")
    with_cores(1)
    asked, pools = runtime.cores, []
    monkeypatch.setattr(runtime, "cores", lambda: pools.append(asked()) or pools[-1])
    said = run(*arguments, "--threads", "3")
    assert said.code == 0, said.err
    assert set(pools) <= {3}
    assert pools or arguments[0] == "efficiency"  # which solves one parameter after the other
    assert asked() == 1
    assert run(*arguments, "--threads", "0").code == 2
