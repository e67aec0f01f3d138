import numpy as np
import pytest
from scipy.optimize import minimize

import infoplane as ip
from infoplane.joint.joint import Support
from infoplane.runtime.budget import Budget
from infoplane.solvers.base import drive
from infoplane.solvers.job import Job
from infoplane.solvers.multi_one import SplitTasks, entropy_prox
from made_up import made_tasks

PROBLEMS = [(2, 2, 0.5, 0.0), (3, 3, 0.5, 0.05), (2, 2, 2.0, 0.02), (2, 3, 3.0, 0.0)]


@pytest.mark.parametrize(("number", "sizes"), list(enumerate(PROBLEMS)))
def test_the_augmented_lagrangian_never_rises(number, sizes):
    kept, hidden, beta, gamma = sizes
    tasks, problem = made_tasks(number, letters=6, kept=kept, hidden=hidden), ip.task_funnel(beta, gamma=gamma)
    starts = np.random.default_rng(number).dirichlet(np.ones(7), (4, 6)).transpose(0, 2, 1)
    iteration = SplitTasks(Job(Support(tasks.joint), problem, starts, budget=Budget(iterations=40)))
    runs = drive(iteration)
    assert iteration.descent.max() <= 4e-15
    best = ip.solve(tasks, problem, certify=True, max_seconds=10.0)
    losses = [problem.value(tasks.joint, run.encoder) for run in runs]
    assert best.lower_bound <= min(losses) <= best.loss + 5e-3


def test_the_prox_is_an_argmin():
    rng = np.random.default_rng(0)
    kappa, c, t = rng.uniform(0.1, 1, 3), rng.uniform(0.1, 50, (4, 3)), rng.normal(size=(4, 3))
    p = entropy_prox(kappa, c, t)
    assert p.sum(axis=0) == pytest.approx(np.ones(3), abs=1e-14)
    slopes = kappa * (np.log(p) + 1.0) + c * p - t  # equal in every column, up to the multiplier of the sum
    assert np.ptp(slopes, axis=0).max() < 1e-12
    found = minimize(lambda q: (kappa[0] * q * np.log(q) + c[:, 0] * q**2 / 2 - t[:, 0] * q).sum(), np.full(4, 0.25),
                     bounds=[(1e-9, 1)] * 4, constraints={"type": "eq", "fun": lambda q: q.sum() - 1})  # fmt: skip
    assert p[:, 0] == pytest.approx(found.x, abs=1e-3)
