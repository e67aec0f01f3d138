"""The package as it is met first: its names, and how it is started."""

import inspect
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

import infoplane

ROOT = Path(__file__).parent.parent


def test_only_public_names_are_shown():
    shown = dir(infoplane)
    # Names that need an extra are shown, but `from infoplane import *` leaves them out: it must work without.
    assert sorted(shown) == sorted([*infoplane.__all__, "BottleneckEncoder", "PrivacyFunnelRelease"])
    assert all(hasattr(infoplane, name) for name in shown)


def test_frames_are_typed_as_those_of_pandas():
    public = [getattr(infoplane, name) for name in infoplane.__all__]
    methods = [
        method
        for cls in filter(inspect.isclass, public)
        for name, method in inspect.getmembers(cls, inspect.isfunction)
        if name.endswith("_frame") and not name.startswith("from")
    ]
    functions = [getattr(infoplane, name) for name in ("audit", "compare", "efficiency", "efficiency_summary")]
    assert len(methods) > 10
    assert {one.__annotations__["return"] for one in [*methods, *functions]} == {"pd.DataFrame"}


def test_the_metadata_has_every_python_that_is_tested_and_no_address():
    """Addresses of forge and site are chosen when the package is published (docs/reference/releasing.md)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {int(found[1]) for one in project["classifiers"] if (found := re.fullmatch(r".* :: 3\.(\d+)", one))}
    tested = re.search(r"python: \[(.*)\]", next((ROOT / ".github/workflows").glob("*.yml")).read_text())[1]
    ends = sorted(int(one) for one in re.findall(r"3\.(\d+)", tested))
    assert named == set(range(ends[0], ends[-1] + 1))
    assert project["requires-python"] == f">=3.{ends[0]}"
    assert "click>=8.1" in project["dependencies"]
    assert "urls" not in project


def test_the_page_of_dependencies_has_those_of_the_metadata():
    """Every requirement that users get, in which extra, and its oldest version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = {"": project["dependencies"], **project["optional-dependencies"]}
    for_developers = ("test", "bench", "docs", "dev")
    wanted = {
        (extra, *requirement.split(">="))
        for extra, requirements in own.items()
        if extra not in for_developers
        for requirement in requirements
    }
    page = (ROOT / "docs/reference/supply_chain.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:`\[(\w+)\]` \| )?([\w-]+)(?: \([^|]*\))? \| ([0-9.]+) \|", page, flags=re.MULTILINE)
    assert set(rows) == wanted


def test_it_runs_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["infoplane", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("infoplane", run_name="__main__", alter_sys=True)
    assert ended.value.code in (0, None)
    assert capsys.readouterr().out.strip() == f"infoplane {infoplane.__version__}"


def test_the_wheel_leaves_out_no_file_of_the_package():
    """hatchling packs the whole folder but for what git ignores and what an option excludes: the report's page, and the mark of types."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    packages = [f"src/{path.parent.name}" for path in sorted((ROOT / "src").glob("*/__init__.py"))]
    assert options["build"] == {"targets": {"wheel": {"packages": packages}}}
    ignored = [line for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines() if line]
    files = [
        path.relative_to(ROOT)
        for package in packages
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert {"py.typed", "page.js", "page.css", "page.html", "colour_chips.py"} <= {path.name for path in files}
    for path in files:
        for pattern in ignored:
            folder = pattern.endswith("/")
            assert not any(fnmatch(part, pattern.rstrip("/")) for part in (path.parts[:-1] if folder else path.parts))


def test_the_built_in_data_need_no_file_beside_the_modules(tmp_path):
    """As a wheel has it: the packages alone, in a folder of their own; scikit-learn, an extra, is not imported."""
    for package in ("infoplane", "infoplane_verify"):
        shutil.copytree(ROOT / "src" / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    code = "import infoplane as ip; print(ip.__file__, [ip.datasets.load(name).shape for name in ('colours', 'heart')])"
    code += "; import sys; assert 'sklearn' not in sys.modules"
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert str(tmp_path) in found.stdout
    assert "(330, 330)" in found.stdout
