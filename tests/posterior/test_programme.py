import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane.certificate.funnel.generation import FreeSearch
from infoplane.joint.joint import Support
from infoplane.posterior import programme
from infoplane.posterior import programme as module
from infoplane.posterior.programme import RULES, Programme, encoder_of, linear_programme, repaired
from infoplane.solvers.columns import Columns


def test_highs_giving_up_leaves_the_best_mixture_so_far(monkeypatch):
    joint, problem, calls = ip.datasets.heart(), ip.funnel(3.5), 0

    def gives_up(*arguments, **options):
        nonlocal calls
        calls += 1
        if calls > 3:
            raise ip.InfoplaneError("no optimum")
        return linear_programme(*arguments, **options)

    monkeypatch.setattr(module, "linear_programme", gives_up)
    found = ip.solve(joint, problem, Columns())
    assert found.status is not ip.Status.CERTIFIED
    verify.check_solution(joint.p_xy, problem.rho, found, tol=1e-10)
    assert found.loss <= ip.solve(joint, problem, "merging").loss + 1e-9
    monkeypatch.setattr(module, "linear_programme", lambda *_, **__: gives_up())
    plain = ip.solve(joint, problem, Columns())
    verify.check_solution(joint.p_xy, problem.rho, plain, tol=1e-10)
    assert plain.lower_bound <= found.loss


def test_perturbed_duals_never_prove_more_than_is_true():
    """The programme's bound from a lambda that somebody spoilt, recomputed by pricing, stays below the optimum."""
    joint, beta = ip.datasets.paper_uniform(), 3.0
    support = Support(joint)
    optimum = ip.solve(joint, ip.funnel(beta), Columns(tol=1e-9)).loss
    constant = beta * joint.entropy_y - joint.entropy_x
    programme = Programme(support)
    lam = programme.at_beta(beta).lam
    rng = np.random.default_rng(1)
    for size in (0.0, 1e-8, 1e-4, 1e-2, 1.0):
        spoilt = lam + size * rng.standard_normal(3)
        search = FreeSearch(programme.channel, spoilt, beta, -1e-6)
        while search.advance(1000):
            pass
        assert spoilt @ support.p_x + search.least() + constant <= optimum + 1e-12


def joined_slowly(Q, weights):
    """Every column with every cluster so far."""
    clusters = []
    for q, weight in zip(Q.T, weights, strict=True):
        if weight > 0.0:
            for known, masses in clusters:
                if np.abs(known - q).sum() < RULES.alike:
                    masses += weight * q
                    break
            else:
                clusters.append((q, weight * q))
    W = np.array([masses for _, masses in clusters])
    return W / W.sum(axis=0)


def test_columns_that_are_alike_are_one_cluster():
    rng = np.random.default_rng(0)
    Q = rng.dirichlet(np.ones(7), size=40).T
    Q = np.column_stack([Q, Q[:, ::3] + 1e-9, np.eye(7), Q[:, :5]])
    weights = rng.random(Q.shape[1]) * (rng.random(Q.shape[1]) < 0.8)
    np.testing.assert_allclose(encoder_of(Q, weights), joined_slowly(Q, weights), rtol=1e-12)


def test_many_letters_are_not_compared_each_with_each(monkeypatch):
    """Of Z = X, as of 20,000 letters, no two columns are near."""
    compared = []
    near = module._distance
    monkeypatch.setattr(module, "_distance", lambda *pair: compared.append(1) or near(*pair))
    np.testing.assert_array_equal(encoder_of(np.eye(1500), np.full(1500, 1 / 1500)), np.eye(1500))
    assert len(compared) < 1500


def test_letters_that_no_programme_can_hold_are_refused_before_memory_is_asked_for():
    joint = ip.Joint.from_counts(np.ones((100_000, 2)) + np.eye(100_000, 2))
    with pytest.raises(ip.InvalidJointError, match=r"25,000 letters at most; found\n?.*100,000"):
        ip.certify(joint, ip.funnel(2.0), np.ones((1, 100_000)))


def test_repaired_multipliers_leave_no_column_below():
    rng = np.random.default_rng(0)
    p_x = rng.dirichlet(np.full(5, 0.2))
    Q = np.column_stack([np.eye(5), rng.dirichlet(np.ones(5), 40).T])
    costs = rng.standard_normal(45)
    weights, lam, _ = linear_programme(Q, costs, p_x)
    np.testing.assert_allclose(Q @ weights, p_x, atol=1e-12)
    good = repaired(lam, Q, costs, p_x)
    assert (costs - good @ Q).min() >= -1e-12
    assert good @ p_x == pytest.approx(costs @ weights, abs=1e-9)
    spoilt = repaired(lam + 0.1, Q, costs, p_x)
    assert (costs - spoilt @ Q).min() >= -1e-12


def test_an_attempt_that_would_not_end_is_given_up_for_the_next(monkeypatch):
    """By iterations, which interior points need fewer of."""
    rng = np.random.default_rng(1)
    A = np.column_stack([np.eye(60), rng.random((60, 200))])
    costs = rng.random(260)
    simplex = ("highs-ds", 1e-7)
    expected = programme.solved(costs, A, attempts=[simplex])
    monkeypatch.setattr(programme, "RULES", programme.RULES._replace(fewest_iterations=20, iterations_per_row=0))
    assert programme.solved(costs, A, attempts=[simplex]) is None
    found = programme.solved(costs, A, attempts=[simplex, ("highs-ipm", 1e-7)])
    assert costs @ found.weights == pytest.approx(costs @ expected.weights, abs=1e-6)
