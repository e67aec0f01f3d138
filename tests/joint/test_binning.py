"""Numbers and dates in bins without holes, with edges that are kept and labels that people read."""

import pickle
from datetime import date, datetime
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoplane import InvalidJointError, InvalidOptionError, Joint
from infoplane.joint.binning import Bin, Cut, quantile_edges
from records import every_frame


def test_equal_values_stay_together():
    assert quantile_edges({1: 10, 2: 1, 3: 1, 40: 8}, 4) == (2, 40)


def test_edges_are_the_shortest_that_tell_values_apart():
    assert quantile_edges({0.12341: 1, 0.12349: 1, 0.5123: 1, 1.0: 1}, 2) == (0.5,)
    assert quantile_edges({0.12341: 1, 0.12349: 1}, 2) == (0.12349,)
    assert quantile_edges({datetime(2024, 1, 1, 5): 1, datetime(2024, 1, 2, 7, 31): 1}, 2) == (datetime(2024, 1, 2),)


def test_bins_of_a_large_column_have_about_equal_mass():
    values = np.random.default_rng(0).normal(size=2000)
    joint = Joint.from_frame(pd.DataFrame({"v": values, "y": values > 0}), "v", "y", bins={"v": 5})
    assert (joint.p_x * 2000).tolist() == [400] * 5


@given(
    st.dictionaries(st.floats(allow_nan=False, width=32), st.integers(1, 9), min_size=1),
    st.integers(1, 6),
    st.floats(allow_nan=False),
)
@settings(deadline=None, max_examples=120)
def test_the_bins_are_a_partition_of_the_line(mass, bins, value):
    """Slow twin: each interval asked in turn, of values that were seen and of one that was not."""
    edges = quantile_edges(mass, bins)
    labels = [Cut("edges", edges).label(code) for code in range(len(edges) + 1)]
    assert (labels[0].low, labels[-1].high) == (None, None)
    assert all(left.high == right.low for left, right in pairwise(labels))
    for one in (*mass, value):
        inside = [(b.low is None or b.low <= one) and (b.high is None or one < b.high) for b in labels]
        assert sum(inside) == 1
    assert sorted(labels) == labels
    assert len({str(label) for label in labels}) == len(labels)


@every_frame
def test_labels_are_intervals_ordered_by_their_numbers(frame):
    joint = Joint.from_frame(
        frame({"age": [5, 7, 9, 10, 15, 100], "y": [0, 1, 0, 1, 0, 1]}), "age", "y", bins={"age": 3}
    )
    assert joint.x_labels == ("under 9", "9 to under 15", "15 and over")
    assert [(label.low, label.high) for label in joint.x_labels] == [(None, 9), (9, 15), (15, None)]
    assert joint.records == 6
    assert joint.bins == {"age": (9, 15)}


@every_frame
def test_other_rows_fall_into_the_same_bins(frame):
    joint = Joint.from_frame(
        frame({"age": [5, 7, 9, 10, 15, 100], "y": [0, 1, 0, 1, 0, 1]}), "age", "y", bins={"age": 3}
    )
    other = Joint.from_frame(frame({"age": [-50.0, 8.5, 14.9, 1e9], "y": [0, 1, 0, 1]}), "age", "y", bins=joint.bins)
    assert other.x_labels == joint.x_labels
    assert (other.p_x * 4).tolist() == [2, 1, 1]


@every_frame
def test_one_of_several_columns_is_binned(frame):
    rows = {"sex": ["f", "m", "f", "m"], "age": [20, 30, 40, 50], "y": [0, 1, 0, 1]}
    joint = Joint.from_frame(frame(rows), ["sex", "age"], "y", bins={"age": 2})
    assert joint.x_labels == (("f", "under 40"), ("f", "40 and over"), ("m", "under 40"), ("m", "40 and over"))
    assert joint.bins == {"age": (40,)}


