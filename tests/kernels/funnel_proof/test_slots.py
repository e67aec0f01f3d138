"""Slots: the identity, the bounds of waiting cells, and that no posterior below the floor is ever lost."""

import mpmath
import numpy as np
import pytest

import funnel_twin as twin
from compiled import compiled
from funnel_twin import ROUNDING, mp, shifted
from infoplane.certificate.funnel.generation import FreeSearch
from infoplane.kernels.funnel_proof.search import LOST, WAITING
from infoplane.kernels.funnel_proof.slot_bound import decoded
from infoplane.posterior import programme as channels

decoded = compiled(decoded)


@pytest.fixture(autouse=True)
def _slots(monkeypatch):
    monkeypatch.setattr(channels, "SLOTS_RANK", 9)
    monkeypatch.setattr(channels, "SLOTS_LETTERS", 0)
    monkeypatch.setattr(channels, "MEMORY", 2**22)


@pytest.mark.parametrize("seed", range(20))
def test_the_identity(seed):
    """g(q) = B + sum_i (phi_x(i)(V_i) - M_i) + beta KL(Tq || v), every term after B >= 0."""
    T, rng = twin.channels(seed)
    T = T.T
    n, m = T.shape
    r = min(n, m)
    lam, beta, nu = 3.0 * rng.standard_normal(n), float(10.0 ** rng.uniform(0.01, 2.0)), float(rng.standard_normal())
    v = rng.dirichlet(np.ones(m)) + 1e-6
    v = [mp(float(t)) / mpmath.fsum(mp(float(s)) for s in v) for t in v]
    k = twin.slopes(T, lam, beta, v, nu)
    letters = rng.choice(n, r, replace=False)
    V = [mp(float(t)) for t in np.sort(rng.dirichlet(np.ones(r)))[::-1]]
    V = [t / mpmath.fsum(V) for t in V]
    q = [mp(0)] * n
    for x, mass in zip(letters, V, strict=True):
        q[x] = mass
    total, terms = mp(nu), []
    for x, mass in zip(letters, V, strict=True):
        low = mass * mp(float(rng.choice([0.0, rng.random()])))
        others = [y for y in range(n) if rng.random() < 0.5 and y != x]
        caps = {y: low + (1 - low) * mp(float(rng.random())) for y in others}
        caps[x] = mass + (1 - mass) * mp(float(rng.random()))
        least = min(min(twin.h(t) + k[y] * t for t in (low, cap)) for y, cap in caps.items())
        total += least
        terms.append(twin.h(mass) + k[x] * mass - least)
    divergence = twin.divergence(T, q, v)
    exact = twin.g(T, lam, beta, q)
    assert abs(total + mpmath.fsum(terms) + mp(beta) * divergence - exact) <= mp(10) ** -35 * (1 + abs(exact))
    assert min(terms) >= 0
    assert divergence >= -(mp(10) ** -45)


def sorted_slots(q, r):
    """Letters by falling mass, and the masses; r of them."""
    order = np.argsort(-q, kind="stable")[:r]
    masses = np.zeros(r)
    masses[: len(order)] = q[order]
    return order, masses


def holds(state, cell, q):
    """Whether a cell covers a posterior: every slot's mass in its range, and below its letter's cap."""
    r = state.low.shape[1]
    order, V = sorted_slots(q, r)
    if not ((state.low[cell] - ROUNDING <= V) & (state.high[cell] + ROUNDING >= V)).all():
        return False
    return all(
        V[i] <= ROUNDING or decoded(int(state.code[cell, i, order[i]])) >= V[i] - ROUNDING for i in range(len(order))
    )


@pytest.mark.parametrize("seed", range(8))
def test_a_waiting_cells_bound_holds_in_exact_arithmetic(seed):
    _, rng, channel, beta, lam, Q = shifted(seed, -0.05, largest=14)
    Q = twin.folded(channel, Q)
    Q = Q[:, rng.permutation(Q.shape[1])[:150]]
    search = FreeSearch(channel, lam, beta, -1e-9)
    checked = 0
    for _ in range(20):
        if not search.advance(int(rng.integers(2, 12))):
            break
        state = search.search
        for cell in state.heap[: state.tally[WAITING]][:6]:
            for q in Q.T:
                if holds(state, cell, q):
                    exact = [mp(float(t)) for t in q]
                    total = mpmath.fsum(exact)
                    exact = [t / total for t in exact]
                    assert mp(float(state.key[cell])) <= twin.g(state.T, state.lam, beta, exact) + mp(10) ** -13
                    checked += 1
                    break
    assert checked > 0


@pytest.mark.parametrize("seed", range(20))
def test_no_posterior_below_the_floor_is_ever_outside_the_waiting_cells(seed):
    T, rng, channel, beta, lam, Q = shifted(
        seed, -float(10.0 ** np.random.default_rng(seed).uniform(-3, 0)), largest=14
    )
    lowest = twin.values(T, lam, beta, Q).min()
    floor = 0.3 * lowest
    gathered, _ = channel.gather(lam)
    Q = twin.folded(channel, Q)
    Q = Q[:, twin.values(channel.T.T, gathered, beta, Q) < floor - 1e-9]
    free = np.array([np.linalg.matrix_rank(channel.T[q > 0.0]) == (q > 0.0).sum() for q in Q.T], dtype=bool)
    Q = Q[:, free][:, :300]
    assert Q.shape[1] > 0
    search = FreeSearch(channel, lam, beta, floor)
    for _ in range(8):
        state = search.search
        cells = state.heap[: state.tally[WAITING]]
        outside = [q for q in Q.T if not any(holds(state, cell, q) for cell in cells)]
        # A cell that is a single point below the floor cannot be cut: it is given up, and holds one posterior at most.
        assert len(np.unique(np.array(outside), axis=0)) <= state.tally[LOST]
        assert search.least() <= lowest + 1e-9
        if not search.advance(int(rng.integers(2, 40))):
            break
