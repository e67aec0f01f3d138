"""`Frontier.suggest`: the knee and the transitions, on frontiers where both are known.

A wide frame of runs shows what people look for, also on 80 columns.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from infoplane.frontier.geometry import BestAnswer
from infoplane.frontier.summary import _kinks


def erasure(erased):
    """Y is X, or lost: every encoder has I(Y;Z) = (1 - erased) I(X;Z), so the only transition is at gamma = 1 - erased."""
    return ip.Joint.from_matrix(np.column_stack([(1 - erased) * np.eye(2) / 2, np.full(2, erased / 2)]))


def test_the_only_transition_is_bracketed():
    frontier = ip.sweep(erasure(0.4), ip.bottleneck, [0.2, 0.5, 0.58, 0.65, 0.9], "drs", starts=3, rng=0)
    found = frontier.suggest()
    (change,) = found.transitions
    assert (change.low, change.high, change.clusters_below, change.clusters_above) == (0.58, 0.65, 2, 1)
    best = [answer.run for answer in frontier.best_answers()]
    assert [change.below, change.above] == [(run.ixz, run.iyz) for run in best[2:4]]
    assert change.found == "neighbours on the grid"
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
    assert found.transitions[0].found == "neighbours on the grid (not both runs converged)"
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
    assert [(t.clusters_below, t.clusters_above) for t in found.transitions] == [(5, 3), (3, 1)]
    assert "each of the 2 steps, 8, 6, 5: more transitions" in str(found)


WANTED = ["parameter", "loss_nats", "ixz_bits", "iyz_bits", "clusters", "status"]


@pytest.fixture(scope="module")
def frontier():
    return ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.4], starts=2, rng=0)


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("kind", ["best", "to_frame", "pareto"])
def test_what_people_look_for_is_shown(frontier, kind):
    frame = getattr(frontier, kind)()
    with pd.option_context("display.max_columns", 0):
        head, *_, rest = str(frame).splitlines()
    assert head.split() == WANTED
    assert len(head) <= 80
    assert rest.split(" ", 1)[0] == "and"
    assert sorted([*WANTED, *rest.removeprefix("and ").split(", ")]) == sorted(frame.columns)


def test_a_proof_is_shown_with_its_gap():
    found = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.4], starts=2, rng=0, certify=True)
    with pd.option_context("display.max_columns", 0):
        assert str(found.best()).splitlines()[0].split() == [*WANTED, "gap_nats"]


def test_a_frame_of_comparisons_is_shown_too(frontier):
    with pd.option_context("display.max_columns", 0):
        assert "True" in repr(frontier.best() == frontier.best())


def test_wide_terminals_and_the_user_s_own_options_are_heard(frontier, monkeypatch):
    whole = repr(pd.DataFrame(frontier.best()))
    with pd.option_context("display.max_columns", 4):
        assert str(frontier.best()) == repr(pd.DataFrame(frontier.best())) != whole
    monkeypatch.setenv("COLUMNS", "400")
    with pd.option_context("display.max_columns", 0, "display.width", 400):
        assert "found_at" in str(frontier.best()).splitlines()[0]


def test_rows_and_other_tables_of_it(frontier):
    with pd.option_context("display.max_columns", 0):
        assert str(frontier.best().tail(1)).splitlines()[0].split() == WANTED
        assert str(frontier.best()[["beta"]]) == repr(pd.DataFrame(frontier.best()[["beta"]]))
        assert str(frontier.best().T) == repr(pd.DataFrame(frontier.best()).T)


def test_an_information_of_nothing_does_not_turn_the_others_into_powers_of_ten():
    """At gamma = 0.9 Z is constant, and I(Y;Z) a rounding such as 9e-33."""
    found = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.9], starts=2, rng=0).best()
    found["iyz_bits"] = [found["iyz_bits"].iloc[0], 8.9e-33]
    with pd.option_context("display.max_columns", 0):
        assert [line.split()[4] for line in str(found).splitlines()[2:4]] == [
            f"{found['iyz_bits'].iloc[0]:.6f}",
            "0.000000",
        ]


def test_solvers_side_by_side_show_what_each_found_and_took():
    found = ip.compare(ip.datasets.paper_uniform(), ip.bottleneck, [0.2], ["accelerated", "blahut-arimoto"], rng=0)
    with pd.option_context("display.max_columns", 0):
        head = str(found).splitlines()[0]
    assert head.split() == ["parameter", "solver", "loss_nats", "above_lowest_nats", "seconds", "winner"]
    assert len(head) <= 80