@every_frame
def test_missing_numbers_are_a_bin(frame):
    rows = {"age": [20.0, None, 40.0, float("nan")], "y": [0, 1, 0, 1], "z": ["a", "b", None, "b"]}
    joint = Joint.from_frame(frame(rows), "age", "y", bins={"age": 2}, missing="category")
    assert joint.x_labels == ("under 40", "40 and over", "missing")
    assert (joint.p_x * 4).tolist() == [1, 1, 2]
    # A row that is left out for another column's sake has no part in the quantiles.
    assert Joint.from_frame(frame(rows), "age", "z", bins={"age": 2}, missing="drop").x_labels == ("all numbers",)


TIMES = [datetime(2023, 12, 31, 23), datetime(2024, 1, 1), datetime(2024, 1, 8, 12, 30), datetime(2024, 3, 5, 1), None]
DATES = [None if one is None else one.date() for one in TIMES]
RULES = {
    "year": ("2023", "2024", "missing"),
    "month": ("2023-12", "2024-01", "2024-03", "missing"),
    "weekday": ("Monday", "Tuesday", "Sunday", "missing"),
    2: ("before 2024-01-08", "2024-01-08 and later", "missing"),
    3: ("before 2024-01-01", "2024-01-01 to before 2024-03-05", "2024-03-05 and later", "missing"),
}


@every_frame
@pytest.mark.parametrize("column", [TIMES, DATES], ids=["times", "dates"])
@pytest.mark.parametrize("rule", RULES)
def test_dates_are_binned(frame, column, rule):
    joint = Joint.from_frame(
        frame({"when": column, "y": [0, 1, 0, 1, 1]}), "when", "y", bins={"when": rule}, missing="category"
    )
    assert joint.x_labels == RULES[rule]
    again = Joint.from_frame(
        frame({"when": column, "y": [0, 1, 0, 1, 1]}), "when", "y", bins=joint.bins, missing="category"
    )
    assert again == joint


def test_dates_with_a_time_zone_are_binned():
    when = pd.to_datetime(["2024-01-01 00:00", "2024-01-02 10:00", "2024-06-01 00:00"]).tz_localize("Europe/Paris")
    rows = {"when": when, "y": [0, 1, 1]}
    for frame in (pd.DataFrame(rows), pl.from_pandas(pd.DataFrame(rows))):
        joint = Joint.from_frame(frame, "when", "y", bins={"when": 2})
        assert joint.x_labels == ("before 2024-01-02", "2024-01-02 and later")
        assert Joint.from_frame(frame, "when", "y", bins={"when": [date(2024, 1, 2)]}) == joint


def test_what_cannot_be_binned_is_named():
    frame = pd.DataFrame({"x": ["a", "b"], "y": [0, 1], "t": [True, False]})
    with pytest.raises(InvalidJointError, match=r"bins need numbers or dates; found 'a' .* column 'x'"):
        Joint.from_frame(frame, "x", "y", bins={"x": 2})
    with pytest.raises(InvalidJointError, match=r"bins need numbers or dates; found True .* column 't'"):
        Joint.from_frame(frame, "x", "t", bins={"t": 2})
    with pytest.raises(InvalidJointError, match=r"bins need dates; found 0 of type Int64 in column 'y'"):
        Joint.from_frame(frame, "x", "y", bins={"y": "month"})
    with pytest.raises(InvalidJointError, match="found 'z'"):
        Joint.from_frame(frame, "x", "y", bins={"z": 2})
    with pytest.raises(InvalidJointError, match="must be of the column's kind, Int64"):
        Joint.from_frame(frame, "x", "y", bins={"y": [date(2024, 1, 1)]})
    for rule, words in (
        (0, "positive whole number"),
        ("day", "year, month, weekday"),
        ([2, 1], "must increase"),
        (["a"], "numbers, or dates"),
    ):
        with pytest.raises(InvalidOptionError, match=words):
            Joint.from_frame(frame, "x", "y", bins={"y": rule})


def test_bins_are_kept_by_pickles():
    label = Bin("2024-03", 24290, 24291, "month")
    again = pickle.loads(pickle.dumps(label))
    assert (again, again.low, again.high, again.rule) == (label, 24290, 24291, "month")
