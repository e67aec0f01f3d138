"""Posteriors of low reduced cost: descend g(q) = H(q) - beta H(T'q) - lambda.q inside a face of the X-simplex, beta > 1; and grow the face.

In coordinates scaled by sqrt(q), the Hessian is M = -I + beta B'B, B = T'sqrt(q) / sqrt(T'q), and sqrt(q) is its eigenvector of eigenvalue
beta - 1: where M is positive definite, Newton's step stays on the simplex by itself (`_newton_trial`). Elsewhere one step of the
majorisation (`_majorised_trial`)

    q_x <- q_x^(beta/(beta-1)) exp((lambda_x - beta sum_y T[x,y] log u_y) / (beta-1)) / normaliser,    u = T'q,

which never raises g: beta (H(q) - H(T'q)) is concave and replaced by its tangent, -(beta-1) H(q) is kept.

The slope of H at a mass of 0 is infinite, so that no small step ever adds a letter. Growth adds the letter that lowers g most, with a
finite share t, descends, and so on: H((1-t) q + t e_x) = (1-t) H(q) + h(t) + h(1-t) for a letter x that q does not have.
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, inlined, part
from ..common import Integers, fill, solve_definite
from .relaxation import entropy


@part
def xlogx(p: float) -> float:
    """The value of p log p, with 0 log 0 = 0."""
    return p * math.log(p) if p > 0.0 else 0.0


@part
def reduced_cost(T: Array, lam: Array, beta: float, letters: Integers, q: Array, u: Array) -> float:
    """g(q) for q on some letters; u receives T'q."""
    value = 0.0
    fill(u, 0.0)
    for i in range(letters.size):
        value -= xlogx(q[i]) + lam[letters[i]] * q[i]
        for y in range(u.size):
            u[y] += q[i] * T[letters[i], y]
    for y in range(u.size):
        value += beta * xlogx(u[y])
    return value


@inlined
def _slopes(
    T: Array, lam: Array, beta: float, letters: Integers, q: Array, u: Array, log_u: Array, slope: Array
) -> float:
    """Fill slope_x = dg/dq_x + const = -log q_x - lambda_x + beta sum_y T[x, y] log u_y; returns its mean under q."""
    mean = 0.0
    for y in range(u.size):
        log_u[y] = math.log(u[y]) if u[y] > 0.0 else -np.inf
    for i in range(letters.size):
        slope[i] = 0.0
        if q[i] > 0.0:
            slope[i] = -math.log(q[i]) - lam[letters[i]]
            for y in range(u.size):
                if T[letters[i], y] > 0.0:
                    slope[i] += beta * T[letters[i], y] * log_u[y]
            mean += q[i] * slope[i]
    return mean


@inlined
def _newton_step(
    T: Array, beta: float, letters: Integers, q: Array, u: Array, slope: Array, mean: float, M: Array, step: Array
) -> bool:
    """Fill step with Newton's, in coordinates scaled by sqrt(q); False if M is not positive definite. M is a workspace for the Hessian."""
    for i in range(letters.size):
        step[i] = -math.sqrt(q[i]) * (slope[i] - mean)
        for j in range(i + 1):
            b = 0.0
            for y in range(u.size):
                if u[y] > 0.0:
                    b += T[letters[i], y] * T[letters[j], y] / u[y]
            M[i, j] = beta * b * math.sqrt(q[i] * q[j]) - (1.0 if i == j and q[i] > 0.0 else 0.0)
        if q[i] == 0.0:
            M[i, i] = 1.0
    return solve_definite(M, step, 1e-10)


@inlined
def _newton_trial(
    T: Array, lam: Array, beta: float, letters: Integers, q: Array, u: Array, step: Array, value: float, trial: Array
) -> bool:
    """Fill trial with q moved along Newton's step, shortened until it is on the simplex and g is at most ``value``; False if never."""
    share = 1.0
    for _ in range(4):  # Newton's step at full length, at a quarter, and so on
        total, inside = 0.0, True
        for i in range(q.size):
            trial[i] = q[i] + share * math.sqrt(q[i]) * step[i]
            inside = inside and trial[i] >= 0.0
            total += trial[i]
        if inside:
            trial /= total
            if reduced_cost(T, lam, beta, letters, trial, u) <= value:
                return True
        share *= 0.25
    return False


