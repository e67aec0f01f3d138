"""The compiled loop against the same recursions run by Python, and the paper's inequalities along real iterates."""

import itertools

import numpy as np
import pytest

import infoplane as ip
import twins
from infoplane.joint.support import Support
from infoplane.kernels.splitting.douglas_rachford import solver_one, solver_two
from infoplane.kernels.splitting.encoder import argmin_encoder
from infoplane.kernels.splitting.gradient import gradient_encoder, gradient_marginal
from infoplane.kernels.splitting.marginal import argmin_marginal
from infoplane.kernels.splitting.tables import Split
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.penalty import penalty_threshold
from infoplane.solvers.splitting.solver import DouglasRachford
from infoplane.solvers.stopping import Stopping

STEPS = {"exact": (argmin_encoder, argmin_marginal), "gradient": (gradient_encoder, gradient_marginal)}


def problem_for(formulation):
    return ip.bottleneck(0.3) if formulation.startswith("ib") else ip.funnel(2.5)


def python_iterates(formulation, joint, problem, W, c, alpha, iterations, step="exact", inner=1):
    """(p, q, nu) of every iteration, by the recursions run in Python."""
    form = FORMULATIONS[formulation]
    support = Support(joint)
    shares = form.share(problem, support.p_y)
    M = form.constraint(support.p_x, support.K)
    scale = max(map(abs, problem.rho))
    split = Split(
        support.p_x, support.p_y, support.P, support.T, M, np.ascontiguousarray(M.T / support.p_x),
        shares.h, np.array(shares.a), np.array(shares.d), inner, False, scale, 0.0,
    )  # fmt: skip
    encoder_step, marginal_step = STEPS[step]

    def marginals(_data, W):
        return W @ M

    def identity(_data, v):
        return v

    recursion = solver_one if form.order == 1 else solver_two
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


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.618])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_compiled_loop_is_the_recursion(formulation, alpha, step):
    joint, problem = ip.datasets.paper_nonuniform(), problem_for(formulation)
    W = np.random.default_rng(1).dirichlet(np.ones(3), size=3).T.copy()
    states, *_ = python_iterates(formulation, joint, problem, W, 32.0, alpha, 12, step)
    solver = DouglasRachford(formulation, step=step, penalty=32.0, relaxation=alpha, inner=1)
    batch = solver.begin(Support(joint), [problem], W[None], Stopping(1e-15, 1000), True)
    batch.advance(12)
    p, q, nu = states[-1]
    encoder, marginal = (p, q) if FORMULATIONS[formulation].encoder_first else (q, p)
    np.testing.assert_allclose(batch.state.W[0], encoder, atol=1e-13)
    np.testing.assert_allclose(batch.state.v[0], marginal, atol=1e-13)
    np.testing.assert_allclose(batch.state.nu[0], nu, atol=1e-11)


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


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_trace_holds_the_augmented_lagrangian(formulation):
    joint, problem = ip.datasets.paper_nonuniform(), problem_for(formulation)
    W = np.random.default_rng(1).dirichlet(np.ones(3), size=3).T.copy()
    states, split, shares, marginals = python_iterates(formulation, joint, problem, W, 32.0, 1.0, 5)
    solver = DouglasRachford(formulation, penalty=32.0, relaxation=1.0, inner=1)
    batch = solver.begin(Support(joint), [problem], W[None], Stopping(1e-15, 1000), True)
    batch.advance(5)
    trace = batch.runs()[0].trace
    first = FORMULATIONS[formulation].encoder_first
    slow = [augmented(split, shares, marginals, first, state, 32.0) for state in states[1:]]
    # Variational blocks drop the constant of H(Y), resp. H(X): compare differences.
    np.testing.assert_allclose(np.diff(trace.augmented), np.diff(slow), atol=1e-12)
    assert trace.loss[-1] == pytest.approx(problem.value(joint, batch.state.W[0]), abs=1e-13)


