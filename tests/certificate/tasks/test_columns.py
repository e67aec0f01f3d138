"""Edges of posteriors: a search of them ends whatever the multipliers are."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.certificate.tasks.boxes import Asked
from infoplane.certificate.tasks.columns import searched_edges
from infoplane.joint.joint import Support
from infoplane.posterior.task_form import TaskForm
from made_up import made_tasks


@pytest.mark.parametrize("hide", [1e6, 1e9, 1e13])
def test_edges_are_searched_to_no_less_than_rounding_leaves(hide):
    form = TaskForm(Support(made_tasks(0, letters=4, kept=2, hidden=2).joint), ip.TaskLagrangian(0.0)).at(hide)
    rng = np.random.default_rng(0)
    Q = np.column_stack([np.eye(4), rng.dirichlet(np.full(4, 0.3), 300).T])
    lam = np.linalg.lstsq(Q.T, form.f(Q), rcond=None)[0]
    least, _, cells = searched_edges(Asked(form, lam), 1e-9, np.empty((9, 2), dtype=np.int64), np.empty((9, 2)))
    assert cells < 100_000
    assert least <= (form.f(Q) - lam @ Q).min() + 1e-12 * hide


@pytest.mark.parametrize("cap", [1e-20, 1e-12])
def test_a_cap_of_nearly_nothing_on_letters_that_are_nearly_the_same_has_an_answer(cap):
    hide = ip.Joint.from_counts([[1, 2e10 + 1], [2, 2e10 + 2], [1, 2e10 + 2]], y_names="s")
    told = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    keep = ip.Joint.from_counts(told * hide.p_x[:, None], y_names="u")
    found = ip.task_at_leakage(ip.TaskJoint(keep, hide), max_isz=cap)
    assert found.isz <= cap
    assert found.iuz <= found.upper_bound
