"""The measures against those of the problem, and the trace against the augmented Lagrangian written out."""

import numpy as np
import pytest

import infoplane as ip
from batches import Stepped
from compiled import interpreted
from infoplane.joint.joint import Support
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.solver import DouglasRachford
from recursions import JOINTS, PROBLEMS, augmented, problem_for, python_iterates, setting

measure = interpreted("splitting.measure")


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_measures_are_those_of_the_problem(joint, problem):
    split, _shares, W, _x, _s, _c = setting("ib-1", joint)
    rho = np.array(problem.rho)
    expected = problem.value(joint, W), problem.stationarity(joint, W)
    assert measure.loss_and_stationarity(split, W, rho, problem.width) == pytest.approx(expected, abs=1e-13)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_trace_holds_the_augmented_lagrangian(formulation):
    joint, problem = ip.datasets.paper_nonuniform(), problem_for(formulation)
    W = np.random.default_rng(1).dirichlet(np.ones(3), size=3).T.copy()
    states, split, shares, marginals = python_iterates(formulation, joint, problem, W, 32.0, 1.0, 5)
    solver = DouglasRachford(formulation, penalty=32.0, relaxation=1.0, inner=1)
    batch = Stepped(solver, Support(joint), problem, W[None], tol=1e-15, limit=1000, record=True)
    batch.advance(5)
    trace = batch.runs()[0].trace
    first = FORMULATIONS[formulation].encoder_first
    slow = [augmented(split, shares, marginals, first, state, 32.0) for state in states[1:]]
    # Variational blocks drop the constant of H(Y), resp. H(X): compare differences.
    np.testing.assert_allclose(np.diff(trace.augmented), np.diff(slow), atol=1e-12)
    assert trace.loss[-1] == pytest.approx(problem.value(joint, batch.state.W[0]), abs=1e-13)
