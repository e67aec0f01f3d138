"""Pictures from tables: every share with its interval, every panel with the marks of its solver."""

import itertools

import numpy as np
import pytest

import infoplane as ip
from infoplane.information import plane_point
from infoplane_paper import drawing
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
    axes = drawing.draw_share_rows(rows, 0.9, 2).axes
    assert [ax.get_title(loc="left") for ax in axes] == ["ib-1, gradient", "ib-2, gradient"]
    assert all(len(ax.containers) == 2 for ax in axes)


def test_a_panel_per_solver_over_the_frontier(monkeypatch):
    monkeypatch.setattr(drawing, "frontier", lambda _joint, _family: (np.array([0.0, 1.0]), np.array([0.0, 0.5])))
    rows = [
        {"runs": "heart: ib-1v, gradient", "ixz_bits": 0.5, "iyz_bits": 0.2},
        {"runs": "heart: ib-1v, auto", "ixz_bits": float("nan"), "iyz_bits": float("nan")},
        {"runs": "heart: blahut-arimoto", "ixz_bits": 0.6, "iyz_bits": 0.3},
    ]
    figure = drawing.draw_multiples(rows, [PLANE])
    ours, baseline = figure.axes
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "proven: never crossed",
        "authors' way",
        "our steps, the paper's c",
    ]
    assert ours.get_title(loc="left") == "heart: ib-1v"
    assert len(ours.collections) == len(baseline.collections) == 2  # the shaded side, and one kind of mark


@pytest.mark.parametrize("family", ["funnel", "bottleneck"])
def test_optima_lie_on_the_proven_curve_and_no_map_beyond_it(family):
    joint = ip.datasets.paper_uniform()
    x, y = drawing.frontier("paper_uniform", family)
    best = ip.solve(joint, ip.funnel(3.0) if family == "funnel" else ip.bottleneck(0.3), certify=True, rng=0)
    maps = [np.eye(3)[list(groups)].T for groups in itertools.product(range(3), repeat=3)]
    for encoder, on_it in [(best.encoder, True), *((one, False) for one in maps)]:
        ixz, iyz = plane_point(joint, encoder)
        beyond = (
            (np.interp(iyz / np.log(2), y, x) - ixz / np.log(2))
            if family == "funnel"
            else (np.interp(ixz / np.log(2), x, y) - iyz / np.log(2))
        )
        assert beyond >= -1e-5
        assert beyond < 5e-3 or not on_it
