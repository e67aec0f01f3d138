import numpy as np
import pytest

import infoplane as ip
import twins
from batches import Stepped
from infoplane.joint.joint import Support
from infoplane.solvers.splitting.sets import minimise


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_three_blocks_one_after_another_are_an_iteration_of_ib_2():
    """W, then p(z), then each p(z|y), then both dual variables, by the obvious twins; against the compiled run."""
    joint, gamma, c = ip.datasets.paper_nonuniform(), 0.3, 40.0
    support, problem = Support(joint), ip.bottleneck(gamma)
    W = np.random.default_rng(5).dirichlet(np.full(2, 3.0), size=3).T.copy()
    batch = Stepped(ip.ThreeBlockADMM(penalty=c), support, problem, W[None].copy(), tol=1e-13, limit=10)
    M = np.column_stack([support.p_x, support.K])
    q, nu = W @ M, np.zeros((2, 4))
    weights = np.concatenate([[gamma - 1.0], support.p_y])  # of H(Z) and of each H(Z|Y = y)

    def nearest(weight, target, start):
        """Argmin of weight H(v) + (c/2) |v - target|^2 on the simplex."""

        def objective(v):
            log = np.log(np.maximum(v, 1e-300))
            return -weight * float(v @ log) + 0.5 * c * float(((v - target) ** 2).sum()), -weight * (log + 1.0) + c * (
                v - target
            )

        return minimise(objective, start, "simplex")

    for _ in range(3):
        W = twins.encoder_argmin_convex(support.P, M, (0.0, -gamma, 0.0), (0.0, 0.0), q, -nu, np.full_like(q, c), W)
        q = q.copy()
        for j in range(4):  # p(z) first, then p(z|y) for every y
            q[:, j] = nearest(weights[j], W @ M[:, j] + nu[:, j] / c, q[:, j])
        nu = nu + c * (W @ M - q)
        batch.advance(1)
        np.testing.assert_allclose(batch.state.W[0], W, atol=1e-6)
        np.testing.assert_allclose(batch.state.v[0], q, atol=1e-6)
        np.testing.assert_allclose(batch.state.nu[0], nu, atol=1e-4)


def test_it_says_who_found_the_answer_and_is_nothing_but_ib_2():
    found = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.4), "admm-ib-3", starts=2, rng=0)
    plain = ip.DouglasRachford("ib-2", relaxation=1.0, acceleration=False)
    same = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.4), plain, starts=2, rng=0)
    assert (found.solver, same.solver) == ("admm-ib-3", "ib-2")
    np.testing.assert_array_equal(found.encoder, same.encoder)
    with pytest.raises(ip.InvalidOptionError, match="run of ib-2"):
        ip.ThreeBlockADMM("ib-1")
