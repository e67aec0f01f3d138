"""Solvers of tasks: what they report is so, the default is not worse than the map, trivial answers, caps on |Z|."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.certificate.tasks.boxes import BoxSearch
from infoplane.solvers import task_portfolio
from made_up import made_tasks, told

TASK_SOLVERS = [name for name, solver in ip.SOLVERS.items() if solver.serves_tasks]


@pytest.mark.parametrize("gamma", [0.0, 0.05, None])
@pytest.mark.parametrize("solver", TASK_SOLVERS)
@pytest.mark.parametrize("sizes", [(3, 2), (2, 4)])
def test_reported_numbers_are_true(solver, gamma, sizes):
    tasks = made_tasks(1, kept=sizes[0], hidden=sizes[1])
    found = ip.solve(tasks, ip.task_funnel(0.7, gamma=gamma), solver, starts=2, rng=0, max_iter=60)
    ixz, iuz, isz = told(tasks, found.encoder)
    assert (found.ixz, found.iuz, found.isz) == pytest.approx((ixz, iuz, isz), abs=1e-12)
    assert found.loss == pytest.approx(found.problem.gamma * ixz - iuz + 0.7 * isz, abs=1e-12)
    assert found.encoder.sum(axis=0) == pytest.approx(np.ones(8), abs=1e-12)
    if found.status is ip.Status.STATIONARY:
        assert found.problem.stationarity(tasks.joint, found.encoder) <= 2e-8
    assert "I(U;Z)" in str(found)
    assert "I(S;Z)" in found._repr_html_()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("gamma", [0.0, 0.03])
def test_the_default_is_not_worse_than_the_map_or_any_random_encoder(seed, gamma):
    tasks = made_tasks(seed, letters=10, kept=3, hidden=3)
    problem = ip.task_funnel(0.8, gamma=gamma)
    best = ip.solve(tasks, problem, starts=4, rng=0)
    assert best.loss <= ip.solve(tasks, problem, "task-map", starts=6, rng=1).loss + 1e-7
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
    monkeypatch.setattr(task_portfolio, "search_boxes", lambda *_: BoxSearch(0.0, 0, 0))
    assert ip.solve(tasks, problem, rng=0).loss > bound + 1e-6
