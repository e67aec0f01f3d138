"""``benchmarks/run.py``: it has every benchmark, and says at its end which tables were missing."""

import importlib
import re
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def load(monkeypatch):
    """Import a module of the benchmarks; it is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if (BENCHMARKS / f"{name}.py").exists():
            del sys.modules[name]


def test_every_benchmark_is_in_it(load):
    scripts = load("run").SCRIPTS.values()
    assert {path.name for path in BENCHMARKS.glob("bench_*.py")} <= set(scripts)
    assert all((BENCHMARKS / script).exists() for script in scripts)


def test_every_benchmark_takes_what_it_is_given(load):
    """Options for the results and for the page: its own, or those of a command line that benchmarks share."""
    run = load("run")
    for name, script in run.SCRIPTS.items():
        text = (BENCHMARKS / script).read_text(encoding="utf-8")
        page = "--page" if name in run.IN_PAGES else "--table"
        shared = page == "--table" and re.search(r"^ +(measured\(|parser = resumable\()", text, flags=re.MULTILINE)
        assert shared or {'"--out"', f'"{page}"'} <= set(re.findall(r'"--\w+"', text)), script


def test_a_missing_table_is_skipped_in_one_sentence(load, monkeypatch, tmp_path, capsys):
    joints = load("joints")
    monkeypatch.setattr(joints, "DATA", tmp_path)
    assert joints.outside("table.csv", "the table") is False
    said = capsys.readouterr().out
    assert said.startswith(joints.SKIPPED + "the table, because table.csv is not part of the repository")
    assert said.count("\n") == 1
    (tmp_path / "table.csv").touch()
    assert joints.outside("table.csv", "the table") is True
    assert capsys.readouterr().out == ""


def test_what_was_skipped_is_named_at_the_end_and_a_failure_is_one(load, monkeypatch, tmp_path, capsys):
    run = load("run")
    (tmp_path / "partial.py").write_text(f"print({run.SKIPPED!r} + 'one table.')\nprint('numbers')\n")
    (tmp_path / "broken.py").write_text("raise SystemExit(3)\n")
    monkeypatch.setattr(run, "SCRIPTS", {"partial": "partial.py", "broken": "broken.py"})
    for name in ("HERE", "PAGES", "RESULTS"):
        monkeypatch.setattr(run, name, tmp_path)
    monkeypatch.setattr(sys, "argv", ["run.py", "partial"])
    run.main()
    assert capsys.readouterr().out.splitlines()[-2:] == ["numbers", f"{run.SKIPPED}partial: one table."]
    monkeypatch.setattr(sys, "argv", ["run.py", "broken"])
    with pytest.raises(SystemExit, match="the benchmark broken failed with exit code 3"):
        run.main()
