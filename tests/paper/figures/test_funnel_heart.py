"""Perfect privacy on the heart data, on made-up runs whose answers are known."""

import numpy as np
import pytest

from tiny import claim, made_points, made_runs


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
