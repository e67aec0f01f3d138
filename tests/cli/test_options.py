"""The options that commands share: read from the records of problems and the fields of solvers; and ``--plugin``, solvers of one's own."""

import dataclasses
import json
import subprocess
import sys

import click
import numpy as np
import pytest

import infoplane as ip
from infoplane.cli import options
from infoplane.cli.app import infoplane
from infoplane.cli.flags import Request
from infoplane.problem import FAMILIES
from infoplane.runtime import budget
from infoplane.runtime.compiling import COMPILING
from infoplane.solvers import registry
from infoplane.solvers.job import ProofOptions


def test_options_come_from_the_solvers_fields(run):
    said = run("solve", "--help")
    for flag in ("--step", "--penalty", "--relaxation", "--criterion", "--max-cells", "--max-seconds"):
        assert f"  {flag} " in said.out
    hidden = [
        field.name
        for cls in options.CLASSES
        for field in dataclasses.fields(cls)
        if options.in_python(options.flag_of(field.name))
    ]
    assert hidden
    for name in {*hidden} - {"tol"}:
        assert f"  {options.flag_of(name)} " not in said.out
    words = " ".join(said.out.split())
    assert "For drs, ib-1, ib-2, ...: alpha, 0 < alpha <= 2; 1 is ADMM, 2 is Peaceman-Rachford." in words
    assert "For --certify: most cells that branch and bound may open, for each parameter." in words
    assert "blahut-arimoto" in said.out


@pytest.mark.parametrize("solver", ip.SOLVERS.values(), ids=ip.SOLVERS)
def test_every_field_is_an_option_or_marked_as_pythons(solver):
    for field in dataclasses.fields(solver):
        flag = options.flag_of(field.name)
        assert options.has_option(solver, field.name) != bool(options.in_python(flag))


def test_every_family_is_a_problem_with_its_own_options(run):
    said = run("solve", "--help")
    for family in FAMILIES.values():
        assert family.loss in said.out
        assert family.name.replace("_", "-") in said.out
    assert "over the joint's own range]" in " ".join(run("frontier", "--help").out.split())
    assert "[default: mixed, funnel spread]" in " ".join(said.out.split())


def test_problems_and_families_are_those_of_the_library():
    def asked(problem, **given):
        nothing = dict.fromkeys((*options.PROBLEM_OPTIONS, "grid", "grid_values"))
        return Request(problem=problem, notation="gamma", **(nothing | given))

    made = options.make_problem(asked("generalised-bottleneck", gamma=0.3, a=0.5))
    assert made == ip.generalised_bottleneck(0.3, 0.5)
    assert options.make_problem(asked("lagrangian", rho=(1, -1, 1))) == ip.MarkovLagrangian(1, -1, 1)
    family, parameters, problems = options.make_family(asked("funnel", grid=(0.5, 20.0, 5)))
    assert family(2.0) == ip.funnel(2.0)
    np.testing.assert_array_equal(parameters, np.geomspace(0.5, 20, 5))
    assert problems == [ip.funnel(beta) for beta in parameters]
    assert options.make_family(asked("funnel"))[1] is None


def of_a_solver(**given):
    """What is asked of a solver and a proof, nothing but what is given."""
    command = infoplane.get_command(click.Context(infoplane), "solve")
    return Request(**{parameter.name: None for parameter in command.params} | given)


def test_a_solver_is_chosen_only_if_something_was_asked():
    assert options.choose(of_a_solver()) is None
    assert options.choose(of_a_solver(penalty=2.0)) == ip.DouglasRachford(penalty=2.0)
    assert options.choose(of_a_solver(solver="ib-1")) == ip.DouglasRachford("ib-1")


def test_the_limits_of_a_proof_leave_the_solvers_options_with_certify_only():
    given = {"penalty": 2.0, "max_cells": 5}
    assert options.make_proof(of_a_solver(**given)) == ProofOptions()
    assert options.solver_options(of_a_solver(**given)) == given
    assert options.make_proof(of_a_solver(**given, certify=1e-3)) == ProofOptions(1e-3, max_cells=5)
    assert options.solver_options(of_a_solver(**given, certify=1e-3)) == {"penalty": 2.0}


HELP = """
import sys, infoplane.view.plot
from infoplane.cli import main

sys.stderr.write(f"{ {'matplotlib', 'pandas', 'rich.table'} & set(sys.modules) }")
main(["solve", "--help"])
"""


