"""``infoplane demo``: two tables, a picture, and commands to go on with; ``infoplane datasets``: the built-in joints."""

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from infoplane.cli import demo, options


def test_datasets(run):
    said = run("datasets")
    assert all(name in said.out for name in ip.datasets.names())
    found = run("datasets", "--json").json["datasets"]
    assert [one["name"] for one in found] == list(ip.datasets.names())
    assert found[2]["shape"] == [16, 4]
    assert found[2]["ixy_bits"] == pytest.approx(0.292701, abs=1e-6)


def test_the_records_of_one_as_a_table(run, tmp_path):
    path = tmp_path / "heart.csv"
    assert "299 records" in run("datasets", "heart", "--out", path).err
    read = ip.Joint.from_frame(pd.read_csv(path), "risk_factors", "outcome", smoothing=1e-3)
    heart = ip.datasets.heart()
    at = [read.x_labels.index(x) for x in heart.x_labels], [read.y_labels.index(y) for y in heart.y_labels]
    assert read.p_xy[np.ix_(*at)] == pytest.approx(heart.p_xy, abs=1e-15)


@pytest.mark.parametrize("words", [("heart",), ("--out", "x.csv"), ("colours", "--out", "x.csv")])
def test_what_has_no_records_is_refused(run, words):
    assert run("datasets", *words).code == 2


def test_writes_tables_and_a_picture(run, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    few = {name: {"points": 2, "starts": 1, "max_iter": most} for name, most in (("bottleneck", 50), ("funnel", 5))}
    monkeypatch.setattr(demo, "QUICK", few)
    said = run("demo", "--quick", "--out", tmp_path / "new" / "pictures")
    assert said.code == 0
    assert "bottleneck frontier of heart: 1 start of annealing" in said.out
    assert "funnel frontier of heart: 1 start of " in said.out
    assert "infoplane solve heart" in said.out
    assert (tmp_path / "new" / "pictures" / demo.PICTURE).read_bytes().startswith(b"\x89PNG")


def test_refuses_a_file_as_directory(run, tmp_path):
    (tmp_path / "file").write_text("")
    said = run("demo", "--out", tmp_path / "file")
    assert (said.code, "cannot be made a directory" in said.err) == (2, True)


def test_interrupted_is_130(run, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "sweep", lambda joint, *_, **__: ip.Frontier(joint, [], complete=False))
    said = run("demo", "--quick", "--out", tmp_path)
    assert (said.code, "Interrupted" in said.err) == (130, True)


def test_the_commands_that_it_ends_with_can_be_parsed(run, monkeypatch, tmp_path):
    """Every command line that the demo ends with, up to the point where it would begin to solve."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "YOUR.csv").write_text("COLUMNS,B\n1,2\n2,1\n")
    began = []

    def stop(*_args, **_options):
        began.append(True)
        raise KeyboardInterrupt

    monkeypatch.setattr(options, "prepare", stop)
    lines = [line.split("  ")[1].split()[1:] for line in demo.NEXT.splitlines()[1:]]
    for words in lines:
        arguments = ["B" if word == "COLUMNS" and words[i - 1] == "--y" else word for i, word in enumerate(words)]
        assert run(*arguments).code == 130
    assert len(began) == len(lines) == 4
