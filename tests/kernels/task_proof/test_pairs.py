"""Edges suffice for a binary secret: no posterior, sampled anywhere in the simplex or descended to, lies below the bound."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.joint.joint import Support
from infoplane.kernels.task_proof.pairs import search_edges
from infoplane.posterior.task_form import TaskForm
from made_up import made_tasks


def searched(form, lam, floor):
    pairs, found = np.empty((1000, 2), dtype=np.int64), np.empty((1000, 2))
    least, count, cells = search_edges(
        form.T_u, form.T_s, form.keep, form.hide, lam, floor, -0.25 * floor, pairs, found
    )
    return least, pairs[:count], found[:count], cells


@pytest.mark.parametrize("seed", range(12))
def test_no_posterior_is_below_the_bound(seed):
    rng = np.random.default_rng(seed)
    tasks = made_tasks(seed, letters=7, kept=2 + seed % 4, peaked=(0.2, 1.0, 5.0)[seed % 3])
    form = TaskForm(Support(tasks.joint), ip.TaskLagrangian(0.0, hide=rng.choice([0.2, 1.0, 6.0])))
    W = rng.dirichlet(np.full(7, 0.4), 7).T
    lam = form.multipliers(W) + rng.choice([0.0, 0.05]) * rng.normal(size=7)
    least, pairs, found, _ = searched(form, lam, 1e-7)
    Q = np.column_stack([rng.dirichlet(np.full(7, a), 4000).T for a in (0.05, 0.3, 1.0)])
    assert (form.f(Q) - lam @ Q).min() >= least
    _, values = form.descended(lam, Q[:, ::40] * 0.99 + 0.01 / 7, steps=200)
    assert values.min() >= least
    for (x, y), (value, t) in zip(
        pairs, found, strict=True
    ):  # what is met is so, and the bound is near the lowest of it
        q = (1 - t) * np.eye(7)[:, [x]] + t * np.eye(7)[:, [y]]
        assert float((form.f(q) - lam @ q)[0]) == pytest.approx(value, abs=1e-12)
    if len(found):
        assert least >= 1.1 * found[:, 0].min() - 1e-9
    else:
        assert least >= -1.0000001e-7


def test_a_grid_of_one_edge_is_not_below_its_bound():
    tasks = made_tasks(3, letters=2, kept=3)
    form = TaskForm(Support(tasks.joint), ip.TaskLagrangian(0.0, hide=2.0))
    for lam in np.random.default_rng(0).normal(size=(50, 2)):
        least, *_ = searched(form, lam, 1e-9)
        t = np.linspace(0, 1, 5001)
        Q = np.array([1 - t, t])
        lowest = (form.f(Q) - lam @ Q).min()
        assert lowest >= least
        assert least >= min(1.1 * lowest, -1e-9) - 1e-6
