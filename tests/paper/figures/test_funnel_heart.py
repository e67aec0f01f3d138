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
        (made_points([1.0], [0.001]), made_points([0.25], [0.001]), False),  # where it began
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
