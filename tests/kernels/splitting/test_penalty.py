import numpy as np
import pytest

import infoplane as ip
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.solver import DouglasRachford
from recursions import problem_for


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
