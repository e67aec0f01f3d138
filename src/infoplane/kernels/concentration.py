"""Posteriors concentrated on few letters: a map that never raises g(q) = H(q) - beta H(Tq) - lambda.q, beta > 1.

    q_x <- q_x^(beta/(beta-1)) exp((lambda_x - beta sum_y T[y, x] log u_y) / (beta-1)) / normaliser,    u = Tq.

It is the majorisation of `funnel_proof/descent.py`, on all letters at once. The power is above 1, so letters of little mass lose it faster
and faster: those that are gone are left out of the loops, which become short after a few steps.
"""

import numpy as np

from ..information import Array
from ..runtime.compiling import entry, part
from .common import Integers, exp, floored_log, regrouped

GONE = 1e-13
"""A letter with less mass never comes back: the slope of H is infinite there."""


@regrouped
def _mean(weights: Array, values: Array, n: int) -> float:
    """sum_i weights_i values_i over the first n."""
    total = 0.0
    for i in range(n):
        total += weights[i] * values[i]
    return total


@part
def _step(T: Array, lam: Array, beta: float, score: Array, q: Array, n: int) -> None:
    """One step of the map for the first n letters; score is log q, also where q has become 0."""
    for i in range(n):
        score[i] = beta * score[i] + lam[i]
    for y in range(T.shape[0]):
        weight = beta * floored_log(_mean(q, T[y], n))
        for i in range(n):
            score[i] -= weight * T[y, i]
    top = -np.inf
    for i in range(n):
        score[i] /= beta - 1.0
        top = max(top, score[i])
    total = 0.0
    for i in range(n):
        q[i] = exp(score[i] - top)
        total += q[i]
    shift = top + floored_log(total)
    for i in range(n):
        q[i] /= total
        score[i] -= shift


@part
def _close_ranks(T: Array, lam: Array, letters: Integers, score: Array, q: Array, n: int) -> int:
    """Move the letters that are not gone to the front of all tables; returns how many they are."""
    kept = 0
    for i in range(n):
        if q[i] >= GONE:
            letters[kept], lam[kept], score[kept], q[kept] = letters[i], lam[i], score[i], q[i]
            for y in range(T.shape[0]):
                T[y, kept] = T[y, i]
            kept += 1
    return kept


@entry
def concentrate(T: Array, lam: Array, beta: float, Q: Array, steps: int, negligible: float) -> int:
    """So many steps from every row of Q (k, |X|), in place; letters with less than a negligible mass are left out at the end.

    Returns the length of all loops over letters, the measure of its work.
    """
    n_y, n_x = T.shape
    live_T, live_lam, score, q = np.empty((n_y, n_x)), np.empty(n_x), np.empty(n_x), np.empty(n_x)
    letters = np.empty(n_x, dtype=np.int64)
    work = 0
    for row in range(Q.shape[0]):
        for x in range(n_x):
            live_lam[x], q[x], letters[x] = lam[x], Q[row, x], x
            Q[row, x] = 0.0
            for y in range(n_y):
                live_T[y, x] = T[y, x]
        n = _close_ranks(live_T, live_lam, letters, score, q, n_x)
        for i in range(n):
            score[i] = floored_log(q[i])
        for _ in range(steps):
            _step(live_T, live_lam, beta, score, q, n)
            work += n
            alive = 0
            for i in range(n):
                alive += q[i] >= GONE
            if 2 * alive <= n:
                n = _close_ranks(live_T, live_lam, letters, score, q, n)
        total = 0.0
        for i in range(n):
            if q[i] > negligible:
                total += q[i]
        for i in range(n):
            if q[i] > negligible:
                Q[row, letters[i]] = q[i] / total
    return work
