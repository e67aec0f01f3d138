"""A typical moment of a run of a splitting, for tests of its steps."""

import numpy as np

import infoplane as ip
from infoplane.joint.joint import Support
from infoplane.kernels.splitting.tables import Split
from infoplane.solvers.splitting.formulations import FORMULATIONS

PROBLEMS = {"ib": ip.bottleneck(0.3), "pf": ip.funnel(2.5)}
JOINTS = {"paper": ip.datasets.paper_nonuniform(), "heart": ip.datasets.heart()}


def setting(formulation, joint, seed=0, inner=1, clusters=3, proximal=0.0, adaptive=False, inner_tol=0.0):
    """A split, its shares, an encoder, marginals near its own, a slope and penalties."""
    form = FORMULATIONS[formulation]
    problem = PROBLEMS[formulation[:2]]
    support = Support(joint)
    shares = form.share(problem, support.p_y)
    M = form.constraint(support.p_x, support.K)
    split = Split(
        support.p_x, support.p_y, support.P, support.T, M, np.ascontiguousarray(M.T / support.p_x),
        shares.h, np.array(shares.a), np.array(shares.d), inner, inner_tol, adaptive, 2.5, proximal, 0.01, False, form.encoder_first,
        np.zeros(1, dtype=np.int64), np.full((clusters, M.shape[1]), np.nan),
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    W = rng.dirichlet(np.ones(clusters), size=support.P.shape[0]).T.copy()
    u = W @ M
    x = u * rng.uniform(0.9, 1.1, u.shape)
    x /= x.sum(0)
    s = 0.05 * rng.standard_normal(u.shape)
    c = 8.0 * np.abs(shares.h).max() / u
    return split, shares, W, x, s, c
