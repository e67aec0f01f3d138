import numpy as np

import exact_boxes as exact
from infoplane.certificate.bottleneck.partition import Partition
from infoplane.joint.joint import Support
from infoplane.kernels.bottleneck_proof.envelope import search
from infoplane.posterior.mixture import Mixture, dual_of


def test_places_of_closed_boxes_are_used_again():
    joint = exact.JOINTS["heart"]()
    support, gamma = Support(joint), 0.1
    lam = Mixture(np.ones(1), support.p_y[None]).multipliers(support, gamma)
    partition = Partition(support.T)
    partition.grow(2_001)
    search(dual_of(support, gamma, lam), partition.boxes, -0.13, 2_000)
    places, left, spare, cuts, _ = partition.boxes.counts
    assert places == left + spare
    assert left < cuts
    assert places < 2 * cuts
