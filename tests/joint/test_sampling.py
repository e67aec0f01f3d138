"""What independence alone would show in a sample."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoplane.information import expected_information, mutual_information
from infoplane.joint import sampling


def by_every_pairing(rows, columns):
    """The mean information over all n! ways to pair the records: slow and obvious."""
    x = np.repeat(np.arange(len(rows)), rows)
    y = np.repeat(np.arange(len(columns)), columns)
    total = 0.0
    for order in itertools.permutations(range(len(y))):
        table = np.zeros((len(rows), len(columns)))
        np.add.at(table, (x, y[list(order)]), 1.0 / len(x))
        total += mutual_information(table)
    return total / math.factorial(len(y))


@pytest.mark.parametrize(
    ("rows", "columns"), [([3, 2, 1], [4, 2]), ([1, 1, 1, 1, 1], [2, 2, 1]), ([6], [3, 3]), ([2, 0, 4], [1, 5])]
)
def test_it_is_the_mean_over_all_pairings(rows, columns):
    assert expected_information(np.array(rows), np.array(columns)) == pytest.approx(
        by_every_pairing(rows, columns), abs=1e-12
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 400), min_size=2, max_size=12), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_it_lies_between_zero_and_the_entropies(rows, letters, seed):
    rows = np.array([*rows, 1])
    n = int(rows.sum())
    columns = np.random.default_rng(seed).multinomial(n, np.full(letters, 1.0 / letters))
    found = expected_information(rows, columns)
    least = min(-sum(k / n * math.log(k / n) for k in counts if k) for counts in (rows.tolist(), columns.tolist()))
    assert -1e-12 <= found <= least + 1e-9


def test_large_counts_are_taken_to_second_order(monkeypatch):
    rows, columns = np.array([3000, 5000, 2000]), np.array([4000, 6000])
    quick = expected_information(rows, columns)
    monkeypatch.setattr(sampling, "LARGE_MEAN", math.inf)
    exact = expected_information(rows, columns)
    assert quick == pytest.approx(exact, rel=2e-3)
    assert exact == pytest.approx((3 - 1) * (2 - 1) / (2 * 10_000), rel=2e-3)


def test_many_letters_are_summed_in_pieces(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 60, 300)
    columns = rng.multinomial(int(rows.sum()), [0.2, 0.3, 0.5])
    whole = expected_information(rows, columns)
    monkeypatch.setattr(sampling, "PIECE", 50)
    assert expected_information(rows, columns) == pytest.approx(whole, rel=1e-12)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any),
    st.lists(st.integers(1, 5), min_size=1, max_size=5),
)
def test_the_bound_is_above_the_expectation(rows, weights):
    rows = np.array(rows)
    columns = np.bincount(np.arange(rows.sum()) % len(weights), minlength=len(weights))
    assert sampling.largest_expected_information(rows, columns) >= expected_information(rows, columns) - 1e-12


def test_more_records_than_the_table_of_factorials_holds(monkeypatch):
    rows, columns = np.array([5, 3, 4]), np.array([6, 6])
    expected = expected_information(rows, columns)
    monkeypatch.setattr(sampling, "TABULATED", 4)
    assert expected_information(rows, columns) == pytest.approx(expected, rel=1e-12)
