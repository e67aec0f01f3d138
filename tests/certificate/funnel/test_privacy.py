"""Perfect privacy: exact, and possible exactly when p(y|x) has a null vector."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linprog

import infoplane as ip
import verify
from infoplane.certificate.funnel.privacy import perfect_privacy
from rational import rational_vertices
from strategies import joints


@pytest.mark.parametrize(
    "counts",
    [
        [[2, 1], [1, 2], [1, 1], [2, 2]],
        [[4, 1, 1], [1, 3, 1], [1, 1, 5], [2, 3, 1], [3, 1, 2]],
        [[1, 0, 1], [0, 2, 1], [1, 1, 1], [1, 1, 1], [3, 0, 1], [0, 1, 0]],
        [[3, 1], [1, 4], [3, 1]],
    ],
)
def test_against_exact_vertices(counts):
    joint = ip.Joint.from_counts(counts)
    found = perfect_privacy(joint)
    Q = rational_vertices(counts)
    assert found.vertices == Q.shape[1]
    entropies = -(Q * np.log(np.where(Q > 0, Q, 1.0))).sum(axis=0)
    twin = joint.entropy_x - linprog(entropies, A_eq=Q, b_eq=joint.p_x, method="highs").fun
    assert found.utility == pytest.approx(twin, abs=1e-9)
    assert found.utility <= found.upper_bound
    assert found.upper_bound - found.utility <= 1e-9
    verify.check_solution(joint.p_xy, (-1.0, 1.0, 0.0), found.solution, tol=1e-10)
    ixz, iyz = verify.mutual_informations(joint.p_xy, found.solution.encoder)
    assert iyz <= 1e-12
    assert ixz == pytest.approx(found.utility, abs=1e-12)


def test_heart():
    found = perfect_privacy(ip.datasets.heart())
    assert not found.trivial
    assert (found.rank, found.letters, found.bases) == (4, 16, 1820)
    assert found.utility > 1.5
    assert found.solution.iyz <= 1e-12
    assert found.upper_bound - found.utility <= 1e-9
    assert "1,820 candidate bases" in str(found)


def test_it_answers_like_a_solution():
    found = perfect_privacy(ip.Joint.from_counts([[2, 1], [1, 2], [1, 1], [2, 2]], x_labels=list("abcd")))
    verify.check_encoder(found.joint.p_xy, found.encoder)
    assert found.ixz == found.utility
    assert found.iyz <= 1e-12
    assert 0.0 <= found.gap <= 1e-9
    assert found.certified
    assert found.status is ip.Status.CERTIFIED
    assert found.converged
    assert found.clusters == len(found.p_z)
    assert list(found.encoder_frame().index) == list("abcd")
    np.testing.assert_array_equal(found.encoder_frame().to_numpy(), found.encoder.T)


def test_independent_letters_leave_only_the_trivial_release():
    found = perfect_privacy(ip.datasets.paper_uniform())
    assert found.trivial
    assert found.utility == 0.0
    assert found.solution.encoder.shape == (1, 3)
    assert "linearly independent (rank 3)" in str(found)


def test_an_independent_y_hides_itself():
    joint = ip.Joint.from_matrix(np.outer([0.5, 0.2, 0.3], [0.25, 0.75]))
    found = perfect_privacy(joint)
    assert found.utility == pytest.approx(joint.entropy_x, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(joint=joints(max_x=6, max_y=4))
def test_possible_exactly_if_the_rank_is_below_the_number_of_letters(joint):
    found = perfect_privacy(joint)
    P = np.asarray(joint.p_xy)
    ixz, iyz = verify.mutual_informations(P, found.solution.encoder)
    assert iyz <= 1e-9
    assert ixz <= found.upper_bound + 1e-12
    seen = P[joint.p_x > 0]
    if found.trivial:
        assert ixz <= 1e-12
    else:
        assert found.rank < len(seen)
        # A null vector can be followed in both directions from p(x): two clusters that hide Y and are not the same.
        _, _, rows = np.linalg.svd((seen / seen.sum(axis=1, keepdims=True)).T)
        d, p_x = rows[-1], seen.sum(axis=1)
        reach = 1.0 / np.abs(d / p_x).max()
        two = 0.5 * np.vstack([1.0 + reach * d / p_x, 1.0 - reach * d / p_x])
        assert verify.mutual_informations(seen, two)[0] <= found.upper_bound + 1e-9


def test_bases_are_counted_before_they_are_gone_through():
    joint = ip.Joint.from_counts(np.random.default_rng(0).random((60, 8)))
    with pytest.raises(ip.InvalidOptionError, match=r"2\.56e\+09"):
        perfect_privacy(joint)
    with pytest.raises(ip.InvalidOptionError, match="max_bases = 100"):
        perfect_privacy(ip.datasets.heart(), max_bases=100)


def test_on_heart_some_move_of_the_posteriors_pays():
    """A move of the posteriors within their letters pays unless -log q_z(x) = lambda_x + c_z on them (docs/explanation/exact_funnel.md)."""
    heart = ip.datasets.heart()
    found = perfect_privacy(heart)
    q = found.encoder * heart.p_x
    clusters, letters = np.nonzero(q > 1e-12)
    system = np.hstack([np.eye(q.shape[1])[letters], np.eye(len(q))[clusters]])
    logs = -np.log(q[clusters, letters])  # c_z takes up the masses p(z)
    fitted = system @ np.linalg.lstsq(system, logs, rcond=None)[0]
    assert np.abs(fitted - logs).max() == pytest.approx(3.785, abs=0.01)


@pytest.mark.parametrize(
    "counts",
    [
        [[9999999998, 10000000003], [10000000003, 10000000001], [10000000003, 10000000001], [10000000002, 10000000001]],
        [[2, 2, 3], [4, 5, 3], [2, 2, 3], [4, 5, 3 + 1e-8]],
        [[5e12 + 2, 2e12 + 1, 2e12 + 2], [5e12 + 2, 2e12 + 1, 2e12 + 1], [5e12 + 2, 2e12 + 1, 2e12 + 2]],
    ],
)
def test_letters_that_are_nearly_the_same_have_a_bound_that_holds(counts):
    # Two letters with the same p(y|x): which of them it was tells nothing of Y, and is worth (p + p') H(1/2).
    joint = ip.Joint.from_counts(counts)
    same = 1 if counts[1] == counts[2] else 0
    W = np.zeros((2, joint.shape[0]))
    W[0] = W[1] = 0.5
    W[:, same], W[:, 2] = (1.0, 0.0), (0.0, 1.0)
    told = verify.mutual_informations(joint.p_xy, W)
    assert told[0] > 0.1
    assert told[1] < 1e-15
    for found in (perfect_privacy(joint), ip.funnel_at_leakage(joint, 0.0)):
        assert found.upper_bound >= told[0] - 1e-9
