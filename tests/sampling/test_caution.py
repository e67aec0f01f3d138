"""The caution at a point: it compares the point, not the table, with chance, and everything that is shown reads it."""

import numpy as np

import infoplane as ip
from infoplane.sampling.caution import caution_of, chance_of

HEART = ip.datasets.heart()


def test_a_small_point_is_cautioned_where_the_table_is_not():
    """Heart's I(X;Y) is .29 bits, .12 of them chance: no caution for the table; a point of .1 bits has one, and a large sample none."""
    assert HEART.caution is None
    weak = ip.solve(HEART, ip.bottleneck(0.2), rng=0)
    assert weak.iyz < 2.0 * HEART.expected_information
    assert "299 records" in weak.caution
    assert "aution: I(Y;Z) is" in str(weak)
    assert "Caution: I(Y;Z) is" in weak._repr_html_()
    many = ip.Joint.from_counts(HEART.counts * 1000)
    assert ip.solve(many, ip.bottleneck(0.2), rng=0).caution is None
    assert ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), rng=0).caution is None


def test_what_a_shuffled_table_shows_is_at_most_chance():
    """The mean I(Y;Z) of bottlenecks of 12 tables whose y were dealt out anew is at most what is said of chance."""
    rng = np.random.default_rng(0)
    x, y = (np.repeat(cells, HEART.counts.ravel()) for cells in np.indices(HEART.shape).reshape(2, -1))
    found = []
    for _ in range(12):
        joint = ip.Joint.from_samples(x, rng.permutation(y))
        found.append(ip.solve(joint, ip.bottleneck(0.02), starts=2, rng=0).iyz)
    assert 0.1 * HEART.expected_information < np.mean(found) <= HEART.expected_information


def test_a_funnel_is_cautioned_by_its_own_noise():
    """Perfect privacy leaks in the population; the sentence has the mean that was measured there, within a factor of two."""
    hidden = ip.perfect_privacy(HEART)
    assert "in the population" in caution_of(HEART, hidden.iyz, hidden.encoder)
    assert 0.02 < chance_of(HEART, hidden.encoder) / np.log(2.0) < 0.05
    assert caution_of(HEART, 0.0, np.ones((1, 16))) is None


def test_a_frontier_says_at_how_many_of_its_points():
    frontier = ip.sweep(HEART, ip.bottleneck, [0.02, 0.2, 0.3], starts=2, rng=0)
    assert frontier.caution.startswith("At ")
    assert frontier.caution in frontier._repr_html_()
    assert frontier.caution in str(frontier.suggest())
    assert frontier.best()["chance_iyz_bits"].round(3).tolist() == [0.12] * 3
