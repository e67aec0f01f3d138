"""What independence alone would show in a sample."""

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, special

import verify
from infoplane import information
from infoplane.information import (
    BLOCK,
    bits,
    divergence,
    encoder_entropies,
    entr,
    entropy,
    expected_information,
    mutual_information,
    plane_point,
    plane_points,
    rel_entr,
    small_divergences,
)
from infoplane.joint.joint import Joint
from strategies import chains, joints

FAST = settings(deadline=None, max_examples=50)
TOL = 1e-13


# -- single formulas ---------------------------------------------------------------------------------------------------


def test_bits():
    assert bits(math.log(8)) == pytest.approx(3.0, abs=1e-15)


def test_terms_are_those_of_scipy():
    """Whose import is what they save."""
    rng = np.random.default_rng(0)
    p = np.concatenate([rng.random(200), [0.0, 0.0, 1.0, 1e-310, 1.0, 1e-320, 0.5]])
    q = np.concatenate([rng.random(200), [0.0, 0.5, 0.0, 1e-3, 1e-310, 1.0, 0.5]])
    np.testing.assert_allclose(entr(p), special.entr(p), rtol=1e-15, atol=1e-300)
    np.testing.assert_allclose(rel_entr(p, q), special.rel_entr(p, q), rtol=1e-14, atol=1e-16)
    np.testing.assert_allclose(rel_entr(p[:, None], q[:5]), special.rel_entr(p[:, None], q[:5]), rtol=1e-14, atol=1e-16)


def divergence_in_many_digits(p, q):
    """sum p log(p/q) - p + q, with 60 digits."""
    with localcontext() as digits:
        digits.prec = 60
        pairs = [(Decimal(float(a)), Decimal(float(b))) for a, b in zip(p, q, strict=True)]
        return float(sum((a * (a / b).ln() if a else Decimal(0)) - a + b for a, b in pairs))


@pytest.mark.parametrize("size", [1e-2, 1e-6, 1e-10, 1e-14, 0.0])
def test_distributions_that_nearly_agree_are_told_apart(size):
    rng = np.random.default_rng(3)
    q = np.append(rng.dirichlet(np.ones(6)), 0.0)
    p = q * (1.0 + size * rng.standard_normal((20, 7)))
    p /= p.sum(axis=1, keepdims=True)
    p[0] = np.where(np.arange(7) == 2, 0.0, p[0])  # a letter that only one of them has
    exact = [divergence_in_many_digits(row, q) if q.all() else divergence_in_many_digits(row[:6], q[:6]) for row in p]
    np.testing.assert_allclose(small_divergences(p, q), exact, rtol=1e-9 + 1e-15 / (size + 1e-16), atol=1e-31)


def test_what_is_independent_has_no_information_but_rounding_squared():
    """Sums of p log(p/q) left 1e-17 and more, above any smaller cap on a leakage."""
    rng = np.random.default_rng(0)
    joint = Joint.from_counts(rng.random((40, 9)))
    W = np.repeat(rng.dirichlet(np.ones(5))[:, None], 40, axis=1)
    assert max(plane_point(joint, W)) < 1e-29


def test_a_table_of_many_blocks_is_summed_like_a_small_one():
    rng = np.random.default_rng(0)
    joint = Joint.from_counts(rng.random((3000, 2)))
    W = rng.dirichlet(np.ones(50), size=3000).T.copy()
    assert W.size > 2 * BLOCK
    h, point = encoder_entropies(joint, [W])[0], plane_point(joint, W)
    joint_zx = W * joint.p_x
    assert h.z_given_x == pytest.approx(special.entr(joint_zx).sum() - special.entr(joint.p_x).sum(), abs=1e-12)
    assert point.ixz == pytest.approx(h.z - h.z_given_x, abs=1e-12)


def test_an_encoder_is_measured_to_the_same_bits_whatever_stands_beside_it():
    """Sweeps rest on it: how many runs a worker measures together depends on the machine."""
    rng = np.random.default_rng(0)
    joint = Joint.from_counts(rng.random((900, 7)))
    sizes = [3, 90, 1, 17, 200, 64, 5, 5, 72, 2]
    encoders = [rng.dirichlet(np.full(size, 0.05), size=900).T.copy() for size in sizes]
    assert 900 * sizes[0] < BLOCK < 900 * sizes[4]
    assert (encoders[1] == 0.0).any()
    h, points = encoder_entropies(joint, encoders), plane_points(joint, encoders)
    assert h == [encoder_entropies(joint, [W])[0] for W in encoders]
    assert points == [plane_point(joint, W) for W in encoders]
    assert encoder_entropies(joint, encoders[::-1]) == h[::-1]


