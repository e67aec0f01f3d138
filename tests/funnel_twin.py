"""The funnel's pricing, slow and obvious, in 50 digits: what the compiled searches are compared with. Floats are exact numbers."""

import mpmath
import numpy as np

from infoplane.posterior.programme import Channel

mpmath.mp.dps = 50
mp = mpmath.mpf

ROUNDING = 1e-14
"""By so much may the sum of a posterior in floats miss 1."""


def channels(seed, largest=8, letters_of_y=5):
    """T[y, x] = p(y|x) of every kind: smooth, peaked, with zeros, equal columns, nearly deterministic."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, largest)), int(rng.integers(2, letters_of_y))
    kind = seed % 5
    T = rng.dirichlet(np.full(m, (2.0, 0.15, 0.5, 0.7, 0.7)[kind]), n)
    if kind == 2:
        T = T * (rng.random((n, m)) < 0.6)
        T[T.sum(axis=1) == 0.0, 0] = 1.0
    elif kind == 3:
        T = T[rng.integers(0, max(n // 2, 1), n)]
    elif kind == 4:
        T = np.eye(m)[rng.integers(0, m, n)] + 1e-9 * T
    return np.ascontiguousarray((T / T.sum(axis=1, keepdims=True)).T), rng


def h(t):
    """-t log t, 0 at 0."""
    return -t * mpmath.log(t) if t > 0 else mp(0)


def g(T, lam, beta, q):
    """H(q) - beta H(Tq) - lam.q, T with one row per letter."""
    q = [mp(value) for value in q]
    u = [mpmath.fsum(mp(float(T[x, y])) * q[x] for x in range(len(q))) for y in range(T.shape[1])]
    return (
        mpmath.fsum(h(t) for t in q)
        - mp(beta) * mpmath.fsum(h(t) for t in u)
        - mpmath.fsum(mp(float(price)) * t for price, t in zip(lam, q, strict=True))
    )


def values(T, lam, beta, Q):
    """g at every column of Q, in floats, T with one row per y."""

    def H(p):
        return -(p * np.log(np.where(p > 0.0, p, 1.0))).sum(axis=0)

    return H(Q) - beta * H(T @ Q) - lam @ Q


def slopes(T, lam, beta, v, nu):
    """k_x = beta sum_y T[x,y] log v_y - lam_x - nu."""
    logs = [mpmath.log(mp(value)) for value in v]
    return [
        mp(beta) * mpmath.fsum(mp(float(t)) * w for t, w in zip(row, logs, strict=True)) - mp(float(price)) - mp(nu)
        for row, price in zip(T, lam, strict=True)
    ]


def divergence(T, q, v):
    """KL(Tq || v)."""
    total = mp(0)
    for y in range(T.shape[1]):
        u = mpmath.fsum(mp(float(T[x, y])) * mp(q[x]) for x in range(len(q)))
        if u > 0:
            total += u * mpmath.log(u / mp(v[y]))
    return total


def sparse_posteriors(n, rank, rng, count):
    """Random posteriors on at most so many letters, a column each."""
    Q = np.zeros((n, count))
    for k in range(count):
        size = int(rng.integers(1, min(n, rank) + 1))
        letters = rng.choice(n, size, replace=False)
        Q[letters, k] = rng.dirichlet(np.full(size, rng.choice([0.3, 1.0, 5.0])))
    return Q


def folded(channel, Q):
    """Posteriors as a search sees them: the mass of letters with equal columns on one of them."""
    small = np.zeros((len(channel.T), Q.shape[1]))
    np.add.at(small, channel.group, Q)
    return small


def shifted(seed, below, **sizes):
    """A search in which g goes to about `below` at its lowest; with the posteriors that a net and descent know."""
    T, rng = channels(seed, **sizes)
    n = T.shape[1]
    beta = float(rng.choice([1.05, 1.7, 4.0, 25.0, 300.0]))
    lam = -beta * 0.6 * rng.random(n)
    channel = Channel(T)
    Q = sparse_posteriors(n, channel.rank, rng, 1500)
    Q = np.hstack([Q, channel.descend(lam, beta, Q[:, :200].copy())[0]])
    lam = lam + values(T, lam, beta, Q).min() - below
    return T, rng, channel, beta, lam, Q
