"""A solver in one file, registered in one line: everything else follows (`examples/own_solver.py`)."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import infoplane as ip
import verify

HEART = ip.datasets.heart()


@pytest.fixture(scope="module")
def example():
    path = Path(__file__).parents[2] / "examples" / "own_solver.py"
    spec = importlib.util.spec_from_file_location("own_solver", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["own_solver"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["own_solver"]
    ip.SOLVERS.pop("projected-gradient")


def test_the_projection_is_the_nearest_encoder(example):
    """Against the definition: V - level, cut off at 0, with the level that makes a column sum to 1."""
    V = np.random.default_rng(0).normal(size=(3, 4, 5))
    found = example.projected(V)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    for run, x in np.ndindex(3, 5):
        column, low, high = V[run, :, x], V[run, :, x].min() - 1.0, V[run, :, x].max()
        for _ in range(200):
            level = (low + high) / 2
            low, high = (level, high) if np.maximum(column - level, 0.0).sum() > 1.0 else (low, level)
        np.testing.assert_allclose(found[run, :, x], np.maximum(column - high, 0.0), atol=1e-9)


@pytest.mark.parametrize("problem", [ip.bottleneck(0.4), ip.funnel(2.5)])
def test_what_it_reports_is_true_and_its_loss_never_rises(example, problem):
    found = ip.solve(HEART, problem, "projected-gradient", starts=3, rng=0, max_iter=60)
    verify.check_solution(HEART.p_xy, problem.rho, found, tol=1e-9)
    assert (np.diff(found.trace.loss) <= 1e-12).all()
    assert len(found.starts) == 3


def test_sweeps_stores_comparison_progress_and_limits_follow(example, tmp_path):
    options = {"starts": 2, "rng": 0, "max_iter": 40}
    swept = ip.sweep(HEART, ip.bottleneck, [0.3, 0.4], "projected-gradient", store=tmp_path / "runs.db", **options)
    assert {run.solver for run in swept.runs} == {"projected-gradient"}
    frame = ip.compare(HEART, ip.bottleneck, [0.4], ["projected-gradient", "accelerated"], **options)
    assert set(frame.solver) == {"projected-gradient", "accelerated"}
    seen = []
    stopped = ip.solve(
        HEART,
        ip.bottleneck(0.4),
        "projected-gradient",
        callback=lambda one: seen.append(one) or len(seen) == 2,
        **options,
    )
    assert len(seen) == 2
    assert stopped.iterations < 40
    assert ip.solve(HEART, ip.bottleneck(0.9), "projected-gradient", certify=True, **options).lower_bound is not None
