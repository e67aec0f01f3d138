import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import strategies
import verify
from batches import job_of
from infoplane.joint.joint import Support
from infoplane.solvers.shared import partitions as partitions_module
from infoplane.solvers.shared.partitions import encoder_of, labels_of, moved, numbered, partition_loss, partitions

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
