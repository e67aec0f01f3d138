import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import infoplane as ip
import strategies
import verify
from batches import job_of
from infoplane.joint.joint import Support
from infoplane.posterior.programme import linear_programme
from infoplane.solution import TIE
from infoplane.solvers import pooling
from infoplane.solvers.pooling import Pooling, pooled, stacked

HEART = ip.datasets.heart()


@pytest.mark.parametrize("problem", [ip.bottleneck(0.1), ip.funnel(3.5)], ids=["bottleneck", "funnel"])
def test_a_pool_is_never_worse_than_its_best_member(problem):
    support = Support(HEART)
    rng = np.random.default_rng(0)
    encoders = [W / W.sum(axis=0) for W in rng.random((6, 9, 16)) ** 8]
    W = pooled(job_of(support, problem), encoders)
    assert W is not None
    verify.check_encoder(HEART.p_xy, W)
    losses = [verify.lagrangian(HEART.p_xy, one, problem.rho) for one in encoders]
    assert verify.lagrangian(HEART.p_xy, W, problem.rho) <= min(losses) + 1e-12


def test_runs_that_are_good_in_different_places_are_beaten_by_their_pool():
    """Two halves of the letters, each cut well by one encoder and badly by the other."""
    T = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]])
    joint = ip.Joint.from_matrix(np.repeat(T, 2, axis=0) / 8)
    left = np.array(
        [[1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 1, 0, 1]], float
    )
    right = np.array(
        [[1, 0, 1, 0, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1, 1]], float
    )
    problem = ip.bottleneck(0.1)
    W = pooled(job_of(Support(joint), problem), [left, right])
    best = np.array([left[0], left[1], right[2], right[3]])
    assert verify.lagrangian(joint.p_xy, W, problem.rho) == pytest.approx(
        verify.lagrangian(joint.p_xy, best, problem.rho)
    )
    assert problem.value(joint, best) < min(problem.value(joint, left), problem.value(joint, right)) - 0.1


@given(joint=strategies.joints(), gamma=st.floats(0.05, 1.0), scale=st.floats(0.1, 10.0))
@settings(max_examples=60, deadline=None)
def test_a_pool_given_up_without_a_programme_has_nothing_better(joint, gamma, scale):
    problem = ip.MarkovLagrangian(*(scale * np.array(ip.bottleneck(gamma).rho)))
    support, rng = Support(joint), np.random.default_rng(0)
    known = ip.solve(joint, problem, starts=4, rng=0).encoder[:, support.x]
    encoders = [known, *(W / W.sum(axis=0) for W in rng.random((3, 4, len(support.p_x))) ** 8)]
    W = pooled(job_of(support, problem), encoders)
    assert W is not None
    if pooled(job_of(support, problem), encoders, known) is None:
        assert problem.value(joint, support.lift(W)) >= problem.value(joint, support.lift(known)) - 1.1e-10


def test_a_converged_optimum_needs_no_programme_and_a_bad_encoder_does(monkeypatch):
    support, problem, asked = Support(HEART), ip.bottleneck(0.1), []

    def programme(*arguments, **options):
        asked.append(arguments)
        return linear_programme(*arguments, **options)

    monkeypatch.setattr("infoplane.solvers.pooling.linear_programme", programme)
    best, bad = ip.solve(HEART, problem, "annealing").encoder, np.eye(16)
    assert pooled(job_of(support, problem), [best, bad], best) is None
    assert not asked
    assert pooled(job_of(support, problem), [best, bad], bad) is not None
    assert len(asked) == 1


@pytest.mark.parametrize(("name", "gamma"), [("heart", 0.1), ("heart", 0.2), ("paper_uniform", 0.2)])
def test_starts_that_all_converge_need_no_programme(monkeypatch, name, gamma):
    """Though each ends just below the tolerance: what its multipliers prove is off by as much, so that the most stationary is asked."""
    joint, asked = ip.datasets.load(name), []
    monkeypatch.setattr("infoplane.solvers.pooling.linear_programme", lambda *given, **_: asked.append(given))
    assert ip.solve(joint, ip.bottleneck(gamma), "pooling", starts=16, rng=0).status is ip.Status.STATIONARY
    assert not asked


