"""Numbers and labels as people read them."""

from infoplane.words import counted, label_text, rounded


def test_one_is_not_a_plural():
    assert (counted(1, "cluster"), counted(2, "cluster"), counted(0, "run")) == ("1 cluster", "2 clusters", "0 runs")
    assert counted(12_000, "run") == "12,000 runs"


def test_no_minus_sign_before_zeros():
    assert (rounded(-1e-9), rounded(-0.5, 2)) == ("0.000000", "-0.50")


def test_labels_are_text_and_not_endless():
    assert label_text(("a", 1)) == "a, 1"
    assert label_text("x" * 200, 10) == "x" * 9 + "…"
