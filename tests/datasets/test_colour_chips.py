"""The chart of chips, and their colours on a screen."""

import numpy as np

from infoplane.datasets.colour_chips import chips, cielab, srgb


def test_the_chart_is_whole():
    places = {(chip.row, chip.column) for chip in chips()}
    expected = {(row, 0) for row in "ABCDEFGHIJ"} | {(row, column) for row in "BCDEFGHI" for column in range(1, 41)}
    assert places == expected
    assert len(chips()) == 330
    assert chips()[0].label == "A0"


def test_grey_chips_are_grey_and_fall_in_lightness():
    grey = np.array([(chip.L, chip.a, chip.b) for chip in chips() if chip.column == 0])
    assert (np.abs(grey[:, 1:]) < 0.5).all()
    assert (np.diff(grey[:, 0]) < 0).all()
    assert np.ptp(srgb(grey), axis=1).max() < 0.02


def test_known_colours():
    """CIELAB of sRGB's red, white and black (D65)."""
    lab = np.array([[53.24, 80.09, 67.20], [100.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(srgb(lab), [[1.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]], atol=5e-3)
    assert ((srgb(cielab()) >= 0.0) & (srgb(cielab()) <= 1.0)).all()
