import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane.solvers.constrained.multiplier import ratio, root

JOINT = ip.datasets.paper_nonuniform()


def test_roots_of_an_increasing_function_side_by_side():
    """sqrt(a), one per entry; nothing to find where it is positive at 0, or negative up to the largest."""
    a = np.array([4.0, 1e-4, 1e4, -1.0, 1e9])
    found = root(lambda lam: (lam**2 - a, 2.0 * lam), np.ones(5), 1e3)
    np.testing.assert_allclose(found[:3], [2.0, 1e-2, 1e2], rtol=1e-10)
    assert found[3] < 1e-11
    assert found[4] == 1e3


def test_which_problems_have_a_multiplier():
    assert ratio(ip.bottleneck(0.3), 1.0) == pytest.approx(0.3)
    assert ratio(ip.MarkovLagrangian(-1.4, -0.6, 2.0), 1.0) == pytest.approx(0.3)
    assert ratio(ip.funnel(2.5), -1.0) == pytest.approx(2.5)
    assert ratio(ip.funnel(2.5), 1.0) is None
    assert ratio(ip.deterministic_bottleneck(0.3), 1.0) is None


@pytest.mark.parametrize(
    "solver", [ip.BregmanProjection(rate=0.3), ip.EMFunnel(rate=0.3), ip.TransportBottleneck(relevance=0.1)]
)
def test_a_run_under_a_constraint_is_judged_by_the_problem_that_was_asked_for(solver):
    """It may be stationary for its own multiplier; what is reported is the residual of the problem, and the advice names the other."""
    problem = ip.funnel(2.2) if solver.name == "em-pf" else ip.bottleneck(0.2)
    found = ip.solve(JOINT, problem, solver, starts=4, rng=0, max_iter=2000)
    verify.check_solution(JOINT.p_xy, problem.rho, found, tol=1e-9)
    assert not found.converged
    assert ("beta" if solver.name == "em-pf" else "gamma") + " = " in found.advice


@pytest.mark.parametrize("make", [ip.BregmanProjection, ip.EMFunnel])
@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, "much"])
def test_a_bound_is_a_positive_number(make, bad):
    with pytest.raises(ip.InvalidOptionError, match="rate must be a positive number of nats"):
        make(rate=bad)
