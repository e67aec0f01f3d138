"""Charts of colour systems: which chip stands where, what colour it gets, where the lines are."""

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from infoplane.datasets.colour_chips import chips, cielab, srgb
from infoplane.errors import InvalidEncoderError, InvalidOptionError
from infoplane.view.colour_chart import plot_chart, plot_charts

pytest.importorskip("matplotlib")

LABELS = [chip.label for chip in chips()]
LIGHT = [chip.row < "F" for chip in chips()]


def cells(ax):
    (image,) = ax.images
    return np.asarray(image.get_array())


def at(label):
    return "ABCDEFGHIJ".index(label[0]), int(label[1:]) + (1 if label[1:] != "0" else 0)


def test_chips_stand_where_they_are_called():
    picture, colours = cells(plot_chart()), srgb(cielab())
    for number, label in enumerate(LABELS):
        assert np.array_equal(picture[at(label)], colours[number])
    assert (picture[0, 1:] == 1.0).all()
    assert (picture[:, 1] == 1.0).all()
    assert not plot_chart().lines


def test_a_hard_system_is_flat_with_a_line_between():
    ax = plot_chart(LIGHT, title="light and dark")
    picture = cells(ax)
    assert np.array_equal(picture[at("C12")], picture[at("B40")])
    assert not np.array_equal(picture[at("C12")], picture[at("H12")])
    expected = srgb(cielab()[LIGHT].mean(axis=0)[None])[0]
    np.testing.assert_allclose(picture[at("C12")], expected, atol=1e-12)
    assert len(ax.lines) == 41
    assert all(list(line.get_ydata()) == [5.0, 5.0] for line in ax.lines)


def test_a_soft_system_fades():
    W = np.array([[0.9 if light else 0.2 for light in LIGHT], [0.1 if light else 0.8 for light in LIGHT]])
    hard, soft = cells(plot_chart(LIGHT)), cells(plot_chart(W))
    distance = [np.abs(one[at("C12")] - one[at("H12")]).max() for one in (hard, soft)]
    assert distance[1] < distance[0]


def test_frames_are_matched_by_label_and_solutions_drawn():
    frame = pd.Series(LIGHT, index=LABELS).sample(frac=1.0, random_state=0)
    np.testing.assert_allclose(cells(plot_chart(frame)), cells(plot_chart(LIGHT)), atol=1e-12)
    joint = ip.datasets.colours()
    constant = ip.solve(joint, ip.bottleneck(1.0), "accelerated", starts=1, init=np.ones((1, 330)))
    assert len(plot_chart(constant).lines) == 0
    with pytest.raises(InvalidEncoderError, match=r"\(any, 330\)"):
        plot_chart(["a", "b"])


def test_several_charts_are_saved(tmp_path):
    path = tmp_path / "charts.png"
    figure = plot_charts([("chips", None), ("two", LIGHT), ("again", LIGHT)], path)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["chips", "two", "again"]
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InvalidOptionError, match="no system to draw"):
        plot_charts([])
