"""`points=`: parameters inserted until the best runs lie evenly along the curve; resumable as everything else."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infoplane as ip
from infoplane.frontier.geometry import Line
from infoplane.storage.store import read_store, store_status
from infoplane.sweep.grid import FINEST, KEPT, enclosing, inserted, natural_range
from sweeping import Warm, assert_same_runs

UNIFORM = ip.datasets.paper_uniform()


def swept(joint=UNIFORM, family=ip.bottleneck, grid=(0.1, 0.3, 1.0), points=16, **options):
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


# -- the rule with proven bounds -----------------------------------------------------------------------------------------


def root(gamma):
    """The frontier v = sqrt(R): its point with slope gamma, and the line that touches it there."""
    return (1.0 / (4.0 * gamma * gamma), 1.0 / (2.0 * gamma)), Line(gamma, 1.0 / (4.0 * gamma))


def broken(gamma):
    """A frontier of two straight pieces, with slopes 2 and 0.5, and a corner at (1, 2)."""
    ixz, v = (1.0, 2.0) if 0.5 < gamma < 2.0 else (3.0, 3.0) if gamma <= 0.5 else (0.0, 0.0)
    return (ixz, v), Line(gamma, v - gamma * ixz)


def enclosed(curve, parameters, points, tol=1e-9):
    rounds = []
    while True:
        plane, lines = zip(*(curve(one) for one in parameters), strict=True)
        new = enclosing(np.array(parameters), np.array(plane), lines, points, tol)
        if not new:
            return parameters, rounds
        rounds.append(new)
        parameters = sorted({*parameters, *new})


def test_the_next_point_has_the_slope_of_the_chord():
    (one, first), (two, second) = root(0.2), root(0.8)
    [new] = enclosing(np.array([0.2, 0.8]), np.array([one, two]), [first, second], 9, 1e-9)
    assert new == pytest.approx((one[1] - two[1]) / (one[0] - two[0]))


def test_heights_fall_by_four_a_round():
    """With four times the points the largest height is a sixteenth, or less where points are placed better than evenly."""

    def height(parameters):
        places = np.array([root(one)[0] for one in parameters])
        meets = np.array([1.0 / (4.0 * a * b) for a, b in itertools.pairwise(parameters)])
        above = np.array([a * r + 1.0 / (4.0 * a) for a, r in zip(parameters, meets, strict=False)])
        return (above - np.interp(meets, places[::-1, 0], places[::-1, 1])).max()

    few, _ = enclosed(root, [0.1, 1.0], 9)
    many, rounds = enclosed(root, [0.1, 1.0], 33)
    assert (len(few), len(many)) == (9, 33)
    assert len(rounds) > 3
    assert height(many) < height(few) / 10.0 < height(np.geomspace(0.1, 1.0, 9)) / 10.0


def test_straight_pieces_are_closed_at_once():
    parameters, _ = enclosed(broken, [0.1, 4.0], 50, 1e-6)
    assert len(parameters) < 8
    assert any(abs(one - 0.5) < 1e-12 for one in parameters)
    assert any(abs(one - 2.0) < 1e-12 for one in parameters)


def test_bounds_that_are_loose_do_not_swallow_the_points():
    def loose(gamma):
        place, line = root(gamma)
        return place, Line(line.slope, line.height + (0.5 if gamma > 0.5 else 0.0))

    parameters, _ = enclosed(loose, [0.1, 1.0], 200, 1e-9)
    assert min(np.diff(np.log(parameters))) >= 0.05 * FINEST * np.log(10) / 199
    assert len(parameters) == 200


# -- in a sweep ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("joint", "family", "grid"), [
    (UNIFORM, ip.bottleneck, (0.1, 0.3, 1.0)),
    (ip.datasets.heart(), ip.bottleneck, (0.2, 0.4, 1.0)),
])  # fmt: skip
def test_points_are_spread_more_evenly_than_a_grids(joint, family, grid):
    found = swept(joint, family, grid)
    parameters = [found.runs[row].parameter for row in found.best_rows()]
    assert len(parameters) == 16
    assert {grid[0], grid[-1]} <= set(parameters)
    plain = ip.sweep(joint, family, np.geomspace(grid[0], grid[-1], 16), "ib-1", starts=3, rng=0)
    assert chords(found).max() < 0.75 * chords(plain).max()
    # Rows ascend, and say so of themselves.
    assert [run.parameter for run in found.runs] == sorted(run.parameter for run in found.runs)
    assert sorted(found.provenance["grid"]) == parameters
    assert found.provenance["points"] == 16


def test_refinement_does_not_depend_on_threads_chunks_or_resumes(tmp_path):
    expected = swept(points=12)
    assert_same_runs(swept(points=12, chunk_seconds=1e-9), expected, encoders="all")
    path, calls = tmp_path / "runs.db", 0
    while True:
        heard = []

        def press(progress, heard=heard):
            heard.append(progress)
            if len(heard) == 4:
                raise KeyboardInterrupt

        found = swept(points=12, store=path, chunk_seconds=1e-9, progress=press)
        calls += 1
        status = store_status(path)
        assert status.total_parameters == 12
        if found.complete:
            break
    assert calls >= 3
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


def test_certified_points_enclose_the_curve_better_than_even_ones(tmp_path):
    joint, path = ip.datasets.heart(), tmp_path / "runs.db"
    found = ip.sweep(joint, ip.bottleneck, [0.02, 0.3], points=10, certify=True, store=path)
    even = ip.sweep(joint, ip.bottleneck, np.geomspace(0.02, 0.3, 10), certify=True)
    assert len(found) == 10
    inside = [
        one.to_frame().query("0.1 < ixz_bits < 2").gap_bits.max() for one in (found.enclosure(), even.enclosure())
    ]
    assert inside[0] < 0.8 * inside[1]
    # What was proven is read back from a store, so that a resumed sweep goes on in the same places.
    again = ip.sweep(joint, ip.bottleneck, [0.02, 0.3], points=10, certify=True, store=path)
    assert_same_runs(again, found)


def test_a_certified_sweep_ends_once_the_curve_is_enclosed():
    found = ip.sweep(UNIFORM, ip.bottleneck, [0.3, 0.6], points=60, certify=1e-2)
    assert len(found) < 30
    assert found.enclosure().to_frame().query("0.1 < ixz_bits < 0.8").gap_bits.max() < 3e-2 / np.log(2)


def test_funnels_are_enclosed_too():
    found = ip.sweep(UNIFORM, ip.funnel, [1.1, 8.0], points=7, certify=True)
    assert len(found) == 7
    even = ip.sweep(UNIFORM, ip.funnel, np.geomspace(1.1, 8.0, 7), certify=True)
    assert found.enclosure().gap_bits < even.enclosure().gap_bits


JOINTS = {"heart": ip.datasets.heart, "uniform": ip.datasets.paper_uniform, "non-uniform": ip.datasets.paper_nonuniform}


@pytest.mark.parametrize("make", JOINTS.values(), ids=JOINTS)
def test_a_bottlenecks_range_spans_its_trade_off(make):
    joint = make()
    low, high = natural_range(joint, ip.bottleneck)
    most, least = (ip.solve(joint, ip.bottleneck(gamma), rng=0) for gamma in (low, min(1.001 * high, 1.0)))
    assert most.iyz >= (KEPT - 0.01) * joint.mutual_information
    assert least.iyz <= 1e-6
    assert ip.solve(joint, ip.bottleneck(0.8 * high), rng=0).iyz > 1e-3 * joint.mutual_information


@pytest.mark.parametrize("make", JOINTS.values(), ids=JOINTS)
def test_a_funnels_range_spans_its_trade_off(make):
    joint = make()
    low, high = natural_range(joint, ip.funnel)
    assert ip.solve(joint, ip.funnel(low), rng=0).iyz >= 0.95 * joint.mutual_information
    assert ip.solve(joint, ip.funnel(high), rng=0).iyz <= 0.03 * joint.mutual_information


def test_independent_letters_leave_nothing_to_trade():
    joint = ip.Joint.from_matrix(np.outer([0.6, 0.4], [0.5, 0.3, 0.2]))
    for family in (ip.bottleneck, ip.funnel):
        low, high = natural_range(joint, family)
        assert 0.0 < low < high
        assert family(low).parameter == low


@pytest.mark.parametrize("family", [ip.bottleneck, ip.funnel])
def test_the_search_reports_and_is_the_same_for_it(family):
    joint, heard = ip.datasets.heart(), []
    silent = natural_range(joint, family)
    assert natural_range(joint, family, heard.append) == silent
    assert heard
    assert all(one.runs > 0 and np.isfinite(one.best_loss) for one in heard)


@pytest.mark.parametrize("family", [ip.bottleneck, ip.funnel])
def test_a_search_that_is_stopped_has_no_range(family):
    with pytest.raises(KeyboardInterrupt):
        natural_range(ip.datasets.heart(), family, lambda _progress: True)
