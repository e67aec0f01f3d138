"""The local search that tries to contradict a proof: it finds minima that are known, and a false claim becomes no certificate."""

import math

import numpy as np
import pytest

import funnel_twin as twin
import infoplane as ip
from infoplane.certificate import challenge
from infoplane.certificate.funnel import generation
from infoplane.certificate.funnel.generation import FreeSearch
from infoplane.certificate.tasks import boxes, columns, private
from infoplane.certificate.tasks.boxes import Asked
from infoplane.joint.joint import Support
from infoplane.posterior.programme import Channel
from infoplane.posterior.task_form import TaskForm
from made_up import made_tasks


@pytest.mark.parametrize("seed", range(15))
def test_it_is_never_above_its_beginnings_and_as_low_as_many_descents(seed):
    T, rng = twin.channels(seed)
    n, beta = T.shape[1], float(rng.choice([1.3, 3.0, 20.0]))
    lam, p_x, channel = rng.standard_normal(n), rng.dirichlet(np.ones(n)), Channel(T)
    posterior, value = challenge.challenge(channel, p_x, lam, beta, np.eye(n))
    assert posterior.sum() == pytest.approx(1.0)
    assert value == pytest.approx(twin.values(T, lam, beta, posterior[:, None])[0])
    assert value <= twin.values(T, lam, beta, np.eye(n)).min() + 1e-12
    Q = twin.sparse_posteriors(n, channel.rank, rng, 500)
    _, values = channel.descend(lam, beta, Q)
    assert value <= values.min() + 1e-9


@pytest.mark.parametrize("wrong", ["least", "mistakes"])
def test_a_proof_that_contradicts_itself_certifies_nothing(wrong, monkeypatch):
    class Liar(FreeSearch):
        """Claims that g >= 0.01, or has made a claim that did not hold."""

        def least(self):
            return 0.01 if wrong == "least" else super().least()

        @property
        def mistakes(self):
            return 1 if wrong == "mistakes" else 0

    monkeypatch.setattr(generation, "FreeSearch", Liar)
    joint, problem = ip.datasets.heart(), ip.funnel(3.5)
    with pytest.warns(ip.ContradictionWarning, match="contradicts itself"):
        found = ip.solve(joint, problem, "columns")
    assert found.status is not ip.Status.CERTIFIED
    assert found.lower_bound < -2.1  # no more than is known without a search
    with pytest.warns(ip.ContradictionWarning, match="please report"):
        certificate = ip.certify(joint, problem, found.encoder)
    assert not certificate.certified
    assert certificate.left > 0
    assert certificate.limit


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
    monkeypatch.setattr(private, "EFFORT", private.EFFORT._replace(most_bases=bases))
    assert ip.task_at_leakage(tasks, 0.0).certified
    right = private._upper
    monkeypatch.setattr(private, "_upper", lambda *told: right(*told) - 1e-5)
    with pytest.warns(ip.ContradictionWarning, match="tells nothing"):
        found = ip.task_at_leakage(tasks, 0.0)
    assert not found.certified
    assert found.upper_bound >= found.iuz
