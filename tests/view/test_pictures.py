"""The dendrogram: a leaf for every letter with its label, heights in bits; many letters are leaves in groups."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.information import bits

pytest.importorskip("matplotlib")


def leaves(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_every_letter_is_a_leaf_and_the_root_is_all_that_is_lost():
    joint = ip.datasets.heart()
    ax = ip.agglomerative_bottleneck(joint).plot()
    shown = set(leaves(ax))
    assert len(shown) == 16
    assert {label for label in joint.x_labels if len(label) <= 40} <= shown
    drawn = np.concatenate([np.concatenate(part.get_segments()) for part in ax.collections])
    assert drawn[:, 0].max() == pytest.approx(bits(joint.mutual_information))
    assert ax.get_xlabel() == "I(Y;Z) lost  [bits]"
    assert ax._repr_png_().startswith(b"\x89PNG")


def test_many_letters_are_leaves_in_groups():
    rng = np.random.default_rng(0)
    joint = ip.Joint.from_counts(1 + rng.poisson(2.0, size=(1500, 3)), x_labels=[f"w{x}" for x in range(1500)])
    path = ip.agglomerative_bottleneck(joint)
    ax = path.plot(leaves=7)
    expected = set()
    for z in range(7):
        held = np.flatnonzero(path.labels_at(7) == z)
        first = held[np.argmax(joint.p_x[held])]
        expected.add(f"w{first}" if len(held) == 1 else f"w{first} and {len(held) - 1:,} more")
    assert set(leaves(ax)) == expected
    assert len(leaves(ax)) == 7


def test_letters_of_no_mass_are_no_leaves_and_a_given_axes_is_used():
    from matplotlib.figure import Figure

    path = ip.agglomerative_bottleneck(ip.Joint.from_counts([[3, 1], [0, 0], [1, 3]], x_labels=["a", "never", "b"]))
    given = Figure().add_subplot()
    assert path.plot(given) is given
    assert sorted(leaves(given)) == ["a", "b"]


def test_what_cannot_be_drawn_is_said():
    path = ip.agglomerative_bottleneck(ip.Joint.from_counts([[1, 2]]))
    with pytest.raises(ip.InvalidOptionError, match="no merge"):
        path.plot()
    with pytest.raises(ip.InvalidOptionError, match="leaves"):
        ip.agglomerative_bottleneck(ip.datasets.heart()).plot(leaves=1)
