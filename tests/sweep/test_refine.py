"""`points=`: parameters inserted until the best runs lie evenly along the curve; resumable as everything else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infoplane as ip
from infoplane.sweep.refine import FINEST, inserted
from infoplane.sweep.store.reader import read_store, store_status
from sweeping import Warm, assert_same_runs

UNIFORM = ip.datasets.paper_uniform()


def swept(joint=UNIFORM, family=ip.bottleneck, grid=(0.1, 0.3, 1.0), points=24, **options):
    return ip.sweep(joint, family, list(grid), points=points, **{"solver": "ib-1", "starts": 3, "rng": 0} | options)


def chords(frontier):
    best = [frontier.runs[row] for row in frontier.best_rows()]
    plane = np.array([(run.ixz, run.iyz) for run in best])
    plane /= np.ptp(plane, axis=0)
    return np.linalg.norm(np.diff(plane, axis=0), axis=1)


def refined(curve, parameters, points):
    """Rounds on a curve that is known: parameter -> (I(X;Z), I(Y;Z))."""
    rounds = []
    while True:
        new = inserted(np.array(parameters), np.array([curve(one) for one in parameters]), points)
        if not new:
            return parameters, rounds
        rounds.append(new)
        parameters = sorted({*parameters, *new})


# -- the rule ------------------------------------------------------------------------------------------------------------


def test_a_curve_that_moves_late_gets_its_points_there():
    parameters, rounds = refined(lambda t: (t**8, t**8), [0.1, 1.0], 33)
    assert len(parameters) == 33
    assert len(rounds) > 3
    positions = np.array(parameters) ** 8
    gaps = np.diff(positions)
    grid_gaps = np.diff(np.geomspace(0.1, 1.0, 33) ** 8)
    assert gaps.max() < 2.5 / 32 < 0.4 * grid_gaps.max()


def test_a_jump_does_not_swallow_the_points():
    """Across a jump no parameter leads; cutting there ends, and the points go to the rest of the curve."""
    parameters, _ = refined(lambda t: (t + (10.0 if t > 0.5 else 0.0), 0.0), [0.1, 1.0], 20)
    assert len(parameters) == 20
    low = max(one for one in parameters if one <= 0.5)
    high = min(one for one in parameters if one > 0.5)
    assert np.log(high / low) < 2 * FINEST * np.log(10) / 19
    assert sum(0.45 < one < 0.55 for one in parameters) < 14


def test_a_curve_that_stands_still_gets_no_more():
    assert inserted(np.array([0.1, 0.4, 1.0]), np.zeros((3, 2)), 9) == []


def test_parameters_that_are_not_positive_are_cut_in_equal_steps():
    assert inserted(np.array([-1.0, 1.0]), np.array([[0.0, 0.0], [1.0, 1.0]]), 3) == [0.0]


@given(
    parameters=st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=12, unique=True).map(sorted),
    points=st.integers(2, 30),
    seed=st.integers(0, 100),
)
def test_inserted_parameters_lie_inside_ascend_and_are_new(parameters, points, seed):
    plane = np.random.default_rng(seed).random((len(parameters), 2))
    new = inserted(np.array(parameters), plane, points)
    assert len(new) <= max(points - len(parameters), 0)
    assert new == sorted(new)
    assert all(parameters[0] < one < parameters[-1] for one in new)
    assert not set(new) & set(parameters)


# -- in a sweep ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("joint", "family", "grid"), [
    (UNIFORM, ip.bottleneck, (0.1, 0.3, 1.0)),
    (ip.datasets.heart(), ip.bottleneck, (0.2, 0.4, 1.0)),
])  # fmt: skip
def test_points_are_spread_more_evenly_than_a_grids(joint, family, grid):
    found = swept(joint, family, grid)
    parameters = [found.runs[row].parameter for row in found.best_rows()]
    assert len(parameters) == 24
    assert {grid[0], grid[-1]} <= set(parameters)
    plain = ip.sweep(joint, family, np.geomspace(grid[0], grid[-1], 24), "ib-1", starts=3, rng=0)
    assert chords(found).max() < 0.75 * chords(plain).max()
    # Rows ascend, and say so of themselves.
    assert [run.parameter for run in found.runs] == sorted(run.parameter for run in found.runs)
    assert sorted(found.provenance["grid"]) == parameters
    assert found.provenance["points"] == 24


def test_refinement_does_not_depend_on_threads_chunks_or_resumes(tmp_path):
    expected = swept()
    assert_same_runs(swept(chunk_seconds=1e-9), expected, encoders="all")
    path, calls = tmp_path / "runs.db", 0
    while True:
        heard = []

        def press(progress, heard=heard):
            heard.append(progress)
            if len(heard) == 4:
                raise KeyboardInterrupt

        found = swept(store=path, chunk_seconds=1e-9, progress=press)
        calls += 1
        status = store_status(path)
        assert status.total_parameters == 24
        if found.complete:
            break
    assert calls >= 5
    assert_same_runs(found, expected)
    again = read_store(path)
    assert_same_runs(again, expected)
    assert again.provenance == found.provenance == expected.provenance


def test_progress_counts_towards_the_points():
    seen = []
    swept(points=10, progress=seen.append)
    assert [one.done for one in seen] == list(range(1, 11))
    assert {(one.total, one.total_runs) for one in seen} == {(10, 30)}


def test_fewer_points_than_asked_for_is_complete(tmp_path):
    """All parameters above the first transition give the trivial encoder: there is no curve to space points along."""
    found = swept(grid=(0.8, 1.0), points=9, store=tmp_path / "runs.db", tol=1e-10)
    status = store_status(tmp_path / "runs.db")
    assert found.complete
    assert status.complete
    assert status.total_parameters == status.parameters == len(found.best_rows())
    assert status.total_runs == status.runs == len(found)


def test_path_solvers_refine_too():
    found = swept(solver=Warm(4), points=12)
    assert len(found) == 12
    assert_same_runs(swept(solver=Warm(4), points=12, chunk_seconds=1e-9), found, encoders="all")


def test_a_single_parameter_is_no_range():
    assert len(swept(grid=(0.3,), points=5).best_rows()) == 1
    assert len(swept(grid=(0.3, 0.3), points=5)) == 6
