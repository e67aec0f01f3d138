"""A cap on |Z| is kept by every solver, and the answer says when it binds; |Z| is found from too few: by splits, and by the dual."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import strategies
import verify
from batches import job_of
from infoplane.joint.joint import Support
from infoplane.posterior.form import Mixture
from infoplane.solvers.shared.resizing import DualClimbs, asks_the_dual, grown, merged, settled, within

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
    monkeypatch.setattr("infoplane.solvers.shared.resizing.PAIR_WORK", 400)
    W = within(job_of(HEART, ip.bottleneck(0.1), clusters=2), np.eye(16))
    assert W.shape == (2, 16)
    np.testing.assert_allclose(W.sum(axis=0), 1.0, atol=1e-12)


def followed(start, clusters):
    (run,) = ip.Annealing().run(job_of(HEART, ip.bottleneck(0.02), start[None], clusters=clusters))
    return run


def test_a_path_splits_the_clusters_of_its_start_up_to_the_cap():
    start = np.random.default_rng(0).dirichlet(np.ones(2), size=16).T
    two, four, free = (followed(start, clusters) for clusters in (2, 4, 16))
    assert len(two.encoder) == 2
    assert 2 < len(four.encoder) <= 4 < len(free.encoder)
    losses = [verify.lagrangian(HEART.p_xy, run.encoder, ip.bottleneck(0.02).rho) for run in (two, four, free)]
    assert losses[0] > losses[1] > losses[2]


def test_what_the_dual_says_is_missing_is_added():
    problem, support = ip.bottleneck(0.05), Support(HEART)
    few = ip.solve(HEART, problem, "accelerated", clusters=2, rng=0)
    best = ip.solve(HEART, problem, certify=True)
    job = job_of(support, problem, few.encoder[None])
    W, spent = grown(job, few.encoder, 16, DualClimbs(support))
    run = settled(job, W)
    assert spent > 0
    assert len(run.encoder) > 2
    assert abs(verify.lagrangian(HEART.p_xy, run.encoder, problem.rho) - best.loss) <= 1e-6


def test_what_misses_nothing_is_returned_as_it_is():
    problem, support = ip.bottleneck(0.05), Support(HEART)
    best = ip.solve(HEART, problem, certify=True).encoder
    W, spent = grown(job_of(support, problem, best[None]), best, 16, DualClimbs(support))
    assert W is best
    assert spent == 0


def test_the_cap_on_clusters_is_kept():
    problem, support = ip.bottleneck(0.02), Support(HEART)
    one = np.ones((1, 16))
    W, _ = grown(job_of(support, problem, one[None]), one, 3, DualClimbs(support))
    assert 1 < len(W) <= 3


def test_the_dual_is_above_1_only_where_a_cluster_is_missing():
    """Heights at the letters, against D(u) = sum_x p(x) k(x, u) / m(x) written out."""
    gamma, support = 0.1, Support(HEART)
    mixture = Mixture(np.array([0.4, 0.6]), np.random.default_rng(0).dirichlet(np.ones(4), size=2))
    dual = DualClimbs(support)
    T = support.T.T
    k = np.exp([[(T[x] * np.log(u)).sum() / gamma for u in mixture.decoders] for x in range(16)])
    m = k @ mixture.weights
    seen = (dual.letters > 0.0).all(axis=1)
    D = [
        sum(support.p_x[x] * np.exp((T[x] * np.log(u)).sum() / gamma) / m[x] for x in range(16))
        for u in dual.letters[seen]
    ]
    heights = dual.heights(gamma, mixture.multipliers(support, gamma))
    np.testing.assert_allclose(heights[seen], gamma * np.log(D), atol=1e-12)
    assert len(dual.missing(gamma, mixture)) >= 1


def many_letters(letters=100, seed=1):
    rng = np.random.default_rng(seed)
    return ip.Joint.from_counts(rng.dirichlet(np.full(4, 0.3), size=letters) * rng.lognormal(0.0, 1.0, (letters, 1)))


def test_many_letters_end_at_the_certified_optimum_alone_and_along_a_sweep():
    """Splits and random starts ended 1e-5 to 1e-3 above it; a sweep had nothing else."""
    joint, gammas = many_letters(), [0.03, 0.1, 0.3]
    proven = ip.sweep(joint, ip.bottleneck, gammas, certify=True)
    swept = ip.sweep(joint, ip.bottleneck, gammas)
    for gamma, one, best in zip(gammas, swept.runs, proven.runs, strict=True):
        assert one.loss <= best.loss + 2e-7
        assert ip.solve(joint, ip.bottleneck(gamma), rng=0).loss <= best.loss + 2e-7


def test_a_table_too_large_to_move_every_letter_is_not_begun_from_single_letters():
    """400 x 2,000 cells would be looked at 400 times a sweep: it begins from its start, as joints with a cap do."""
    full = np.random.default_rng(0).random((400, 2000))
    assert asks_the_dual(Support(many_letters()), 100)
    assert not asks_the_dual(Support(many_letters()), 99)
    assert not asks_the_dual(Support(HEART), 16)
    assert not asks_the_dual(Support(ip.Joint.from_counts(full)), 400)
