"""The claims about planes, and about iterations along one, on made-up runs whose answers are known."""

import numpy as np
import pytest

from infoplane_paper.figures import planes
from tiny import claim, made_points, made_runs

CERTIFIED = made_points([0.4, 1.0], [0.0, 0.0], parameter=[0.5, 0.2], lower_bound=[-0.1, -0.3])
"""I(Y;Z) <= min(0.5 u + 0.1, 0.2 u + 0.3)."""


@pytest.mark.parametrize(
    ("ib_1v", "ib_1", "expected"),
    [([0.40], [0.45], True), ([0.45], [0.45], False), ([0.40], [0.40], False)],
)
def test_stuck_where_others_are_not(ib_1v, ib_1, expected):
    at = {"ixz": [0.75], "parameter": [0.2]}
    runs = made_runs(
        "bottleneck-planes",
        {
            "uniform: certified": CERTIFIED,
            "uniform: ib-1v, majorise": made_points(iyz=ib_1v, **at),
            "uniform: ib-1, majorise": made_points(iyz=ib_1, **at),
            "uniform: ib-2, majorise": made_points(iyz=ib_1, **at),
        },
    )
    found = claim("bottleneck-planes", "ib-1v-stuck-uniform").ask(runs, "majorise")
    assert found.holds is expected
    assert found.evidence == ("uniform: ib-1v, majorise", "uniform: certified")
    assert claim("bottleneck-planes", "ib-1v-stuck-uniform").ask(runs, "gradient").holds is None


@pytest.mark.parametrize(("losses", "expected"), [((-0.4, -0.5), True), ((-0.5, -0.5), False), ((-0.4, -0.4), False)])
def test_trapped(losses, expected):
    runs = made_runs(
        "bottleneck-planes",
        {
            "non-uniform: certified": made_points(lower_bound=[-0.5]),
            "non-uniform: blahut-arimoto": made_points(loss=[losses[0]]),
            "non-uniform: ib-1, gradient": made_points(loss=[losses[1]]),
        },
    )
    assert claim("bottleneck-planes", "ba-trapped").ask(runs, "gradient").holds is expected


def test_explores_more():
    on = made_points([0.1, 0.2], [0.15, 0.2])
    columns = {"uniform: certified": CERTIFIED, "uniform: blahut-arimoto": made_points([0.1], [0.15])}
    runs = made_runs("bottleneck-planes", {**columns, "uniform: ib-1, auto": on})
    assert claim("bottleneck-planes", "ib-1-explores-uniform").ask(runs, "auto").holds is True
    runs = made_runs("bottleneck-planes", {**columns, "uniform: ib-1, auto": made_points([0.1], [0.0])})
    assert claim("bottleneck-planes", "ib-1-explores-uniform").ask(runs, "auto").holds is False


def test_funnel_planes_both_ways():
    good, bad = made_points([0.5, 1.5], [0.01, 0.3], start=0.0), made_points([0.5, 1.5], [0.2, 0.5], start=0.0)
    merges = {"ixz": np.array([0.0, 0.92, 1.5]), "iyz": np.array([0.0, 0.31, 0.6])}
    columns = {
        "uniform: Merge-Two": merges,
        "uniform: certified": made_points([0.9], [0.1], parameter=[2.0], lower_bound=[-0.6]),
    }
    runs = made_runs("funnel-planes", {**columns, "uniform: pf-2, majorise": good, "uniform: pf-2v, majorise": bad})
    assert claim("funnel-planes", "pf-2-leaks-less-uniform").ask(runs, "majorise").holds is True
    assert claim("funnel-planes", "funnel-below-merging-uniform").ask(runs, "majorise").holds is True
    assert claim("funnel-planes", "pf-2-stuck-uniform").ask(runs, "majorise").holds is None
    runs = made_runs("funnel-planes", {**columns, "uniform: pf-2, majorise": bad, "uniform: pf-2v, majorise": good})
    assert claim("funnel-planes", "pf-2-leaks-less-uniform").ask(runs, "majorise").holds is False
    assert claim("funnel-planes", "funnel-below-merging-uniform").ask(runs, "majorise").holds is False
    for leakage, expected in ((0.2, True), (0.15, False)):
        runs = made_runs("funnel-planes", {**columns, "uniform: pf-2, majorise": made_points([0.9], [leakage])})
        assert claim("funnel-planes", "pf-2-stuck-uniform").ask(runs, "majorise").holds is expected


