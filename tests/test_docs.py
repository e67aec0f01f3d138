"""What the documentation shows, runs: docstring examples, the scripts in examples/, the Python and the commands of README and pages."""

import ast
import doctest
import importlib
import inspect
import itertools
import pkgutil
import re
import runpy
import shlex
import textwrap
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from dask.distributed import Client, LocalCluster
from matplotlib.figure import Figure

import infoplane
import infoplane_verify
from infoplane.cli.app import COMMANDS
from infoplane.cli.app import infoplane as command_line
from infoplane.solvers import registry
from test_layout import LAYERS

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    module.name
    for package in (infoplane, infoplane_verify)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if "__main__" not in module.name
)
EXPLAINED = [
    name for name in ["infoplane", *MODULES] if ">>> " in Path(find_spec(name).origin).read_text(encoding="utf-8")
]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))


@pytest.mark.parametrize("name", EXPLAINED)
def test_docstring_examples(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


PUBLIC = [*infoplane.__all__, *infoplane._EXTRAS]


def test_every_public_name_has_an_example():
    """The examples above are of public names too: one each, in what `help` and the reference show."""
    without = [
        name for name in PUBLIC if ">>> " not in (registry.__test__.get(name) or getattr(infoplane, name).__doc__ or "")
    ]
    assert without == ["__version__"]


def test_the_reference_has_every_public_name():
    listed = re.findall(r"^   (\w+)$", (ROOT / "docs/reference/api.md").read_text(), flags=re.MULTILINE)
    assert sorted(listed) == sorted({*PUBLIC} - {"__version__"})


def undocumented(cls):
    """Its public fields and methods of which nothing is said: below them, or in the list of parameters or attributes of the class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body
    listed = re.findall(r"^(\w+(?:, \w+)*)(?: : .*)?$", inspect.getdoc(cls) or "", flags=re.MULTILINE)
    known = {name for names in listed for name in names.split(", ")}
    for node, below in itertools.zip_longest(body, body[1:]):
        if isinstance(node, ast.AnnAssign):
            said = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            inherited = any(node.target.id in vars(base).get("__annotations__", ()) for base in cls.__mro__[1:])
            if not (said or inherited or node.target.id in known or node.target.id.startswith("_")):
                yield node.target.id
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and not ast.get_docstring(node):
            yield f"{node.name}()"


def test_every_field_of_a_public_class_is_explained():
    public = [getattr(infoplane, name) for name in PUBLIC]
    classes = {base for one in public if inspect.isclass(one) for base in one.__mro__ if "infoplane" in base.__module__}
    assert {cls.__name__: found for cls in classes if (found := list(undocumented(cls)))} == {}


SMALLER = {
    "a_sample_is_not_a_distribution": {"0.6, 16)": "0.6, 2)"},
    "adult_release": {
        "(0.001, 0.005, 0.02, 0.05)": "(0.05,)",
        "max_seconds=1.0": "max_seconds=0.1",
        "20_000": "2_000",
        "merged=[4, 8, 16]": "merged=[4]",
    },
    "certified_plane": {"(4, 24)": "(4, 6)"},
    "colours": {
        "SHOWN = (3, 5, 8, 11)": "SHOWN = (3,)",
        "range(3, 12)": "(3,)",
        "np.geomspace(1.02, 1.3, 9)": "(1.03, 1.06)",
        "tol=1e-4": "tol=1e-2",
    },
    "how_many_groups": {"40_000": "1_500", "4000": "150", "clusters=12": "clusters=5", "range(1, 13)": "range(1, 6)"},
    "local_optima_and_transitions": {"low=0.02": "low=0.3", "0.7, 36)": "0.7, 33)", "starts=300": "starts=30"},
    "own_solver": {"max_iter: int = 500": "max_iter: int = 10", "starts=4": "starts=1"},
    "quickstart": {"ip.bottleneck, certify": "ip.bottleneck, [0.1, 0.3], certify"},
    "rate_along_gamma": {"1.0, 24)": "1.0, 2)", "(1.0, 1.5, 2.0)": "(1.0,)"},
    "release_and_audit": {"(0.4, 0.3, 0.2, 0.1)": "(0.4,)", "rng=0)": "rng=0, max_seconds=0.1)"},
    "report_page": {"0.5, 10)": "0.5, 2)", "starts=4": "starts=1"},
    "several_secrets": {"(0.25, 1.0, 4.0, 16.0, 64.0)": "(0.25,)"},
    "subjects_against_the_bound": {"bootstrap=60": "bootstrap=2", "0.95, 24)": "0.95, 3)"},
    "sweep_killed_and_resumed": {
        "0.05, 0.5, 12)": "0.1, 0.5, 4)",
        "starts=40": "starts=10",
        "(12, 40)": "(4, 10)",
        "(12)": "(4)",
        "done < 100": "done < 10",
    },
    "what_a_certificate_proves": {"0.969, 240)": "0.969, 24)", "16, 32, 64, 128, 256, 512]": "256]"},
    "what_does_this_number_mean": {"steps: int = 4000": "steps: int = 400", "1.5, 12, 12)": "1.5, 12, 3)"},
    "what_the_plane_is": {"range(40_000)": "range(400)", "0.98, 24)": "0.98, 4)", "60, 14)": "60, 3)"},
    "which_attributes": {"[0.001, 0.005, 0.02, 0.05]": "[0.02, 0.05]"},
    "which_problem": {"[0.005, 0.02, 0.05, 0.1]": "[0.02]", "0.3, 14)": "0.3, 3)", "clusters=8": "clusters=3"},
}
"""What takes long in an example, and what is run in its place; the gallery of the site runs every script as it stands."""

SMALLER_PAGES = {
    "cluster": {"0.1, 1, 16": "0.1, 1, 2", '"ib-1", rng=0': '"ib-1", rng=0, starts=2'},
    "leakage": {"multinomial(2000": "multinomial(500", "max_iyz=0.01 * math.log(2)": "max_iyz=0.02 * math.log(2)"},
    "report": {"0.3, 8)": "0.3, 4)"},
    "release": {"0.4 * bit, rng=0)": "0.4 * bit, rng=0, max_seconds=0.1)", "range(300)": "range(120)"},
}
"""The same of the Python of a page."""


def smaller(file, settings=SMALLER):
    """The text of a script or a page with the smaller settings."""
    text = file.read_text(encoding="utf-8")
    for shown, run in settings.get(file.stem, {}).items():
        assert shown in text
        text = text.replace(shown, run)
    return text


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_examples(script, tmp_path, monkeypatch, capsys):
    """With smaller settings, and figures that are not drawn: the gallery runs the whole scripts and draws them (`.ci/run`)."""
    monkeypatch.chdir(tmp_path)

    def savefig(_figure, file, **_options):
        if not hasattr(file, "write"):  # which the package opens for pictures of its own
            Path(file).touch()

    monkeypatch.setattr(Figure, "savefig", savefig)
    Path(script.name).write_text(smaller(script), encoding="utf-8")
    with mock.patch.dict(registry.SOLVERS):  # one of them registers a solver
        runpy.run_path(script.name, run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("does", ["infoplane demo", "-m pytest", "sphinx-build"])
def test_the_readme_has_one_command_that(does):
    """Which CI finds there, and runs word for word."""
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len([line for line in lines if "python3 -m venv" in line and does in line]) == 1


def test_the_citation_is_of_this_version():
    assert f"\nversion: {infoplane.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_python_of_the_readme_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert len(blocks) == (ROOT / "README.md").read_text().count("```python") == 3
    for block, shown in blocks:
        exec(compile(block, "README.md", "exec"), {})
        assert capsys.readouterr().out == shown


WRITTEN = [
    page
    for folder in ("tutorials", "howto", "explanation", "reference")
    for page in sorted((ROOT / "docs" / folder).glob("*.md"))
]
RUN = [page for page in WRITTEN if "```python" in page.read_text()]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_python_of_a_page_runs(page, tmp_path, monkeypatch):
    """Its blocks one after the other, in one namespace and an empty folder, as a reader would paste them.

    Where one asks for Dask, a cluster within this process is in use.
    """
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    blocks = re.findall(r"```python\n(.*?)```", smaller(page, SMALLER_PAGES), flags=re.DOTALL)
    with ExitStack() as stack:
        if any('engine="dask"' in block for block in blocks):
            here = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)
            stack.enter_context(Client(stack.enter_context(here)))
        for block in blocks:
            exec(compile(block, page.name, "exec"), names)


def commands_of(page):
    """Its lines and its words in backticks that begin like a command and have arguments, in their order; lines that end in \\ go on."""
    words = r"infoplane (?:%s) [^`\n\\]+(?:\\\n[^`\n\\]+)*" % "|".join(COMMANDS)  # noqa: UP031  braces are of the expression
    return [
        found.replace("\\\n", " ")
        for found in re.findall(rf"(?:(?<=`)|^ *)({words})", page.read_text(), flags=re.MULTILINE)
    ]


LINES = [(page, line) for page in [ROOT / "README.md", *WRITTEN] for line in commands_of(page)]
FORMS = [(page, line) for page, line in LINES if re.search(r" [A-Z]{3,}\b|\.\.\.|^infoplane \w+ --", line)]
"""Forms of a command, with DATA or COLS or dots where readers put their own, or without the data."""


@pytest.mark.parametrize(("page", "line"), LINES, ids=lambda one: one.stem if isinstance(one, Path) else "")
def test_options_that_a_page_names_exist(page, line):
    group = click.Context(command_line)
    command = command_line.get_command(group, line.split()[1])
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    assert {word for word in shlex.split(line, comments=True) if word.startswith("--")} <= known


WRITES = r" --(out|store|model|mechanism|report|plot|labels|mapping|proof) "
AGAIN = [
    (page, line)
    for page, line in LINES
    if not re.search(WRITES, line) and any({*line.split()} < {*other.split()} for at, other in LINES if at != page)
]
"""Commands that leave nothing behind, and that another page has with more options."""

INSTEAD = {
    "dask:tcp://head:8786": "threads",  # the address of somebody's cluster
    "adult_joint_small.csv --x education,occupation --y sex,race --count count --points 64": "heart --points 4",  # two minutes
    "--grid 0.1:1:16": "--grid 0.1:1:4",
    "--prior capacity": "--prior capacity --max-solves 2",
    "--max-lift-bits 0.4": "--max-lift-bits 0.4 --max-seconds 0.1",
    "age:8,4,2": "age:4,2",
}
"""What cannot run as it stands, and what is run in its place."""


@pytest.fixture
def readers_folder(tmp_path, monkeypatch):
    """The files that pages speak of: people, new ones, a key, and who calls which colour what."""
    monkeypatch.chdir(tmp_path)
    rng, n = np.random.default_rng(0), 2000
    job, sex = rng.choice(["baker", "clerk", "nurse"], n), rng.choice(["f", "m"], n)
    often = np.where(job == "clerk", 0.8, 0.3)
    people = pd.DataFrame({"person": np.arange(n), "age": rng.choice([20, 35, 50, 65], n), "job": job, "sex": sex})
    people["income"], people["ill"] = np.where(rng.random(n) < often, "high", "low"), rng.choice(["yes", "no"], n)
    people.to_csv("people.csv", index=False)
    people.head(20).assign(person=np.arange(n, n + 20)).to_csv("new.csv", index=False)
    Path("key").write_bytes(bytes(range(32)))
    Path("jobs.csv").write_text("job,kind\nbaker,trade\nclerk,office\nnurse,care\n")
    chips = list(infoplane.datasets.colours().x_labels)
    pd.DataFrame({"system": "two words", "item": chips, "word": ["dark", "light"] * (len(chips) // 2)}).to_csv(
        "naming.csv", index=False
    )


@pytest.mark.parametrize(
    "page", {page: None for page, line in LINES if (page, line) not in FORMS + AGAIN}, ids=lambda page: page.stem
)
def test_commands_of_a_page_run(page, readers_folder):
    """One after the other, in a folder with the files that it speaks of, as a reader would paste them."""
    for line in (line for at, line in LINES if at == page and (at, line) not in FORMS + AGAIN):
        for shown, run in INSTEAD.items():
            line = line.replace(shown, run)
        said = CliRunner().invoke(command_line, shlex.split(line, comments=True)[1:], prog_name="infoplane")
        assert said.exit_code == 0, f"{line}\n{said.output}"


PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_exist(page):
    """Files and folders in backticks, relative to src/infoplane, to src or to the root: `solve.py`, `infoplane_verify/bound.py`."""
    named = re.findall(r"`([A-Za-z0-9_./]+(?:\.py|/))`", page.read_text())
    folders = (Path(infoplane.__file__).parent, ROOT / "src", ROOT)
    assert [name for name in named if not any((folder / name).exists() for folder in folders)] == []


def test_every_picture_has_a_script_and_a_page():
    """Those of the README and of Adult's plane are made by commands, which `infoplane demo` and the page show."""
    scripts = "".join(path.read_text() for name in ("benchmarks", "examples") for path in (ROOT / name).rglob("*.py"))
    pages = "".join(path.read_text() for path in [ROOT / "README.md", *PAGES])
    pictures = {path.name for path in (ROOT / "docs/images").iterdir()}
    assert {name for name in pictures if name not in scripts} == {"heart.png", "adult_plane.png"}
    assert {name for name in pictures if f"images/{name}" not in pages} == set()


NAMING = [*PAGES, ROOT / "README.md", ROOT / "CHANGELOG.md"] + [
    path for folder in ("src", "tests", "benchmarks", "examples") for path in sorted((ROOT / folder).rglob("*.py"))
]


def test_pages_that_are_named_exist():
    """Wherever they are named: docs/NAME.md in any text, and the targets of links."""
    missing = set()
    for path in NAMING:
        text = path.read_text(encoding="utf-8")
        named = {ROOT / name for name in re.findall(r"\bdocs/[a-z_/-]+\.md\b", text)}
        if path.suffix == ".md":
            links = re.findall(r"(?:\]\(|<img src=\")([^)#\s\"]+)", text)
            named |= {path.parent / link for link in links if not re.match("[a-z]+:", link)}
        missing |= {f"{path.relative_to(ROOT)}: {name}" for name in named if not name.exists()}
    assert missing == set()


def test_the_map_names_every_module():
    package, checker = ROOT / "src/infoplane", ROOT / "src/infoplane_verify"
    page = (ROOT / "docs/map.md").read_text()
    named = set(re.findall(r"`([a-z0-9_/]+(?:\.py|/))`", page))
    parts = {path.relative_to(package) for path in package.rglob("*.py") if not path.name.startswith("__")}
    parts |= {path.relative_to(ROOT / "src") for path in checker.glob("*.py") if not path.name.startswith("__")}
    missing = {str(part) for part in parts if str(part) not in named and f"{part.parent}/" not in named}
    assert missing == set()


def test_every_module_at_the_top_is_in_the_picture():
    picture = re.search(r"```mermaid\n(.*?)```", (ROOT / "docs/map.md").read_text(), flags=re.DOTALL).group(1)
    drawn = [name.rstrip("/") for names in re.findall(r'\["(.*?)<br/>', picture) for name in names.split()]
    assert sorted(drawn) == sorted(["infoplane_paper", "infoplane_verify", *(one for layer in LAYERS for one in layer)])
