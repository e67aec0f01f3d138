"""Joints from frames, and what is refused."""

from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoplane.errors import InvalidJointError, InvalidOptionError
from infoplane.joint.joint import Joint
from records import FRAMES, ROWS, every_frame

FAST = settings(deadline=None, max_examples=60)

# -- frames ------------------------------------------------------------------------------------------------------------


@every_frame
def test_frame_one_column_each(frame):
    joint = Joint.from_frame(frame(ROWS), x="drug", y=["sex"])
    assert joint.x_labels == ("a", "b")
    assert joint.y_labels == ("f", "m")
    assert joint.x_names == ("drug",)
    assert joint.y_names == ("sex",)
    np.testing.assert_allclose(joint.p_xy * 6, [[2, 0], [1, 3]], atol=1e-15)


@every_frame
def test_frame_several_columns_have_tuples_as_labels(frame):
    joint = Joint.from_frame(frame(ROWS), x=["drug", "dose"], y="sex", smoothing=1.0)
    assert joint.x_labels == (("a", 1), ("b", 1), ("b", 2))
    assert joint.x_names == ("drug", "dose")
    np.testing.assert_allclose(joint.p_xy * 12, [[3, 1], [1, 2], [2, 3]], atol=1e-15)


@every_frame
def test_frame_weights(frame):
    joint = Joint.from_frame(frame(ROWS), x="drug", y="sex", weight="n")
    assert np.array_equal(joint.p_xy, np.array([[6.0, 0.0], [0.5, 1.5]]) / 8.0)


@every_frame
def test_frame_label_of_zero_weight_stays(frame):
    joint = Joint.from_frame(frame({"x": ["a", "b"], "y": [0, 1], "n": [3, 0]}), "x", "y", weight="n")
    assert joint.x_labels == ("a", "b")
    assert np.array_equal(joint.p_x, [1.0, 0.0])


@every_frame
def test_frame_column_names_of_ours_cannot_clash(frame):
    data = {"c0": ["a", "b"], "row": [0, 1], "n": [5, 6], "w": [3.0, 1.0]}
    joint = Joint.from_frame(frame(data), ["n", "row"], "c0", weight="w")
    assert joint.x_labels == ((5, 0), (6, 1))
    assert np.array_equal(joint.p_xy, [[0.75, 0.0], [0.0, 0.25]])


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("pq"), st.floats(0, 9)), min_size=1), st.randoms())
@settings(deadline=None, max_examples=20)
def test_frames_agree_to_the_bit_and_do_not_depend_on_row_order(rows, random):
    rows.append((0, "p", 1.0))
    shuffled = random.sample(rows, len(rows))
    joints_ = [
        Joint.from_frame(frame({"x": x, "y": y, "w": w}), "x", "y", weight="w")
        for frame in FRAMES.values()
        for x, y, w in (zip(*rows, strict=True), zip(*shuffled, strict=True))
    ]
    assert len({(joint.fingerprint, joint.x_labels, joint.y_labels) for joint in joints_}) == 1


def test_frame_and_samples_agree():
    frame = pd.DataFrame(ROWS)
    assert (
        Joint.from_frame(frame, "drug", "sex").p_xy.tolist() == Joint.from_samples(frame.drug, frame.sex).p_xy.tolist()
    )


