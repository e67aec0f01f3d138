"""``--plugin``: a solver of one's own, by module or file, in every command that runs solvers."""

import subprocess
import sys

import pytest

import infoplane as ip
from infoplane.solvers import registry

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


def test_a_process_of_its_own_finds_it(mine):
    command = (
        "solve",
        "paper_uniform",
        "--gamma",
        "0.2",
        "--starts",
        "1",
        "--plugin",
        "my_registered.py",
        "--solver",
        "mine",
    )
    ended = subprocess.run(
        [sys.executable, "-m", "infoplane", *command], capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert "mine" in ended.stdout
