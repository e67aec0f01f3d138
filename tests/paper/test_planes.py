"""Claims about planes, on made-up runs whose answers are known."""

import re

import numpy as np

from infoplane_paper.planes import (
    higher,
    leaks_less,
    left_their_start,
    less_than_merging,
    more_points,
    recovers,
    spans_more,
    stuck,
    trapped,
)
from tiny import made_points

GOOD = made_points([0.5, 1.0, 1.5], [0.05, 0.1, 0.3], start=0.0)


BAD = made_points([0.5, 1.0, 1.5], [0.10, 0.2, 0.3], start=0.0)


CERTIFIED = made_points([0.4, 1.0], [0.0, 0.0], parameter=[0.5, 0.2], lower_bound=[-0.1, -0.3])


def test_leaks_less_both_ways():
    found = leaks_less(GOOD, BAD, ("good", "bad"))
    assert found.holds is True
    # A third of the range each: 0.05, 0.1 and nothing.
    assert "bad leaks +0.0497 bits more than good" in found.said
    assert leaks_less(BAD, GOOD, ("bad", "good")).holds is False
    assert leaks_less(GOOD, GOOD, ("a", "b")).holds is False


def test_leaks_less_looks_at_the_range_asked_for_and_at_converged_runs_only():
    assert leaks_less(GOOD, BAD, ("good", "bad"), low=1.1).holds is False
    assert leaks_less(GOOD, BAD, ("good", "bad"), low=1.6).holds is None
    none = made_points(BAD.ixz, BAD.iyz, converged=np.zeros(3))
    assert leaks_less(GOOD, none, ("good", "none")).holds is None


def test_a_difference_within_the_error_of_the_starts_is_not_decided():
    """Four starts: on three of them the first leaks less, on one the second; the best of all starts makes the frontier."""
    u = np.full(4, 1.0)
    ours, theirs = made_points(u, [0.10, 0.30, 0.30, 0.30]), made_points(u, [0.102, 0.12, 0.11, 0.105])
    found = leaks_less(ours, theirs, ("a", "b"))
    assert "b leaks +0.0020 bits more than a" in found.said
    assert float(re.search(r"over starts: ([0-9.]+)", found.said)[1]) > 0.04
    assert found.holds is None
    assert leaks_less(theirs, ours, ("b", "a")).holds is None
    # The same frontiers from starts that all agree.
    assert leaks_less(made_points(u, [0.10] * 4), made_points(u, [0.102] * 4), ("a", "b")).holds is True
    assert leaks_less(made_points(u, [0.102] * 4), made_points(u, [0.10] * 4), ("b", "a")).holds is False


def test_runs_that_stopped_where_they_began():
    starts = {"ixz": np.array([0.2, 0.3]), "iyz": np.array([0.005, 0.01])}
    points = made_points([0.25, 0.305, 0.32, 0.25, 0.1], [0.007, 0.007, 0.007, 0.1, 0.0])
    assert left_their_start(points, starts).ixz.tolist() == [0.32, 0.25, 0.1]


def test_less_than_merging_is_decided_where_runs_reach_the_range():
    merges = {"ixz": np.array([0.0, 0.92, 1.5]), "iyz": np.array([0.0, 0.2, 0.6])}
    assert less_than_merging(made_points([0.5, 1.0], [0.01, 0.1]), merges, "it", 0.0, 0.9).holds is True
    # On average, though one run of much utility leaks more.
    assert less_than_merging(made_points([0.8, 1.0], [0.01, 0.3]), merges, "it", 0.0, 0.9).holds is True
    assert less_than_merging(made_points([0.5], [0.01]), merges, "it", 0.0, 0.9).holds is None
    assert less_than_merging(made_points([0.5], [0.3]), merges, "it", 0.0, 0.9).holds is False
    assert less_than_merging(made_points([0.5], [0.01], converged=[0]), merges, "it", 0.0, 0.9).holds is None


