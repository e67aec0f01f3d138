"""Whoever claims more than is true of f(q) - lambda.q is contradicted, and nothing of the proof counts."""

import math

import numpy as np
import pytest

import infoplane as ip
from infoplane.certificate.tasks import boxes, challenge, columns, private, private_columns
from infoplane.certificate.tasks.boxes import Asked
from infoplane.joint.joint import Support
from infoplane.posterior.task_form import TaskForm
from made_tasks import made_tasks


def asked_of(seed, gamma, hidden=3):
    tasks = made_tasks(seed, letters=7, kept=3, hidden=hidden)
    form = TaskForm(Support(tasks.joint), ip.TaskLagrangian(gamma, hide=0.8))
    return Asked(form, form.multipliers(np.random.default_rng(seed).dirichlet(np.full(7, 0.4), 7).T))


@pytest.mark.parametrize("gamma", [0.0, 0.05])
@pytest.mark.parametrize("seed", range(4))
def test_a_claim_above_the_least_value_is_contradicted_and_a_true_one_is_not(seed, gamma):
    asked = asked_of(seed, gamma)
    Q = np.eye(7)
    lowest = challenge.lowest_met(asked, Q)
    rng = np.random.default_rng(seed)
    sampled = np.column_stack([rng.dirichlet(np.full(7, a), 4000).T for a in (0.05, 0.3, 1.0)])
    values = asked.form.f(sampled) - asked.lam @ sampled
    assert lowest <= values.min()
    assert challenge.upheld(asked, lowest, Q) == ""
    with pytest.warns(ip.ContradictionWarning, match="was claimed"):
        assert "is there" in challenge.upheld(asked, lowest + 1e-9, Q)


@pytest.mark.parametrize("gamma", [0.0, 0.02])
def test_a_search_that_claims_too_much_certifies_nothing(monkeypatch, gamma):
    tasks = made_tasks(3, letters=7, kept=2, hidden=3)
    right = Asked.bound

    def wrong(self, low, high, v):
        bound, e = right(self, low, high, v)
        return bound + 0.1, e

    monkeypatch.setattr(boxes.Asked, "bound", wrong)
    monkeypatch.setattr(
        columns, "missing", lambda form, *_: np.empty((len(form.p_x), 0))
    )  # nobody finds what is missing
    with pytest.warns(ip.ContradictionWarning):
        found = ip.certify(tasks, ip.task_funnel(0.3, gamma=gamma), np.full((2, 7), 0.5))
    assert found.lower_bound == -math.inf
    assert not found.certified


@pytest.mark.parametrize("bases", [50_000, 0])
def test_transport_that_claims_too_much_certifies_nothing(monkeypatch, bases):
    tasks = made_tasks(3, letters=9, kept=2, hidden=2)
    monkeypatch.setattr(private_columns, "MOST_BASES", bases)
    assert ip.task_at_leakage(tasks, 0.0).certified
    right = private._upper
    monkeypatch.setattr(private, "_upper", lambda *told: right(*told) - 1e-5)
    with pytest.warns(ip.ContradictionWarning, match="tells nothing"):
        found = ip.task_at_leakage(tasks, 0.0)
    assert not found.certified
    assert found.upper_bound >= found.iuz
