import copy
import doctest
import math
import pickle
import re
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import infoplane.joint
from infoplane.errors import InvalidJointError
from infoplane.joint import Joint
from strategies import joints

FAST = settings(deadline=None, max_examples=60)
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)

P = np.array([[0.125, 0.25], [0.0, 0.5], [0.125, 0.0]])


def as_sparse(joint):
    return Joint.from_matrix(sparse.csr_array(joint.p_xy), joint.x_labels, joint.y_labels, joint.x_names, joint.y_names)


def test_docstrings_run():
    assert doctest.testmod(infoplane.joint).failed == 0


# -- what a joint holds ------------------------------------------------------------------------------------------------


def test_matrix_marginals_and_labels():
    joint = Joint.from_matrix(P, x_labels=["a", "b", "c"])
    assert joint.shape == (3, 2)
    assert not joint.is_sparse
    assert np.array_equal(joint.p_xy, P)
    assert np.array_equal(joint.p_x, [0.375, 0.5, 0.125])
    assert np.array_equal(joint.p_y, [0.25, 0.75])
    assert joint.x_labels == ("a", "b", "c")
    assert joint.y_labels == (0, 1)
    assert (joint.x_names, joint.y_names) == (("x",), ("y",))


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
        (["drug", "dose", "day"], r"x_labels must be tuples, a value for each of drug, dose, day; found \('a', 1\)"),
    ):
        with pytest.raises(InvalidJointError, match=message):
            build(P, x_labels=labels, x_names=names)
    with pytest.raises(InvalidJointError, match="y_labels must be tuples, a value for each of sex, age; found 0"):
        build(P, y_names=["sex", "age"])


@pytest.mark.parametrize(
    "given_p",
    [
        P.tolist(),
        P.astype(np.float32),
        np.asfortranarray(P),
        np.ma.array(P),
        pd.DataFrame(P),
        sparse.csc_matrix(P).todense(),
    ],
    ids=["lists", "float32", "fortran", "masked without mask", "pandas", "np.matrix"],
)
def test_matrix_takes_anything_that_is_a_table_of_numbers(given_p):
    joint = Joint.from_matrix(given_p)
    assert np.array_equal(joint.p_xy, P)
    assert type(joint.p_xy) is np.ndarray
    assert joint.p_xy.dtype == np.float64
    assert joint.p_xy.flags.c_contiguous


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("flavour", ["array", "matrix"])
def test_sparse_input_stays_sparse(kind, flavour):
    joint = Joint.from_matrix(getattr(sparse, f"{kind}_{flavour}")(P))
    assert joint.is_sparse
    assert isinstance(joint.p_xy, sparse.csr_array)
    assert np.array_equal(joint.p_xy.toarray(), P)
    assert joint == Joint.from_matrix(P)


def test_sparse_duplicates_are_added_and_explicit_zeros_dropped():
    values, columns = [1.0, 2.0, 1.0, 0.0, 4.0], [1, 1, 0, 0, 1]
    for table in (
        sparse.coo_array((values, ([0, 0, 0, 1, 1], columns)), shape=(2, 2)),
        sparse.csr_array((values, columns, [0, 3, 5]), shape=(2, 2)),
    ):
        joint = Joint.from_counts(table)
        assert np.array_equal(joint.p_xy.toarray(), [[0.125, 0.375], [0.0, 0.5]])
        assert joint.p_xy.nnz == 3
        assert joint == Joint.from_counts([[1, 3], [0, 4]])


@given(joints())
@FAST
def test_sparse_and_dense_agree(joint):
    twin = as_sparse(joint)
    assert twin == joint
    assert hash(twin) == hash(joint)
    assert twin.fingerprint == joint.fingerprint
    np.testing.assert_allclose(twin.p_x, joint.p_x, atol=1e-15)
    np.testing.assert_allclose(twin.p_y, joint.p_y, atol=1e-15)
    np.testing.assert_allclose(twin.p_y_given_x.toarray(), joint.p_y_given_x, atol=1e-14)
    np.testing.assert_allclose(twin.p_x_given_y.toarray(), joint.p_x_given_y, atol=1e-14)
    assert isinstance(twin.p_y_given_x, sparse.csr_array)
    assert twin.mutual_information == pytest.approx(joint.mutual_information, abs=1e-14)


@given(joints())
@FAST
def test_conditionals_multiply_back_to_the_joint(joint):
    T, K = joint.p_y_given_x, joint.p_x_given_y
    assert T.shape == joint.shape[::-1]
    assert K.shape == joint.shape
    np.testing.assert_allclose((T * joint.p_x).T, joint.p_xy, atol=1e-15)
    np.testing.assert_allclose(K * joint.p_y, joint.p_xy, atol=1e-15)
    np.testing.assert_allclose(T.sum(axis=0), 1.0, atol=1e-14)
    np.testing.assert_allclose(K.sum(axis=0), 1.0, atol=1e-14)


