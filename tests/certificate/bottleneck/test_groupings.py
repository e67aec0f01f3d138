import numpy as np

import infoplane as ip
from infoplane.certificate.bottleneck.groupings import FEW_ROWS, GROUPS, MANY_LETTERS, RAREST, SLOPES, pays, room_for
from infoplane.certificate.bottleneck.mixture import Mixture
from infoplane.certificate.bottleneck.proof import Proof
from infoplane.certificate.certificate import Limits
from infoplane.joint.support import Support


def test_where_groups_pay():
    assert pays(np.ones((3, MANY_LETTERS)))
    assert not pays(np.ones((3, MANY_LETTERS - 1)))
    assert not pays(np.ones((FEW_ROWS + 1, 10 * MANY_LETTERS)))


def test_slopes_are_those_of_the_decoders():
    decoders = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    groups = room_for(decoders)
    assert groups.counts.tolist() == [0, 2]
    assert groups.spread.shape == (SLOPES, 3, 3, GROUPS)
    np.testing.assert_allclose(np.exp(-groups.slopes[:2]), np.maximum(decoders, RAREST))
    assert room_for(np.full((600, 3), 1 / 3)).counts.tolist() == [0, SLOPES]


def test_a_proof_by_groups_and_one_by_letters_agree(monkeypatch):
    """The same optimum to the tolerance; each bound is below the other's loss."""
    rng = np.random.default_rng(1)
    T = rng.dirichlet(np.ones(3), size=MANY_LETTERS)
    joint = ip.Joint.from_counts(T * rng.dirichlet(np.full(MANY_LETTERS, 2.0))[:, None])
    support, problem = Support(joint), ip.bottleneck(0.3)
    found = []
    for grouped in (True, False):
        monkeypatch.setattr("infoplane.certificate.bottleneck.proof.pays", lambda T, grouped=grouped: grouped)
        proof = Proof(support, problem, Mixture(np.ones(1), support.p_y[None]), Limits(1e-6))
        for _ in proof.pieces():
            pass
        assert proof.complete
        found.append((proof.lower_bound, problem.value(joint, proof.mixture.encoder(support, 0.3))))
    assert max(bound for bound, _ in found) <= min(loss for _, loss in found) + 1e-12
    assert all(loss - bound <= 1e-6 for bound, loss in found)
