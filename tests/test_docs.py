"""What the documentation shows, runs: docstring examples, the scripts in examples/, and the README's Python."""

import doctest
import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import infoplane

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(infoplane.__path__, "infoplane.") if "__main__" not in module.name
)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("name", ["infoplane", *MODULES])
def test_docstring_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_docstring_examples():
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(found) >= 10


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_examples(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_python_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
