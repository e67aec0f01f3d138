import numpy as np
import pytest

import infoplane as ip
from compiled import interpreted
from infoplane.joint.joint import Support
from infoplane.kernels.fixed_point.selfmap import work_for
from infoplane.solvers.fixed_point import blocks_of, channel_of

extrapolation = interpreted("fixed_point.extrapolation")


squarem, newton = extrapolation.squarem, extrapolation.newton


def test_squarem_finds_the_limit_of_a_single_mode():
    limit, mode = np.array([-1.0, -2.0]), np.array([0.3, -0.1])
    u0, u1, u2 = (limit + 0.8**k * mode for k in range(3))
    out = np.empty_like(limit)
    a = squarem(u0, u1 - u0, u2 - u1, np.full_like(limit, 0.5), 100.0, out)
    assert a == pytest.approx(5.0)
    np.testing.assert_allclose(out, limit, atol=1e-14)
    assert squarem(u0, u1 - u0, u2 - u1, np.full_like(limit, 0.5), 3.0, out) == 3.0


def log_map(support, u, problem):
    """T(u) = log(W P) for W = softmax of the scores, and W."""
    n_y = len(support.p_y)
    log_z = np.log(np.exp(u[:, :n_y]).sum(1))[:, None]
    score = (problem.rho_z * log_z + problem.rho_zy * u[:, :n_y]) @ support.T / problem.width
    W = np.exp(score - score.max(0))
    W /= W.sum(0)
    out = u.copy()
    out[:, :n_y] = np.log(W @ support.P)
    return out, W


@pytest.mark.parametrize("problem", [ip.bottleneck(0.1), ip.generalised_bottleneck(0.1, 0.6)], ids=["ib", "gib"])
@pytest.mark.parametrize("name", ["paper_nonuniform", "heart"])
def test_newton_solves_the_linearised_equation(name, problem):
    """(I - T') d = T(u) - u near a minimum, with T' by central differences of the slow map."""
    joint = ip.datasets.load(name)
    support = Support(joint)
    channel, n_y = channel_of(support), len(support.p_y)
    W = ip.solve(joint, problem, "accelerated", rng=0, tol=1e-12).encoder
    n = len(W)
    u = np.full((n, len(channel.p_y)), -690.0)
    u[:, :n_y] = np.log(W @ support.P) + 1e-5 * np.random.default_rng(0).standard_normal((n, n_y))
    mapped, W = log_map(support, u, problem)
    slope = np.empty((n * n_y, n * n_y))
    for k, index in enumerate(np.ndindex(n, n_y)):
        ahead, back = u.copy(), u.copy()
        ahead[index] += 1e-5
        back[index] -= 1e-5
        slope[:, k] = (
            (log_map(support, ahead, problem)[0] - log_map(support, back, problem)[0])[:, :n_y] / 2e-5
        ).ravel()
    f, out = (mapped - u)[:, :n_y].ravel(), np.empty_like(u)
    blocks, work = blocks_of(W, channel.p_x.shape[1]), work_for(channel, n)
    q, q_new, rho = np.exp(u), np.exp(mapped), np.array(problem.rho)
    assert newton(channel, rho, problem.width, blocks, u.ravel(), q, q_new, 1e-12, work, out.ravel()) <= 2 * n * n_y
    step = (out - u)[:, :n_y].ravel()
    np.testing.assert_allclose(step - slope @ step, f, atol=5e-3 * np.abs(f).max())
