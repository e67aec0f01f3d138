"""``infoplane reproduce``: usage, the table of verdicts, interruption and resumption."""

import click
import pytest
from click.testing import CliRunner

from infoplane.cli import reproduce as command
from infoplane.cli.app import Commands
from infoplane_paper import FIGURES
from infoplane_paper.pieces import Sweep
from infoplane_paper.reproduction import Reproduction
from tiny import TINY


@pytest.fixture
def reproduce(monkeypatch):
    monkeypatch.setattr(command, "QUICK", TINY)
    monkeypatch.setattr(command, "FULL", TINY)
    group = Commands("infoplane", commands={"reproduce": command.reproduce})

    def call(*arguments):
        result = CliRunner().invoke(group, ["reproduce", *map(str, arguments)], prog_name="infoplane")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


def test_unknown_figure_is_2_and_lists_the_names(reproduce, tmp_path):
    said = reproduce("bottleneck-plane", "--out", tmp_path / "out")
    assert said.exit_code == 2
    assert "there is no figure 'bottleneck-plane'" in said.stderr
    assert all(name in said.stderr for name in FIGURES)
    assert not (tmp_path / "out").exists()


def test_a_file_as_directory_is_2(reproduce, tmp_path):
    (tmp_path / "file").write_text("")
    said = reproduce("iterations", "--out", tmp_path / "file")
    assert (said.exit_code, "cannot be made a directory" in said.stderr) == (2, True)


def test_missing_matplotlib_is_named_before_any_work(reproduce, monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    said = reproduce("iterations", "--out", tmp_path)
    assert (said.exit_code, 'pip install "infoplane[plot]"' in said.stderr) == (2, True)


def test_help_names_the_figures(reproduce):
    said = reproduce("--help")
    assert said.exit_code == 0
    assert all(name in said.stdout.replace("\n", " ").replace("  ", " ") for name in ("iterations", "funnel-heart"))


def test_a_full_run_says_how_long_and_ends_with_the_verdicts(reproduce, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "240")  # every claim on a line of its own
    pytest.importorskip("matplotlib")
    said = reproduce("iterations", "--out", tmp_path / "new" / "out")
    assert said.exit_code == 0
    assert "11 pieces to run: about" in said.stderr
    assert "estimated from timed samples" in said.stderr
    for claim in FIGURES["iterations"].claims:
        assert claim.text in " ".join(said.stdout.split())
    assert "report.html" in said.stdout
    assert {one.name for one in (tmp_path / "new" / "out").iterdir()} == {
        "iterations.png",
        "iterations.csv",
        "appendix-iterations.md",
        "appendix-settings.md",
        "findings.json",
        "report.md",
        "report.html",
        "runs",
    }
    (tmp_path / "new" / "out" / "report.md").unlink()
    again = reproduce("--render", "--out", tmp_path / "new" / "out")
    assert again.exit_code == 0
    assert (tmp_path / "new" / "out" / "report.md").exists()
    assert reproduce("--render", "--out", tmp_path / "elsewhere").exit_code == 2


def test_interrupted_is_130_and_the_same_call_goes_on(reproduce, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    run, done = Sweep.run, []

    def twice(piece):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(piece.name)
        return run(piece)

    monkeypatch.setattr(Sweep, "run", twice)
    said = reproduce("iterations", "--quick", "--out", tmp_path)
    assert said.exit_code == 130
    assert "Interrupted: 2 of 11 pieces are kept" in said.stderr
    assert f"To go on: infoplane reproduce iterations --quick --out {tmp_path}" in said.stderr
    assert not (tmp_path / "report.md").exists()

    first = list(done)
    done.clear()
    monkeypatch.setattr(Sweep, "run", lambda piece: done.append(piece.name) or run(piece))
    said = reproduce("iterations", "--quick", "--out", tmp_path)
    assert said.exit_code == 0
    assert "2 of 11 pieces are done already" in said.stderr
    assert len(done) == 9
    assert not set(first) & set(done)
    assert (tmp_path / "report.md").exists()


def test_a_swallowed_interruption_keeps_no_half_piece(tmp_path):
    figure = FIGURES["iterations"]
    reproduction = Reproduction([figure], TINY, tmp_path)

    def check():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        next(reproduction.work(reproduction.jobs(), check))
    assert not any(job.done for job in reproduction.jobs())


def test_it_is_a_click_command():
    assert isinstance(command.reproduce, click.Command)