@pytest.mark.parametrize("convert", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_zero_mass_is_legal_and_its_conditional_is_the_marginal(convert):
    joint = Joint.from_matrix(convert([[0.25, 0.0, 0.25], [0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]))
    T, K = (c.toarray() if joint.is_sparse else c for c in (joint.p_y_given_x, joint.p_x_given_y))
    assert np.array_equal(T[:, 1], joint.p_y)
    assert np.array_equal(K[:, 1], joint.p_x)
    seen_x, seen_y = joint.support()
    assert seen_x.tolist() == [True, False, True]
    assert seen_y.tolist() == [True, False, True]
    assert seen_x.dtype == bool


@given(joints())
@FAST
def test_entropies_and_mutual_information_against_explicit_sums(joint):
    p, p_x, p_y = joint.p_xy, joint.p_xy.sum(axis=1), joint.p_xy.sum(axis=0)
    cells = [(x, y) for x in range(p.shape[0]) for y in range(p.shape[1]) if p[x, y] > 0]
    expected = math.fsum(p[x, y] * math.log(p[x, y] / (p_x[x] * p_y[y])) for x, y in cells)
    assert joint.mutual_information == pytest.approx(max(expected, 0.0), abs=1e-14)
    assert joint.entropy_x == pytest.approx(-math.fsum(q * math.log(q) for q in p_x if q > 0), abs=1e-14)
    assert joint.entropy_y == pytest.approx(-math.fsum(q * math.log(q) for q in p_y if q > 0), abs=1e-14)
    assert 0.0 <= joint.mutual_information <= min(joint.entropy_x, joint.entropy_y) + 1e-14


def test_mutual_information_survives_masses_whose_product_underflows():
    joint = Joint.from_counts([[1.0, 0.0], [0.0, 1e-200]])
    assert joint.mutual_information == pytest.approx(1e-200 * 200 * math.log(10), rel=1e-12)


def test_one_cell():
    joint = Joint.from_matrix([[1.0]])
    assert joint.entropy_x == joint.entropy_y == joint.mutual_information == 0.0


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ([[2, 0], [0, 2]], "Joint(2 x 2, 2 zero cells, H(X) = 1, H(Y) = 1, I(X;Y) = 1 bits)"),
        ([[2, 0], [1, 1]], "Joint(2 x 2, 1 zero cell, H(X) = 1, H(Y) = 0.811278, I(X;Y) = 0.311278 bits)"),
        (
            sparse.csr_array([[2, 0, 0], [0, 2, 0]]),
            "Joint(2 x 3 sparse, 4 zero cells, H(X) = 1, H(Y) = 1, I(X;Y) = 1 bits)",
        ),
    ],
    ids=["dense", "singular", "sparse"],
)
def test_repr(table, text):
    assert repr(Joint.from_counts(table)) == text


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
    assert math.fsum(joint.p_xy.ravel()) == pytest.approx(1.0, abs=1e-15)


def test_negative_zero_is_zero():
    joint = Joint.from_matrix([[-0.0, 1.0]])
    assert not np.signbit(joint.p_xy).any()


def test_counts_that_vanish_in_rounding_are_not_stored():
    joint = Joint.from_counts(sparse.csr_array([[5e-324, 0.0], [0.0, 1e300]]))
    assert joint.p_xy.nnz == 1


# -- frames ------------------------------------------------------------------------------------------------------------

ROWS = {
    "drug": ["b", "a", "b", "b", "a", "b"],
    "dose": [2, 1, 2, 1, 1, 2],
    "sex": ["m", "f", "f", "m", "f", "m"],
    "n": [1.0, 2.0, 0.5, 0.0, 4.0, 0.5],
}


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
@FAST
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
    assert joint.mutual_information == pytest.approx(math.log(n))
    assert not Joint.from_samples(range(n), [0] * n).is_sparse


# -- samples -----------------------------------------------------------------------------------------------------------


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


# -- immutable ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("convert", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_the_callers_array_is_neither_changed_nor_shared(convert):
    for build, table in ((Joint.from_matrix, convert(P * (1 + 5e-10))), (Joint.from_counts, convert(P * 8))):
        before = table.copy()
        joint = build(table)
        values = joint.p_xy.toarray() if joint.is_sparse else joint.p_xy.copy()
        ours, theirs = (
            [t] if isinstance(t, np.ndarray) else [t.data, t.indices, t.indptr] for t in (joint.p_xy, table)
        )
        assert not any(np.shares_memory(a, b) for a in ours for b in theirs)
        assert (table != before).sum() == 0
        table[0, 0] = 7.0
        assert np.array_equal(joint.p_xy.toarray() if joint.is_sparse else joint.p_xy, values)


