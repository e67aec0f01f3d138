"""What a joint holds, and that nothing changes it."""

import copy
import math
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy import sparse

import verify
from infoplane.errors import InvalidJointError
from infoplane.joint import joint as module
from infoplane.joint import tables
from infoplane.joint.joint import Joint, Support
from records import ROWS
from strategies import joints

FAST = settings(deadline=None, max_examples=36)

P = np.array([[0.125, 0.25], [0.0, 0.5], [0.125, 0.0]])


def as_sparse(joint):
    return Joint.from_matrix(sparse.csr_array(joint.p_xy), joint.x_labels, joint.y_labels, joint.x_names, joint.y_names)


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
        ([[20, 0], [0, 20]], "Joint(2 x 2, 2 zero cells, H(X) = 1, H(Y) = 1, I(X;Y) = 1 bits, 40 records)"),
        (
            [[20, 0], [10, 10]],
            "Joint(2 x 2, 1 zero cell, H(X) = 1, H(Y) = 0.811278, I(X;Y) = 0.311278 bits, 40 records)",
        ),
        (
            sparse.csr_array([[0.2, 0, 0], [0, 0.2, 0]]),
            "Joint(2 x 3 sparse, 4 zero cells, H(X) = 1, H(Y) = 1, I(X;Y) = 1 bits)",
        ),
    ],
    ids=["dense", "singular", "sparse"],
)
def test_repr(table, text):
    assert repr(Joint.from_counts(table)) == text


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


# -- samples are not distributions -------------------------------------------------------------------------------------


def test_records_of_samples_frames_and_whole_counts():
    assert Joint.from_samples(list("aabb"), list("0101")).records == 4
    assert Joint.from_counts([[2.0, 1.0], [0.0, 3.0]], smoothing=0.5).records == 6
    assert Joint.from_counts(sparse.csr_array([[2, 0], [0, 2]])).records == 4
    frame = pd.DataFrame({"x": ["a", "b", "b"], "y": [0, 1, 0], "w": [1.5, 2.0, 1.0]})
    assert Joint.from_frame(frame, "x", "y").records == 3
    weighted = Joint.from_frame(frame, "x", "y", weight="w")
    assert (weighted.records, weighted.expected_information, weighted.caution) == (None, None, None)
    assert Joint.from_matrix([[0.5, 0.0], [0.0, 0.5]]).records is None


@pytest.mark.parametrize("made", [np.array, sparse.csr_array])
def test_cell_counts_are_kept(made):
    """Whatever is added by smoothing, through pickles, read-only, as whole numbers; other tables have none."""
    counts = np.array([[3, 0, 1], [0, 0, 5]])
    for joint in (Joint.from_counts(made(counts)), Joint.from_counts(made(counts.astype(float)), smoothing=0.25)):
        for one in (joint, pickle.loads(pickle.dumps(joint)), Joint(joint.p_xy).with_counts(joint.counts)):
            assert sparse.issparse(one.counts) is (made is sparse.csr_array)
            assert (one.counts.dtype, one.records) == (np.int64, 9)
            assert one.expected_information == joint.expected_information
            np.testing.assert_array_equal(one.counts.toarray() if sparse.issparse(one.counts) else one.counts, counts)
            with pytest.raises(ValueError, match="read-only"):
                one.counts[0, 0] = 1
    assert Joint.from_counts(made(counts / 2)).counts is None
    assert joint.with_prior("uniform").counts is None
    for wrong, said in (([[1, 2]], "shape"), (counts / 2, "whole"), (-counts, "non-negative")):
        with pytest.raises(InvalidJointError, match=said):
            joint.with_counts(wrong)


def test_information_that_independence_would_show_is_said():
    rng = np.random.default_rng(0)
    joint = Joint.from_samples(rng.random(4000), rng.integers(0, 2, 4000))  # every x once
    assert joint.mutual_information == pytest.approx(joint.expected_information)
    assert "if they were independent (4,000 records)" in joint.caution
    assert "(if independent, 1)" in repr(joint)
    assert "Caution: " in joint._repr_html_()
    again = pickle.loads(pickle.dumps(joint))
    assert (again, again.caution, again.records) == (joint, joint.caution, 4000)
    assert again.fingerprint == joint.fingerprint


def test_smoothing_keeps_the_expectation_of_the_counts():
    counts = [[3, 1, 0], [1, 3, 2]]
    assert Joint.from_counts(counts, 1.0).expected_information == Joint.from_counts(counts).expected_information


