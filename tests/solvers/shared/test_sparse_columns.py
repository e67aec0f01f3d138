"""Column generation for the default funnel: the pool of posteriors, its multipliers, and its budget."""

import numpy as np
import pytest
from scipy import sparse

import infoplane as ip
from batches import job_of
from infoplane.joint.joint import Support
from infoplane.solvers.shared import sparse_columns as generation
from infoplane.solvers.shared.sparse_columns import Pool, alike, generated


def table(letters: int, outcomes: int, seed: int = 0) -> ip.Joint:
    return ip.Joint.from_counts(np.random.default_rng(seed).dirichlet(np.full(outcomes, 0.5), size=letters))


def test_columns_are_alike_if_they_agree_to_the_digits_asked_for() -> None:
    Q = sparse.csc_array([[0.5, 0.5 + 4e-8, 0.5 + 4e-7, 1.0], [0.5, 0.5 - 4e-8, 0.5 - 4e-7, 1e-9]])
    assert alike(Q, digits=7).tolist() == [0, 0, 1, 2]
    assert alike(Q, digits=6).tolist() == [0, 0, 0, 1]


def test_descents_find_what_single_letters_lack() -> None:
    pool = Pool(job_of(table(80, 4), ip.funnel(3.0)))
    _, lam = pool.programme()
    found = pool.concentrated(lam, 0.7 * np.eye(80) + 0.3 / 80)
    assert found.sum(axis=0) == pytest.approx(1.0)
    assert (pool.costs(sparse.csc_array(found)) - lam @ found).min() < -1e-3
    alone = pool.work
    pairs = 0.5 * (np.eye(80) + np.roll(np.eye(80), 1, axis=0))
    values = pool.costs(sparse.csc_array(pairs)) - lam @ pairs
    found = pool.descended(lam, pairs)
    assert (pool.costs(sparse.csc_array(found)) - lam @ found <= values + 1e-12).all()
    assert pool.work > alone > 0


def test_the_loss_falls_from_round_to_round_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    support, problem, usual = Support(table(90, 5)), ip.funnel(3.0), generation.GENERATION

    def loss(work: int) -> float:
        monkeypatch.setattr(generation, "GENERATION", usual._replace(descent_work=work))
        encoders = [W for W in [generated(job_of(support, problem), [], [])] if W is not None]
        return problem.value(support.joint, support.lift(encoders[-1]))

    brief, long = loss(1), loss(usual.descent_work)
    identity = problem.value(support.joint, np.eye(90))
    assert long < brief - 1e-4 < identity


def test_a_programme_that_fails_leaves_the_mixture_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 2,000 x 20 letters HiGHS cycled in the fourth programme."""
    support, problem = Support(table(90, 5)), ip.funnel(3.0)
    whole = Pool.programme
    rounds = []

    def failing(pool: Pool) -> tuple[ip.information.Array, ip.information.Array]:
        rounds.append(pool.Q.shape[1])
        if len(rounds) == 3:
            raise ip.InfoplaneError("HiGHS did not solve the linear programme")
        return whole(pool)

    monkeypatch.setattr(Pool, "programme", failing)
    W = generated(job_of(support, problem), [], [])
    assert len(rounds) == 3
    assert problem.value(support.joint, support.lift(W)) < problem.value(support.joint, np.eye(90)) - 1e-4
