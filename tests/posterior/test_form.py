"""Letters of X with equal p(y|x) are merged: the same optimum, the same bound, and only equal ones."""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import exact_boxes as exact
import infoplane as ip
import verify
from infoplane.joint.joint import Support
from infoplane.posterior.form import Letters, Mixture, balance, climb, cover, likelihoods, posterior
from infoplane.runtime.budget import Budget
from strategies import chains


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


GAMMA = st.floats(0.02, 1.0)


def J(support, gamma, mixture):
    """-gamma sum_x p(x) log sum_z p(z) prod_y u_z(y)^(p(y|x) / gamma), term by term."""
    total = 0.0
    for x, p in enumerate(support.p_x):
        logs = []
        for weight, u in zip(mixture.weights, mixture.decoders, strict=True):
            seen = support.T[:, x] > 0
            with np.errstate(divide="ignore"):
                logs.append(np.log(weight) + (support.T[seen, x] * np.log(u[seen])).sum() / gamma)
        total -= gamma * p * np.logaddexp.reduce(logs)
    return total


@settings(max_examples=40, deadline=None)
@given(chains(), GAMMA)
@example(
    (ip.Joint.from_counts([[0.5, 1e-5], [0.5, 0.0]]), np.eye(2)), 1.0
)  # a decoder without a y that x has, hardly ever
def test_one_value_in_three_forms(chain, gamma):
    """lambda.p_x + gamma H(X) = J; an encoder's own mixture has J - H(Y) <= L; and the mixture's encoder is no worse than that."""
    joint, W = chain
    support = Support(joint)
    mixture = Mixture.of(support, W[:, support.x])
    value = J(support, gamma, mixture)
    lam = mixture.multipliers(support, gamma)
    assert lam @ support.p_x + gamma * joint.entropy_x == pytest.approx(value, abs=1e-9)
    P = np.asarray(joint.p_xy)
    rho = ip.bottleneck(gamma).rho
    assert value - joint.entropy_y <= verify.lagrangian(P, W, rho) + 1e-9
    better = support.lift(mixture.encoder(support, gamma))
    verify.check_encoder(P, better)
    assert verify.lagrangian(P, better, rho) <= value - joint.entropy_y + 1e-9


@settings(max_examples=40, deadline=None)
@given(chains(), GAMMA)
def test_balanced_weights_are_optimal(chain, gamma):
    """Against the multiplicative updates of expectation-maximisation, which are slow and obvious; and D <= 1 on the decoders."""
    joint, W = chain
    support = Support(joint)
    mixture = Mixture.of(support, W[:, support.x])
    found = balance(support, gamma, mixture, 1e-10)
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert (found.weights > 0).all()
    k, _ = likelihoods(support, gamma, mixture.decoders)
    p = mixture.weights
    for _ in range(300):
        p = p * (k @ (support.p_x / (p @ k)))
        p /= p.sum()
    slow = Mixture(p[p > 0], mixture.decoders[p > 0])
    assert J(support, gamma, found) <= J(support, gamma, slow) + 1e-9
    lam = found.multipliers(support, gamma)
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # a letter of a y that a decoder has not has none of its likelihood
        logs = np.where(support.T > 0.0, support.T * np.log(mixture.decoders)[:, :, None], 0.0).sum(axis=1)
    D = np.exp((lam + logs) / gamma).sum(axis=1)
    assert D.max() <= 1.0 + 1e-6


@settings(max_examples=40, deadline=None)
@given(chains(), GAMMA)
def test_a_climb_ends_no_lower_than_it_began(chain, gamma):
    joint, W = chain
    support = Support(joint)
    lam = Mixture.of(support, W[:, support.x]).multipliers(support, gamma)
    starts = cover(support)

    def height(u):
        scores = (lam + np.log(np.maximum(u, 1e-300)) @ support.T) / gamma
        return gamma * np.logaddexp.reduce(scores)

    before = starts.copy()
    peaks, heights = climb(support, gamma, lam, starts)
    np.testing.assert_array_equal(starts, before)
    for start, peak, found in zip(starts, peaks, heights, strict=True):
        assert found >= height(start) - 1e-9
        assert height(peak) >= found - 1e-9
        # The height is that of a posterior: -(f(q) - lambda.q) is no less, by concavity of the entropy.
        q = posterior(support, gamma, lam, peak)
        u = support.T @ q
        f = -sum(v * np.log(v) for v in u if v > 0) + gamma * sum(v * np.log(v) for v in q if v > 0)
        assert lam @ q - f >= found - 1e-9


def test_a_cover_of_many_letters_is_short_and_spread():
    rng = np.random.default_rng(0)
    support = Support(ip.Joint.from_counts(rng.random((500, 3)) + 0.01))
    found = cover(support)
    assert len(found) == 65
    np.testing.assert_allclose(found[0], support.p_y)
    nearest = np.abs(support.T.T[:, None] - found[None]).sum(axis=2).min(axis=1)
    apart = np.abs(found[:, None] - found[None]).sum(axis=2)[np.triu_indices(65, 1)]
    assert nearest.max() <= apart.min() + 1e-12


def test_balancing_ends_when_its_time_has_come():
    support = Support(ip.datasets.heart())
    mixture = Mixture.of(support, np.eye(16))
    at_once = balance(support, 0.1, mixture, 1e-12, Budget(seconds=0.0))
    np.testing.assert_array_equal(at_once.weights, mixture.weights / mixture.weights.sum())
    assert len(balance(support, 0.1, mixture, 1e-12).weights) < 16