def test_a_large_sample_has_no_caution():
    assert Joint.from_counts([[3000, 1000], [1000, 3000]]).caution is None


# -- frames as tables --------------------------------------------------------------------------------------------------


def test_from_counts_keeps_index_and_columns_of_a_frame():
    frame = pd.DataFrame([[3, 1], [1, 3]], index=pd.Index(["a", "b"], name="word"), columns=["u", "v"])
    joint = Joint.from_counts(frame)
    assert (joint.x_labels, joint.y_labels) == (("a", "b"), ("u", "v"))
    assert (joint.x_names, joint.y_names) == (("word",), ("y",))
    given = Joint.from_counts(frame, x_labels=[1, 2])
    assert (given.x_labels, given.y_labels, given.x_names) == ((1, 2), ("u", "v"), ("x",))
    assert Joint.from_matrix(frame / 8).x_labels == ("a", "b")


def test_from_counts_keeps_the_levels_of_a_frame():
    index = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)], names=["drug", None])
    joint = Joint.from_counts(pd.DataFrame([[3, 1], [1, 3]], index=index))
    assert joint.x_labels == (("a", 1), ("a", 2))
    assert joint.x_names == ("drug", "x1")


HOLES = Joint.from_counts([[1, 0, 2], [0, 0, 0], [3, 0, 0]])
"""x = 1 and y = 1 have no mass."""


def test_letters_without_mass_are_left_out():
    support = Support(HOLES)
    assert support.x.tolist() == [True, False, True]
    assert support.y.tolist() == [True, False, True]
    np.testing.assert_allclose(support.P * 6, [[1, 2], [3, 0]])
    np.testing.assert_allclose(support.T, [[1 / 3, 1], [2 / 3, 0]])
    np.testing.assert_allclose(support.K, [[1 / 4, 1], [3 / 4, 0]])
    assert support.P.flags.c_contiguous
    assert support.T.flags.c_contiguous


def test_letters_without_mass_get_p_z_when_lifted():
    W = np.array([[0.25, 1.0], [0.75, 0.0]])
    lifted = Support(HOLES).lift(W)
    np.testing.assert_array_equal(lifted[:, [0, 2]], W)
    np.testing.assert_allclose(lifted[:, 1], W @ [0.5, 0.5])
    verify.check_encoder(HOLES.p_xy, lifted)


def test_lifting_clips_and_normalises_a_copy():
    W = np.array([[-1e-18, 0.5], [2.0, 0.5]])
    before = W.copy()
    np.testing.assert_array_equal(Support(Joint.from_counts(np.eye(2))).lift(W), [[0.0, 0.5], [1.0, 0.5]])
    np.testing.assert_array_equal(W, before)


def test_many_encoders_are_lifted_in_pieces_in_order(monkeypatch):
    support, rng = Support(HOLES), np.random.default_rng(0)
    encoders = [rng.dirichlet(np.ones(z), size=2).T for z in (2, 3, 2, 4, 2)]
    monkeypatch.setattr(module, "BLOCK", 16)
    pieces = list(support.lifted(encoders))
    assert len(pieces) > 1
    for one, encoder in zip((W for piece in pieces for W in piece), encoders, strict=True):
        np.testing.assert_array_equal(one, support.lift(encoder))
    assert list(support.lifted([])) == []


@given(joints(max_x=5, max_y=4))
@settings(deadline=None, max_examples=40)
def test_sparse_rows_hold_the_dense_table(joint):
    support = Support(joint)
    np.testing.assert_array_equal(support.rows.toarray(), support.P)
    indptr, indices, data = support.csr
    again = sparse.csr_array((data, indices, indptr), shape=support.P.shape)
    np.testing.assert_array_equal(again.toarray(), support.P)
    assert indptr.dtype == indices.dtype == np.int64


def test_a_large_and_empty_joint_stays_sparse_and_has_no_dense_table(monkeypatch):
    small = sparse.csr_array(np.eye(20) / 20)
    assert not Support(Joint.from_matrix(small)).sparse
    monkeypatch.setattr(tables, "SPARSE_CELLS", 400)
    monkeypatch.setattr(tables, "LARGEST_TABLE", 399)
    support = Support(Joint.from_matrix(small))
    assert support.sparse
    assert not Support(Joint.from_matrix(small.toarray())).sparse
    with pytest.raises(InvalidJointError, match="this solver works on a dense table; the joint has 20 x 20 letters"):
        _ = support.P
