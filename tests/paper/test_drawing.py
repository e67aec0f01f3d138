"""Pictures from tables: what a reader sees is no more than there is, every share with its interval."""

import itertools

import numpy as np
import pytest

import infoplane as ip
from infoplane.information import plane_point
from infoplane_paper import drawing
from infoplane_paper.drawing import close_up, legend, logarithmic, panels
from infoplane_paper.figures.planes import HEART

pytest.importorskip("matplotlib")


def drawn(values):
    _, (ax,) = panels(1)
    ax.plot(range(len(values)), values, label="it")
    logarithmic(ax)
    close_up(ax)
    return ax


def test_a_curve_that_does_not_fall_is_drawn_flat_and_no_panel_is_half_empty():
    low, high = drawn([2.7324, 2.7325, 2.7330]).get_ylim()
    assert high == pytest.approx(2.0 * low)
    assert low < 2.7324 < 2.7330 < high
    low, high = drawn([0.17, 0.29]).get_ylim()
    assert 0.12 < low < 0.17
    assert 0.29 < high < 0.35
    low, high = drawn([1e-9, 1.0]).get_ylim()
    assert low < 1e-9 < 1.0 < high


def test_short_axes_have_plain_numbers_and_long_ones_powers():
    for values, plain in (([0.02, 0.3], True), ([0.17, 0.29], True), ([1e-9, 1.0], False)):
        ax = drawn(values)
        ax.figure.canvas.draw()
        labels = [label.get_text() for label in ax.get_yticklabels() if label.get_text()]
        assert len(labels) > 1
        assert all("$" not in label for label in labels) is plain


def test_a_legend_covers_no_curve():
    ax = drawn([1.0, 0.1])
    legend(ax)
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().y1 <= ax.get_window_extent().y0


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
    figure = drawing.draw_multiples(rows, [HEART])
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
