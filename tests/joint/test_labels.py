"""Labels of rows and columns, their names, and joints from samples of them."""

from collections import Counter
from math import log, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoplane.errors import InvalidJointError
from infoplane.joint.joint import Joint

FAST = settings(deadline=None, max_examples=60)

P = np.array([[0.125, 0.25], [0.0, 0.5], [0.125, 0.0]])


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
