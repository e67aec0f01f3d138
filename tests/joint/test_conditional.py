"""A joint from a prior and p(y|x), in either order of axes; and the same p(y|x) with another prior."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from infoplane.errors import InvalidJointError
from infoplane.joint.joint import Joint

PRIOR = np.array([0.25, 0.5, 0.25])
T = np.array([[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]])
P = PRIOR[:, None] * T


@pytest.mark.parametrize(
    ("table", "axes"),
    [(T, "xy"), (T.T, "yx"), (T.tolist(), "xy"), (T.T.tolist(), "yx"), (sparse.csr_array(T), "xy"), (sparse.csc_array(T.T), "yx")],
)  # fmt: skip
def test_either_order_of_axes(table, axes):
    joint = Joint.from_conditional(PRIOR, table, axes=axes)
    assert np.array_equal(joint.p_xy.toarray() if joint.is_sparse else joint.p_xy, P)
    assert joint.is_sparse == sparse.issparse(table)


@pytest.mark.parametrize("axes", ["xy", "yx"])
def test_a_frame_keeps_its_labels(axes):
    frame = pd.DataFrame(T, index=pd.Index(["a", "b", "c"], name="item"), columns=pd.Index(["u", "v"], name="meaning"))
    joint = Joint.from_conditional("uniform", frame if axes == "xy" else frame.T, axes=axes)
    assert (joint.x_labels, joint.x_names) == (("a", "b", "c"), ("item",))
    assert (joint.y_labels, joint.y_names) == (("u", "v"), ("meaning",))
    np.testing.assert_allclose(joint.p_x, 1 / 3, atol=1e-15)


def test_the_factors_of_a_joint_lead_back_to_it():
    joint = Joint.from_matrix(P, ["a", "b", "c"])
    again = Joint.from_conditional(joint.p_x, joint.p_y_given_x, axes="yx", x_labels=joint.x_labels)
    assert again == joint


@pytest.mark.parametrize(
    ("prior", "table", "axes", "message"),
    [
        (PRIOR, T * [[1], [1.1], [1]], "xy", r"found the sum 1\.1 in row 1 \(counting from 0\)"),
        (PRIOR, (T * [[1], [1.1], [1]]).T, "yx", r"found the sum 1\.1 in column 1 "),
        (PRIOR, T.T, "xy", r'The columns do: say axes="yx"'),
        (PRIOR, T, "yx", r'The rows do: say axes="xy"'),
        (PRIOR[:2], T, "xy", r"one probability for each of 3 x; found shape \(2,\)"),
        ([0.5, 0.6, 0.1], T, "xy", r"prior must sum to 1 .* found the sum 1\.2"),
        ([0.5, -0.5, 1.0], T, "xy", r"prior must be non-negative; found -0\.5 at x = 1"),
        ([0.5, np.nan, 1.0], T, "xy", r"prior must be numbers; found nan at x = 1"),
        ("flat", T, "xy", r'"uniform"; found \'flat\''),
        (["a", "b", "c"], T, "xy", r"prior must be a list of probabilities"),
        (PRIOR, T[0], "xy", r"2-D table"),
        (PRIOR, T, "x", r'axes must be "xy"'),
    ],
)
def test_what_is_refused(prior, table, axes, message):
    with pytest.raises(InvalidJointError, match=message):
        Joint.from_conditional(prior, table, axes=axes)


@pytest.mark.parametrize("made", [np.array, sparse.csr_array])
def test_another_prior_keeps_the_conditional(made):
    joint = Joint.from_matrix(made(P), ["a", "b", "c"]).with_prior("uniform")
    dense = joint.p_xy.toarray() if joint.is_sparse else joint.p_xy
    np.testing.assert_allclose(dense, T / 3, atol=1e-15)
    assert joint.x_labels == ("a", "b", "c")


def test_a_joint_with_another_prior_is_no_table_of_records():
    joint = Joint.from_counts([[3, 1], [2, 2]])
    assert joint.records == 8
    assert joint.with_prior([0.5, 0.5]).records is None


def test_a_letter_without_mass_has_no_conditional_to_weigh():
    joint = Joint.from_matrix([[0.5, 0.5], [0.0, 0.0]], x_labels=["seen", "never"])
    with pytest.raises(InvalidJointError, match=r"found 0\.5 at x = 'never'"):
        joint.with_prior("uniform")
    assert joint.with_prior([1.0, 0.0]) == joint


def test_the_callers_arrays_stay_as_they_are():
    prior, table = PRIOR.copy(), T.copy()
    Joint.from_conditional(prior, table)
    assert np.array_equal(prior, PRIOR)
    assert np.array_equal(table, T)


LABELLED = Joint.from_counts([[3, 1], [1, 1], [2, 5]], x_labels=["a", "b", "c"])


def test_a_prior_with_labels_is_matched_by_them():
    wanted = [0.2, 0.3, 0.5]
    for prior in (
        wanted,
        pd.Series(wanted),
        pd.Series([0.5, 0.2, 0.3], index=["c", "a", "b"]),
        {"b": 0.3, "a": 0.2, "c": 0.5},
    ):
        np.testing.assert_allclose(LABELLED.with_prior(prior).p_x, wanted, rtol=1e-15)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({"a": 0.5, "b": 0.5}, "prior: .*nothing is said of x = 'c'"),
        (pd.Series([0.2, 0.3, 0.5], index=["a", "b", "d"]), "the joint has no x 'd', and nothing is said of x = 'c'"),
        (pd.Series([0.2, 0.3, 0.5], index=["a", "b", "b"]), "found 'b' twice"),
        (pd.DataFrame({"p": [0.2, 0.3, 0.5]}), "one column; found a frame"),
    ],
)
def test_a_prior_with_other_labels_is_refused(prior, message):
    with pytest.raises(InvalidJointError, match=message):
        LABELLED.with_prior(prior)


def test_a_prior_with_labels_needs_a_conditional_with_labels():
    with pytest.raises(InvalidJointError, match="the joint has no x 'a'"):
        Joint.from_conditional({"a": 0.5, "b": 0.5}, [[0.5, 0.5], [0.1, 0.9]])


def test_series_of_samples_must_have_the_same_rows():
    x, y = pd.Series(list("aab"), index=[3, 4, 5]), pd.Series(list("uvv"), index=[3, 4, 5])
    assert Joint.from_samples(x, y).shape == (2, 2)
    with pytest.raises(InvalidJointError, match="rows have different labels"):
        Joint.from_samples(x, y.iloc[::-1])
