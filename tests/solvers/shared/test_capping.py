"""A cap on |Z| is kept by every solver, and the answer says when it binds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import strategies
import verify
from batches import job_of
from infoplane.joint.joint import Support
from infoplane.solvers.shared.capping import merged, within

HEART = ip.datasets.heart()


@pytest.mark.parametrize(
    ("solver", "problem"),
    [
        pytest.param(name, problem, id=f"{name}-{problem.family}")
        for name, solver in ip.SOLVERS.items()
        for problem in (ip.bottleneck(0.05), ip.funnel(3.5))
        if solver.refusal(problem) is None
    ],
)
def test_no_solver_exceeds_the_cap(solver, problem):
    found = ip.solve(HEART, problem, solver, clusters=3, starts=2, rng=0, max_iter=300)
    assert found.clusters <= 3
    assert found.cluster_cap == 3
    verify.check_solution(HEART.p_xy, problem.rho, found)


@pytest.mark.parametrize(
    ("problem", "k"), [(ip.bottleneck(0.05), 2), (ip.funnel(3.5), 4)], ids=["bottleneck", "funnel"]
)
@pytest.mark.parametrize("solver", [None, "certifier"])
def test_a_certificate_is_of_all_encoders(problem, k, solver):
    """Heart, gamma 0.05, two clusters: 7 came back, called certified."""
    name = None if solver is None else {"bottleneck": "envelope", "funnel": "columns"}[problem.family]
    found = ip.solve(HEART, problem, name, clusters=k, certify=True, rng=0, starts=4)
    free = ip.solve(HEART, problem, certify=True)
    assert free.status is ip.Status.CERTIFIED
    assert free.clusters > k == found.clusters
    assert found.status is not ip.Status.CERTIFIED
    assert found.lower_bound == pytest.approx(free.lower_bound, abs=2e-6)
    assert found.gap > 1e-3
    assert found.at_cap
    assert f"best found with {k} clusters" in str(found)
    assert "best found" not in str(free)


def test_a_cap_that_does_not_bind_changes_no_certificate():
    found = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.5), clusters=2, certify=True, rng=0)
    assert found.status is ip.Status.CERTIFIED


def test_capped_sweeps_keep_the_cap_with_and_without_proofs(tmp_path):
    options = {"clusters": 2, "starts": 2, "rng": 0}
    for certify in (False, True):
        found = ip.sweep(HEART, ip.bottleneck, [0.05, 0.2], certify=certify, **options)
        assert all(run.clusters <= 2 for run in found.runs)
        assert found.to_frame()["at_cap"].all()
    stored = ip.sweep(HEART, ip.bottleneck, [0.05, 0.2], store=tmp_path / "runs.db", **options)
    assert [run.cluster_cap for run in stored.runs] == [2, 2]
    stored.save(tmp_path / "f.npz")
    assert [run.at_cap for run in ip.Frontier.load(tmp_path / "f.npz").runs] == [True, True]


def test_init_with_more_clusters_than_the_cap_is_refused():
    with pytest.raises(ip.InvalidOptionError, match="more than clusters = 3"):
        ip.solve(HEART, ip.bottleneck(0.1), clusters=3, init=np.eye(16))


@settings(max_examples=25, deadline=None)
@given(joint=strategies.joints(), seed=st.integers(0, 1000), most=st.integers(1, 4))
def test_clusters_are_joined_cheapest_first(joint, seed, most):
    """Against the slow twin: every pair tried by the Lagrangian itself, before each merge."""
    support = Support(joint)
    W = np.random.default_rng(seed).dirichlet(np.ones(5), size=len(support.p_x)).T
    problem = ip.MarkovLagrangian(-0.7, -0.3, 1.0)
    slow = W
    while len(slow) > most:
        pairs = [(i, j) for i in range(len(slow)) for j in range(i + 1, len(slow))]
        tried = [
            np.vstack([np.delete(slow, j, axis=0)[:i], slow[i] + slow[j], np.delete(slow, j, axis=0)[i + 1 :]])
            for i, j in pairs
        ]
        slow = min(tried, key=lambda V: verify.lagrangian(joint.p_xy[support.x][:, support.y], V, problem.rho))
    fast = merged(support, problem, W, most=most)
    assert len(fast) == min(most, 5)
    values = [verify.lagrangian(joint.p_xy[support.x][:, support.y], V, problem.rho) for V in (fast, slow)]
    assert values[0] == pytest.approx(values[1], abs=1e-12)


def test_many_clusters_are_dissolved_before_they_are_joined(monkeypatch):
    monkeypatch.setattr("infoplane.solvers.shared.capping.PAIR_WORK", 400)
    W = within(job_of(HEART, ip.bottleneck(0.1), clusters=2), np.eye(16))
    assert W.shape == (2, 16)
    np.testing.assert_allclose(W.sum(axis=0), 1.0, atol=1e-12)