def test_python_without_docstrings_has_the_same_options_and_loads_no_more_than_they_need():
    ended = subprocess.run([sys.executable, "-OO", "-c", HELP], capture_output=True, text=True, timeout=240)
    assert (ended.returncode, ended.stderr) == (0, "set()")
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
    asked, pools = budget.cores, []
    monkeypatch.setattr(budget, "cores", lambda: pools.append(asked()) or pools[-1])
    said = run(*arguments, "--threads", "3")
    assert said.code == 0, said.err
    assert set(pools) <= {3}
    assert pools or arguments[0] == "efficiency"  # which solves one parameter after the other
    assert asked() == 1
    assert run(*arguments, "--threads", "0").code == 2


CLASS = '''
from dataclasses import replace

import infoplane as ip


class Mine(ip.Accelerated):
    """Mine."""

    name = "mine"

    def run(self, job):
        return [replace(run, found_by="mine") for run in super().run(job)]
'''


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Two files beside the data: one has a solver, the other registers it too. What they leave behind is removed."""
    modules = set(sys.modules)
    (tmp_path / "my_solvers.py").write_text(CLASS)
    (tmp_path / "my_registered.py").write_text(f"{CLASS}\n\nip.register(Mine)\n")
    (tmp_path / "my_broken.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for known in (registry.SOLVERS,):
        known.pop("mine", None)
    for name in set(sys.modules) - modules:
        if name.startswith("my_"):
            del sys.modules[name]


WAYS = ["my_solvers:Mine", "my_registered", "my_registered.py", "./my_solvers.py:Mine"]


@pytest.mark.parametrize("way", WAYS)
def test_solve_knows_its_name(run, mine, way):
    said = run(
        "solve", "paper_uniform", "--gamma", "0.2", "--starts", "2", "--json", "--plugin", way, "--solver", "mine"
    )
    assert (said.code, said.json["solver"]) == (0, "mine"), said.err


def test_compare_has_it_beside_the_others(run, mine):
    said = run(
        *("compare", "paper_uniform", "--grid", "0.2:0.4:2", "--starts", "2", "--json"),
        *("--plugin", "my_solvers:Mine", "--solver", "mine,merging"),
    )
    assert [row["solver"] for row in said.json["comparison"]] == ["mine", "merging"] * 2


def test_a_frontier_of_it_is_resumed_by_naming_it_again(run, mine):
    def stop(_progress):
        raise KeyboardInterrupt

    options = {"starts": 2, "rng": 0, "store": "runs.db", "progress": stop, "chunk_seconds": 1e-3}
    run("frontier", "paper_uniform", "--grid-values", "0.2", "--plugin", "my_registered", "--solver", "mine")
    ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.4, 0.6], "mine", **options)
    for known in (registry.SOLVERS,):
        known.pop("mine")
    refused = run("resume", "runs.db")
    assert refused.code == 2
    assert "there is no solver 'mine': register it first (--plugin), or repeat" in refused.err
    said = run("resume", "runs.db", "--plugin", "my_solvers.py:Mine", "--json")
    assert (said.code, said.json["complete"], {one["solver"] for one in said.json["runs"]}) == (0, True, {"mine"})


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("my_solvers", "has registered no solver of its own: let it call infoplane.register, or name the class"),
        ("my_solvers:Nobody", "cannot be loaded: AttributeError"),
        ("no_such_module:Mine", "cannot be loaded: ModuleNotFoundError"),
        ("no_such_file.py", "cannot be loaded: FileNotFoundError"),
        ("my_broken.py", "cannot be loaded: ZeroDivisionError: division by zero"),
        ("json:loads", "cannot be loaded: "),
        ("my_solvers:", "expected MODULE, FILE.py, MODULE:NAME or FILE.py:NAME"),
    ],
)
@pytest.mark.parametrize(
    "command", [("solve", "heart"), ("frontier", "heart"), ("compare", "heart"), ("resume", "x.db")]
)
def test_what_cannot_be_loaded_is_2_in_a_sentence(run, mine, command, wrong, words):
    said = run(*command, "--plugin", wrong)
    assert said.code == 2
    assert words in " ".join(said.err.split())


def test_a_file_that_has_the_name_of_another_module_is_refused(run, mine):
    (mine / "json.py").write_text(f"{CLASS}\n\nip.register(Mine)\n")
    said = run("solve", "heart", "--gamma", "0.2", "--plugin", "json.py")
    assert said.code == 2
    assert "json is the name of another module" in " ".join(said.err.split())


def test_a_process_of_its_own_finds_it_and_prints_one_object_and_nothing_else(mine):
    command = ("solve", "paper_uniform", "--gamma", "0.2", "--starts", "2", "--json")
    ended = subprocess.run(
        [sys.executable, "-m", "infoplane.cli", *command, "--plugin", "my_registered.py", "--solver", "mine"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["solver"] == "mine"
    assert found["loss_nats"] == pytest.approx(-0.240760, abs=2e-6)
    assert ended.stderr in ("", f"{COMPILING}\n")