@pytest.mark.parametrize("alpha", [0.7, 1.0, 1.618, 2.0])
def test_sufficient_decrease_of_solver_one(alpha):
    """Lemma "Sufficient Decrease I": L_c falls by delta_p |dp|^2 + delta_q |dBq|^2 + delta_nu |dnu|^2 when c is above Theorem 4's."""
    joint, problem = ip.datasets.paper_uniform(), ip.bottleneck(0.5)
    W = np.random.default_rng(4).dirichlet(np.full(3, 20.0), size=3).T.copy()
    threshold = penalty_threshold(joint, problem, W, formulation="ib-1", relaxation=alpha)
    c = 40.0 * threshold.c
    states, split, shares, marginals = python_iterates("ib-1", joint, problem, W, c, alpha, 60, inner=60)
    # The constants hold for the smallest masses met on the way.
    met = min((q for _p, q, _nu in states), key=lambda q: q.min())
    now = penalty_threshold(joint, problem, met / met.sum(0), formulation="ib-1", relaxation=alpha)
    assert c > now.c
    L_p, sigma_F, omega_G = (now.constants[name] for name in ("L_p", "sigma_F", "omega_G"))
    delta_p = sigma_F * L_p / (L_p + sigma_F) + c * (1.0 / alpha - 0.5)
    delta_q = (c - omega_G) / 2.0
    delta_nu = 1.0 / (L_p + sigma_F) - 1.0 / (c * alpha)
    assert min(delta_p, delta_q, delta_nu) >= 0
    # The first iterate has no first-order condition behind it; from the second on the lemma applies.
    for before, after in itertools.pairwise(states[1:]):
        fall = augmented(split, shares, marginals, False, before, c) - augmented(
            split, shares, marginals, False, after, c
        )
        promised = (
            delta_p * ((before[0] - after[0]) ** 2).sum()
            + delta_q * ((marginals(None, before[1]) - marginals(None, after[1])) ** 2).sum()
            + delta_nu * ((before[2] - after[2]) ** 2).sum()
        )
        assert fall >= promised - 1e-12


@pytest.mark.parametrize("alpha", [0.7, 1.0, 1.618])
@pytest.mark.parametrize("formulation", ["ib-2", "ib-1v"])
def test_sufficient_decrease_of_solver_two(formulation, alpha):
    """Lemma "Sufficient Decrease II": L_c falls by {c (1/alpha - 1/2) - L_q^2/(alpha c) - sigma_G/2} |dq|^2, c above Theorem 5's."""
    joint, problem = ip.datasets.paper_uniform(), ip.bottleneck(0.5)
    W = np.random.default_rng(4).dirichlet(np.full(3, 20.0), size=3).T.copy()
    c = 2.0 * penalty_threshold(joint, problem, W, formulation=formulation, relaxation=alpha).c
    states, split, shares, marginals = python_iterates(formulation, joint, problem, W, c, alpha, 60)
    met = min((p for p, _q, _nu in states), key=lambda p: p.min())
    now = penalty_threshold(joint, problem, met / met.sum(0), formulation=formulation, relaxation=alpha)
    assert c > now.c
    L_q, sigma_G = now.constants["L_q"], now.constants["sigma_G"]
    delta = c * (1.0 / alpha - 0.5) - L_q**2 / (alpha * c) - sigma_G / 2.0
    assert delta > 0
    for before, after in itertools.pairwise(states[1:]):
        fall = augmented(split, shares, marginals, True, before, c) - augmented(
            split, shares, marginals, True, after, c
        )
        assert fall >= delta * ((before[1] - after[1]) ** 2).sum() - 1e-12


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_automatic_penalty_lowers_the_augmented_lagrangian_nearly_always(formulation):
    joint = ip.datasets.paper_uniform()
    solution = ip.solve(
        joint,
        problem_for(formulation),
        DouglasRachford(formulation, relaxation=1.0, acceleration=False),
        starts=1,
        init="random",
        rng=3,
    )
    steps = np.diff(solution.trace.augmented)
    assert (steps <= 1e-10).mean() > 0.95
