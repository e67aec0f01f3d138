"""What is proven of the recursions, along real iterates."""

import itertools

import numpy as np
import pytest

import infoplane as ip
from infoplane.solvers.splitting.thresholds import penalty_threshold
from recursions import augmented, python_iterates


@pytest.mark.parametrize("alpha", [0.7, 1.0, 1.618, 2.0])
def test_descent_of_solver_one_just_above_the_proven_threshold(alpha):
    """L_c falls in every iteration once c > L, at the smallest mass met; no more than a tenth above it here, whatever alpha is."""
    joint, problem = ip.datasets.paper_uniform(), ip.bottleneck(0.5)
    W = np.random.default_rng(4).dirichlet(np.full(3, 20.0), size=3).T.copy()
    named = {"formulation": "ib-1", "relaxation": alpha}
    c = ip.theorem_threshold(joint, problem, W, **named).c
    for _ in range(20):
        states, split, shares, marginals = python_iterates("ib-1", joint, problem, W, c, alpha, 60, inner=60)
        met = min((q for _p, q, _nu in states), key=lambda q: (q @ joint.p_x).min())
        now = ip.theorem_threshold(joint, problem, met / met.sum(0), **named).c
        now = max(now, (1.0 - 0.5) / min(p.min() for p, _q, _nu in states))
        if now < c:
            break
        c = 1.1 * now
    assert 1.0 < c / now < 1.5
    # The first iterate has no first-order condition behind it; from the second on the theorem applies.
    levels = [augmented(split, shares, marginals, False, state, c) for state in states[1:]]
    assert np.diff(levels).max() <= 1e-12


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