def test_a_frame_is_not_changed():
    frame = pd.DataFrame(ROWS)
    Joint.from_frame(frame, "drug", "sex", weight="n", smoothing=1.0)
    pd.testing.assert_frame_equal(frame, pd.DataFrame(ROWS))


@pytest.mark.parametrize("name", ["p_xy", "p_x", "p_y", "p_y_given_x", "p_x_given_y"])
@pytest.mark.parametrize("through", [lambda j: j, copy.deepcopy, lambda j: pickle.loads(pickle.dumps(j))])
def test_arrays_are_read_only_also_after_copying_and_pickling(name, through):
    joint = through(Joint.from_matrix(P))
    with pytest.raises(ValueError, match="read-only"):
        getattr(joint, name)[0] = 1.0
    twin = through(as_sparse(joint))
    array = getattr(twin, name)
    with pytest.raises(ValueError, match="read-only"):
        (array if isinstance(array, np.ndarray) else array.data)[0] = 1.0


@pytest.mark.filterwarnings("ignore:Changing the sparsity structure")
@pytest.mark.parametrize("cell", [(0, 0), (1, 0)], ids=["stored", "zero"])
def test_cells_of_a_sparse_table_cannot_be_set(cell):
    joint = as_sparse(Joint.from_matrix(P))
    with pytest.raises(ValueError, match="read-only"):
        joint.p_xy[cell] = 9.0
    assert np.array_equal(joint.p_xy.toarray(), P)


def test_attributes_cannot_be_set_or_deleted():
    joint = Joint.from_matrix(P)
    with pytest.raises(AttributeError, match=r"immutable: cannot change 'p_x'\. Build another"):
        joint.p_x = np.ones(3)
    with pytest.raises(AttributeError, match="immutable: cannot change 'anything'"):
        joint.anything = 1
    with pytest.raises(AttributeError, match="immutable: cannot change 'x_labels'"):
        del joint.x_labels


@pytest.mark.parametrize("through", [copy.copy, copy.deepcopy, lambda j: pickle.loads(pickle.dumps(j))])
def test_copies_are_equal(through):
    joint = Joint.from_frame(pd.DataFrame(ROWS), ["drug", "dose"], "sex")
    assert through(joint) == joint
    assert repr(through(joint)) == repr(joint)
    assert through(as_sparse(joint)).is_sparse


def test_equality_looks_at_values_labels_and_names_and_fingerprint_at_values_only():
    plain, labelled = Joint.from_matrix(P), Joint.from_matrix(P, y_labels=["u", "v"])
    assert plain == Joint.from_matrix(P)
    assert plain != labelled
    assert plain != "joint"
    assert plain.fingerprint == labelled.fingerprint
    assert re.fullmatch("[0-9a-f]{64}", plain.fingerprint)
    assert plain.fingerprint != Joint.from_matrix(P.T).fingerprint
    assert plain.fingerprint != Joint.from_matrix(P[::-1]).fingerprint
    assert plain.fingerprint != Joint.from_matrix(np.hstack([P, np.zeros((3, 1))])).fingerprint


def test_fingerprint_is_stable():
    assert Joint.from_matrix([[0.5, 0.0], [0.25, 0.25]]).fingerprint == (
        "bf863d06bf548acff6b1742bca54ab6bdad84023c9fa110fe664c16740057da1"
    )


# -- bad input ---------------------------------------------------------------------------------------------------------

nan, inf = math.nan, math.inf

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


BAD_SAMPLES = {
    "unequal lengths": ([1, 2, 3], [1, 2], "one value a sample, at least one; found 3 values of x and 2 of y"),
    "none": ([], [], "one value a sample, at least one; found 0 values of x and 0 of y"),
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
    "nan": ([1.0, 2.0, nan], r"column 'x' .*found 1, the first in row 2 .*Drop those rows, or fill"),
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
    "lazy": (pl.LazyFrame({"x": [1], "y": [2]}), r"found LazyFrame\. Call \.collect\(\) first"),
}


@pytest.mark.parametrize(("frame", "message"), NOT_FRAMES.values(), ids=NOT_FRAMES)
def test_not_a_frame(frame, message):
    with pytest.raises(InvalidJointError, match=f"expected a pandas, polars or pyarrow frame; {message}"):
        Joint.from_frame(frame, "x", "y")
