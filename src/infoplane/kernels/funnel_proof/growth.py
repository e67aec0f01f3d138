"""Posteriors of low g(q) = H(q) - beta H(Tq) - lambda.q by growth: add the letter that lowers g most, descend, repeat.

The slope of H at a mass of 0 is infinite, so that no small step ever adds a letter: `descend` stays on its face. Here letters enter with
a finite share t: H((1-t) q + t e_x) = (1-t) H(q) + h(t) + h(1-t) for a letter x that q does not have.
"""

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, part
from ..common.rows import Integers
from .descent import descend, xlogx
from .ranges import entropy

SHARES = (1e-4, 1e-3, 0.01, 0.05, 0.2, 0.5)
"""Shares with which a letter is tried."""


@part
def best_addition(T: Array, lam: Array, beta: float, letters: Integers, q: Array) -> tuple[int, float]:
    """The letter and its share."""
    n, m = T.shape
    inside = np.zeros(n, np.bool_)
    u, H, cost = np.zeros(m), 0.0, 0.0
    for i in range(letters.size):
        inside[letters[i]] = True
        H += entropy(q[i])
        cost += lam[letters[i]] * q[i]
        for y in range(m):
            u[y] += q[i] * T[letters[i], y]
    best, letter, share = np.inf, -1, 0.0
    for x in range(n):
        if inside[x]:
            continue
        for t in SHARES:
            value = (1.0 - t) * (H - cost) + entropy(t) + entropy(1.0 - t) - t * lam[x]
            for y in range(m):
                value += beta * xlogx((1.0 - t) * u[y] + t * T[x, y])
            if value < best:
                best, letter, share = value, x, t
    return letter, share


@entry
def grow_all(T: Array, lam: Array, beta: float, most: int, Q: Array) -> Array:
    """Grow every row of Q (k, |X|) to at most so many letters, in place, while g falls; the values reached."""
    values = np.empty(Q.shape[0])
    for row in range(Q.shape[0]):
        letters = np.flatnonzero(Q[row])
        q = Q[row][letters]
        value = descend(T, lam, beta, letters, q)
        while letters.size < most:
            letter, share = best_addition(T, lam, beta, letters, q)
            if letter < 0:
                break
            trial = np.append((1.0 - share) * q, share)
            more = np.append(letters, letter)
            lower = descend(T, lam, beta, more, trial)
            if not lower < value - 1e-12:
                break
            kept = trial > 0.0
            letters, q, value = more[kept], trial[kept], lower
        values[row] = value
        Q[row] = 0.0
        for i in range(letters.size):
            Q[row, letters[i]] = q[i]
    return values
