import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane.frontier.cluster_bound import cluster_bound, plain_bound


def maps(letters, clusters):
    """Every map of letters to so many clusters at most, clusters named in order of appearance."""

    def grow(labels):
        if len(labels) == letters:
            yield labels
        else:
            for label in range(min(max(labels, default=-1) + 2, clusters)):
                yield from grow([*labels, label])

    return grow([])


@pytest.mark.parametrize("clusters", [2, 3])
def test_no_map_exceeds_the_bound_and_it_is_below_the_plain_one(clusters):
    rng = np.random.default_rng(4)
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(21, 0.5)).reshape(7, 3))
    best = max(verify.mutual_informations(joint.p_xy, np.eye(clusters)[:, labels])[1] for labels in maps(7, clusters))
    bound = cluster_bound(joint, clusters, max_seconds=20.0)
    assert best <= bound <= plain_bound(joint, clusters)
    assert bound < 0.999 * plain_bound(joint, clusters)


def test_one_cluster_keeps_nothing():
    assert cluster_bound(ip.datasets.heart(), 1, 1.0) == 0.0