def test_a_sparse_joint_too_large_for_a_table_is_pooled(monkeypatch):
    expected = ip.solve(HEART, ip.bottleneck(0.1), Pooling(), starts=4, rng=0)
    monkeypatch.setattr("infoplane.joint.tables.SPARSE_CELLS", 1)
    monkeypatch.setattr("infoplane.joint.tables.SPARSE_SHARE", 1.0)
    monkeypatch.setattr("infoplane.joint.tables.LARGEST_TABLE", 10)
    joint = ip.Joint.from_matrix(sparse.csr_array(HEART.p_xy))
    found = ip.solve(joint, ip.bottleneck(0.1), Pooling(), starts=4, rng=0)
    assert found.loss == pytest.approx(expected.loss, abs=1e-9)
    with pytest.raises(ip.InvalidJointError, match="more than 10 cells"):
        Support(joint).P  # noqa: B018


@given(joint=strategies.joints())
@settings(max_examples=25, deadline=None)
def test_pooled_solutions_are_sound(joint):
    found = ip.solve(joint, ip.funnel(2.5), Pooling(), starts=3, rng=0, max_iter=200)
    verify.check_solution(joint.p_xy, found.problem.rho, found)
    lowest = min(found.starts, key=lambda one: one.loss)
    # Of equal losses the lowest that converged counts.
    equal = TIE if found.converged and not lowest.status.converged else 1e-12
    assert found.loss <= lowest.loss + equal


def test_heart_funnel_reaches_the_certified_optimum():
    found = ip.solve(HEART, ip.funnel(3.5), rng=0)
    assert found.loss == pytest.approx(-2.099081, abs=2e-6)
    verify.check_solution(HEART.p_xy, found.problem.rho, found)


def test_too_large_a_pool_is_left_alone(monkeypatch):
    monkeypatch.setattr(pooling, "EFFORT", pooling.EFFORT._replace(largest_pool=10))
    assert pooled(job_of(Support(HEART), ip.funnel(3.5)), [np.eye(16)]) is None
    found = ip.solve(HEART, ip.funnel(3.5), Pooling(), starts=2, rng=0)
    assert found.solver.endswith("accelerated")


def test_stacked_keeps_every_encoder():
    one, two = np.eye(3), np.ones((1, 3))
    table = stacked([one, two])
    np.testing.assert_array_equal(table, [one, [[1, 1, 1], [0, 0, 0], [0, 0, 0]]])


def test_splitting_first_is_told():
    found = ip.solve(HEART, ip.bottleneck(0.1), Pooling(splitting=5), starts=2, rng=0)
    assert found.solver in ("ib-1, accelerated", "pooling")
    assert found.iterations > 5


@pytest.mark.parametrize("splitting", [-1, 2.5, True])
def test_bad_options(splitting):
    with pytest.raises(ip.InvalidOptionError, match="splitting must be"):
        Pooling(splitting=splitting)


def test_a_problem_without_posterior_form_is_refused():
    with pytest.raises(ip.UnsupportedProblemError, match="posterior form"):
        ip.solve(HEART, ip.deterministic_bottleneck(0.2), Pooling())


def test_with_more_letters_than_clusters_the_funnel_is_no_worse_than_merging():
    """70 letters, so 64 clusters at the start: the best releases have more."""
    rng = np.random.default_rng(0)
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(4, 0.3), size=70) * rng.random((70, 1)))
    for beta in (1.5, 6.0):
        greedy = ip.solve(joint, ip.funnel(beta), "merging").loss
        found = ip.solve(joint, ip.funnel(beta), ip.Pooling(), starts=2, rng=0, max_iter=300)
        verify.check_solution(joint.p_xy, found.problem.rho, found)
        assert found.loss < greedy
        assert found.died >= 0


def test_no_more_clusters_than_were_asked_for():
    found = ip.solve(ip.datasets.heart(), ip.funnel(3.5), ip.Pooling(), clusters=4, starts=6, rng=0)
    assert found.encoder.shape[0] <= 4
