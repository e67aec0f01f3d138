"""Boxes of u = T_u q: no posterior, sampled anywhere or descended to, lies below what is proven; proofs of whole problems hold."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.certificate.tasks.boxes import Asked, search_boxes
from infoplane.certificate.tasks.private import Silent
from infoplane.information import entr
from infoplane.joint.joint import Support
from infoplane.posterior.task_form import TaskForm
from infoplane.runtime.budget import Budget
from made_up import made_tasks, told


@pytest.mark.parametrize("gamma", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_no_posterior_is_below_the_bound_at_any_moment(seed, gamma):
    rng = np.random.default_rng(seed)
    tasks = made_tasks(seed, letters=7, kept=2 + seed % 3, hidden=2 + seed % 4, peaked=(0.2, 1.0, 5.0)[seed % 3])
    form = TaskForm(Support(tasks.joint), ip.TaskLagrangian(gamma, hide=rng.choice([0.2, 1.0, 4.0])))
    lam = form.multipliers(rng.dirichlet(np.full(7, 0.4), 7).T) - rng.choice([0.0, 0.05])
    Q = np.column_stack([rng.dirichlet(np.full(7, a), 3000).T for a in (0.05, 0.3, 1.0)])
    lowest = (form.f(Q) - lam @ Q).min()
    lowest = min(lowest, form.descended(lam, Q[:, ::40] * 0.99 + 0.01 / 7, steps=200)[1].min())
    for cells in (1, 20, 500):
        found = search_boxes(Asked(form, lam), 1e-5, Budget(cells=cells))
        assert lowest >= found.least
        assert found.cells <= cells
        for q in found.violating:
            assert float((form.f(q[:, None]) - lam @ q[:, None])[0]) < -0.2e-5


@pytest.mark.parametrize(
    ("kept", "hidden", "gamma"), [(2, 2, 0.0), (3, 2, 0.0), (2, 3, 0.0), (3, 3, 0.05), (2, 4, None)]
)
def test_certified_means_that_no_encoder_is_better(kept, hidden, gamma):
    tasks = made_tasks(5, letters=5, kept=kept, hidden=hidden)
    problem = ip.task_funnel(0.6, gamma=gamma)
    found = ip.solve(tasks, problem, certify=True)
    assert found.status is ip.Status.CERTIFIED
    assert found.gap <= 1e-6
    again = ip.certify(tasks, problem, found.encoder)
    if found.problem.gamma > 0.0 or hidden == 2:
        assert again.lower_bound == pytest.approx(found.lower_bound, abs=2e-6)
    assert again.lower_bound <= found.loss
    rng = np.random.default_rng(0)
    for _ in range(200):
        W = rng.dirichlet(np.full(6, rng.choice([0.05, 0.3, 1.0])), 5).T
        ixz, iuz, isz = told(tasks, W)
        assert found.problem.gamma * ixz - iuz + 0.6 * isz >= found.lower_bound
    poor = ip.certify(tasks, problem, np.full((2, 5), 0.5))
    assert poor.lower_bound <= found.loss
    assert not poor.certified


@pytest.mark.parametrize("seed", range(4))
def test_no_posterior_that_tells_nothing_is_below_the_bound(seed):
    tasks = made_tasks(seed, letters=7, kept=2 + seed % 2, hidden=3)
    form = TaskForm(Support(tasks.joint), ip.TaskLagrangian(0.0))
    silent = Silent(form.at(0.0), Budget())
    rng = np.random.default_rng(seed)
    lam = rng.random(7) - rng.choice([0.0, 0.3])
    V = np.column_stack(
        [silent.vertices, silent.vertices @ rng.dirichlet(np.full(silent.vertices.shape[1], 0.1), 500).T]
    )
    lowest = (form.keep * entr(form.T_u @ V).sum(axis=0) - lam @ V).min()
    for cells in (1, 30, 1000):
        found = search_boxes(
            Asked(form.at(0.0), lam, private=True), 1e-5 - lowest, Budget(cells=cells), lambda _q: None
        )
        assert found.least <= lowest
    assert found.least == pytest.approx(lowest, abs=1.1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_a_thorough_search_proves_what_holds_in_spite_of_posteriors_below(seed):
    form = TaskForm(Support(made_tasks(seed, letters=7, kept=3, hidden=3).joint), ip.TaskLagrangian(0.0, hide=0.8))
    rng = np.random.default_rng(seed)
    asked = Asked(form, form.multipliers(rng.dirichlet(np.full(7, 0.4), 7).T) + 0.02)
    found, brief = (search_boxes(asked, 1e-6, Budget(cells=20_000), thorough=thorough) for thorough in (True, False))
    sampled = np.column_stack([rng.dirichlet(np.full(7, a), 4000).T for a in (0.05, 0.3, 1.0)])
    assert found.left == 0
    assert found.least <= min(asked.values(sampled).min(), found.lowest)
    assert found.least >= 1.3 * found.lowest
    assert brief.left > 0