def test_entropy_knows_zero_log_zero():
    assert entropy(np.array([0.0, 1.0])) == 0.0
    assert entropy(np.array([0.5, 0.0, 0.5])) == pytest.approx(math.log(2), abs=1e-15)


def test_divergence():
    p, q = np.array([0.25, 0.75, 0.0]), np.array([0.5, 0.25, 0.25])
    assert divergence(p, q) == pytest.approx(0.25 * math.log(0.5) + 0.75 * math.log(3), abs=1e-15)
    assert divergence(q, p) == math.inf
    assert divergence(p, p) == 0.0


def test_mutual_information_of_known_joints():
    assert mutual_information(np.eye(4) / 4) == pytest.approx(math.log(4), abs=1e-15)
    assert mutual_information(np.outer([0.3, 0.7], [0.1, 0.2, 0.7])) == pytest.approx(0.0, abs=1e-16)


def test_mutual_information_survives_masses_whose_product_underflows():
    expected = pytest.approx(1e-200 * 200 * math.log(10), rel=1e-12)
    assert mutual_information(np.diag([1.0, 1e-200])) == expected
    assert mutual_information(sparse.csr_array(np.diag([1.0, 1e-200]))) == expected
    joint = Joint.from_counts(np.diag([1.0, 1e-200]))
    assert plane_point(joint, np.eye(2)) == (expected, expected)
    # p(z, x) itself underflows: it weighs nothing.
    assert plane_point(joint, np.array([[1.0, 1.0], [0.0, 1e-200]])) == (0.0, 0.0)


@given(joints())
@FAST
def test_mutual_information_agrees_with_the_joint(joint):
    assert mutual_information(joint.p_xy) == pytest.approx(joint.mutual_information, abs=TOL)
    assert mutual_information(joint.p_xy.T) == pytest.approx(joint.mutual_information, abs=TOL)


# -- of an encoder -----------------------------------------------------------------------------------------------------


@given(chains())
@FAST
def test_against_explicit_sums(chain):
    joint, W = chain
    assert encoder_entropies(joint, [W])[0] == pytest.approx(verify.entropies(joint.p_xy, W), abs=TOL)
    assert plane_point(joint, W) == pytest.approx(verify.mutual_informations(joint.p_xy, W), abs=TOL)


@given(chains())
@FAST
def test_sparse_agrees_with_dense(chain):
    joint, W = chain
    twin = Joint.from_matrix(sparse.csr_array(joint.p_xy))
    assert encoder_entropies(twin, [W])[0] == pytest.approx(encoder_entropies(joint, [W])[0], abs=TOL)
    assert plane_point(twin, W) == pytest.approx(plane_point(joint, W), abs=TOL)


@given(chains())
@FAST
def test_chain_rule(chain):
    joint, W = chain
    h, point = encoder_entropies(joint, [W])[0], plane_point(joint, W)
    assert point.ixz == pytest.approx(h.z - h.z_given_x, abs=TOL)
    assert point.iyz == pytest.approx(h.z - h.z_given_y, abs=TOL)
    # H(X,Z) = H(Z) + H(X|Z) = H(X) + H(Z|X)
    assert entropy(W * joint.p_x) == pytest.approx(joint.entropy_x + h.z_given_x, abs=TOL)
    # I(X,Y;Z) = I(X;Z), because Y says nothing of Z that X does not
    p_xyz = joint.p_xy[:, :, None] * W.T[:, None, :]
    assert mutual_information(p_xyz.reshape(-1, len(W))) == pytest.approx(point.ixz, abs=TOL)


@given(chains())
@FAST
def test_data_processing_and_non_negativity(chain):
    joint, W = chain
    h, (ixz, iyz) = encoder_entropies(joint, [W])[0], plane_point(joint, W)
    assert ixz >= 0.0
    assert iyz >= 0.0
    assert iyz <= ixz + TOL
    assert iyz <= joint.mutual_information + TOL
    assert ixz <= min(joint.entropy_x, h.z) + TOL
    assert -TOL <= h.z_given_x <= h.z_given_y + TOL
    assert h.z_given_y <= h.z + TOL
    assert h.z <= math.log(len(W)) + TOL


