"""Runs as points of the plane, and their distance to proven lines."""

import numpy as np
import pytest

from infoplane_paper.points import Points, excess, least_leakage, optimum
from tiny import made_points

CERTIFIED = made_points([0.4, 1.0], [0.0, 0.0], parameter=[0.5, 0.2], lower_bound=[-0.1, -0.3])


def test_least_leakage_is_a_staircase():
    ixz, iyz = np.array([0.5, 1.0, 1.5]), np.array([0.05, 0.1, 0.3])
    found = least_leakage(ixz, iyz, np.array([0.0, 0.5, 0.51, 1.5, 1.6]))
    np.testing.assert_array_equal(found, [0.05, 0.05, 0.1, 0.3, np.inf])


def test_excess_is_the_distance_to_the_lowest_line():
    # gamma u - LB: 0.5 * 0.4 + 0.1 = 0.3, 0.2 * 0.4 + 0.3 = 0.38; at 1.0: 0.6 and 0.5.
    points = made_points([0.4, 1.0], [0.25, 0.5])
    np.testing.assert_allclose(excess(points, CERTIFIED, "bottleneck"), [0.05, 0.0], atol=1e-15)
    funnel = made_points([1.0], [0.3], parameter=[2.0], lower_bound=[-0.6])
    np.testing.assert_allclose(excess(made_points([1.0, 0.1], [0.3, 0.1]), funnel, "funnel"), [0.1, 0.1], atol=1e-15)


def test_optimum_is_of_the_grid():
    assert optimum(CERTIFIED, 0.2) == (0.0, -0.3)
    with pytest.raises(LookupError, match="nothing was certified"):
        optimum(CERTIFIED, 0.3)


def test_points_views():
    points = made_points([1, 2, 3], [1, 2, 3], parameter=[0.1, 0.1, 0.2], loss=[-1, -2, -3], converged=[1, 0, 1])
    np.testing.assert_array_equal(points.best().loss, [-2, -3])
    np.testing.assert_array_equal(points.ended().ixz, [1, 3])
    np.testing.assert_array_equal(points.between(1.5, 2.5).ixz, [2])
    slow = Points(**{**points.columns(), "iterations": np.array([10.0, 10.0, 200.0])})
    np.testing.assert_array_equal(slow.within(100).converged, [1, 0, 0])
