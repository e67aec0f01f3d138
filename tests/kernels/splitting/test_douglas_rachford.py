"""The paper's inequalities along real iterates."""

import itertools

import numpy as np
import pytest

import infoplane as ip
from infoplane.solvers.splitting.penalty import penalty_threshold
from recursions import augmented, python_iterates


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
