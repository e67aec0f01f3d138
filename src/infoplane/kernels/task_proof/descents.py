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
from ..common import Integers


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


@part
def mixed(T: Array, q: Array, found: Array) -> None:
    """Tq."""
    for i in range(found.shape[0]):
        found[i] = 0.0
        for x in range(q.shape[0]):
            found[i] += T[i, x] * q[x]


@part
def tangent(T_u: Array, keep: float, lam: Array, q: Array, u: Array, c: Array) -> None:
    """c = -lambda - keep T_u' log u, u = T_u q: the slopes of the tangent of keep H(T_u q) - lambda.q, up to a constant."""
    mixed(T_u, q, u)
    for x in range(c.shape[0]):
        c[x] = -lam[x]
    for i in range(u.shape[0]):
        slope = keep * math.log(max(u[i], EFFORT.least))
        for x in range(c.shape[0]):
            c[x] -= slope * T_u[i, x]


@part
def ends_of_move(T_s: Array, hide: float, c: Array, s: Array, q: Array, pin: int, log_s: Array) -> tuple[int, int]:
    """The letter of the lowest slope, and the one with mass of the steepest, unless it is held; the same twice if no move is worth it."""
    to, fro, lowest, steepest = 0, 0, math.inf, -math.inf
    for i in range(s.shape[0]):
        log_s[i] = hide * math.log(max(s[i], EFFORT.least))
    for x in range(c.shape[0]):
        slope = c[x]
        for i in range(s.shape[0]):
            slope += log_s[i] * T_s[i, x]
        if slope < lowest:
            lowest, to = slope, x
        if q[x] > 0.0 and slope > steepest and x != pin:
            steepest, fro = slope, x
    return (to, fro) if steepest - lowest > EFFORT.settled else (to, to)


@part
def make_moves(T_s: Array, hide: float, c: Array, s: Array, q: Array, pin: int, log_s: Array) -> int:
    """Lower c.q + hide sum s log s, s = T_s q, move by move, in place; how many moves."""
    for done in range(EFFORT.moves):
        to, fro = ends_of_move(T_s, hide, c, s, q, pin, log_s)
        if to == fro:
            return done
        most = q[fro]
        t = moved(T_s, hide, c[to] - c[fro], s, to, fro, most)
        if not t > 0.0:
            return done
        for i in range(s.shape[0]):
            s[i] = max(s[i] + t * (T_s[i, to] - T_s[i, fro]), 0.0)
        q[to] += t
        q[fro] = 0.0 if t >= most else q[fro] - t
    return EFFORT.moves


@entry
def descend(T_u: Array, T_s: Array, keep: float, hide: float, lam: Array, Q: Array, pins: Integers) -> None:
    """Lower the rows of Q, in place; the letter pins[k], if it is one, loses no mass: of every letter the best posterior can be found."""
    n_s = T_s.shape[0]
    c, u, s, log_s = np.empty(T_u.shape[1]), np.empty(T_u.shape[0]), np.empty(n_s), np.empty(n_s)
    for k in range(Q.shape[0]):
        q = Q[k]
        for _ in range(EFFORT.tangents):
            tangent(T_u, keep, lam, q, u, c)
            mixed(T_s, q, s)
            if make_moves(T_s, hide, c, s, q, pins[k], log_s) == 0:
                break
        total = 0.0
        for x in range(q.shape[0]):
            total += q[x]
        for x in range(q.shape[0]):
            q[x] /= total
