import itertools

import numpy as np
import pytest

import infoplane as ip
from batches import job_of
from infoplane.joint.joint import Support
from infoplane.solvers.merging import Merger, cluster

PROBLEMS = [ip.funnel(0.6), ip.funnel(3.0), ip.bottleneck(0.1), ip.deterministic_bottleneck(0.3)]


def small(seed=0):
    rng = np.random.default_rng(seed)
    return ip.Joint.from_counts(rng.dirichlet(np.full(3, 0.5), size=7) * rng.dirichlet(np.ones(7))[:, None])


def sets(n):
    for size in range(2, n + 1):
        for chosen in itertools.combinations(range(n), size):
            yield np.isin(np.arange(n), chosen)


def hard(labels):
    return np.eye(labels.max() + 1)[:, labels]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.family)
def test_the_change_of_a_merge_is_that_of_the_lagrangian(problem):
    joint = small()
    merger = Merger(joint.p_xy, problem)
    whole = problem.value(joint, np.eye(7))
    for chosen in sets(7):
        labels = np.unique(np.where(chosen, -1, np.arange(7)), return_inverse=True)[1]
        assert merger.change(chosen) == pytest.approx(problem.value(joint, hard(labels)) - whole, abs=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.family)
def test_a_set_is_never_worse_than_the_pair_it_began_with(problem):
    for seed in range(10):
        merger = Merger(small(seed).p_xy, problem)
        least, i, j = merger.best_pair()
        pairs = {pair: merger.change(np.isin(np.arange(7), pair)) for pair in itertools.combinations(range(7), 2)}
        assert least == pytest.approx(min(pairs.values()), abs=1e-14) == pytest.approx(pairs[i, j], abs=1e-14)
        value, chosen = merger.improve(np.isin(np.arange(7), (i, j)), np.random.default_rng(seed))
        assert value <= least + 1e-14
        assert value == pytest.approx(merger.change(chosen), abs=1e-14)


def test_the_first_round_finds_the_best_of_all_sets_nearly_always():
    """120 subsets of 7 clusters, funnel 3: the modular bounds, from the best pair and 8 orders, against looking at all of them."""
    hits = 0
    for seed in range(20):
        merger, rng = Merger(small(seed).p_xy, ip.funnel(3.0)), np.random.default_rng(seed)
        best = min([0.0, *(merger.change(chosen) for chosen in sets(7))])
        _, i, j = merger.best_pair()
        starts = [np.isin(np.arange(7), (i, j)), *(rng.random(7) < rng.random() for _ in range(8))]
        found = min(0.0, *(merger.improve(start, rng)[0] for start in starts))
        assert found >= best - 1e-12
        hits += found <= best + 1e-12
    assert hits >= 14


def test_labels_follow_the_merges_and_the_cap_is_kept():
    support = Support(ip.datasets.heart())
    for most in (16, 4, 1):
        labels, _ = cluster(job_of(support, ip.funnel(2.5), clusters=most), 4)
        assert len(labels) == 16
        assert set(labels) == set(range(labels.max() + 1))
        assert labels.max() < most


@pytest.mark.parametrize("beta", [1.5, 2.5, 5.0, 10.0])
def test_on_heart_it_is_never_above_merge_two(beta):
    found = ip.solve(ip.datasets.heart(), ip.funnel(beta), "submodular")
    assert found.loss <= ip.solve(ip.datasets.heart(), ip.funnel(beta), "merging").loss + 1e-12
    assert found.encoder.max(axis=0) == pytest.approx(1.0)
