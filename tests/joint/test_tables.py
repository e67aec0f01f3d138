"""Joints from counts, matrices and samples, with labels of rows and columns; and what is refused."""

from collections import Counter
from math import fsum, inf, log, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from infoplane.errors import InvalidJointError
from infoplane.joint.joint import Joint
from records import ROWS
from strategies import joints

FAST = settings(deadline=None, max_examples=40)

P = np.array([[0.125, 0.25], [0.0, 0.5], [0.125, 0.0]])


# -- counts ------------------------------------------------------------------------------------------------------------


def test_counts_are_normalised_and_smoothed():
    assert np.array_equal(Joint.from_counts([[3, 0], [0, 1]]).p_xy, [[0.75, 0.0], [0.0, 0.25]])
    assert np.array_equal(Joint.from_counts([[3, 0], [0, 1]], smoothing=1).p_xy, [[0.5, 0.125], [0.125, 0.25]])


def test_smoothing_makes_a_sparse_table_dense():
    N = np.array([[3, 0], [0, 1]])
    smoothed = Joint.from_counts(sparse.csr_array(N), smoothing=1e-3)
    assert not smoothed.is_sparse
    assert smoothed == Joint.from_counts(N, smoothing=1e-3)


@given(joints())
@FAST
def test_a_normalised_table_keeps_its_bits(joint):
    again = Joint.from_matrix(joint.p_xy)
    assert np.array_equal(again.p_xy, joint.p_xy)
    assert again.fingerprint == joint.fingerprint


def test_matrix_within_the_tolerance_is_divided_by_its_sum():
    joint = Joint.from_matrix(P * (1 + 5e-10))
    assert fsum(joint.p_xy.ravel()) == pytest.approx(1.0, abs=1e-15)


def test_negative_zero_is_zero():
    joint = Joint.from_matrix([[-0.0, 1.0]])
    assert not np.signbit(joint.p_xy).any()


def test_counts_that_vanish_in_rounding_are_not_stored():
    joint = Joint.from_counts(sparse.csr_array([[5e-324, 0.0], [0.0, 1e300]]))
    assert joint.p_xy.nnz == 1


# -- bad input ---------------------------------------------------------------------------------------------------------

BAD_TABLES = {
    "nan": ([[0.5, 0.25], [nan, 0.25]], r"must be numbers; found nan at row 1, column 0 \(counting from 0\)\. Fill"),
    "inf": ([[0.5, inf], [0.25, 0.25]], r"must be finite; found inf at row 0, column 1 .*Replace"),
    "minus inf": ([[0.5, -inf], [0.25, 0.25]], r"must be finite; found -inf at row 0, column 1"),
    "negative": (
        [[0.5, 0.75], [0.0, -0.25]],
        r"must be non-negative; found -0\.25 at row 1, column 1 .*Correct the sign",
    ),
    "sparse nan": (sparse.csr_array([[0.0, 0.5], [0.0, nan]]), r"found nan at row 1, column 1"),
    "sparse negative": (sparse.csc_array([[0, 5], [0, 0], [-2, 1]]), r"non-negative; found -2\.0 at row 2, column 0"),
    "beyond float64": ([[np.longdouble("1e400"), 1.0]], "must be finite; found inf at row 0, column 0"),
    "empty": ([], r"must be a 2-D table.*found a list of shape \(0,\)"),
    "no columns": ([[], []], r"must be a 2-D table.*found a list of shape \(2, 0\)"),
    "no rows": (np.zeros((0, 3)), r"must be a 2-D table.*found a ndarray of shape \(0, 3\)"),
    "one dimension": (
        [0.5, 0.5],
        r"must be a 2-D table.*found a list of shape \(2,\)\. For samples use Joint\.from_samples",
    ),
    "sparse, one dimension": (sparse.coo_array([0.5, 0.5]), r"must be a 2-D table.*found a coo_array of shape \(2,\)"),
    "three dimensions": (np.ones((2, 2, 2)), r"must be a 2-D table.*found a ndarray of shape \(2, 2, 2\)"),
    "none": (None, r"must be a 2-D table.*found a NoneType of shape \(\)"),
    "dict": ({"a": [1]}, r"must be a 2-D table.*found a dict of shape \(\)"),
    "ragged": ([[1, 2], [3]], "rows all have one length; found ragged rows"),
    "strings": ([["1", "2"]], r"must hold real numbers; found .*'1'.* at row 0, column 0 .*P\.astype\(float\)"),
    "a string among numbers": (np.array([[1, "a"]], object), "must hold real numbers; found .*'a' at row 0, column 1"),
    "None among numbers": ([[1, 2], [None, 3]], "must hold real numbers; found .*None at row 1, column 0"),
    "bool": ([[True, False]], "must hold real numbers; found dtype bool, .*True.* at row 0, column 0"),
    "sparse bool": (sparse.csr_array([[True, False]]), "must hold real numbers; found dtype bool"),
    "complex": ([[1j, 0]], "must hold real numbers; found dtype complex128"),
    "object": (np.array([[1, 2]], object), r"must hold real numbers; found dtype object\. .*P\.astype"),
    "dates": (np.array([["2020-01-01"]], "M8[D]"), "must hold real numbers; found .*2020-01-01.* at row 0, column 0"),
    "masked": (
        np.ma.array([[1.0, 2.0]], mask=[[0, 1]]),
        "must be numbers; found nan at row 0, column 1 .*Fill missing values",
    ),
}


