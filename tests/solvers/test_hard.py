"""The deterministic bottleneck of many letters: hard partitions only, restarted as `starts` and `rng` say."""

import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane.joint.joint import Support
from infoplane.solvers import portfolio
from infoplane.solvers.portfolio import Portfolio


@pytest.fixture(scope="module")
def topics():
    """300 letters by 12 outcomes, of 15 kinds, seen a few times each."""
    rng = np.random.default_rng(3)
    kinds = rng.dirichlet(np.full(12, 0.4), size=15)
    return ip.Joint.from_counts(
        np.array([rng.multinomial(30 + rng.poisson(40), kinds[k]) for k in rng.integers(0, 15, 300)]) + 0.01
    )


def test_it_is_no_worse_than_the_bottlenecks_encoder_made_hard(topics):
    problem = ip.deterministic_bottleneck(1e-3)
    found = ip.solve(topics, problem, clusters=8, rng=0)
    verify.check_solution(topics.p_xy, problem.rho, found)
    soft = ip.solve(topics, ip.bottleneck(1e-3), clusters=8, rng=0)
    hard = np.eye(soft.clusters)[:, soft.encoder.argmax(axis=0)]
    assert found.clusters <= 8
    assert found.loss <= verify.lagrangian(topics.p_xy, hard, problem.rho) + 1e-9


def test_of_few_letters_the_bottlenecks_encoder_is_a_beginning():
    """A joint on which all other beginnings end at -0.13586654 nats, 3.2e-4 higher."""
    rng = np.random.default_rng(23)
    n, m, a = int(rng.integers(40, 160)), int(rng.integers(5, 13)), rng.choice([0.2, 0.5, 1.0])
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(m, a), size=n) * rng.dirichlet(np.full(n, 2.0))[:, None])
    found = ip.solve(joint, ip.deterministic_bottleneck(0.13158940822174564), clusters=12, starts=4, rng=0)
    assert found.loss < -0.13586654 - 1e-4


def test_starts_are_restarts_and_more_of_them_find_more():
    topics = ip.Joint.from_counts(np.random.default_rng(0).dirichlet(np.full(12, 0.5), size=300))
    problem = ip.deterministic_bottleneck(1e-3)
    few, many, again = (ip.solve(topics, problem, clusters=8, starts=n, rng=5) for n in (1, 60, 60))
    assert many.loss < few.loss - 1e-6
    np.testing.assert_array_equal(many.encoder, again.encoder)
    assert Portfolio().useful_starts(Support(topics), problem, 8, 60) == 60


def test_what_ends_the_default_is_said_and_the_call_it_names_goes_on(topics, monkeypatch):
    monkeypatch.setattr(portfolio, "EFFORT", portfolio.EFFORT._replace(iterations_work=1, settling_work=1))
    monkeypatch.setattr("infoplane.runtime.budget.FEWEST", 2)
    problem = ip.bottleneck(0.05)
    found = ip.solve(topics, problem, clusters=8, starts=2, rng=0)
    assert not found.converged
    assert "raise max_iter" not in found.message
    assert "init=solution.encoder" in found.message
    on = ip.solve(topics, problem, "accelerated", init=found.encoder, max_iter=20_000)
    assert on.converged
    assert on.loss <= found.loss + 1e-12
