"""Which block comes first, and how its argmin is taken, is chosen as the formulation says."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.solvers.splitting.formulations import FORMULATIONS
from interpreted import interpreted
from recursions import STEPS, problem_for, python_iterates

blocks = interpreted("splitting.blocks")


@pytest.mark.parametrize("order", ["I", "II"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_step_is_the_recursion_of_the_formulations_own_blocks(formulation, step, order):
    joint, problem = ip.datasets.paper_nonuniform(), problem_for(formulation)
    W = np.random.default_rng(1).dirichlet(np.ones(3), size=3).T.copy()
    states, split, *_ = python_iterates(formulation, joint, problem, W, 32.0, 1.618, 2, step, order=order)
    advance = {"I": blocks.step_one, "II": blocks.step_two}[order]
    found = advance(split, *states[1], np.full_like(states[1][2], 32.0), 1.618)
    for one, expected in zip(found, states[2], strict=True):
        np.testing.assert_array_equal(one, expected)
