"""`Frontier.suggest`: the knee and the transitions, on frontiers where both are known."""

from dataclasses import replace

import numpy as np
import pytest

import infoplane as ip
from infoplane.frontier.geometry import BestAnswer
from infoplane.frontier.knee import _kinks


def erasure(erased):
    """Y is X, or lost: every encoder has I(Y;Z) = (1 - erased) I(X;Z), so the only transition is at gamma = 1 - erased."""
    return ip.Joint.from_matrix(np.column_stack([(1 - erased) * np.eye(2) / 2, np.full(2, erased / 2)]))


def test_the_only_transition_is_bracketed():
    frontier = ip.sweep(erasure(0.4), ip.bottleneck, [0.2, 0.5, 0.58, 0.65, 0.9], "drs", starts=3, rng=0)
    found = frontier.suggest()
    assert [t.parameters for t in found.transitions] == [(0.58, 0.65)]
    assert [t.clusters for t in found.transitions] == [(2, 1)]
    assert list(found.transitions[0].rows) == frontier.best().index[2:4].tolist()
    assert found.transitions[0].converged
    assert "Transition between γ = 0.58 and 0.65: from 2 clusters to 1." in str(found)
    assert "total variation" in str(found)
    (kink,) = found.kinks
    assert kink.parameters == (0.58, 0.65)
    assert kink.ixz_bits == pytest.approx((1.0, 0.0), abs=1e-6)
    assert kink.steeper > 100.0
    assert "Kink between γ = 0.58 and 0.65: I(X;Z) goes from 1.0000 to 0.0000 bits, while it stays beside it." in str(
        found
    )


def test_what_changes_evenly_has_no_kink_and_a_jump_needs_no_count():
    """I(X;Z) of the best runs of made-up sweeps: even steps of the logarithm, then one four times as large, with as many clusters."""
    joint = ip.Joint.from_matrix(np.diag([0.5, 0.5]))
    one = ip.solve(joint, ip.bottleneck(0.5), "merging", rng=0)

    def kinks(*told):
        runs = []
        for place, share in enumerate(told):
            W = np.array([[1.0 - share, share], [share, 1.0 - share]])
            gamma = 0.1 * 1.2**place
            runs.append(replace(one, problem=ip.bottleneck(gamma), parameter=gamma, encoder=W))
        return _kinks(runs)

    assert kinks(0.0, 0.01, 0.02, 0.03, 0.04) == ()
    (jump,) = kinks(0.01, 0.02, 0.03, 0.2, 0.21, 0.22)
    assert jump.parameters == pytest.approx((0.1 * 1.2**2, 0.1 * 1.2**3))
    assert kinks(0.01, 0.02, 0.2) == ()


def test_a_run_that_did_not_converge_is_said():
    frontier = ip.sweep(erasure(0.4), ip.bottleneck, [0.2, 0.9], "drs", starts=1, rng=0)
    runs = [replace(run, status=ip.Status.ITERATION_LIMIT) if run.parameter > 0.5 else run for run in frontier.runs]
    found = ip.Frontier(frontier.joint, runs).suggest()
    assert not found.transitions[0].converged
    assert "(not both runs converged)" in str(found)


def test_a_straight_curve_has_no_knee():
    joint = erasure(0.4)
    runs = ip.sweep(joint, ip.bottleneck, [0.2, 0.9], "drs", starts=2, rng=0)
    middle = replace(runs.at(ixz_bits=0.5), parameter=0.6)
    found = ip.Frontier(joint, [*runs.runs, middle]).suggest()
    assert found.knee is None
    assert "straight" in found.sentences[0]


def test_too_few_runs_have_no_knee():
    found = ip.sweep(erasure(0.4), ip.bottleneck, [0.2, 0.9], "drs", starts=2, rng=0).suggest()
    assert found.knee is None
    assert "three runs" in found.sentences[0]
    assert ip.Frontier(erasure(0.4), []).suggest().transitions == ()


@pytest.mark.parametrize(
    ("family", "grid"), [(ip.bottleneck, np.geomspace(0.1, 0.9, 10)), (ip.funnel, np.geomspace(1.2, 12, 8))]
)
def test_the_knee_is_furthest_from_the_chord(family, grid):
    """Distances by the formula of a point and a line, over all best runs; the package takes a difference of scaled coordinates."""
    frontier = ip.sweep(ip.datasets.paper_nonuniform(), family, grid, "drs", starts=4, rng=0)
    knee = frontier.suggest().knee
    best = [frontier.runs[row] for row in frontier.best_rows()]
    u, v = (np.array([getattr(run, name) for run in best]) for name in ("ixz", "iyz"))
    u, v = (u - u.min()) / np.ptp(u), (v - v.min()) / np.ptp(v)
    first, last = np.array([u.min(), v.min()]), np.array([u.max(), v.max()])
    along = (last - first) / np.linalg.norm(last - first)
    distance = [np.linalg.norm(p - first - ((p - first) @ along) * along) for p in np.column_stack([u, v])]
    assert knee.parameter == best[int(np.argmax(distance))].parameter
    assert knee.distance == pytest.approx(max(distance), abs=1e-9)
    assert frontier.runs[knee.row].parameter == knee.parameter
    assert str(frontier.suggest()).startswith("Knee: ")


def with_clusters(*counts):
    """A frontier whose best encoders have so many clusters, at parameters 0.05, 0.1, ...: made up, of hard encoders of one joint."""
    joint = ip.Joint.from_matrix(np.diag(np.arange(1.0, 13.0) / 78.0))
    one = ip.solve(joint, ip.bottleneck(0.5), "merging", rng=0)
    runs = []
    for place, count in enumerate(counts):
        encoder = np.zeros((count, 12))
        encoder[np.minimum(np.arange(12), count - 1), np.arange(12)] = 1.0
        gamma = 0.05 * (place + 1)
        runs.append(replace(one, problem=ip.bottleneck(gamma), parameter=gamma, encoder=encoder))
    frontier = ip.Frontier(joint, runs)
    frontier.best_answers = lambda: [BestAnswer(row, run, run.parameter) for row, run in enumerate(runs)]
    return frontier


def test_a_grid_that_is_too_coarse_shows_no_transition_in_every_gap():
    found = with_clusters(12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1).suggest()
    assert found.transitions == ()
    assert "γ = 0.05 and 0.6 the number of clusters changes with each of the 11 steps, from 12 to 1" in str(found)


def test_a_transition_is_a_gap_between_two_phases():
    found = with_clusters(8, 8, 6, 5, 5, 3, 3, 4, 3, 3, 1).suggest()
    # 8 to 6 to 5 is a stretch, and the lone 4 flickers; the last number ends the grid.
    assert [t.clusters for t in found.transitions] == [(5, 3), (3, 1)]
    assert "each of the 2 steps, 8, 6, 5: more transitions" in str(found)
