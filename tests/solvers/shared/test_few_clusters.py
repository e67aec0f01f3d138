import numpy as np
import pytest

from infoplane.joint.joint import Joint, Support
from infoplane.solvers.shared.few_clusters import KEEP_Y, best_map, maps_of_all_sizes
from infoplane.solvers.shared.partitions import partition_loss


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
