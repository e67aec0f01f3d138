from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import strategies
import verify
from batches import job_of
from infoplane.joint.joint import Joint, Support
from infoplane.solvers.shared import partitions as partitions_module
from infoplane.solvers.shared.partitions import (
    KEEP_Y,
    best_map,
    encoder_of,
    labels_of,
    lost_in,
    maps_of_all_sizes,
    moved,
    numbered,
    partition_loss,
    partitions,
    prebins,
    rising_cuts,
)

HEART = ip.datasets.heart()


@settings(max_examples=40, deadline=None)
@given(joint=strategies.joints(), seed=st.integers(0, 1000), beta=st.floats(0.5, 10.0), hides=st.booleans())
def test_no_single_move_is_left_that_helps(joint, seed, beta, hides):
    """Every move of one letter, priced by the independent checker."""
    problem = ip.funnel(beta) if hides else ip.deterministic_bottleneck(min(beta / 10, 1.0))
    support = Support(joint)
    P, letters = joint.p_xy[support.x][:, support.y], len(support.p_x)
    labels = numbered(np.random.default_rng(seed).integers(0, 3, letters))
    found = moved(job_of(support, problem), labels, letters)

    def loss(labels):
        return verify.lagrangian(P, encoder_of(numbered(labels)), problem.rho)

    assert partition_loss(support, problem, found) == pytest.approx(loss(found), abs=1e-12)
    assert loss(found) <= loss(labels) + 1e-12
    for x in range(letters):
        for z in range(found.max() + 2 if found.max() + 1 < letters else found.max() + 1):
            other = found.copy()
            other[x] = z
            assert loss(other) >= loss(found) - 1e-9


def test_trivial_partitions_are_among_them():
    found = partitions(job_of(HEART, ip.MarkovLagrangian(1.8, 1.8, -0.3)))
    assert {one.clusters for one in found} >= {1, 16}
    assert min(one.loss for one in found) == pytest.approx(0.0, abs=1e-12)


def test_the_cap_is_kept_also_without_a_merge_path(monkeypatch):
    monkeypatch.setattr(partitions_module, "MERGING", partitions_module.MERGING._replace(merge_work=0))
    for problem in (ip.funnel(3.0), ip.deterministic_bottleneck(0.1)):
        found = partitions(job_of(HEART, problem, clusters=3), [np.eye(16)[:3]])
        assert max(one.clusters for one in found) == 3


def test_labels_and_encoders_are_each_others_inverse():
    labels = np.array([0, 1, 0, 2])
    np.testing.assert_array_equal(labels_of(encoder_of(labels)), labels)


def planted(letters, clusters, n_y, seed=0):
    """Letters that are copies of a few rows: as many clusters keep all of I(X;Y)."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(n_y, 0.5), size=clusters)
    home = rng.permutation(np.arange(letters) % clusters)
    return Joint.from_counts(rng.dirichlet(np.ones(letters))[:, None] * rows[home]), home


def test_planted_clusters_are_found():
    joint, home = planted(300, 7, 5)
    labels = best_map(Support(joint), 7)
    assert len({*zip(labels.tolist(), home.tolist(), strict=True)}) == 7


def test_a_least_mass_is_kept():
    joint, _ = planted(60, 6, 4)
    labels = best_map(Support(joint), 6, least=0.25)
    assert np.bincount(labels, joint.p_x).min() >= 0.25
    assert len(set(labels.tolist())) > 1


def test_more_clusters_never_keep_less():
    rng = np.random.default_rng(2)
    support = Support(Joint.from_counts(rng.dirichlet(np.full(90, 0.3)).reshape(30, 3)))
    maps = maps_of_all_sizes(support, 12)
    assert [*maps] == [*range(12, 0, -1)]
    kept = [-partition_loss(support, KEEP_Y, maps[k]) for k in range(1, 13)]
    assert kept[0] == pytest.approx(0.0, abs=1e-14)
    assert (np.diff(kept) >= -1e-12).all()


def kept(P, cuts):
    """I(Y;Z) of the intervals between cuts, and whether the share of the second y rises."""
    q = np.add.reduceat(P, [0, *cuts], axis=0)
    apart = q / np.outer(q.sum(axis=1), q.sum(axis=0))
    share = q[:, 1] / q.sum(axis=1)
    return float((q * np.log(np.where(q > 0, apart, 1.0))).sum()), bool((np.diff(share) >= -1e-15).all())


def test_pooling_neighbours_first_loses_no_rising_intervals():
    """The proof at the head of the module, against all intervals whose share of y rises."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        P = rng.dirichlet(np.full(18, 0.6)).reshape(9, 2)
        entropy = float(-(P.sum(axis=0) * np.log(P.sum(axis=0))).sum())
        found = rising_cuts(P, 4)
        tried = [kept(P, cuts) for k in range(4) for cuts in combinations(range(1, 9), k)]
        assert entropy - found.lost[1:].min() == pytest.approx(max(value for value, rises in tried if rises), abs=1e-13)
        labels = found.labels(found.best(4))
        assert kept(P, np.flatnonzero(np.diff(labels)) + 1)[1]


def test_prebins_have_about_equal_mass_and_what_they_lose_is_the_difference():
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(1500)).reshape(500, 3)
    bins = prebins(P.sum(axis=1), 20)
    q = np.array([P[bins == b].sum(axis=0) for b in range(20)])
    assert (np.diff(bins) >= 0).all()
    assert np.abs(q.sum(axis=1) - 0.05).max() < 2 * P.sum(axis=1).max()

    def information(p):
        return float((p * np.log(p / np.outer(p.sum(axis=1), p.sum(axis=0)))).sum())

    assert lost_in(q, P, bins).sum() == pytest.approx(information(P) - information(q), abs=1e-13)
