import numpy as np
import pytest

import infoplane as ip
from infoplane.joint.support import Support
from infoplane.solvers import self_consistent
from infoplane.solvers.prediction import Path

HEART = ip.datasets.heart()


def optimum(gamma):
    return ip.solve(HEART, ip.bottleneck(gamma), "annealing", tol=1e-10).encoder


def test_more_points_come_nearer_to_the_next_encoder():
    path, gammas = Path(Support(HEART)), [0.100, 0.101, 0.102, 0.103, 0.104]
    points = [optimum(gamma) for gamma in gammas]
    assert len({len(W) for W in points}) == 1
    problem = ip.bottleneck(gammas[-1])
    best, excess = problem.value(HEART, points[-1]), []
    for gamma, W in zip(gammas[:-1], points[:-1], strict=True):
        path.passed(gamma, W)
        excess.append(problem.value(HEART, path.predicted(gammas[-1], W).W) - best)
    assert excess[3] < 0.05 * excess[1] < 0.05 * excess[0]


def test_an_encoder_that_is_not_the_path_s_last_is_taken_as_it_is():
    path, W = Path(Support(HEART)), optimum(0.1)
    path.passed(0.09, optimum(0.09))
    path.passed(0.1, W)
    there = path.predicted(0.11, W.copy())
    np.testing.assert_array_equal(there.u, path.predicted(0.1, W).u)


def test_clusters_that_merged_are_added_up():
    before = np.repeat(np.eye(3), 2, axis=0)[:, [0, 1, 2] * 5 + [0]] / 2
    now = np.eye(3)[:, [0, 1, 2] * 5 + [0]]
    matched = Path(Support(HEART))._matched(before, now)
    np.testing.assert_allclose(matched, now)


def test_a_predicted_path_ends_where_an_unpredicted_one_does_in_fewer_iterations(monkeypatch):
    grid = np.geomspace(0.05, 0.12, 40)
    plain = ip.sweep(HEART, ip.bottleneck, grid)
    monkeypatch.setattr(self_consistent, "LEAST_WORK", 1)
    ahead = ip.sweep(HEART, ip.bottleneck, grid)
    assert all(run.converged for run in ahead.runs)
    assert [run.loss for run in ahead.runs] == pytest.approx([run.loss for run in plain.runs], abs=1e-9)
    assert sum(run.iterations for run in ahead.runs) < sum(run.iterations for run in plain.runs)


def test_every_run_of_a_path_has_its_own_time():
    """All of it used to be the first run's, and none the others'."""
    found = ip.sweep(HEART, ip.bottleneck, np.geomspace(0.02, 0.5, 6))
    assert all(run.seconds > 0.0 for run in found.runs)
