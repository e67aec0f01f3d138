"""Posteriors of low f(q) - lambda.q at gamma = 0, f(q) = keep H(T_u q) - hide H(T_s q), for a secret of any size.

H(T_u q) is concave: its tangent at u = T_u q lies above it, and the rest, c.q + hide sum_s s log s with s = T_s q, is convex. It falls by
moving mass from the letter of steepest slope to that of the lowest, as far as that helps; then the tangent is taken anew. No step
raises f(q) - lambda.q, and the posteriors that are left have few letters.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, part
from ..common.rows import Integers


class DescentEffort(NamedTuple):
    """How long a descent goes on."""

    tangents: int = 12
    moves: int = 60
    """Of a descent, and for each of them."""
    line: int = 12
    """Of Newton's method along a move, between brackets."""
    settled: float = 1e-13
    """Nats of slope that are not worth a move."""
    least: float = 1e-300
    """Whose logarithm is taken."""


EFFORT = DescentEffort()


@part
def moved(T_s: Array, hide: float, slope: float, s: Array, to: int, fro: int, most: float) -> float:
    """How much mass to move: the least of slope t + hide sum (s + t d) log (s + t d) for 0 <= t <= most, d = T_to - T_fro."""
    low, high, t = 0.0, most, most
    for _ in range(EFFORT.line):
        first, second = slope, 0.0
        for i in range(s.shape[0]):
            d = T_s[i, to] - T_s[i, fro]
            at = max(s[i] + t * d, EFFORT.least)
            first += hide * d * math.log(at)
            second += hide * d * d / at
        if t == most and first <= 0.0:
            return most
        if first > 0.0:
            high = t
        else:
            low = t
        newton = t - first / second if second > 0.0 else 0.5 * (low + high)
        t = newton if low < newton < high else 0.5 * (low + high)
    return t


@entry
def descend(T_u: Array, T_s: Array, keep: float, hide: float, lam: Array, Q: Array, pins: Integers) -> None:
    """Lower the rows of Q, in place; the letter pins[k], if it is one, loses no mass: of every letter the best posterior can be found."""
    n_u, n = T_u.shape
    n_s = T_s.shape[0]
    c, s, log_s = np.empty(n), np.empty(n_s), np.empty(n_s)
    for k in range(Q.shape[0]):
        q = Q[k]
        for _ in range(EFFORT.tangents):
            for x in range(n):
                c[x] = -lam[x]
            for u in range(n_u):
                at = 0.0
                for x in range(n):
                    at += T_u[u, x] * q[x]
                at = keep * math.log(max(at, EFFORT.least))
                for x in range(n):
                    c[x] -= at * T_u[u, x]
            total = 0
            for i in range(n_s):
                s[i] = 0.0
                for x in range(n):
                    s[i] += T_s[i, x] * q[x]
            for _ in range(EFFORT.moves):
                for i in range(n_s):
                    log_s[i] = hide * math.log(max(s[i], EFFORT.least))
                to, fro, lowest, steepest = 0, 0, math.inf, -math.inf
                for x in range(n):
                    slope = c[x]
                    for i in range(n_s):
                        slope += log_s[i] * T_s[i, x]
                    if slope < lowest:
                        lowest, to = slope, x
                    if q[x] > 0.0 and slope > steepest and x != pins[k]:
                        steepest, fro = slope, x
                if to == fro or not steepest - lowest > EFFORT.settled:
                    break
                most = q[fro]
                t = moved(T_s, hide, c[to] - c[fro], s, to, fro, most)
                if not t > 0.0:
                    break
                total += 1
                for i in range(n_s):
                    s[i] = max(s[i] + t * (T_s[i, to] - T_s[i, fro]), 0.0)
                q[to] += t
                q[fro] = 0.0 if t >= most else q[fro] - t
            if total == 0:
                break
        total_q = 0.0
        for x in range(n):
            total_q += q[x]
        for x in range(n):
            q[x] /= total_q
