"""Joints from counts and matrices, and what is refused."""

from math import fsum, inf, nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy import sparse

from infoplane.errors import InvalidJointError
from infoplane.joint.joint import Joint
from records import ROWS
from strategies import joints

FAST = settings(deadline=None, max_examples=60)

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
