"""What all pictures share: axes on which a reader sees no more than there is."""

import pytest

from infoplane_paper.drawing import close_up, legend, logarithmic, panels

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
