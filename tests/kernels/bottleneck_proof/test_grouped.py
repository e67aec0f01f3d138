"""Branch and bound by groups: nothing below the target is ever lost, and it ends where that by letters does."""

import numpy as np
import pytest

import exact_boxes as exact
from box_search import posteriors, values, watched
from infoplane.certificate.bottleneck.groupings import room_for
from infoplane.certificate.bottleneck.mixture import Mixture, dual_of
from infoplane.certificate.bottleneck.partition import Partition
from infoplane.joint.support import Support
from infoplane.kernels.bottleneck_proof.envelope import search
from infoplane.kernels.bottleneck_proof.grouped import grouped_search


@pytest.mark.parametrize("gamma", [0.03, 0.2, 0.7])
def test_no_posterior_below_the_target_is_ever_outside_the_open_boxes(gamma):
    """As for letters: duals good and bad, targets of all heights, any number of cuts; groups at good slopes and at none in particular."""
    rng = np.random.default_rng([31, int(1000 * gamma)])
    support = Support(exact.many_columns())
    looked_at = 0
    for noise, decoders in ((0.0, support.p_y[None]), (1e-3, rng.dirichlet(np.ones(3), size=4)), (0.3, np.eye(3))):
        lam = Mixture(np.ones(1), support.p_y[None]).multipliers(support, gamma) + noise * rng.normal(size=220)
        dual = dual_of(support, gamma, lam)
        q = posteriors(support, gamma, lam, rng, 60)
        found, u = values(support, gamma, lam, q), q @ support.T.T
        for share in (0.001, 0.02, 0.3):
            target = float(np.quantile(found, share)) + 1e-6
            looked_at += watched(grouped_search, (dual, room_for(decoders)), support.T, target, found, u)
    assert looked_at > 1000


def test_groups_end_where_letters_do():
    """The same minimum to 1e-7, with about as many cuts, where groups are made at that minimum."""
    rng = np.random.default_rng(32)
    support, gamma = Support(exact.many_columns()), 0.2
    lam = Mixture(np.ones(1), support.p_y[None]).multipliers(support, gamma)
    dual = dual_of(support, gamma, lam)
    q = posteriors(support, gamma, lam, rng, 200)
    found = values(support, gamma, lam, q)
    lowest = float(found.min())
    groups = room_for(q[found.argmin()][None] @ support.T.T)
    one, two = Partition(support.T), Partition(support.T)
    for partition in (one, two):
        partition.grow(5_001)
    search(dual, one.boxes, lowest - 1e-7, 5_000)
    grouped_search(dual, groups, two.boxes, lowest - 1e-7, 5_000)
    assert one.left == two.left == 0
    assert two.least >= lowest - 1.1e-7
    assert two.cuts <= 1.5 * one.cuts + 10
    assert groups.counts[0] <= 2 + two.cuts // 8


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bound_that_is_no_number_closes_nothing(bad):
    support = Support(exact.many_columns())
    lam = np.zeros(220)
    lam[2] = bad
    partition = Partition(support.T)
    partition.grow(50)
    grouped_search(dual_of(support, 0.3, lam), room_for(support.p_y[None]), partition.boxes, -1e-6, 50)
    assert partition.least == -np.inf


def test_the_same_in_pieces_as_at_once():
    """Whatever the pieces are, groups are made for the same boxes."""
    support, gamma = Support(exact.many_columns()), 0.1
    lam = Mixture(np.ones(1), support.p_y[None]).multipliers(support, gamma)
    dual, found = dual_of(support, gamma, lam), []
    for pieces in ([300], [0, 1, 99, 200]):
        partition, groups = Partition(support.T), room_for(support.p_y[None])
        for cuts in pieces:
            partition.grow(cuts + 1)
            grouped_search(dual, groups, partition.boxes, -1e-3, cuts)
        found.append((partition.left, partition.cuts, partition.least, partition.met, *groups.counts.tolist()))
    assert found[0] == found[1]
