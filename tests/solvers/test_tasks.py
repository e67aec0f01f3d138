"""Solvers of tasks: what they report is so, the default is not worse than the map, trivial answers, caps on |Z|."""

import numpy as np
import pytest
from scipy.optimize import minimize

import infoplane as ip
from infoplane.certificate.tasks.boxes import BoxSearch
from infoplane.joint.joint import Support
from infoplane.runtime.budget import Budget
from infoplane.solvers import tasks as task_solvers
from infoplane.solvers.base import drive
from infoplane.solvers.job import Job
from infoplane.solvers.tasks import SplitTasks, entropy_prox
from made_up import made_tasks, told

TASK_SOLVERS = [name for name, solver in ip.SOLVERS.items() if solver.serves_tasks]


@pytest.mark.parametrize("gamma", [0.0, 0.05, None])
@pytest.mark.parametrize("solver", TASK_SOLVERS)
@pytest.mark.parametrize("sizes", [(3, 2), (2, 4)])
def test_reported_numbers_are_true(solver, gamma, sizes):
    tasks = made_tasks(1, kept=sizes[0], hidden=sizes[1])
    found = ip.solve(tasks, ip.task_funnel(0.7, gamma=gamma), solver, starts=3, rng=0, max_iter=400)
    ixz, iuz, isz = told(tasks, found.encoder)
    assert (found.ixz, found.iuz, found.isz) == pytest.approx((ixz, iuz, isz), abs=1e-12)
    assert found.loss == pytest.approx(found.problem.gamma * ixz - iuz + 0.7 * isz, abs=1e-12)
    assert found.encoder.sum(axis=0) == pytest.approx(np.ones(8), abs=1e-12)
    if found.status is ip.Status.STATIONARY:
        assert found.problem.stationarity(tasks.joint, found.encoder) <= 2e-8
    assert "I(U;Z)" in str(found)
    assert "I(S;Z)" in found._repr_html_()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gamma", [0.0, 0.03])
def test_the_default_is_not_worse_than_the_map_or_any_random_encoder(seed, gamma):
    tasks = made_tasks(seed, letters=10, kept=3, hidden=3)
    problem = ip.task_funnel(0.8, gamma=gamma)
    best = ip.solve(tasks, problem, starts=4, rng=0)
    assert best.loss <= ip.solve(tasks, problem, "task-map", starts=8, rng=1).loss + 1e-7
    assert best.loss <= 0.0
    few = ip.solve(tasks, problem, clusters=2, rng=0)
    assert few.clusters <= 2
    assert best.loss - 1e-9 <= few.loss <= 0.0


def test_what_hides_too_much_keeps_nothing_and_a_harmless_secret_costs_nothing():
    tasks = made_tasks(2)
    same = ip.TaskJoint(tasks.keep, ip.Joint.from_matrix(tasks.keep.p_xy, y_names="again"))
    assert ip.solve(same, ip.task_funnel(2.0, gamma=0.0), rng=0).loss == pytest.approx(0.0, abs=1e-9)
    independent = ip.TaskJoint(tasks.keep, ip.Joint.from_conditional(tasks.p_x, [[0.3, 0.7]] * 8, y_names="coin"))
    found = ip.solve(independent, ip.task_funnel(5.0, gamma=0.0), rng=0)
    assert found.iuz == pytest.approx(tasks.keep.mutual_information, abs=1e-7)
    assert found.isz == pytest.approx(0.0, abs=1e-12)


def test_boxes_show_what_a_race_of_starts_lacks(monkeypatch):
    tasks = made_tasks(0, letters=24, kept=2, hidden=2)
    problem = ip.task_funnel(2.09)
    bound = ip.solve(tasks, problem, certify=True, rng=0).lower_bound
    assert ip.solve(tasks, problem, rng=0).loss <= bound + 1e-6
    monkeypatch.setattr(task_solvers, "search_boxes", lambda *_: BoxSearch(0.0, 0, 0))
    assert ip.solve(tasks, problem, rng=0).loss > bound + 1e-6


PROBLEMS = [
    (2, 2, 0.5, 0.0),
    (3, 3, 0.5, 0.05),
    (2, 2, 2.0, 0.0),
    (3, 2, 2.0, 0.02),
    (3, 3, 0.5, 0.0),
    (3, 3, 1.0, 0.02),
    (3, 3, 3.0, 0.0),
]


@pytest.mark.parametrize(("number", "sizes"), list(enumerate(PROBLEMS)))
def test_the_augmented_lagrangian_never_rises(number, sizes):
    kept, hidden, beta, gamma = sizes
    tasks, problem = made_tasks(number, letters=6, kept=kept, hidden=hidden), ip.task_funnel(beta, gamma=gamma)
    starts = np.random.default_rng(number).dirichlet(np.ones(7), (10, 6)).transpose(0, 2, 1)
    iteration = SplitTasks(Job(Support(tasks.joint), problem, starts, budget=Budget(iterations=60)))
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
