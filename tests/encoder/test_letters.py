"""Rows as letters: values, intervals and combinations that were met, whichever library holds them."""

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import infoplane as ip
from infoplane.encoder.letters import CategoryLetters, IntervalLetters, RowLetters, letters_of_rows
from infoplane.storage.mechanism import write_mechanism
from infoplane.table.mechanism import Mechanism


def test_categories_are_found_again_whatever_holds_them():
    letters, codes = CategoryLetters.of(pd.Series(["b", None, "a", "b"], dtype=object))
    assert (letters.labels, codes.tolist()) == (["a", "b", "missing"], [1, 2, 0, 1])
    for other in (
        pd.Series(["a", "zz", None]),
        pd.Series(pd.Categorical(["a", "zz", None])),
        pd.Series(["a", "zz", np.nan], dtype=object),
    ):
        assert letters.codes(other).tolist() == [0, -1, 2]
    without, _ = CategoryLetters.of(pd.Series([3, 1]))
    assert without.codes(pd.Series([1.0, np.nan, 3.0, 2.0])).tolist() == [0, -1, 1, -1]
    mixed, codes = CategoryLetters.of(pd.Series(["x", (1, 2), "x"], dtype=object))
    assert (mixed.size, codes[0] == codes[2] != codes[1]) == (2, True)


def test_intervals_hold_their_lower_edge():
    letters = IntervalLetters((1.0, 2.5), True)
    assert letters.codes(pd.Series([0.0, 1.0, 2.5, np.nan, np.inf])).tolist() == [0, 1, 2, 3, 2]
    assert letters.labels == ["under 1", "1 to under 2.5", "2.5 and over", "missing"]
    assert IntervalLetters((), False).codes(pd.Series([1, None], dtype="Int64")).tolist() == [0, -1]


def test_products_know_the_combinations_that_were_met():
    first, a = CategoryLetters.of(pd.Series(["u", "v", "u"]))
    second, b = CategoryLetters.of(pd.Series([1, 1, 2]))
    letters, codes = RowLetters.of([first, second], [a, b])
    assert letters.labels == [("u", 1), ("u", 2), ("v", 1)]
    assert codes.tolist() == [0, 2, 1]
    assert letters.codes([pd.Series(["v", "v", "w"]), pd.Series([1, 2, 1])]).tolist() == [2, -1, -1]


def test_columns_may_have_more_combinations_than_there_are_numbers():
    """Ten values in each of twenty-four columns: 10^24 combinations, of which those of the rows were met."""
    rows = pd.DataFrame(np.random.default_rng(0).integers(0, 10, (60, 24)), columns=[f"c{i}" for i in range(24)])
    joint = ip.Joint.from_frame(rows.assign(y=rows.c0 % 2), list(rows), "y")
    letters = letters_of_rows(joint, rows)
    assert [joint.x_labels[x] for x in letters] == [*map(tuple, rows.to_numpy().tolist())]
    mechanism = Mechanism.of_joint(joint, np.eye(len(joint.x_labels)))
    assert mechanism.apply(rows).z.tolist() == [f"z{x}" for x in letters]
    with pytest.raises(ip.InvalidMechanismError, match=r"fewer than 2\*\*62; found 1e\+24"):
        write_mechanism(mechanism, "never.json")


@pytest.mark.parametrize(
    "values",
    [
        [date(2024, 1, day) for day in (3, 1, 2, 1)],
        [datetime(2024, 1, day, 12, 30) for day in (3, 1, 2, 1)],
        [3, 1, 2, 1],
        [Decimal("0.1"), Decimal("2.5"), Decimal("0.3"), Decimal("2.5")],
        [0.5, 0.25, 7.0, 0.25],
        [True, False, True, False],
        ["c", "a", "b", "a"],
        ["b", "missing", "a", "missing"],
    ],
)
def test_rows_are_found_again_whatever_their_type(values):
    """Dates of polars are those of Python among the labels: they are met again."""
    frame = pl.DataFrame({"x": values, "y": [0, 1, 1, 0]})
    for one in (frame, frame.to_arrow(), frame.to_pandas()):
        joint = ip.Joint.from_frame(one, "x", "y")
        assert letters_of_rows(joint, one).tolist() == [sorted(set(values)).index(value) for value in values]
