"""Pictures from tables: every share with its interval, every panel with the marks of its solver."""

import pytest

from infoplane_paper import multiples
from infoplane_paper.figures.bottleneck_heart import PLANE

pytest.importorskip("matplotlib")


def test_shares_have_intervals_and_one_panel_per_solver_and_way():
    rows = [
        {
            "runs": f"{solver}, alpha {alpha}, gradient",
            "c": c,
            "converged": 0.5,
            "interval_low": 0.3,
            "interval_high": 0.7,
        }
        for solver in ("ib-1", "ib-2")
        for alpha in (1, 2)
        for c in (1.0, 2.0)
    ]
    axes = multiples.draw_share_rows(rows, 0.9, 2).axes
    assert [ax.get_title(loc="left") for ax in axes] == ["ib-1, gradient", "ib-2, gradient"]
    assert all(len(ax.containers) == 2 for ax in axes)


def test_a_panel_per_solver_over_the_frontier(monkeypatch):
    import numpy as np

    monkeypatch.setattr(multiples, "frontier", lambda _joint, _family: (np.array([0.0, 1.0]), np.array([0.0, 0.5])))
    rows = [
        {"runs": "heart: ib-1v, gradient", "ixz_bits": 0.5, "iyz_bits": 0.2},
        {"runs": "heart: ib-1v, auto", "ixz_bits": float("nan"), "iyz_bits": float("nan")},
        {"runs": "heart: blahut-arimoto", "ixz_bits": 0.6, "iyz_bits": 0.3},
    ]
    ours, baseline = multiples.draw_multiples(rows, [PLANE]).axes
    assert ours.get_title(loc="left") == "heart: ib-1v"
    assert len(ours.collections) == len(baseline.collections) == 2  # the shaded side, and one kind of mark
