"""The compiled loop against the same recursions run by Python."""

import numpy as np
import pytest

import infoplane as ip
from batches import Stepped
from infoplane.joint.joint import Support
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.solver import DouglasRachford
from recursions import STEPS, problem_for, python_iterates


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.618])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_compiled_loop_is_the_recursion(formulation, alpha, step):
    _compare(formulation, alpha, step, None)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("formulation", ["ib-1v", "pf-2v"])
def test_an_encoder_that_comes_first_in_the_order_of_solver_one(formulation, step):
    """As the published scripts run the variational formulations."""
    _compare(formulation, 1.0, step, "I")


def _compare(formulation, alpha, step, order):
    joint, problem = ip.datasets.paper_nonuniform(), problem_for(formulation)
    W = np.random.default_rng(1).dirichlet(np.ones(3), size=3).T.copy()
    states, *_ = python_iterates(formulation, joint, problem, W, 32.0, alpha, 12, step, order=order)
    solver = DouglasRachford(formulation, step=step, penalty=32.0, relaxation=alpha, inner=1, order=order)
    batch = Stepped(solver, Support(joint), problem, W[None], tol=1e-15, limit=1000, record=True)
    batch.advance(12)
    p, q, nu = states[-1]
    encoder, marginal = (p, q) if FORMULATIONS[formulation].encoder_first else (q, p)
    np.testing.assert_allclose(batch.state.W[0], encoder, atol=1e-13)
    np.testing.assert_allclose(batch.state.v[0], marginal, atol=1e-13)
    np.testing.assert_allclose(batch.state.nu[0], nu, atol=1e-11)
