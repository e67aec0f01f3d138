"""Posteriors of low reduced cost: descend g(q) = H(q) - beta H(T'q) - lambda.q inside a face of the X-simplex, beta > 1.

With q = sqrt(q) scaled out, the Hessian is M = -I + beta B'B, B = T'sqrt(q) / sqrt(T'q), and sqrt(q) is its eigenvector of eigenvalue
beta - 1: where M is positive definite, Newton's step stays on the simplex by itself. Elsewhere one step of the majorisation

    q_x <- q_x^(beta/(beta-1)) exp((lambda_x - beta sum_y T[x,y] log u_y) / (beta-1)) / normaliser,    u = T'q,

which never raises g: beta (H(q) - H(T'q)) is concave and replaced by its tangent, -(beta-1) H(q) is kept.
"""

import math

import numpy as np

from ...information import Array
from ..common.jit import entry, part
from ..splitting.split import Integers

GONE = 1e-13
"""A letter of less mass has left the face: the slope of H there is infinite, so it never comes back."""

STEPS = 200
SMALLEST_MOVE = 1e-11


@part
def xlogx(p: float) -> float:
    """P log p, 0 at 0."""
    return p * math.log(p) if p > 0.0 else 0.0


@part
def reduced_cost(T: Array, lam: Array, beta: float, letters: Integers, q: Array, u: Array) -> float:
    """g(q) for q on some letters; u receives T'q."""
    value = 0.0
    u[:] = 0.0
    for i in range(letters.size):
        value -= xlogx(q[i]) + lam[letters[i]] * q[i]
        for y in range(u.size):
            u[y] += q[i] * T[letters[i], y]
    for y in range(u.size):
        value += beta * xlogx(u[y])
    return value


@part
def newton(M: Array, b: Array) -> bool:
    """B <- M^-1 b by Cholesky, in place; False if M is not safely positive definite."""
    n = b.size
    for j in range(n):
        for i in range(j, n):
            total = M[i, j]
            for k in range(j):
                total -= M[i, k] * M[j, k]
            if i == j:
                if not total > 1e-10:
                    return False
                M[j, j] = math.sqrt(total)
            else:
                M[i, j] = total / M[j, j]
    for i in range(n):
        for k in range(i):
            b[i] -= M[i, k] * b[k]
        b[i] /= M[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= M[k, i] * b[k]
        b[i] /= M[i, i]
    return True


@part
def descend(T: Array, lam: Array, beta: float, letters: Integers, q: Array) -> float:
    """Move q on its letters to a local minimum of g, in place; its value."""
    k, m = letters.size, T.shape[1]
    u, slope, step, trial = np.empty(m), np.empty(k), np.empty(k), np.empty(k)
    M = np.empty((k, k))
    value = reduced_cost(T, lam, beta, letters, q, u)
    for _ in range(STEPS):
        mean = 0.0
        for i in range(k):
            slope[i] = 0.0
            if q[i] > 0.0:
                slope[i] = -math.log(q[i]) - lam[letters[i]]
                for y in range(m):
                    if T[letters[i], y] > 0.0:
                        slope[i] += beta * T[letters[i], y] * math.log(u[y])
                mean += q[i] * slope[i]
        accepted = False
        for i in range(k):
            step[i] = -math.sqrt(q[i]) * (slope[i] - mean)
            for j in range(i + 1):
                b = 0.0
                for y in range(m):
                    if u[y] > 0.0:
                        b += T[letters[i], y] * T[letters[j], y] / u[y]
                M[i, j] = beta * b * math.sqrt(q[i] * q[j]) - (1.0 if i == j and q[i] > 0.0 else 0.0)
            if q[i] == 0.0:
                M[i, i] = 1.0
        if newton(M, step):
            share = 1.0
            for _ in range(4):
                total, inside = 0.0, True
                for i in range(k):
                    trial[i] = q[i] + share * math.sqrt(q[i]) * step[i]
                    inside = inside and trial[i] >= 0.0
                    total += trial[i]
                if inside:
                    trial /= total
                    lower = reduced_cost(T, lam, beta, letters, trial, u)
                    if lower <= value:
                        accepted = True
                        break
                share *= 0.25
        if not accepted:
            top, total = -np.inf, 0.0
            for i in range(k):
                # log q + (lambda - beta T log u + log q) / (beta - 1), in terms of the slope
                trial[i] = math.log(q[i]) - slope[i] / (beta - 1.0) if q[i] > 0.0 else -np.inf
                top = max(top, trial[i])
            for i in range(k):
                trial[i] = math.exp(trial[i] - top)
                total += trial[i]
            for i in range(k):
                trial[i] /= total
            lower = reduced_cost(T, lam, beta, letters, trial, u)
        move, total = 0.0, 0.0
        for i in range(k):
            if trial[i] < GONE:
                trial[i] = 0.0
            total += trial[i]
        for i in range(k):
            move = max(move, abs(trial[i] / total - q[i]))
            q[i] = trial[i] / total
        value = reduced_cost(T, lam, beta, letters, q, u)
        if move < SMALLEST_MOVE:
            break
    return value


@entry
def descend_all(T: Array, lam: Array, beta: float, Q: Array) -> Array:
    """Descend from every row of Q (k, |X|), each on its own letters, in place; the values reached."""
    values = np.empty(Q.shape[0])
    for row in range(Q.shape[0]):
        letters = np.flatnonzero(Q[row])
        q = Q[row][letters]
        values[row] = descend(T, lam, beta, letters, q)
        for i in range(letters.size):
            Q[row, letters[i]] = q[i]
    return values
