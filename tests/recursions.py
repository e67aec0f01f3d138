"""The recursions of the formulations run by Python, iteration by iteration; and a typical moment of such a run, for tests of its steps."""

import numpy as np

import infoplane as ip
import twins
from batches import job_of
from compiled import interpreted
from infoplane.joint.joint import Support
from infoplane.kernels.splitting.advance import solver_one, solver_two
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.solver import DouglasRachford

gradient_step = interpreted("splitting.gradient").gradient_step
argmin_encoder = interpreted("splitting.blocks").argmin_encoder
argmin_marginal = interpreted("splitting.blocks").argmin_marginal
STEPS = {
    "majorise": (lambda data, *rest: argmin_encoder(*data, *rest), lambda data, *rest: argmin_marginal(data[0], *rest)),
    "gradient": tuple(lambda data, *rest, of=of: gradient_step(data[0], of, *rest) for of in (True, False)),
}


def problem_for(formulation):
    return ip.bottleneck(0.3) if formulation.startswith("ib") else ip.funnel(2.5)


def python_iterates(formulation, joint, problem, W, c, alpha, iterations, step="majorise", inner=1, order=None):
    """(p, q, nu) of every iteration, by the recursions run in Python; order I or II, or the formulation's own."""
    form = FORMULATIONS[formulation]
    shares = form.share(problem, Support(joint).p_y)
    solver = DouglasRachford(formulation, step=step, penalty=float(c), inner=inner)
    split = solver.begin(job_of(joint, problem, W[None])).split
    M = split.M
    data = split, np.full(W.shape[:1] + M.shape[1:], np.nan)
    encoder_step, marginal_step = STEPS[step]

    def marginals(_data, W):
        return W @ M

    def identity(_data, v):
        return v

    recursion = {1: solver_one, 2: solver_two}[form.order if order is None else len(order)]
    if form.encoder_first:
        iterate = recursion(encoder_step, marginal_step, marginals, identity)
        p, q = W, W @ M
    else:
        iterate = recursion(marginal_step, encoder_step, identity, marginals)
        p, q = W @ M, W
    nu = np.zeros_like(W @ M)
    c = np.full_like(nu, c)
    states = [(p, q, nu)]
    for _ in range(iterations):
        p, q, nu = iterate(data, p, q, nu, c, alpha)
        states.append((p, q, nu))
    return states, split, shares, marginals


def augmented(split, shares, marginals, encoder_first, state, c):
    """L_c from the slow twins; the decoders of a variational block are those of its own encoder."""
    p, q, nu = state
    W, v = (p, q) if encoder_first else (q, p)
    gap = (marginals(None, W) - v) if encoder_first else (v - marginals(None, W))
    return (
        twins.encoder_value(split.P, W, W, shares.a, shares.d)
        + twins.marginal_value(v, shares.h)
        + float((nu * gap).sum())
        + 0.5 * c * float((gap * gap).sum())
    )


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
