"""A line of letters cut into intervals that keep most of I(Y;Z), compiled: dynamic programmes over the places of the cuts.

Letters stand in a row, and q(y) is the mass of those from i to j - 1. What an interval loses is its part of H(Y|Z),

    c(i, j) = m log m - sum_y q(y) log q(y),   m = sum_y q(y);     F[k, j] = min over i < j of F[k-1, i] + c(i, j)

is the least H(Y|Z) of the first j letters in k intervals. `cut_line` takes any |Y|: every c(i, j) is computed once and serves all k,
O(n^2 (|Y| + k)). With two y, and letters in the order of p(y|x), c is Monge,

    c(i, j) + c(i', j') <= c(i, j') + c(i', j),   i <= i' < j <= j',

so that the best last cut moves to the right with j, and `cut_sorted` finds F[k] by divide and conquer, O(k n log n). An interval of less
mass than ``least`` costs infinity, which leaves c Monge: where the left side is infinite, the narrowest interval (i', j) is too light also.
"""

from __future__ import annotations

import math

import numpy as np

from ..information import Array
from ..runtime.compiling import entry, part
from .common.rows import Integers

INFINITE = math.inf


@part
def loss_of_two(a: float, b: float) -> float:
    """M H(a/m, b/m) of an interval with the masses a and b of the two y."""
    m = a + b
    lost = 0.0
    if a > 0.0:
        lost -= a * math.log(a / m)
    if b > 0.0:
        lost -= b * math.log(b / m)
    return lost


@entry
def cut_sorted(first: Array, second: Array, least: float, F: Array, last_cut: Integers) -> None:
    """Fill F[k, j] and the last cut i of each, k = 1, ..., K; ``first`` and ``second`` are the sums of p(x, y) up to each letter, from 0.

    F is (K + 1, n + 1). Pieces of a layer that are still to be filled lie on a stack: rows low..high, whose cuts lie in left..right.
    """
    n = first.size - 1
    stack = np.empty((2 * 64, 4), dtype=np.int64)
    for j in range(1, n + 1):
        light = first[j] + second[j] < least
        F[1, j] = INFINITE if light else loss_of_two(first[j], second[j])
        last_cut[1, j] = 0
    for k in range(2, F.shape[0]):
        depth = 1
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = k, n, k - 1, n - 1
        while depth > 0:
            depth -= 1
            low, high, left, right = stack[depth]
            middle = (low + high) // 2
            best, at = INFINITE, left
            for i in range(left, min(middle - 1, right) + 1):
                a, b = first[middle] - first[i], second[middle] - second[i]
                if a + b < least:
                    break  # and those further to the right are lighter still
                value = F[k - 1, i] + loss_of_two(a, b)
                if value < best:
                    best, at = value, i
            F[k, middle], last_cut[k, middle] = best, at
            if low < middle:
                stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = low, middle - 1, left, at
                depth += 1
            if middle < high:
                stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = middle + 1, high, at, right
                depth += 1


@entry
def cut_line(rows: Array, least: float, F: Array, last_cut: Integers) -> None:
    """The same for letters in any order, ``rows`` being p(x, y), a row each; F[j, k] and the cuts lie here with all k of a j together."""
    n, n_y = rows.shape
    q, q_log_q = np.empty(n_y), np.empty(n_y)
    F[0, 0] = 0.0
    for j in range(1, n + 1):
        q[:] = 0.0
        q_log_q[:] = 0.0
        mass = 0.0
        for i in range(j - 1, -1, -1):
            kept = 0.0
            for y in range(n_y):
                p = rows[i, y]
                if p > 0.0:
                    mass += p
                    q[y] += p
                    q_log_q[y] = q[y] * math.log(q[y])
                kept += q_log_q[y]
            if mass < least:
                continue
            lost = mass * math.log(mass) - kept
            for k in range(1, min(F.shape[1] - 1, i + 1) + 1):
                value = F[i, k - 1] + lost
                if value < F[j, k]:
                    F[j, k], last_cut[j, k] = value, i
