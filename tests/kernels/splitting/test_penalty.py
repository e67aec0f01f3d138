import sys

import numpy as np
import pytest

import infoplane as ip
from batches import Stepped
from infoplane.joint.joint import Support
from infoplane.kernels.splitting.penalty import retune
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.penalty import SETTLED
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


def test_once_settled_a_penalty_only_grows():
    """Targets are kappa |h| / mass = 2: a row far above keeps its c unless it may fall, one far below is raised in either case."""
    h, mass, boost = np.array([-0.5]), np.full((3, 1), 0.5), np.ones((3, 1))
    for may_fall, expected in ((True, [2.0, 2.0, 2.0]), (False, [9.0, 2.0, 2.0])):
        c = np.array([[9.0], [2.0], [0.1]])
        retune(h, mass, c, boost, 2.0, 0.0, may_fall)
        np.testing.assert_allclose(c[:, 0], expected)


def test_only_formulations_that_the_descent_theorem_covers_settle():
    joint = ip.datasets.paper_uniform()
    for name, formulation in FORMULATIONS.items():
        start = np.full((1, 3, 3), 1 / 3)
        batch = Stepped(DouglasRachford(name), Support(joint), problem_for(name), start, limit=20_000)
        assert batch.setting.settled == (SETTLED if formulation.descends else sys.maxsize)