def test_recovers_both_ways():
    merges = {"ixz": np.array([0.0, 1.0, 1.5]), "iyz": np.array([0.0, 0.1, 0.3])}
    found = recovers(GOOD, merges, "good")
    assert found.holds is True
    assert "of Merge-Two's 2 points there 2 lie within the reach of good's runs, which meet or beat 2;" in found.said
    worse = recovers(BAD, merges, "bad")
    assert worse.holds is False
    assert "miss I(X;Z) = 1.00" in worse.said
    # All points met, but nothing leaks less in between.
    assert recovers(made_points([1.0, 1.5], [0.1, 0.3]), merges, "same").holds is False
    # Leaks less, but does not come as far: to the first point, or to none.
    assert recovers(made_points([1.0], [0.01]), merges, "short").holds is None
    found = recovers(made_points([0.5], [0.01]), merges, "shorter")
    assert found.holds is None
    assert found.said.startswith("of Merge-Two's 2 points there 0 lie within the reach of shorter's runs")
    # What it reaches it misses.
    assert recovers(made_points([1.0], [0.2]), merges, "short and worse").holds is False


def test_stuck_both_ways_and_nowhere():
    low = made_points([0.4, 0.4, 1.0], [0.25, 0.2, 0.5])
    found = stuck(low, CERTIFIED, "bottleneck", "it", 0.3, 0.5)
    assert found.holds is True
    assert "the nearest 0.0500" in found.said
    # Every run counts: one that is off is enough, though another lies on the bound.
    found = stuck(made_points([0.4, 0.4], [0.3, 0.2]), CERTIFIED, "bottleneck", "it", 0.3, 0.5)
    assert (found.holds, "of 2 converged runs of it with I(X;Z) in [0.3, 0.5] 1 lie" in found.said) == (True, True)
    assert stuck(low, CERTIFIED, "bottleneck", "it", 0.9, 1.1).holds is False
    assert stuck(low, CERTIFIED, "bottleneck", "it", 0.5, 0.9).holds is None


def test_spans_more_counts_intervals_on_the_frontier():
    ours = made_points([0.1, 0.101, 0.2, 0.3], [0.15, 0.1505, 0.2, 0.0])
    theirs = made_points([0.1], [0.15])
    found = spans_more(ours, theirs, CERTIFIED, ("a", "b"), 0.0, 0.5)
    assert (found.holds, found.said.endswith("a in 2, b in 1")) == (True, True)
    assert spans_more(theirs, ours, CERTIFIED, ("b", "a"), 0.0, 0.5).holds is False
    assert spans_more(theirs, theirs, CERTIFIED, ("b", "b"), 0.0, 0.5).holds is None


def test_trapped_looks_at_every_run():
    proven = made_points([1, 1], [1, 1], parameter=[0.1, 0.2], lower_bound=[-0.5, -0.3])
    caught = made_points([1] * 3, [1] * 3, parameter=[0.1, 0.1, 0.2], loss=[-0.4, -0.5, -0.3])
    free = made_points([1] * 2, [1] * 2, parameter=[0.1, 0.2], loss=[-0.5, -0.3])
    found = trapped(caught, free, proven, ("a", "b"), 1e-4)
    assert found.holds is True
    assert "runs of a 25% end more than 0.0001 bits above the optimum, some at 1 of 2 parameters" in found.said
    assert trapped(caught, caught, proven, ("a", "b"), 1e-4).holds is False
    assert trapped(free, caught, proven, ("a", "b"), 1e-4).holds is False
    none = made_points([1] * 2, [1] * 2, parameter=[0.1, 0.2], loss=[-0.5, -0.3], converged=[0, 0])
    assert trapped(caught, none, proven, ("a", "b"), 1e-4).holds is None


def test_more_points_than_merging():
    merges = {"ixz": np.array([0.0, 0.5, 1.5]), "iyz": np.array([0.0, 0.1, 0.3])}
    found = more_points(made_points([0.1, 0.2, 0.2001], [0.0, 0.1, 0.1]), merges, "it", 0.0, 0.9)
    assert (found.holds, found.said.endswith("it 2, Merge-Two 2")) == (False, True)
    assert more_points(made_points([0.1, 0.2, 0.3], [0.0] * 3), merges, "it", 0.0, 0.9).holds is True
    assert more_points(made_points([0.1], [0.0], converged=[0]), merges, "it", 0.0, 0.9).holds is None


def test_higher_at_no_more_complexity():
    theirs = made_points([0.95, 1.05], [0.40, 0.45])
    assert higher(made_points([1.0], [0.42]), theirs, ("a", "b"), 0.9, 1.1).holds is True
    assert higher(made_points([1.05], [0.44]), theirs, ("a", "b"), 0.9, 1.1).holds is False
    assert higher(made_points([0.5], [0.44]), theirs, ("a", "b"), 0.9, 1.1).holds is None
