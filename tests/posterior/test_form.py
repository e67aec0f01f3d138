"""Letters of X with equal p(y|x) are merged: the same optimum, the same bound, and only equal ones."""

import mpmath
import numpy as np
import pytest

import exact_boxes as exact
import infoplane as ip
from infoplane.joint.joint import Support
from infoplane.posterior.form import Letters


def with_duplicates():
    """Counts in which rows are multiples of others: their columns of T differ in the last bits, if at all."""
    base = np.array([[3, 1, 0], [1, 1, 1], [0, 2, 5], [7, 1, 1]])
    return ip.Joint.from_counts(np.vstack([base, 3 * base, 7 * base[:2], 11 * base[1:2]]))


def test_classes_are_the_multiples():
    support = Support(with_duplicates())
    letters = Letters(support)
    np.testing.assert_array_equal(letters.classes[:4], letters.classes[4:8])
    assert len(set(letters.classes.tolist())) == 4
    assert letters.support.p_x.sum() == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(letters.support.p_y, support.p_y, rtol=1e-14)
    np.testing.assert_allclose(letters.support.T[:, letters.classes], support.T, rtol=1e-14)


def test_letters_that_differ_by_more_than_rounding_stay_apart():
    base = np.array([[0.3, 0.7], [0.3 + 1e-13, 0.7 - 1e-13], [0.6, 0.4]])
    support = Support(ip.Joint.from_counts(base))
    letters = Letters(support)
    assert letters.classes is None
    assert letters.support is support


def test_spread_multipliers_are_worth_the_same():
    """gamma H(X) + lambda.p_x, and the sum of exp(lambda / gamma) in each class, in 50 digits."""
    support, gamma = Support(with_duplicates()), 0.17
    letters = Letters(support)
    lam = np.random.default_rng(0).normal(size=letters.support.p_x.size)
    whole = letters.spread(lam, gamma)

    def value(p, multipliers):
        return gamma * exact.entropy(p) + mpmath.fsum(
            mpmath.mpf(a) * mpmath.mpf(b) for a, b in zip(p, multipliers, strict=True)
        )

    assert abs(value(support.p_x, whole) - value(letters.support.p_x, lam)) < 1e-14
    for c, one in enumerate(lam):
        mass = mpmath.fsum(mpmath.exp(mpmath.mpf(v) / gamma) for v in whole[letters.classes == c])
        assert gamma * abs(mpmath.log(mass) - mpmath.mpf(float(one)) / gamma) < letters.rounding(gamma) + 1e-15 * (
            1 + abs(one)
        )


@pytest.mark.parametrize("gamma", [0.05, 0.2, 0.5])
def test_the_bound_is_that_of_the_joint_without_duplicates(gamma):
    joint, problem = with_duplicates(), ip.bottleneck(gamma)
    support = Support(joint)
    merged = Letters(support).support.joint
    one = ip.certify(joint, problem, np.ones((1, joint.shape[0])), tol=1e-9)
    two = ip.certify(merged, problem, np.ones((1, 4)), tol=1e-9)
    assert one.lower_bound == pytest.approx(two.lower_bound, abs=1e-9)
    best = ip.solve(joint, problem, "envelope")
    assert one.lower_bound <= best.loss
    assert (one.posterior is None) == one.certified == (gamma == 0.5)
    if gamma < 0.5:
        assert one.posterior.shape == (joint.shape[0],)
        assert one.posterior.sum() == pytest.approx(1.0, abs=1e-12)
