"""What a small installation does, from a table to a verified answer: run with the oldest versions that pyproject.toml allows, too."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import infoplane as ip
import verify
from infoplane.cli.app import infoplane


@pytest.mark.parametrize("problem", [ip.bottleneck(0.2), ip.funnel(3.5)])
def test_from_a_table_to_a_verified_answer(problem, tmp_path):
    frame = pd.DataFrame({"a": ["u", "u", "v", "w", "w"], "b": [1, 2, 2, 1, 3], "n": [3, 1, 4, 2, 5]})
    joint = ip.Joint.from_frame(frame, x=["a"], y=["b"], weight="n")
    found = ip.solve(joint, problem, certify=True, max_seconds=600.0)  # kernels are compiled meanwhile
    verify.check_solution(joint.p_xy, problem.rho, found)
    assert found.status is ip.Status.CERTIFIED
    ip.Frontier(joint, [found]).save(tmp_path / "answer.npz")
    assert [one.verdict for one in ip.verify(tmp_path / "answer.npz")] == [ip.CheckVerdict.VERIFIED]
    assert found.encoder_frame().shape == (3, found.clusters)
    assert found.clusters_frame().p_z.sum() == pytest.approx(1.0)


def test_a_stored_sweep_comes_back(tmp_path):
    joint, grid = ip.datasets.paper_uniform(), [0.2, 0.5]
    swept = ip.sweep(joint, ip.bottleneck, grid, "blahut-arimoto", starts=2, rng=0, store=tmp_path / "runs.db")
    assert len(swept.to_frame()) == 4
    again = ip.resume(tmp_path / "runs.db")
    assert [run.loss for run in again.runs] == [run.loss for run in swept.runs]


def runner():
    """Standard output by itself, which click's runner kept apart from standard error only if asked, before it always did."""
    try:
        return CliRunner(mix_stderr=False)
    except TypeError:
        return CliRunner()


def test_the_command_line_prints_a_table_and_json(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("x,low,high\nred,3,1\ngreen,0,2\nblue,5,5\n")
    arguments = ["solve", str(path), "--wide", "--gamma", "0.2", "--solver", "blahut-arimoto", "--starts", "1"]
    shown = runner().invoke(infoplane, arguments)
    assert (shown.exit_code, "I(X;Z)" in shown.stdout) == (0, True)
    said = runner().invoke(infoplane, [*arguments, "--json"])
    assert np.array(json.loads(said.stdout)["encoder"]).sum(axis=0) == pytest.approx(np.ones(3))


def test_pictures_reports_and_parquet_are_written(tmp_path):
    swept = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.5], "blahut-arimoto", starts=1, rng=0)
    swept.plot().figure.savefig(tmp_path / "plane.png")
    swept.report(tmp_path / "report.html")
    swept.to_frame().to_parquet(tmp_path / "frontier.parquet")
    back = pd.read_parquet(tmp_path / "frontier.parquet")
    assert back.loss_nats.tolist() == swept.to_frame().loss_nats.tolist()
    assert all((tmp_path / name).stat().st_size > 1000 for name in ("plane.png", "report.html", "frontier.parquet"))