@pytest.mark.parametrize("build", [Joint, Joint.from_matrix, Joint.from_counts], ids=["Joint", "matrix", "counts"])
@pytest.mark.parametrize(("table", "message"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_bad_table(build, table, message):
    with pytest.raises(InvalidJointError, match=message):
        build(table)


def test_the_message_says_what_kind_of_table():
    with pytest.raises(InvalidJointError, match=r"^p\(x, y\) must be numbers"):
        Joint.from_matrix([[nan]])
    with pytest.raises(InvalidJointError, match=r"^counts must be numbers"):
        Joint.from_counts([[nan]])
    with pytest.raises(InvalidJointError, match=r"^p\(x, y\) must be a 2-D"):
        Joint.from_matrix([1.0])
    with pytest.raises(InvalidJointError, match=r"^counts must be a 2-D"):
        Joint.from_counts([1.0])


@pytest.mark.parametrize("convert", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_matrix_that_does_not_sum_to_one(convert):
    for off, found in (
        ([[3.0, 1.0], [0.0, 5.0]], "9"),
        ([[0.5, 0.5 + 2e-9]], r"1\.000000002"),
    ):
        with pytest.raises(
            InvalidJointError, match=rf"sum to 1 within 1e-09; found the sum {found}\. .*from_counts, which"
        ):
            Joint.from_matrix(convert(off))


@pytest.mark.parametrize("convert", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_all_zero(convert):
    with pytest.raises(InvalidJointError, match=r"^p\(x, y\) must have a positive sum; found only zeros"):
        Joint.from_matrix(convert(np.zeros((2, 3))))
    for smoothing in (0.0, 1.0):
        with pytest.raises(
            InvalidJointError, match=r"^counts must have a positive sum; found only zeros, in a table of shape \(2, 3\)"
        ):
            Joint.from_counts(convert(np.zeros((2, 3))), smoothing)


def test_a_sum_that_overflows():
    frame = pd.DataFrame({"x": ["a", "a"], "y": [0, 0], "w": [1e308, 1.5e308]})
    for build in (
        lambda: Joint.from_matrix([[1e308, 1e308]]),
        lambda: Joint.from_counts([[1e308, 1e308]]),
        lambda: Joint.from_frame(frame, "x", "y", weight="w"),
    ):
        with pytest.raises(InvalidJointError, match=r"sum must be finite; found one beyond 1\.8e308\. Scale"):
            build()


@pytest.mark.parametrize("smoothing", [-1.0, nan, inf, "1", None, [1, 2]], ids=str)
@pytest.mark.parametrize(
    "build",
    [
        lambda s: Joint.from_counts([[1.0]], smoothing=s),
        lambda s: Joint.from_samples([1], [1], smoothing=s),
        lambda s: Joint.from_frame(pd.DataFrame(ROWS), "drug", "sex", smoothing=s),
    ],
    ids=["counts", "samples", "frame"],
)
def test_bad_smoothing(build, smoothing):
    with pytest.raises(InvalidJointError, match=r"finite number, at least 0; found .*added to every cell") as error:
        build(smoothing)
    assert repr(smoothing) in str(error.value)


def test_smoothing_a_sparse_table_that_is_too_large():
    huge = sparse.csr_array(([1.0], ([0], [0])), shape=(10_000, 10_000))
    with pytest.raises(
        InvalidJointError, match=r"^smoothing may fill at most 50,000,000 cells; found 100,000,000\. Use smoothing=0"
    ):
        Joint.from_counts(huge, smoothing=1e-3)
    assert Joint.from_counts(huge).shape == (10_000, 10_000)


def test_conditional_of_a_sparse_table_with_too_many_labels_of_zero_mass():
    joint = Joint.from_counts(
        sparse.csr_array((np.ones(10_000), (np.zeros(10_000, int), np.arange(10_000))), (9_000, 10_000))
    )
    with pytest.raises(InvalidJointError, match=r"at most 50,000,000 cells; found 89,990,000\. .*support says"):
        _ = joint.p_y_given_x
    assert joint.p_x_given_y.shape == (9_000, 10_000)


def test_masked_tables_of_objects_are_refused_for_the_right_reason():
    text = np.ma.array([[1, 2], [3, "a"]], mask=[[0, 0], [0, 1]], dtype=object)
    with pytest.raises(InvalidJointError, match="found nan at row 1, column 1"):
        Joint.from_counts(text)
    with pytest.raises(InvalidJointError, match="must hold real numbers; found dtype object, 'a' at row 1, column 1"):
        Joint.from_counts(np.ma.array(text.data, mask=False))
    assert Joint.from_counts(np.ma.array([[1, 2], [3, 4]], dtype=object)).records == 10


@pytest.mark.parametrize("build", [Joint, Joint.from_matrix, Joint.from_counts], ids=["Joint", "matrix", "counts"])
def test_names_of_the_labels(build):
    labels = [("a", 1), ("a", 2), ("b", 1)]
    joint = build(P, x_labels=labels, x_names=["drug", "dose"], y_names="sex")
    assert joint.x_labels == tuple(labels)
    assert joint.x_names == ("drug", "dose")
    assert joint.y_names == ("sex",)
    assert joint != build(P, x_labels=labels, x_names=["drug", "dose"])
    assert joint.fingerprint == build(P).fingerprint
    for names, message in (
        ([], r"x_names must name one or more columns, by text; found \[\]"),
        ([1, 2], r"x_names must name one or more columns, by text; found \[1, 2\]"),
        (3, "x_names must name one or more columns, by text; found 3"),
        (["drug", "dose", "day"], r"x_labels must be tuples, one value for each of drug, dose, day; found \('a', 1\)"),
    ):
        with pytest.raises(InvalidJointError, match=message):
            build(P, x_labels=labels, x_names=names)
    with pytest.raises(InvalidJointError, match="y_labels must be tuples, one value for each of sex, age; found 0"):
        build(P, y_names=["sex", "age"])


def test_labels_that_cannot_be_compared_keep_the_order_of_first_appearance():
    assert Joint.from_frame(pd.DataFrame({"x": ["b", 1, "a"], "y": [0, 0, 1]}), "x", "y").x_labels == ("b", 1, "a")
    assert Joint.from_samples(["b", 1, "a", "b"], [0, 0, 1, 1]).x_labels == ("b", 1, "a")
    mixed = [*"zyxwvu", 6, 5, 4, 3, 2, 1]
    frame = pl.DataFrame({"x": pl.Series(mixed, dtype=pl.Object), "y": [0, 1] * 6})
    assert Joint.from_frame(frame, "x", "y").x_labels == tuple(mixed)


def test_large_and_empty_tables_are_stored_sparse():
    n = 1100
    joint = Joint.from_samples(range(n), range(n))
    assert joint.is_sparse
    assert joint.shape == (n, n)
    assert joint.mutual_information == pytest.approx(log(n))
    assert not Joint.from_samples(range(n), [0] * n).is_sparse


@pytest.mark.parametrize(
    "convert", [list, tuple, np.array, pd.Series, pl.Series, pa.array, iter], ids=lambda c: getattr(c, "__name__", "?")
)
def test_samples_of_any_sequence(convert):
    x, y = [3, 1, 3, 3], ["u", "v", "u", "v"]
    joint = Joint.from_samples(convert(x), convert(y))
    assert joint.x_labels == (1, 3)
    assert [type(label) for label in joint.x_labels] == [int, int]
    assert joint.y_labels == ("u", "v")
    assert np.array_equal(joint.p_xy, [[0.0, 0.25], [0.5, 0.25]])


def test_samples_with_smoothing_tuples_and_dates():
    joint = Joint.from_samples([(0, "a"), (0, "b")], np.array(["2020-01-02", "2020-01-01"], "M8[ns]"), smoothing=1.0)
    assert joint.x_labels == ((0, "a"), (0, "b"))
    assert joint.y_labels == (np.datetime64("2020-01-01"), np.datetime64("2020-01-02"))
    np.testing.assert_allclose(joint.p_xy * 6, [[1, 2], [2, 1]])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40))
@FAST
def test_samples_count(pairs):
    joint = Joint.from_samples(*zip(*pairs, strict=True))
    for (x, y), n in Counter(pairs).items():
        i, j = joint.x_labels.index(x), joint.y_labels.index(y)
        assert joint.p_xy[i, j] == pytest.approx(n / len(pairs), abs=1e-15)
    assert np.count_nonzero(joint.p_xy) == len(set(pairs))


BAD_SAMPLES = {
    "unequal lengths": (
        [1, 2, 3],
        [1, 2],
        "one value per sample, and at least one sample; found 3 values of x and 2 of y",
    ),
    "none": ([], [], "one value per sample, and at least one sample; found 0 values of x and 0 of y"),
    "nan": (
        [1.0, nan, 2.0, nan],
        [0, 0, 0, 0],
        r"x must have no missing values; found 2, the first at position 1 .*Drop",
    ),
    "numpy nan": ([0, 0], np.array([1.0, nan]), "y must have no missing values; found 1, the first at position 1"),
    "None": ([0, 0], ["a", None], "y must have no missing values; found 1, the first at position 1"),
    "pandas NA": ([0, 0], pd.array([pd.NA, 1], dtype="Int64"), "y must have no missing values; found 1, .*position 0"),
    "NaT": ([0, 0], np.array(["NaT", "2020-01-01"], "M8[ns]"), "y must have no missing values; found 1, .*position 0"),
    "nan in a tuple": ([(1, nan)], [0], "x must have no missing values; found 1, the first at position 0"),
    "unhashable": (
        [0, 0],
        [{}, 1],
        "y must hold hashable values; found an unhashable type: 'dict'.*Turn lists into tuples",
    ),
    "two dimensions": (np.zeros((2, 2)), [0, 0], "x must be 1-D; found 2 dimensions.*use tuples"),
    "a column name": ("drug", "sexs", r"x must be a sequence, in order; found 'drug'\. Pass a list"),
    "a number": ([1], 1, "y must be a sequence, in order; found 1"),
    "a set": ({1, 2}, [1, 2], "x must be a sequence, in order; found {1, 2}"),
}


@pytest.mark.parametrize(("x", "y", "message"), BAD_SAMPLES.values(), ids=BAD_SAMPLES)
def test_bad_samples(x, y, message):
    with pytest.raises(InvalidJointError, match=message):
        Joint.from_samples(x, y)


BAD_LABELS = {
    "too few": (["a", "b"], "x_labels must have one label each: expected 3, found 2"),
    "too many": (range(4), "x_labels must have one label each: expected 3, found 4"),
    "repeated": (["a", "b", "a"], "x_labels must be distinct; found 'a' at 0 and at 2. Rename one"),
    "missing": (["a", nan, None], "x_labels must have no missing values; found 2, the first at position 1"),
    "unhashable": ([1, [2], 3], "x_labels must hold hashable values; found an unhashable type: 'list'"),
    "text": ("abc", "x_labels must be a sequence, in order; found 'abc'"),
    "set": ({"a"}, "x_labels must be a sequence, in order; found {'a'}"),
    "number": (3, "x_labels must be a sequence, in order; found 3"),
    "two dimensions": (np.zeros((3, 2)), "x_labels must be 1-D; found 2 dimensions"),
}


@pytest.mark.parametrize("build", [Joint.from_matrix, Joint.from_counts], ids=["matrix", "counts"])
@pytest.mark.parametrize(("labels", "message"), BAD_LABELS.values(), ids=BAD_LABELS)
def test_bad_labels(build, labels, message):
    with pytest.raises(InvalidJointError, match=message):
        build(P, x_labels=labels)


def test_bad_y_labels():
    with pytest.raises(InvalidJointError, match="y_labels must have one label each: expected 2, found 3"):
        Joint.from_matrix(P, y_labels=["a", "b", "c"])
    with pytest.raises(InvalidJointError, match="y_labels must be distinct; found 'a' at 0 and at 1"):
        Joint.from_matrix(P, y_labels=["a", "a"])
