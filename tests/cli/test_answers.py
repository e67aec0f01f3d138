"""``status``, ``resume`` and ``export`` of a store, and ``verify``: 0 verified, 4 not verified as claimed, 3 no file of answers."""

import json
import os

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from infoplane.storage.store import read_store
from infoplane.sweep import engine
from sweeping import assert_same_runs

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


def test_goes_on_with_what_the_store_recorded(run, tmp_path):
    store = tmp_path / "h.db"
    joint = ip.datasets.heart()
    ip.sweep(joint, ip.bottleneck, [0.1, 0.3], "ib-1", starts=2, rng=0, store=store, progress=stop, chunk_seconds=1e-3)
    assert "infoplane resume continues it" in run("status", store).out
    said = run("resume", store, "--json", "--out", tmp_path / "runs.csv")
    assert (said.code, said.json["complete"], len(said.json["runs"])) == (0, True, 4)
    assert (tmp_path / "runs.csv").exists()
    assert run("status", store, "--json").json["complete"]
    assert "bottleneck frontier of h" in run("resume", store).out


def test_a_file_that_is_no_store_is_refused(run, tmp_path):
    assert run("resume", tmp_path / "none.db").code == 2


@pytest.mark.parametrize(("ending", "read"), [("csv", pd.read_csv), ("parquet", pd.read_parquet)])
def test_tables(run, tmp_path, ending, read):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    expected = swept(tmp_path / "runs.db").to_frame()
    out = tmp_path / f"f.{ending}"
    said = run("export", tmp_path / "runs.db", "--out", out)
    assert said.code == 0
    assert said.err == f"wrote {out}: 12 runs of 4 parameters\n"
    frame = read(out)
    for name in ("parameter", "start", "loss_nats", "ixz_bits", "iyz_bits", "iterations", "seconds"):
        np.testing.assert_array_equal(frame[name], expected[name])
    assert sorted(os.listdir(tmp_path)) == sorted(["runs.db", out.name])


def test_archive_has_the_encoders_of_the_best(run, tmp_path):
    swept(tmp_path / "runs.db")
    assert run("export", tmp_path / "runs.db", "--out", tmp_path / "f.npz").code == 0
    assert_same_runs(ip.Frontier.load(tmp_path / "f.npz"), read_store(tmp_path / "runs.db"))


def test_a_sweep_that_is_not_complete(run, tmp_path):
    def stop(_progress):
        raise KeyboardInterrupt

    swept(tmp_path / "runs.db", progress=stop, chunk_seconds=1e-9)
    said = run("export", tmp_path / "runs.db", "--out", tmp_path / "f.csv")
    assert said.code == 0
    assert "3 runs of 1 parameter\n" in said.err
    assert "The sweep is not complete: " in said.err
    assert len(pd.read_csv(tmp_path / "f.csv")) == 3


def test_usage(run, tmp_path):
    swept(tmp_path / "runs.db")
    said = run("export", tmp_path / "runs.db", "--out", tmp_path / "f.txt")
    assert (said.code, "--out must end in .csv, .parquet, .npz" in said.err) == (2, True)
    assert run("export", tmp_path / "runs.db").code == 2


@pytest.fixture
def answer(tmp_path):
    path = tmp_path / "answer.npz"
    ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.5], certify=True).save(path)
    return path


def test_verified_is_zero_with_a_line_a_run(run, answer):
    said = run("verify", answer)
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0].startswith("run 0, bottleneck at 0.2: VERIFIED; loss -0.240760")
    assert "no encoder is better by more than" in lines[0]
    assert lines[-1] == "2 of 2 runs verified"


def test_json_has_every_finding(run, answer):
    found = json.loads(run("verify", answer, "--json").out)
    assert found["verified"] is True
    assert [one["verdict"] for one in found["findings"]] == ["VERIFIED", "VERIFIED"]
    assert all(one["gap_nats"] <= 1e-6 for one in found["findings"])


def test_a_raised_bound_is_four_and_shows_what_contradicts_it(run, answer, tmp_path):
    with np.load(answer) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["multipliers"] = arrays["multipliers"] + [[1e-3, -1e-3, 1e-3]]
    np.savez(tmp_path / "bad.npz", **arrays)
    said = run("verify", tmp_path / "bad.npz")
    assert said.code == 4
    assert "run 0, bottleneck at 0.2: REFUTED" in said.out
    assert " at x " in said.out


def test_a_limit_is_four(run, answer):
    said = run("verify", answer, "--max-cells", "1")
    assert said.code == 4
    assert "PROVEN TO" in said.out


def test_another_file_is_three(run, tmp_path):
    (tmp_path / "x.npz").write_bytes(b"nothing")
    said = run("verify", tmp_path / "x.npz")
    assert said.code == 3
    assert "no file of answers that can be verified" in said.err