@given(chains(), st.data())
@FAST
def test_merging_clusters_loses_information(chain, data):
    joint, W = chain
    n_z = len(W)
    merge = np.eye(n_z)[:, [data.draw(st.integers(0, n_z - 1)) for _ in range(n_z)]]
    before, after = plane_point(joint, W), plane_point(joint, merge @ W)
    assert after.ixz <= before.ixz + TOL
    assert after.iyz <= before.iyz + TOL


@given(joints())
@FAST
def test_the_identity_keeps_everything_and_a_constant_nothing(joint):
    n_x = joint.shape[0]
    everything, nothing = plane_point(joint, np.eye(n_x)), plane_point(joint, np.ones((1, n_x)))
    assert everything == pytest.approx((joint.entropy_x, joint.mutual_information), abs=TOL)
    assert nothing == pytest.approx((0.0, 0.0), abs=TOL)


def test_an_x_of_zero_mass_may_use_a_cluster_of_its_own():
    joint = Joint.from_matrix([[0.5, 0.0], [0.0, 0.5], [0.0, 0.0]])
    assert plane_point(joint, np.eye(3)) == pytest.approx((math.log(2), math.log(2)), abs=1e-15)


def by_every_pairing(rows, columns):
    """The mean information over all n! ways to pair the records: slow and obvious."""
    x = np.repeat(np.arange(len(rows)), rows)
    y = np.repeat(np.arange(len(columns)), columns)
    total = 0.0
    for order in itertools.permutations(range(len(y))):
        table = np.zeros((len(rows), len(columns)))
        np.add.at(table, (x, y[list(order)]), 1.0 / len(x))
        total += mutual_information(table)
    return total / math.factorial(len(y))


@pytest.mark.parametrize(
    ("rows", "columns"), [([3, 2, 1], [4, 2]), ([1, 1, 1, 1, 1], [2, 2, 1]), ([6], [3, 3]), ([2, 0, 4], [1, 5])]
)
def test_it_is_the_mean_over_all_pairings(rows, columns):
    assert expected_information(np.array(rows), np.array(columns)) == pytest.approx(
        by_every_pairing(rows, columns), abs=1e-12
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 400), min_size=2, max_size=12), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_it_lies_between_zero_and_the_entropies(rows, letters, seed):
    rows = np.array([*rows, 1])
    n = int(rows.sum())
    columns = np.random.default_rng(seed).multinomial(n, np.full(letters, 1.0 / letters))
    found = expected_information(rows, columns)
    least = min(-sum(k / n * math.log(k / n) for k in counts if k) for counts in (rows.tolist(), columns.tolist()))
    assert -1e-12 <= found <= least + 1e-9


def test_large_counts_are_taken_to_second_order(monkeypatch):
    rows, columns = np.array([3000, 5000, 2000]), np.array([4000, 6000])
    quick = expected_information(rows, columns)
    monkeypatch.setattr(information, "LARGE_MEAN", math.inf)
    exact = expected_information(rows, columns)
    assert quick == pytest.approx(exact, rel=2e-3)
    assert exact == pytest.approx((3 - 1) * (2 - 1) / (2 * 10_000), rel=2e-3)


def test_many_letters_are_summed_in_pieces(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 60, 300)
    columns = rng.multinomial(int(rows.sum()), [0.2, 0.3, 0.5])
    whole = expected_information(rows, columns)
    monkeypatch.setattr(information, "PIECE", 50)
    assert expected_information(rows, columns) == pytest.approx(whole, rel=1e-12)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any),
    st.lists(st.integers(1, 5), min_size=1, max_size=5),
)
def test_the_bound_is_above_the_expectation(rows, weights):
    rows = np.array(rows)
    columns = np.bincount(np.arange(rows.sum()) % len(weights), minlength=len(weights))
    assert information.largest_expected_information(rows, columns) >= expected_information(rows, columns) - 1e-12


def test_more_records_than_the_table_of_factorials_holds(monkeypatch):
    rows, columns = np.array([5, 3, 4]), np.array([6, 6])
    expected = expected_information(rows, columns)
    monkeypatch.setattr(information, "TABULATED", 4)
    assert expected_information(rows, columns) == pytest.approx(expected, rel=1e-12)