@inlined
def _majorised_trial(beta: float, q: Array, slope: Array, trial: Array) -> None:
    """Fill trial with one step of the majorisation: log q + (lambda - beta T log u + log q) / (beta - 1), in terms of the slope."""
    top, total = -np.inf, 0.0
    for i in range(q.size):
        trial[i] = math.log(q[i]) - slope[i] / (beta - 1.0) if q[i] > 0.0 else -np.inf
        top = max(top, trial[i])
    for i in range(q.size):
        trial[i] = math.exp(trial[i] - top)
        total += trial[i]
    for i in range(q.size):
        trial[i] /= total


@inlined
def _move(trial: Array, q: Array) -> float:
    """Put the trial over q, without letters of less than 1e-13; returns the largest change of an entry."""
    move, total = 0.0, 0.0
    for i in range(q.size):
        # A letter with less mass has left the face: the slope of H there is infinite, so it never comes back.
        if trial[i] < 1e-13:
            trial[i] = 0.0
        total += trial[i]
    for i in range(q.size):
        move = max(move, abs(trial[i] / total - q[i]))
        q[i] = trial[i] / total
    return move


@part
def descend(T: Array, lam: Array, beta: float, letters: Integers, q: Array) -> float:
    """Move q on its letters to a local minimum of g, in place; returns the value of g there."""
    k = letters.size
    u, log_u = np.empty(T.shape[1]), np.empty(T.shape[1])
    M, slope, step, trial = np.empty((k, k)), np.empty(k), np.empty(k), np.empty(k)
    value = reduced_cost(T, lam, beta, letters, q, u)
    for _ in range(200):  # should rounding keep it moving
        mean = _slopes(T, lam, beta, letters, q, u, log_u, slope)
        found = _newton_step(T, beta, letters, q, u, slope, mean, M, step)
        if not (found and _newton_trial(T, lam, beta, letters, q, u, step, value, trial)):
            _majorised_trial(beta, q, slope, trial)
        move = _move(trial, q)
        value = reduced_cost(T, lam, beta, letters, q, u)
        if move < 1e-11:  # g is flat there: its value is off by the square of that
            break
    return value


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


@part
def positive(q: Array) -> Integers:
    """Where q has mass."""
    letters, count = np.empty(q.size, np.int64), 0
    for x in range(q.size):
        if q[x] > 0.0:
            letters[count] = x
            count += 1
    return letters[:count].copy()


@part
def masses(q: Array, letters: Integers) -> Array:
    """q on some letters."""
    some = np.empty(letters.size)
    for i in range(letters.size):
        some[i] = q[letters[i]]
    return some


@entry
def descend_all(T: Array, lam: Array, beta: float, most: int, Q: Array) -> Array:
    """Descend from every row of Q (k, |X|) on the letters where it has mass, in place; returns the values of g reached.

    While there are fewer than `most` letters and g falls, one more is added.
    """
    values = np.empty(Q.shape[0])
    for row in range(Q.shape[0]):
        letters = positive(Q[row])
        q = masses(Q[row], letters)
        value = descend(T, lam, beta, letters, q)
        while letters.size < most:
            letter, share = best_addition(T, lam, beta, letters, q)
            if letter < 0:
                break
            trial, more = np.empty(letters.size + 1), np.empty(letters.size + 1, np.int64)
            for i in range(letters.size):
                trial[i], more[i] = (1.0 - share) * q[i], letters[i]
            trial[-1], more[-1] = share, letter
            lower = descend(T, lam, beta, more, trial)
            if not lower < value - 1e-12:
                break
            kept = positive(trial)
            q, value, letters = masses(trial, kept), lower, np.empty_like(kept)
            for i in range(kept.size):
                letters[i] = more[kept[i]]
        values[row] = value
        fill(Q[row], 0.0)
        for i in range(letters.size):
            Q[row, letters[i]] = q[i]
    return values
