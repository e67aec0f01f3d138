"""|Z| is found from a start with too few clusters: by splits along the path, and by what the dual says is missing."""

import numpy as np

import infoplane as ip
import verify
from batches import job_of
from infoplane.joint.joint import Support
from infoplane.posterior.mixture import Mixture
from infoplane.solvers.shared.growth import DualClimbs, asks_the_dual, grown, settled

HEART = ip.datasets.heart()


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
