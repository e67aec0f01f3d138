"""What boxes and slots share: which letters are in use, violations of small masses, and multipliers that pay for a violation."""

import numpy as np
import pytest

import funnel_twin as twin
from compiled import compiled
from infoplane.certificate.funnel.generation import FreeSearch
from infoplane.kernels.funnel_proof.search import BUDGET, FOUND, LOWEST, SPENT, UNPAID, in_use, paid
from infoplane.posterior import programme as channels
from infoplane.posterior.programme import Channel

in_use, paid = map(compiled, (in_use, paid))


def test_letters_in_use_are_the_largest_in_rising_order():
    q = np.array([0.1, 0.0, 0.5, 1e-5, 0.2, 0.2])
    assert in_use(q, 1e-3, 6).tolist() == [0, 2, 4, 5]
    assert in_use(q, 1e-9, 6).tolist() == [0, 2, 3, 4, 5]
    assert in_use(q, 1e-3, 3).tolist() == [2, 4, 5]
    assert in_use(q, 1.0, 3).tolist() == []


def account(budget, lowest=-10.0):
    number = np.zeros(8)
    number[BUDGET], number[LOWEST] = budget, lowest
    return number


def test_a_violation_is_paid_where_it_costs_least():
    lam, p, letters, q = np.zeros(3), np.array([0.5, 0.1, 0.4]), np.array([0, 1]), np.array([0.6, 0.4])
    number = account(budget=0.11)
    assert paid(lam, p, number, letters, q, -0.2)
    # g(q) rises by -lambda.q: to 0. Letter 0 would cost 0.2 * 0.5 / 0.6, letter 1 costs 0.2 * 0.1 / 0.4.
    assert lam @ [0.6, 0.4, 0.0] == pytest.approx(-0.2)
    assert number[SPENT] == pytest.approx(0.05)
    assert -lam @ p == pytest.approx(0.05)
    assert paid(lam, p, number, letters, q, -0.2)
    before = lam.copy()
    assert not paid(lam, p, number, letters, q, -0.1)  # the budget is spent,
    assert not paid(lam, p, account(1.0, lowest=-1.0), letters, q, -0.1)  # or a multiplier cannot be lowered that far
    np.testing.assert_array_equal(lam, before)


@pytest.mark.parametrize("slots", [0, 9])
def test_a_violation_of_small_masses_is_met(slots, monkeypatch):
    """Two letters that tell y: g = (beta - 1) sum_x q_x log q_x - lambda.q is least where q prop. to exp(lambda / (beta - 1))."""
    monkeypatch.setattr(channels, "SLOTS_RANK", slots)
    monkeypatch.setattr(channels, "SLOTS_LETTERS", 0)
    monkeypatch.setattr(channels, "MEMORY", 2**20)
    small = 1e-5
    lam = np.array([0.0, 0.5 * np.log(small)])
    search = FreeSearch(Channel(np.eye(2)), lam, 1.5, -1e-6)
    while search.advance(200):
        pass
    found = search.violating()
    assert found.shape[1] == 1
    assert found[1, 0] == pytest.approx(small, rel=1e-3)


@pytest.mark.parametrize("slots", [0, 9])
@pytest.mark.parametrize("seed", range(10))
def test_what_is_proven_after_paying_is_true_of_the_lower_multipliers(seed, slots, monkeypatch):
    monkeypatch.setattr(channels, "SLOTS_RANK", slots)
    monkeypatch.setattr(channels, "SLOTS_LETTERS", 0)
    monkeypatch.setattr(channels, "MEMORY", 2**22)
    T, rng = twin.channels(seed, largest=10)
    n = T.shape[1]
    beta = float(rng.choice([1.05, 1.7, 4.0, 25.0]))
    channel, lam, p_x = Channel(T), -beta * 0.6 * rng.random(n), rng.dirichlet(np.full(n, 0.5))
    Q = twin.sparse_posteriors(n, channel.rank, rng, 1500)
    Q = np.hstack([Q, channel.descend(lam, beta, Q[:, :300].copy())[0]])
    # Multipliers so high that g goes to -0.01, and a budget that can make up for it.
    lam = lam + twin.values(T, lam, beta, Q).min() + 0.01
    search = FreeSearch(channel, lam, beta, -1e-4, p_x, budget=0.02)
    while search.advance(5000) and search.cells < 50_000:
        pass
    assert search.search.tally[FOUND] > 0
    multipliers = search.multipliers
    assert (multipliers <= lam).all()
    spent = (lam - multipliers) @ p_x
    assert 0.0 < spent <= search.search.number[SPENT] * (1.0 + 1e-9) <= 0.02 * (1.0 + 1e-9)
    Q = np.hstack([Q, search.violating(), channel.descend(multipliers, beta, Q[:, :300].copy())[0]])
    assert twin.values(T, multipliers, beta, Q).min() >= search.least() - 1e-12
    if not search.search.tally[UNPAID] and search.left == 0:
        assert search.least() == -1e-4
