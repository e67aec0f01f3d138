"""Sweeps of tasks: frames, files, stores, processes and pictures have what is kept and what is told."""

import functools
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import infoplane as ip
from made_up import made_tasks, told

BETAS = [0.3, 1.0, 4.0]


def test_frames_files_and_stores(tmp_path):
    tasks = made_tasks(1, letters=6)
    frontier = ip.sweep(tasks, ip.task_funnel, BETAS, rng=0, starts=2)
    frame = frontier.to_frame()
    for run, row in zip(frontier.runs, frame.itertuples(), strict=True):
        ixz, iuz, isz = told(tasks, run.encoder)
        assert (row.ixz_bits, row.iuz_bits, row.isz_bits) == pytest.approx(
            np.array([ixz, iuz, isz]) / np.log(2), abs=1e-12
        )
    assert "iyz_bits" not in frame
    assert (np.diff(frame.isz_bits) < 0).all()
    assert frontier.pareto_rows() == [2, 1, 0]
    assert frontier.plot().get_ylabel().startswith("kept")
    assert "I(S;Z)" in frontier._repr_html_()
    frontier.save(tmp_path / "f.npz")
    again = ip.Frontier.load(tmp_path / "f.npz")
    assert again.runs[0].problem == frontier.runs[0].problem
    assert again.to_frame().equals(frame)
    stored = ip.sweep(tasks, ip.task_funnel, BETAS, "task-map", rng=0, starts=3, store=tmp_path / "runs.db")
    resumed = ip.resume(tmp_path / "runs.db")
    # Runs whose encoders were not kept have both informations from their loss.
    kept, back = (one.to_frame()[["isz_bits", "iuz_bits"]].to_numpy() for one in (stored, resumed))
    assert np.abs(kept - back).max() < 1e-12
    direct = ip.sweep(tasks, ip.task_funnel, BETAS, "task-map", rng=0, starts=3).to_frame()
    assert np.abs(kept - direct[["isz_bits", "iuz_bits"]].to_numpy()).max() < 1e-12


def test_other_processes_know_the_targets():
    family = functools.partial(ip.side_information_bottleneck, hide=0.5)
    here = ip.sweep(made_tasks(2), family, [0.05, 0.2], "task-map", rng=0, starts=2)
    with ProcessPoolExecutor(1) as executor:
        there = ip.sweep(made_tasks(2), family, [0.05, 0.2], "task-map", rng=0, starts=2, executor=executor)
    assert here.to_frame().loss_nats.equals(there.to_frame().loss_nats)


def test_without_a_grid_and_with_bounds():
    frontier = ip.sweep(made_tasks(3, letters=4, kept=2), ip.task_funnel, rng=0, certify=True, starts=1)
    assert len(frontier.runs) == 16
    assert (frontier.to_frame().status == "CERTIFIED").all()
