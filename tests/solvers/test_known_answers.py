"""Certified optima of the paper's uniform data, found by the default solver and by each bottleneck formulation on its own."""

import itertools

import numpy as np
import pytest

import infoplane as ip

GRID = np.geomspace(0.1, 1.0, 16)  # the paper's; its points 9, 11 and 12 are 0.3981, 0.5412 and 0.6310 when rounded
CERTIFIED = {0.1: -0.344377, 0.2: -0.240760, GRID[9]: -0.102956, GRID[11]: -0.030236, GRID[12]: -0.002610}


@pytest.mark.parametrize("solver", [None, "ib-1", "ib-2", "ib-1v", "blahut-arimoto"])
@pytest.mark.parametrize("gamma", CERTIFIED, ids="{:.4f}".format)
def test_bottleneck_of_the_uniform_data(gamma, solver):
    found = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(gamma), solver, starts=16, rng=0)
    assert found.status is ip.Status.STATIONARY
    assert found.loss == pytest.approx(CERTIFIED[gamma], abs=2e-6)


def test_above_the_first_transition_only_the_trivial_encoder_is_left():
    found = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.9), rng=0)
    assert found.loss == pytest.approx(0.0, abs=1e-9)
    assert found.ixz == pytest.approx(0.0, abs=1e-7)


def test_below_beta_one_the_funnel_releases_everything():
    """-I(X;Z|Y) and -I(X;Z) are concave in p(z|x) and both least at Z = X: there L = beta I(X;Y) - H(X)."""
    joint = ip.datasets.paper_uniform()
    for solver in ("pf-1", "pf-2", "pf-2v"):
        found = ip.solve(joint, ip.funnel(0.7), solver, rng=0)
        assert found.loss == pytest.approx(0.7 * joint.mutual_information - joint.entropy_x, abs=1e-6)


@pytest.mark.parametrize(("name", "starts", "every"), [("paper_uniform", 12, 4), ("paper_nonuniform", 32, 9)])
@pytest.mark.parametrize("solver", ["pf-1", "pf-2", "pf-2v"])
def test_funnel_is_never_above_merge_two_and_somewhere_below(name, starts, every, solver):
    """Some betas of the paper's grid; random starts alone (no start from the merge path is needed)."""
    joint = ip.datasets.load(name)
    path = ip.merge_two(joint)
    margins = []
    for beta in np.geomspace(0.5, 20, 20)[::every]:
        problem = ip.funnel(beta)
        found = ip.solve(joint, problem, solver, starts=starts, rng=0, init="random", max_iter=1000, tol=1e-6)
        margins.append(float(path.losses(problem).min()) - found.loss)
    assert min(margins) > -1e-6
    assert max(margins) > 1e-2


@pytest.mark.parametrize("name", ["paper_uniform", "paper_nonuniform"])
@pytest.mark.parametrize("gamma", [0.1, 0.2, 0.4])
def test_deterministic_bottleneck_finds_the_best_of_all_maps(name, gamma):
    """Concave in p(z|x), so some map x -> z is optimal: all 27 are tried."""
    joint, problem = ip.datasets.load(name), ip.deterministic_bottleneck(gamma)
    best = min(problem.value(joint, np.eye(3)[:, list(labels)]) for labels in itertools.product(range(3), repeat=3))
    found = ip.solve(joint, problem, rng=0)
    assert found.converged
    assert found.loss == pytest.approx(best, abs=1e-8)


def test_a_convex_lagrangian_has_its_uniform_optimum():
    """All coefficients negative, summing to -1: every entropy is largest, log |Z|, at the uniform encoder."""
    found = ip.solve(ip.datasets.heart(), ip.MarkovLagrangian(-0.4, -0.4, -0.2), rng=0, starts=4)
    assert found.loss == pytest.approx(-np.log(16), abs=1e-9)
