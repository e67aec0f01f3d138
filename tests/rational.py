"""Vertices of {q >= 0, Tq = p_y} over the rationals, for tables of whole numbers."""

import itertools
from fractions import Fraction

import numpy as np


def rational_vertices(counts):
    """Vertices of {q >= 0, Tq = p_y} by Gauss elimination over the rationals: every set of letters, every q exact."""
    n, m = len(counts), len(counts[0])
    total = sum(map(sum, counts))
    T = [[Fraction(counts[x][y], sum(counts[x])) for x in range(n)] for y in range(m)]
    p_y = [Fraction(sum(counts[x][y] for x in range(n)), total) for y in range(m)]
    found = set()
    for size in range(1, m + 1):
        for letters in itertools.combinations(range(n), size):
            rows = [[T[y][x] for x in letters] + [p_y[y]] for y in range(m)]
            pivots = []
            for column in range(size):
                pivot = next((r for r in range(len(pivots), m) if rows[r][column] != 0), None)
                if pivot is None:
                    break
                k = len(pivots)
                rows[k], rows[pivot] = rows[pivot], rows[k]
                rows[k] = [v / rows[k][column] for v in rows[k]]
                for r in range(m):
                    if r != k:
                        rows[r] = [a - rows[r][column] * b for a, b in zip(rows[r], rows[k], strict=True)]
                pivots.append(column)
            if len(pivots) == size and all(row[-1] == 0 for row in rows[size:]):
                q = [row[-1] for row in rows[:size]]
                if all(v > 0 for v in q):
                    column = [Fraction(0)] * n
                    for x, v in zip(letters, q, strict=True):
                        column[x] = v
                    found.add(tuple(column))
    return np.array([[float(v) for v in q] for q in found]).T