@pytest.mark.parametrize(
    ("pf_2", "pf_2v", "expected"),
    [
        (made_points([1.0], [0.001]), made_points([1.0], [0.001]), True),
        (made_points([1.0], [0.001]), made_points([1.0], [0.1]), False),
        (made_points([0.001], [0.0]), made_points([1.0], [0.0]), False),
        (made_points([1.0], [0.0]), made_points([1.0], [0.0], converged=[0]), None),
        (made_points([1.0], [0.001]), made_points([0.25], [0.001]), None),  # where it began
        (made_points([1.0], [0.1]), made_points([0.25], [0.001]), False),
    ],
)
def test_perfect_privacy(pf_2, pf_2v, expected):
    runs = made_runs(
        "funnel-heart",
        {
            "heart: pf-2, gradient": pf_2,
            "heart: pf-2v, gradient": pf_2v,
            "heart: without leakage": {"utility": np.array([2.0, 2.0])},
            "heart: starts": {"ixz": np.array([0.25]), "iyz": np.array([0.008])},
        },
    )
    found = claim("funnel-heart", "perfect-privacy").ask(runs, "gradient")
    assert found.holds is expected
    assert "random starts themselves have utility 0.250 (at most 0.250) and leakage 0.0080" in found.said


def test_runs_that_stopped_where_they_began_are_not_compared():
    starts = {"ixz": np.array([0.25]), "iyz": np.array([0.008])}
    merges = {"ixz": np.array([0.0, 0.9]), "iyz": np.array([0.0, 0.1])}
    still, moved = made_points([0.25, 0.255], [0.008, 0.006]), made_points([1.0], [0.05])
    keys = ("pf-2-leaks-less-heart", "funnel-recovers-heart")
    for pf_2, answers in ((still, (None, None)), (moved, (True, True))):
        columns = {"heart: pf-2, gradient": pf_2, "heart: pf-2v, gradient": made_points([1.0], [0.07])}
        runs = made_runs("funnel-heart", {**columns, "heart: starts": starts, "heart: Merge-Two": merges})
        found = [claim("funnel-heart", key).ask(runs, "gradient") for key in keys]
        assert tuple(one.holds for one in found) == answers
    assert "none of the 2 converged runs of heart: pf-2, gradient has left its random start" in (
        claim("funnel-heart", keys[0])
        .ask(
            made_runs(
                "funnel-heart",
                {
                    "heart: pf-2, gradient": still,
                    "heart: pf-2v, gradient": moved,
                    "heart: starts": starts,
                    "heart: Merge-Two": merges,
                },
            ),
            "gradient",
        )
        .said
    )


@pytest.mark.parametrize(("counts", "expected"), [((5, 50), True), ((50, 5), False)])
def test_fewest_iterations(counts, expected):
    columns = {
        name: made_points(iterations=[counts[1]])
        for name in (f"uniform: {one}, majorise" for one in planes.BOTTLENECKS)
    }
    runs = made_runs("iterations", {**columns, "uniform: blahut-arimoto": made_points(iterations=[counts[0]])})
    assert claim("iterations", "ba-fewest-iterations").ask(runs, "majorise").holds is expected
    runs = made_runs("iterations", {**columns, planes.LOOSE: made_points(iterations=[0])})
    assert claim("iterations", "ba-fewest-iterations").ask(runs, "gradient").holds is True
