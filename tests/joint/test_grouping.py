import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import infoplane as ip
import strategies
from infoplane.joint.grouping import grouped
from infoplane.joint.joint import Support


def iyz(joint, labels):
    W = np.zeros((labels.max() + 1, joint.shape[0]))
    W[labels, np.arange(joint.shape[0])] = 1.0
    return ip.merge_two(joint).iyz[0], float(-ip.deterministic_bottleneck(1e-12).value(joint, W))


def planted(letters, groups, rng):
    """Letters that say one of so many things of y, in a random order."""
    T = rng.dirichlet(np.full(5, 0.2), groups)
    truth = rng.permutation(np.arange(letters) % groups)
    return ip.Joint.from_counts(rng.uniform(0.5, 1.5, letters)[:, None] * T[truth]), truth


@pytest.mark.parametrize("groups", [2, 3, 6])
def test_planted_groups_are_found(groups):
    joint, truth = planted(60, groups, np.random.default_rng(groups))
    labels = grouped(Support(joint), groups)
    assert len({(a, b) for a, b in zip(labels, truth, strict=True)}) == groups
    whole, kept = iyz(joint, labels)
    assert kept == pytest.approx(whole, abs=1e-9)


@pytest.mark.parametrize("kept_sparse", [False, True])
def test_a_heaviest_letter_that_says_what_all_say_does_not_end_the_cutting(kept_sparse, monkeypatch):
    """p(y|x) of the heaviest is p(y): the others are told apart all the same."""
    table = np.array([[4.0, 4.0], [2.0, 1.0], [1.0, 2.0], [3.0, 1.0], [1.0, 3.0]])
    monkeypatch.setattr("infoplane.joint.tables.SPARSE_CELLS", 1)
    monkeypatch.setattr("infoplane.joint.tables.SPARSE_SHARE", 1.0)
    support = Support(ip.Joint.from_counts(sparse.csr_array(table) if kept_sparse else table))
    assert support.sparse is kept_sparse
    labels = grouped(support, 2)
    assert labels[1] == labels[3] != labels[2] == labels[4]


def test_no_more_groups_than_things_said():
    joint, _ = planted(40, 4, np.random.default_rng(0))
    assert len(set(grouped(Support(joint), 10))) == 4


@given(joint=strategies.joints(), groups=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_every_letter_has_a_group_and_none_is_empty(joint, groups):
    support = Support(joint)
    labels = grouped(support, groups)
    assert labels.shape == support.p_x.shape
    assert set(labels) == set(range(labels.max() + 1))
    assert len(set(labels)) <= groups


def test_sparse_rows_give_the_groups_of_the_dense_table(monkeypatch):
    joint, _ = planted(300, 12, np.random.default_rng(3))
    counts = np.where(np.asarray(joint.p_xy) > 1e-5, joint.p_xy, 0.0)
    dense = ip.Joint.from_counts(counts)
    monkeypatch.setattr("infoplane.joint.tables.SPARSE_CELLS", 1)
    monkeypatch.setattr("infoplane.joint.tables.SPARSE_SHARE", 1.0)
    thin = Support(ip.Joint.from_counts(sparse.csr_array(counts)))
    assert thin.sparse
    np.testing.assert_array_equal(grouped(thin, 12), grouped(Support(dense), 12))


def test_groups_keep_more_of_y_than_letters_in_turn():
    rng = np.random.default_rng(1)
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(6, 0.3), 200))
    kept = iyz(joint, grouped(Support(joint), 10))[1]
    in_turn = iyz(joint, np.arange(200) % 10)[1]
    assert kept > 3 * in_turn
