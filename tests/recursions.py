"""The recursions of the formulations run by Python, iteration by iteration."""

import numpy as np

import infoplane as ip
import twins
from infoplane.joint.joint import Support
from infoplane.kernels.splitting.douglas_rachford import solver_one, solver_two
from infoplane.kernels.splitting.tables import Split
from infoplane.solvers.splitting.formulations import FORMULATIONS
from interpreted import interpreted

gradient_step = interpreted("splitting.gradient").gradient_step
STEPS = {
    "majorise": (interpreted("splitting.encoder").argmin_encoder, interpreted("splitting.marginal").argmin_marginal),
    "gradient": tuple(lambda split, *rest, of=of: gradient_step(split, of, *rest) for of in (True, False)),
}


def problem_for(formulation):
    return ip.bottleneck(0.3) if formulation.startswith("ib") else ip.funnel(2.5)


def python_iterates(formulation, joint, problem, W, c, alpha, iterations, step="majorise", inner=1, order=None):
    """(p, q, nu) of every iteration, by the recursions run in Python; order I or II, or the formulation's own."""
    form = FORMULATIONS[formulation]
    support = Support(joint)
    shares = form.share(problem, support.p_y)
    M = form.constraint(support.p_x, support.K)
    scale = max(map(abs, problem.rho))
    split = Split(
        support.p_x, support.p_y, support.P, support.T, M, np.ascontiguousarray(M.T / support.p_x),
        shares.h, np.array(shares.a), np.array(shares.d), inner, 0.0, False, scale, 0.0, 0.01, step == "gradient", form.encoder_first,
        np.zeros(1, dtype=np.int64), np.full(W.shape[:1] + M.shape[1:], np.nan),
    )  # fmt: skip
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
        p, q, nu = iterate(split, p, q, nu, c, alpha)
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
