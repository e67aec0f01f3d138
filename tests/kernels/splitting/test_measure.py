"""The measures against those of the problem."""

import numpy as np
import pytest

from interpreted import interpreted
from moments import JOINTS, PROBLEMS, setting

measure = interpreted("splitting.measure")


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_measures_are_those_of_the_problem(joint, problem):
    split, _shares, W, _x, _s, _c = setting("ib-1", joint)
    rho = np.array(problem.rho)
    assert measure.lagrangian(split, W, rho) == pytest.approx(problem.value(joint, W), abs=1e-13)
    expected = problem.value(joint, W), problem.stationarity(joint, W)
    assert measure.loss_and_stationarity(split, W, rho, problem.width) == pytest.approx(expected, abs=1e-13)
