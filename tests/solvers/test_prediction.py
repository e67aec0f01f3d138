import numpy as np
import pytest

import infoplane as ip
from infoplane.joint.support import Support
from infoplane.solvers import prediction
from infoplane.solvers.prediction import Path

HEART = ip.datasets.heart()


def optimum(gamma):
    return ip.solve(HEART, ip.bottleneck(gamma), "annealing", tol=1e-10).encoder


def test_the_secant_is_much_nearer_to_the_next_encoder_than_the_last_is():
    path, gammas = Path(Support(HEART)), [0.100, 0.101, 0.102]
    points = [optimum(gamma) for gamma in gammas]
    assert len({len(W) for W in points}) == 1
    path.passed(gammas[0], points[0])
    path.passed(gammas[1], points[1])
    problem = ip.bottleneck(gammas[2])
    ahead = path.predicted(problem, points[1])
    excess = [problem.value(HEART, W) - problem.value(HEART, points[2]) for W in (points[1], ahead)]
    assert 0.0 <= excess[1] < 0.05 * excess[0]
    np.testing.assert_allclose(ahead.sum(axis=0), 1.0, atol=1e-12)


def test_clusters_that_merged_are_added_up():
    before = np.repeat(np.eye(3), 2, axis=0)[:, [0, 1, 2] * 5 + [0]] / 2
    now = np.eye(3)[:, [0, 1, 2] * 5 + [0]]
    matched = Path(Support(HEART))._matched(before, now)
    np.testing.assert_allclose(matched, now)


def test_a_predicted_path_ends_where_an_unpredicted_one_does_in_fewer_iterations(monkeypatch):
    grid = np.geomspace(0.05, 0.12, 40)
    plain = ip.sweep(HEART, ip.bottleneck, grid)
    monkeypatch.setattr(prediction, "LEAST_WORK", 1)
    ahead = ip.sweep(HEART, ip.bottleneck, grid)
    assert all(run.converged for run in ahead.runs)
    assert [run.loss for run in ahead.runs] == pytest.approx([run.loss for run in plain.runs], abs=1e-9)
    assert sum(run.iterations for run in ahead.runs) < sum(run.iterations for run in plain.runs)


def test_every_run_of_a_path_has_its_own_time():
    """All of it used to be the first run's, and none the others'."""
    found = ip.sweep(HEART, ip.bottleneck, np.geomspace(0.02, 0.5, 6))
    assert all(run.seconds > 0.0 for run in found.runs)
