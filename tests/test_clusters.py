"""What clusters hold: by mass, with what they predict and the letters that are typical of them."""

import numpy as np
import pytest

from infoplane import Joint, bottleneck
from infoplane.clusters import by_mass, predicted
from infoplane.solution import Residuals, Solution
from infoplane.status import Status

# "the" is the most frequent letter everywhere; "goal" and "vote" are what the topics are about.
WORDS = Joint.from_counts(
    [[50, 50, 1], [30, 0, 0], [0, 20, 0], [0, 19, 0]],
    x_labels=["the", "goal", "vote", "law"],
    y_labels=["sport", "politics", "other"],
)
ENCODER = np.array([[0.5, 1.0, 0.0, 0.0], [0.5, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])


def solution():
    return Solution(WORDS, bottleneck(0.2), ENCODER, Status.STATIONARY, "by hand", 1, 0.0, Residuals(0.0, 0.0, 0.0))


def test_largest_first_and_typical_letters_before_frequent_ones():
    first, second, empty = by_mass(WORDS, ENCODER, 2)
    assert (first.z, second.z, empty.z) == (1, 0, 2)
    assert first.mass > second.mass > empty.mass == 0.0
    assert [WORDS.x_labels[x] for x in first.typical] == ["vote", "law"]
    assert [WORDS.x_labels[x] for x in second.typical] == ["goal", "the"]
    assert empty.typical == ()
    assert first.letters == 3
    assert first.p_y == pytest.approx(ENCODER[1] @ WORDS.p_xy / first.mass)
    assert predicted(first, WORDS.y_labels, 2) == "politics 0.72, sport 0.28"


def test_one_cluster_shows_the_most_frequent_letters():
    (only,) = by_mass(WORDS, np.ones((1, 4)), 2)
    assert [WORDS.x_labels[x] for x in only.typical] == ["the", "goal"]


def test_frame_has_a_row_for_each_cluster():
    frame = solution().clusters_frame(letters=1)
    assert frame.index.tolist() == [1, 0, 2]
    assert frame.columns.tolist() == ["p_z", "letters", "typical", "p(sport|z)", "p(politics|z)", "p(other|z)"]
    assert frame.typical.tolist() == [("vote",), ("goal",), ()]
    assert frame.iloc[0, 3:].sum() == pytest.approx(1.0)


def test_labels_of_equal_text_keep_their_columns():
    joint = Joint.from_counts([[1, 2], [2, 1]], y_labels=[1, "1"])
    made = Solution(joint, bottleneck(0.2), np.eye(2), Status.STATIONARY, "by hand", 1, 0.0, Residuals(0.0, 0.0, 0.0))
    assert made.clusters_frame().shape == (2, 5)


def test_representation_is_one_line_with_units():
    made = solution()
    assert "\n" not in repr(made)
    assert repr(made).startswith("Solution(bottleneck, γ = 0.2: loss ")
    for part in ("nats", "I(X;Z)", "I(Y;Z)", "bits", "3 clusters", "STATIONARY"):
        assert part in repr(made)


def test_notebook_shows_the_clusters_and_escapes_labels():
    joint = Joint.from_counts([[3, 1], [1, 3]], x_labels=["<b>", "&"], y_labels=["u", "<i>"])
    made = Solution(joint, bottleneck(0.2), np.eye(2), Status.STATIONARY, "by hand", 1, 0.0, Residuals(0.0, 0.0, 0.0))
    html = made._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "&lt;i&gt; 0.75" in html
