"""``infoplane export``: a store as a table or an archive."""

import os

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from infoplane.storage.reader import read_store
from sweeping import assert_same_runs

UNIFORM = ip.datasets.paper_uniform()


def swept(path, **options):
    return ip.sweep(UNIFORM, ip.bottleneck, np.geomspace(0.1, 0.8, 4), "ib-1", starts=3, rng=5, store=path, **options)


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
