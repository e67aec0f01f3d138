import numpy as np
import pytest

import infoplane as ip
from batches import Stepped

JOINT = ip.datasets.paper_nonuniform()
START = np.random.default_rng(0).dirichlet(np.ones(3), size=3).T


def test_with_the_multiplier_held_it_is_blahut_arimoto():
    batch = Stepped(ip.BregmanProjection(), JOINT, ip.bottleneck(0.3), START[None], limit=10)
    batch.advance(1)
    p_x, T = JOINT.p_x, JOINT.p_xy / JOINT.p_x[:, None]
    p_z = START @ p_x
    decoder = (START @ JOINT.p_xy) / p_z[:, None]
    kl = (T[None] * np.log(T[None] / decoder[:, None])).sum(axis=2)
    expected = p_z[:, None] * np.exp(-kl / 0.3)
    np.testing.assert_allclose(batch.state.W[0], expected / expected.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("rate", [0.2, 0.5])
def test_the_point_of_the_frontier_at_a_rate(rate):
    """I(X;Z) is the rate; at the gamma that was found the loss is the certified optimum, so that no encoder of that rate is better."""
    first = ip.solve(JOINT, ip.bottleneck(0.5), ip.BregmanProjection(rate=rate), starts=4, rng=0)
    assert first.ixz == pytest.approx(rate, abs=1e-9)
    gamma = float(first.advice.split("gamma = ")[1].split(",")[0])
    proof = ip.certify(JOINT, ip.bottleneck(gamma), first.encoder)
    assert proof.gap < 1e-6


def test_other_problems_are_refused():
    with pytest.raises(ip.UnsupportedProblemError, match=r"abp is for the bottleneck.*found rho"):
        ip.solve(JOINT, ip.funnel(2.0), "abp")
