import numpy as np
import pytest

import infoplane as ip
from batches import Stepped

JOINT = ip.datasets.paper_nonuniform()
START = np.random.default_rng(0).dirichlet(np.ones(3), size=3).T


def jensen(W, V, lam):
    """The paper's relaxed Lagrangian at V, with q(x|y,z) and the bound on I(X;Z) taken at W, by explicit sums; up to a constant."""
    P, p_x = JOINT.p_xy, JOINT.p_x
    value = 0.0
    for z in range(len(W)):
        r = W[z] @ p_x
        for x in range(3):
            u = p_x[x] * V[z, x]
            value -= lam * u * np.log(W[z, x] / r)
            for y in range(3):
                q = P[x, y] * W[z, x] / (W[z] @ P[:, y])
                value += P[x, y] * V[z, x] * np.log(P[x, y] * V[z, x] / (q * r))
    return value


def test_a_step_minimises_the_relaxed_lagrangian():
    beta = 2.5
    batch = Stepped(ip.EMFunnel(), JOINT, ip.funnel(beta), START[None], limit=10)
    batch.advance(1)
    new = batch.state.W[0]
    best = jensen(START, new, 1.0 / beta)
    rng = np.random.default_rng(1)
    for size in (0.2, 0.02, 0.002):
        other = new * np.exp(size * rng.standard_normal(new.shape))
        assert jensen(START, other / other.sum(axis=0), 1.0 / beta) > best


@pytest.mark.parametrize("beta", [1.5, 5.0])
def test_the_loss_never_rises(beta):
    batch = Stepped(
        ip.EMFunnel(),
        ip.datasets.heart(),
        ip.funnel(beta),
        np.random.default_rng(0).dirichlet(np.ones(16), 16).T[None],
        limit=60,
        record=True,
    )
    batch.advance(60)
    assert (np.diff(batch.runs()[0].trace.loss) <= 1e-12).all()


def test_the_least_leakage_at_a_rate_is_no_less_than_what_is_proven():
    """The rate is met; the leakage lies on or above the certified line of the slope that was found, and near it."""
    found = ip.solve(JOINT, ip.funnel(2.0), ip.EMFunnel(rate=0.4), starts=4, rng=0, init="random", max_iter=1000)
    assert found.ixz == pytest.approx(0.4, abs=1e-6)
    proven = ip.solve(JOINT, ip.funnel(2.0), certify=True, rng=0).lower_bound
    assert -1e-9 <= 2.0 * found.iyz - found.ixz - proven < 0.05
