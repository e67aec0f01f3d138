"""``infoplane status``: on stores that are complete, stopped, being written, and none at all."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.sweep import engine

UNIFORM = ip.datasets.paper_uniform()


def swept(path, **options):
    return ip.sweep(UNIFORM, ip.bottleneck, np.geomspace(0.1, 0.8, 4), "ib-1", starts=3, rng=5, store=path, **options)


def stop(_progress):
    raise KeyboardInterrupt


def test_complete(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    swept("runs.db")
    said = run("status", "runs.db")
    assert said.code == 0
    for words in (
        "state        complete",
        "bottleneck, 4 parameters from 0.1 to 0.8",
        "3 x 3, sha256 e5675180",
        "ib-1, 3 starts, seed 5",
        "4 of 4 done",
        "12 of 12 done (100%), 0 under way",
        "12 (100%)",
    ):
        assert words in said.out
    assert "left" not in said.out
    found = run("status", tmp_path / "runs.db", "--json").json
    assert (found["complete"], found["running"], found["runs"], found["total_runs"]) == (True, False, 12, 12)
    assert (found["solver"], found["seed"], found["family"]) == ("ib-1", 5, "bottleneck")
    assert "rho" not in found


def test_stopped_and_refined(run, tmp_path):
    swept(tmp_path / "runs.db", progress=stop, chunk_seconds=1e-9, points=9)
    said = run("status", tmp_path / "runs.db")
    assert "stopped; infoplane resume continues it" in said.out
    assert "refined to 9" in said.out
    assert "of 27 done" in said.out
    assert "left" in said.out
    found = run("status", tmp_path / "runs.db", "--json").json
    assert found["parameters"] == 1
    assert 3 <= found["runs"] < 12
    assert found["seconds_left"] > 0


def test_nothing_finished_yet(run, tmp_path, monkeypatch):
    def broken(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "run_chunk", broken)
    assert not swept(tmp_path / "runs.db").complete
    said = run("status", tmp_path / "runs.db")
    assert "0 of 12 done (0%)" in said.out
    assert run("status", tmp_path / "runs.db", "--json").json["best_loss"] is None


def test_while_it_runs(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = []

    def look(_progress):
        seen.append(run("status", "runs.db").out)

    swept("runs.db", progress=look)
    assert len(seen) == 4
    assert all("state        running" in said for said in seen)


@pytest.mark.parametrize("command", [("status",), ("export", "--out", "f.csv")])
def test_no_store(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    said = run(*command, tmp_path / "no.db")
    assert (said.code, "no.db cannot be read: No such file" in said.err) == (2, True)
    (tmp_path / "text.db").write_text("x" * 200)
    said = run(*command, tmp_path / "text.db")
    assert (said.code, "is not a store of infoplane; it was left as it is" in said.err) == (2, True)
    assert not (tmp_path / "f.csv").exists()