def test_frame_accepts_categories_dates_and_nullable_columns():
    frame = pd.DataFrame(
        {
            "cat": pd.Categorical(["v", "u", "v"], categories=["w", "v", "u"]),
            "date": pd.to_datetime(["2020-01-02", "2020-01-01", "2020-01-02"]),
            "int": pd.array([2, 1, 2], dtype="Int64"),
            "weight": pd.array([1, 1, 2], dtype="Int64"),
        }
    )
    joint = Joint.from_frame(frame, ["cat", "int"], "date", weight="weight")
    assert joint.x_labels == (("u", 1), ("v", 2))
    assert joint.y_labels == (pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02"))
    assert np.array_equal(joint.p_xy, [[0.25, 0.0], [0.0, 0.75]])
    arrow = pa.table({"x": pa.array(["v", "u"]).dictionary_encode(), "y": [True, False]})
    assert Joint.from_frame(arrow, "x", "y").x_labels == ("u", "v")


# -- missing values ----------------------------------------------------------------------------------------------------


@every_frame
def test_missing_values_are_dropped_or_a_label(frame):
    rows = {"x": ["b", None, "a", "b"], "v": [1.5, 2.5, nan, 1.5], "y": [0, 1, 1, 0]}
    dropped = Joint.from_frame(frame(rows), ["x", "v"], "y", missing="drop")
    assert (dropped.x_labels, dropped.y_labels, dropped.records) == ((("b", 1.5),), (0,), 2)
    kept = Joint.from_frame(frame(rows), ["x", "v"], "y", missing="category")
    assert kept.x_labels == (("a", "missing"), ("b", 1.5), ("missing", 2.5))
    assert kept.records == 4


@every_frame
def test_a_label_for_what_is_missing_is_not_one_that_is_there(frame):
    rows = {"x": ["missing", None, "a"], "y": [0, 1, 1]}
    with pytest.raises(InvalidJointError, match=r"column 'x' has values called 'missing', and 1 that are missing"):
        Joint.from_frame(frame(rows), "x", "y", missing="category")
    assert Joint.from_frame(frame(rows), "x", "y", missing="drop").x_labels == ("a", "missing")


def test_nothing_is_left_or_the_rule_is_unknown():
    frame = pd.DataFrame({"x": ["a", None], "y": [nan, 1.0]})
    with pytest.raises(InvalidJointError, match="at least one row"):
        Joint.from_frame(frame, "x", "y", missing="drop")
    with pytest.raises(InvalidOptionError, match="missing must be one of 'error', 'category', 'drop'; found 'label'"):
        Joint.from_frame(frame, "x", "y", missing="label")


# -- bad input ---------------------------------------------------------------------------------------------------------


BAD_COLUMNS = {
    "missing": (
        {"x": "drugs"},
        "x must name columns of the frame; found 'drugs', expected one of 'drug', 'dose', 'sex', 'n'",
    ),
    "missing in a list": ({"y": ["sex", "age"]}, "y must name columns of the frame; found 'age'"),
    "missing weight": ({"weight": "w"}, "weight must name columns of the frame; found 'w'"),
    "repeated": ({"x": ["drug", "dose", "drug"]}, "a column can be used once; found 'drug' in x and again in x"),
    "in both": ({"x": ["drug", "sex"]}, "a column can be used once; found 'sex' in x and again in y"),
    "no x": ({"x": []}, r"x must name one or more columns, by text; found \[\]"),
    "no y": ({"y": ()}, r"y must name one or more columns, by text; found \(\)"),
    "number": ({"x": 0}, "x must name one or more columns, by text; found 0"),
    "number in a list": ({"y": [0]}, r"y must name one or more columns, by text; found \[0\]\. Rename"),
    "None": ({"x": None}, "x must name one or more columns, by text; found None"),
    "set": ({"x": {"drug"}}, "x must be a sequence, in order; found {'drug'}"),
    "weight in x": (
        {"x": ["drug", "n"], "weight": "n"},
        "a column can be used once; found 'n' in x and again in weight",
    ),
    "weight in y": (
        {"y": ["sex", "n"], "weight": "n"},
        "a column can be used once; found 'n' in y and again in weight",
    ),
    "weight of text": (
        {"weight": "dose", "x": "n", "text": True},
        "weights must be numeric; found String in column 'dose'",
    ),
    "weight is a list": ({"weight": ["n"]}, r"weight must name one column, by text; found \['n'\]"),
}


@every_frame
@pytest.mark.parametrize(("change", "message"), BAD_COLUMNS.values(), ids=BAD_COLUMNS)
def test_bad_columns(frame, change, message):
    arguments = {"x": "drug", "y": "sex"} | change
    data = dict(ROWS, dose=list("211112")) if arguments.pop("text", False) else ROWS
    with pytest.raises(InvalidJointError, match=message):
        Joint.from_frame(frame(data), **arguments)


BAD_WEIGHTS = {
    "negative": (
        [1.0, 2.0, -0.5],
        r"weights in column 'w' must be non-negative; found -0\.5 at row 2 .*Correct the sign",
    ),
    "nan": ([1.0, nan, 2.0], "weights in column 'w' must be numbers; found nan at row 1"),
    "null": ([1.0, 2.0, None], "weights in column 'w' must be numbers; found nan at row 2"),
    "null among integers": ([None, 2, 3], "weights in column 'w' must be numbers; found nan at row 0"),
    "inf": ([inf, 2.0, 3.0], "weights in column 'w' must be finite; found inf at row 0"),
    "all zero": ([0.0, 0.0, 0.0], r"positive sum; found only zeros, in a table of shape \(3, 1\)"),
}


@every_frame
@pytest.mark.parametrize(("weights", "message"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
def test_bad_weights(frame, weights, message):
    with pytest.raises(InvalidJointError, match=message):
        Joint.from_frame(frame({"x": [1, 2, 3], "y": [0, 0, 0], "w": weights}), "x", "y", weight="w")


BAD_VALUES = {
    "null text": (["a", None, None], r"column 'x' must have no missing values; found 2, the first in row 1"),
    "null integer": ([None, 1, 2], "column 'x' must have no missing values; found 1, the first in row 0"),
    "nan": ([1.0, 2.0, nan], r"column 'x' .*found 1, the first in row 2 .*Drop those rows .*or fill"),
    "list": ([[1], [1], [2]], "column 'x' must hold hashable values; found an unhashable type: 'list'"),
}


@every_frame
@pytest.mark.parametrize(("values", "message"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_bad_values_in_a_frame(frame, values, message):
    with pytest.raises(InvalidJointError, match=message):
        Joint.from_frame(frame({"x": values, "y": [0, 0, 1]}), x=["x"], y="y")
    with pytest.raises(InvalidJointError, match=message):
        Joint.from_frame(frame({"x": values, "y": [0, 0, 1]}), x="y", y="x")


@every_frame
def test_frame_without_rows(frame):
    with pytest.raises(InvalidJointError, match="at least one row; found none"):
        Joint.from_frame(frame({"x": [], "y": []}), "x", "y")


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"]), pa.table([[1], [2], [3]], names=["a", "a", "b"])],
    ids=["pandas", "pyarrow"],
)
def test_frame_with_repeated_column_names(frame):
    with pytest.raises(InvalidJointError, match=r"distinct names\. .*'a' 2 times.*Rename"):
        Joint.from_frame(frame, "a", "b")


NOT_FRAMES = {
    "dict": ({"x": [1], "y": [2]}, r"found dict\. For a matrix use"),
    "array": (np.ones((2, 2)), "found ndarray"),
    "series": (pd.Series([1]), "found Series"),
    "None": (None, "found NoneType"),
}


@pytest.mark.parametrize(("frame", "message"), NOT_FRAMES.values(), ids=NOT_FRAMES)
def test_not_a_frame(frame, message):
    with pytest.raises(InvalidJointError, match=f"expected a frame of pandas, .* or pyspark; {message}"):
        Joint.from_frame(frame, "x", "y")


def _arrow_columns():
    yield pa.Table.from_pandas(pd.DataFrame({"a": pd.period_range("2020-01", periods=3, freq="M")})).column("a")
    yield pa.Table.from_pandas(pd.DataFrame({"a": pd.interval_range(0, 3)})).column("a")
    yield pa.array([[("k", 1)], [("j", 2)], []], type=pa.map_(pa.string(), pa.int64()))
    yield pa.array(["u", "v", "u"], type=pa.string_view())


def test_arrow_columns_that_cannot_be_grouped_are_refused_by_name_and_type():
    for column in _arrow_columns():
        frame = pa.table({"a": column, "b": [0, 1, 0]})
        with pytest.raises(InvalidJointError, match=r"'a' of type .*Convert it to text or numbers"):
            Joint.from_frame(frame, x="a", y="b")
        assert Joint.from_frame(frame.append_column("c", pa.array([1, 2, 3])), x="c", y="b").shape == (3, 2)


def test_intervals_of_polars_are_refused_in_a_sentence():
    """What pandas calls intervals arrives there as an extension type, whose values are dictionaries."""
    pandas = pd.DataFrame({"x": pd.arrays.IntervalArray.from_tuples([(0, 1), (1, 2), (0, 1)]), "y": list("aba")})
    assert Joint.from_frame(pandas, "x", "y").x_labels == (pd.Interval(0, 1), pd.Interval(1, 2))
    with pytest.raises(InvalidJointError, match=r"(grouped by them|hashable values).*[Cc]onvert it to text|Turn"):
        Joint.from_frame(pl.from_pandas(pandas), "x", "y")


def test_a_mistyped_column_of_many_is_answered_with_the_nearest():
    frame = pd.DataFrame(np.zeros((1, 2000)), columns=[f"gene{number}" for number in range(2000)])
    with pytest.raises(InvalidJointError, match=r"one of 2,000 names; the nearest are 'gene\d+'") as refused:
        Joint.from_frame(frame, "gene12O", "gene1")
    assert len(str(refused.value)) < 300


MIXED = {"one and True": [1, True, 2], "one and one point nought": [1, 2, 1.0], "in tuples": [(1, "a"), (True, "a"), 3]}


@pytest.mark.parametrize("values", MIXED.values(), ids=MIXED)
def test_values_that_are_equal_but_of_different_types_are_not_merged(values):
    column = pd.Series(values, dtype=object)
    with pytest.raises(
        InvalidJointError, match=r"column 'x' must not hold values that are equal .* found .*1.* and .*(True|1\.0)"
    ):
        Joint.from_frame(pd.DataFrame({"x": column, "y": [0, 1, 1]}), "x", "y")
    with pytest.raises(InvalidJointError, match="x must not hold values that are equal but of different types"):
        Joint.from_samples(values, [0, 1, 1])
    assert Joint.from_samples([np.int64(1), 1, 2.5], [0, 1, 1]).x_labels == (1, 2.5)
