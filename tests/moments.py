"""A typical moment of a run of a splitting, for tests of its steps."""

import numpy as np

import infoplane as ip
from batches import job_of
from infoplane.joint.joint import Support
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.solver import DouglasRachford

PROBLEMS = {"ib": ip.bottleneck(0.3), "pf": ip.funnel(2.5)}
JOINTS = {"paper": ip.datasets.paper_nonuniform(), "heart": ip.datasets.heart()}


def setting(formulation, joint, seed=0, inner=1, clusters=3, proximal=0.0, adaptive=False, inner_tol=0.0):
    """A split, its shares, an encoder, marginals near its own, a slope and penalties."""
    form = FORMULATIONS[formulation]
    problem = PROBLEMS[formulation[:2]]
    shares = form.share(problem, Support(joint).p_y)
    rng = np.random.default_rng(seed)
    W = rng.dirichlet(np.ones(clusters), size=joint.shape[0]).T.copy()
    begun = DouglasRachford(formulation, inner=inner, proximal=proximal).begin(job_of(joint, problem, W[None]))
    split = begun.split._replace(inner_tol=inner_tol, kappa=float(adaptive), mirror=2.5)
    u = W @ split.M
    x = u * rng.uniform(0.9, 1.1, u.shape)
    x /= x.sum(0)
    s = 0.05 * rng.standard_normal(u.shape)
    c = 8.0 * np.abs(shares.h).max() / u
    return split, shares, W, x, s, c
