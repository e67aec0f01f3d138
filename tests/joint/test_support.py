"""A joint on its letters of positive mass, and encoders back on all letters."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

import verify
from infoplane.errors import InvalidJointError
from infoplane.joint import support as module
from infoplane.joint.joint import Joint, Support
from strategies import joints

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
    monkeypatch.setattr(module, "SPARSE_CELLS", 400)
    monkeypatch.setattr(module, "LARGEST_TABLE", 399)
    support = Support(Joint.from_matrix(small))
    assert support.sparse
    assert not Support(Joint.from_matrix(small.toarray())).sparse
    with pytest.raises(InvalidJointError, match="this solver works on a dense table; the joint has 20 x 20 letters"):
        _ = support.P
