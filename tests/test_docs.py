"""What the documentation shows, runs: docstring examples, the scripts in examples/, and the Python of README and pages."""

import doctest
import importlib
import pkgutil
import re
import runpy
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import pytest

import infoplane
import infoplane_verify
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


SMALLER = {"colours": {"terms": (3,), "shown": (3,), "betas": (1.03, 1.1)}}
"""What `main` of an example that takes long is called with."""


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_examples(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with mock.patch.dict(registry.SOLVERS):  # one of them registers a solver
        if script.stem in SMALLER:
            runpy.run_path(str(script))["main"](**SMALLER[script.stem])
        else:
            runpy.run_path(str(script), run_name="__main__")
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
    """Its blocks one after the other, in one namespace and an empty folder, as a reader would paste them."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
        exec(compile(block, page.name, "exec"), names)


PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_exist(page):
    """Files and folders in backticks, relative to src/infoplane, to src or to the root: `solve.py`, `infoplane_verify/bound.py`."""
    named = re.findall(r"`([A-Za-z0-9_./]+(?:\.py|/))`", page.read_text())
    folders = (Path(infoplane.__file__).parent, ROOT / "src", ROOT)
    assert [name for name in named if not any((folder / name).exists() for folder in folders)] == []


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


def test_every_room_is_in_the_picture():
    picture = re.search(r"```mermaid\n(.*?)```", (ROOT / "docs/map.md").read_text(), flags=re.DOTALL).group(1)
    drawn = [name.rstrip("/") for names in re.findall(r'\["(.*?)<br/>', picture) for name in names.split()]
    assert sorted(drawn) == sorted(["infoplane_paper", "infoplane_verify", *(one for layer in LAYERS for one in layer)])
