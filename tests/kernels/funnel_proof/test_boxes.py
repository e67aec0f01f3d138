"""Boxes: the identity, the bounds of waiting cells, and that no posterior below the floor is ever lost."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import funnel_twin as twin
from compiled import compiled
from funnel_twin import ROUNDING, mp, shifted
from infoplane.certificate.funnel.generation import FreeSearch
from infoplane.kernels.funnel_proof.boxes import propagate
from infoplane.kernels.funnel_proof.search import ERROR, LOST, WAITING
from infoplane.posterior import programme as channels
from infoplane.posterior.programme import Channel


@pytest.fixture(autouse=True)
def _boxes(monkeypatch):
    monkeypatch.setattr(channels, "SLOTS_RANK", 0)
    monkeypatch.setattr(channels, "MEMORY", 2**22)


def inside(l, b, rng):
    """A point of a box with sum 1, in 50 digits; None if there is none."""
    l, b = [mp(float(t)) for t in l], [mp(float(t)) for t in b]
    room = 1 - mpmath.fsum(l)
    width = [high - low for low, high in zip(l, b, strict=True)]
    if room < 0 or room > mpmath.fsum(width):
        return None
    q = list(l)
    for _ in range(60):
        if room <= 0:
            break
        for x in rng.permutation(len(q)):
            move = min(room, (b[x] - q[x]) * mp(float(rng.random())))
            q[x] += move
            room -= move
    for x in range(len(q)):
        move = min(room, b[x] - q[x])
        q[x] += move
        room -= move
    return q


@pytest.mark.parametrize("seed", range(20))
def test_the_identity(seed):
    """g(q) = B + sum (phi_x(q_x) - M_x) + beta KL(Tq || v), every term after B >= 0."""
    T, rng = twin.channels(seed)
    T = T.T
    n, m = T.shape
    lam, beta, nu = 3.0 * rng.standard_normal(n), float(10.0 ** rng.uniform(0.01, 2.0)), float(rng.standard_normal())
    v = rng.dirichlet(np.ones(m)) + 1e-6
    v = [mp(float(t)) / mpmath.fsum(mp(float(s)) for s in v) for t in v]
    l, b = np.zeros(n), np.ones(n)
    for x in rng.permutation(n)[: n // 2]:
        l[x], b[x] = np.sort(rng.random(2)) / n
    q = inside(l, b, rng)
    k = twin.slopes(T, lam, beta, v, nu)

    def phi(x, t):
        return twin.h(t) + k[x] * t

    least = [min(phi(x, mp(float(l[x]))), phi(x, mp(float(b[x])))) for x in range(n)]
    excess = [phi(x, q[x]) - least[x] for x in range(n)]
    divergence = twin.divergence(T, q, v)
    B = mp(nu) + mpmath.fsum(least)
    exact = twin.g(T, lam, beta, q)
    assert abs(B + mpmath.fsum(excess) + mp(beta) * divergence - exact) <= mp(10) ** -35 * (1 + abs(exact))
    assert min(excess) >= 0
    assert divergence >= -(mp(10) ** -45)


@pytest.mark.parametrize("seed", range(8))
def test_a_waiting_cells_bound_holds_in_exact_arithmetic(seed):
    _, rng, channel, beta, lam, _ = shifted(seed, -0.05)
    # Posteriors below a floor that is then never proven: cells of every size wait.
    search = FreeSearch(channel, lam, beta, -1e-9)
    checked = 0
    for _ in range(30):
        if not search.advance(int(rng.integers(2, 20))):
            break
        state = search.search
        for cell in state.heap[: state.tally[WAITING]][:3]:
            q = inside(state.low[cell], state.high[cell], rng)
            if q is not None:
                assert mp(float(state.key[cell])) <= twin.g(state.T, state.lam, beta, q)
                checked += 1
    assert checked > 0


def covered(search, Q):
    """Whether each column of Q lies in some waiting cell."""
    cells = search.heap[: search.tally[WAITING]]
    low, high = search.low[cells], search.high[cells]
    return np.array([((low - ROUNDING <= q) & (q <= high + ROUNDING)).all(axis=1).any() for q in Q.T], dtype=bool)


@pytest.mark.parametrize("seed", range(20))
def test_no_posterior_below_the_floor_is_ever_outside_the_waiting_cells(seed):
    T, rng, channel, beta, lam, Q = shifted(seed, -float(10.0 ** np.random.default_rng(seed).uniform(-3, 0)))
    lowest = twin.values(T, lam, beta, Q).min()
    floor = 0.3 * lowest
    gathered, _ = channel.gather(lam)
    Q = twin.folded(channel, Q)
    Q = Q[:, twin.values(channel.T.T, gathered, beta, Q) < floor - 1e-9]
    search = FreeSearch(channel, lam, beta, floor)
    looked_at = 0
    for _ in range(12):
        # A posterior on dependent letters is a mixture of others, at least one as low: only independent ones must be covered.
        free = np.array([np.linalg.matrix_rank(channel.T[q > 0.0]) == (q > 0.0).sum() for q in Q.T], dtype=bool)
        # A cell that is a single point below the floor cannot be cut: it is given up, and holds one posterior at most.
        outside = Q[:, free & ~covered(search.search, Q)]
        looked_at += free.sum()
        assert np.unique(outside, axis=1).shape[1] <= search.search.tally[LOST]
        assert search.least() <= lowest + 1e-9
        if not search.advance(int(rng.integers(2, 60))):
            break
    assert looked_at > 0


@pytest.mark.parametrize(("rank", "largest"), [(0, 8), (9, 14)], ids=["boxes", "slots"])
def test_a_bound_that_is_no_number_closes_nothing(rank, largest, monkeypatch):
    monkeypatch.setattr(channels, "SLOTS_RANK", rank)
    monkeypatch.setattr(channels, "SLOTS_LETTERS", 0)
    _, _, channel, beta, lam, _ = shifted(1, 0.0, largest=largest)
    search = FreeSearch(channel, lam, beta, -1e-3)
    search.search.number[ERROR] = np.nan
    search.advance(40)
    assert search.left > 0
    assert not search.least() > -1e-3
    broken = FreeSearch(channel, np.full_like(lam, np.nan), beta, -1e-3)
    broken.advance(40)
    assert broken.left > 0
    assert broken.least() == -np.inf


def test_a_search_without_room_gives_cells_up_with_their_bounds(monkeypatch):
    rng = np.random.default_rng(0)
    T = rng.dirichlet(np.full(4, 0.3), 10).T
    beta, n = 4.0, 10
    monkeypatch.setattr(channels, "MEMORY", 600)
    channel = Channel(T)
    Q = twin.sparse_posteriors(n, 4, rng, 3000)
    lam = np.zeros(n)
    Q = np.hstack([Q, channel.descend(lam, beta, Q[:, :500].copy())[0]])
    lowest = twin.values(T, lam, beta, Q).min()
    search = FreeSearch(channel, lam + lowest, beta, -1e-9)
    while search.advance(200):
        pass
    assert len(channel.arrays[0]) == 2
    assert search.search.tally[LOST] > 0
    assert -10.0 < search.least() <= 1e-9


propagate = compiled(propagate)


@pytest.mark.parametrize("seed", range(400))
def test_propagation_keeps_every_posterior_of_the_box(seed):
    """Exact fractions on at most r letters, in a box drawn around them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    r = int(rng.integers(1, n + 1))
    size = int(rng.integers(1, r + 1))
    letters = rng.choice(n, size, replace=False)
    counts = 1 + rng.integers(0, 2**20, size)
    q = [Fraction(0)] * n
    for x, count in zip(letters, counts, strict=True):
        q[x] = Fraction(int(count), int(counts.sum()))
    l, b = np.zeros(n), np.ones(n)
    for x in range(n):
        # Ranges that are sometimes a hair wide.
        wide = 10.0 ** rng.uniform(-17, 0)
        high = float(q[x]) + wide * rng.random()
        low = float(q[x]) - wide * rng.random() if rng.random() < 0.5 else 0.0
        b[x] = min(np.nextafter(high, 2.0), 1.0)
        l[x] = max(np.nextafter(low, -1.0), 0.0)
    assert propagate(l, b, r, np.zeros(r + 1, dtype=np.int64))
    for x in range(n):
        assert Fraction(l[x]) <= q[x] <= Fraction(b[x])


def test_propagation_drops_what_is_empty():
    def left(l, b, r):
        return propagate(np.array(l), np.array(b), r, np.zeros(r + 1, dtype=np.int64))

    assert not left([0.0, 0.0], [0.4, 0.4], 2)
    assert not left([0.6, 0.6], [1.0, 1.0], 2)
    assert not left([0.1, 0.1, 0.1], [1.0, 1.0, 1.0], 2)
    assert not left([0.0, 0.0, 0.0], [0.4, 0.4, 0.4], 2)
    assert left([0.0, 0.0, 0.0], [0.4, 0.4, 0.4], 3)
