import numpy as np
import pandas as pd

from infoplane.table.letters import CategoryLetters, IntervalLetters, ProductLetters


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
    letters, codes = ProductLetters.of([first, second], [a, b])
    assert letters.labels == [("u", 1), ("u", 2), ("v", 1)]
    assert codes.tolist() == [0, 2, 1]
    assert letters.codes([pd.Series(["v", "v", "w"]), pd.Series([1, 2, 1])]).tolist() == [2, -1, -1]
