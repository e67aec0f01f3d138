"""Gains on held-out records against their slow twin; what has no parts is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import infoplane as ip
from infoplane.sampling.held_out import caution_of, chance_of, curve_of, gain_of, parts_of, without_each_part
from twins import slow_gain


@given(st.integers(0, 10**6))
def test_gain_is_that_of_its_twin(seed):
    rng = np.random.default_rng(seed)
    rest, part = rng.integers(0, 9, (5, 3)) + 1, rng.integers(0, 4, (5, 3)) + 1
    W = rng.dirichlet(np.ones(2), 5).T
    assert gain_of(W, rest, part) == pytest.approx(slow_gain(W, rest, part), abs=1e-12)


def test_a_curve_is_means_and_their_errors():
    (one,) = curve_of([7], [[0.1], [0.2], [0.3], [0.2], [0.2]])
    assert one == pytest.approx(
        (7, 0.2 / np.log(2), np.std([0.1, 0.2, 0.3, 0.2, 0.2], ddof=1) / np.sqrt(5) / np.log(2))
    )
    assert one.tells
    assert not one._replace(error_bits=1.0).tells


def test_parts_are_of_the_records_and_the_rest_is_made_alike():
    made = ip.Joint.from_counts(np.random.default_rng(0).integers(5, 40, (6, 2))).denoised()
    seen = without_each_part(made, 0, lambda rest, part: [(rest, part)])
    assert (sum(part for ((_, part),) in seen) == made.counts).all()
    assert all((rest.counts + part == made.counts).all() and rest.denoising is not None for ((rest, part),) in seen)
    for joint, found in ((ip.Joint.from_matrix(made.p_xy), "probabilities"), (ip.Joint.from_counts([[4, 5]]), "has 9")):
        with pytest.raises(ip.InvalidOptionError, match=found):
            without_each_part(joint, 0, lambda *_: [])


@pytest.mark.parametrize("made", [np.array, sparse.csr_array])
def test_parts_sum_to_the_table_and_have_one_size(made):
    counts = np.random.default_rng(0).poisson(3.0, (40, 3))
    parts = parts_of(made(counts), 7, np.random.default_rng(1))
    assert abs(sum(parts) - counts).sum() == 0
    sizes = [int(part.sum()) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    assert {sparse.issparse(part) for part in parts} == {made is sparse.csr_array}
    for y in range(3):  # stratified by y
        of_y = [int(part[:, [y]].sum()) for part in parts]
        assert max(of_y) - min(of_y) <= 1


def test_parts_are_drawn_as_if_records_were_shuffled():
    """Mean and variance of a cell's share in a part: hypergeometric, n_xy records of the n_y, a third of which are drawn."""
    counts, rng = np.array([[6, 2], [12, 4]]), np.random.default_rng(0)
    first = np.array([parts_of(counts, 3, rng)[0][0, 0] for _ in range(1500)])
    assert first.mean() == pytest.approx(2.0, abs=0.1)
    assert first.var() == pytest.approx(6 * (6 / 18) * (12 / 18) * (12 / 17), abs=0.1)


def test_too_few_records_are_refused():
    with pytest.raises(ip.InvalidOptionError, match="need 20 records"):
        parts_of(np.array([[3, 3]]), 10, np.random.default_rng(0))


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
