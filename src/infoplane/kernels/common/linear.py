"""Small dense linear systems, solved in place.

Written out because a call of LAPACK costs more than the work at these sizes, and because the callers differ in what they need if
a matrix is singular or not definite: `solve_damped` goes on with a damped answer, `solve_definite` and `solve` return False.
"""

import math

from ...information import Array
from ...runtime.compiling import part
from .arrays import Integers


@part
def solve_damped(A: Array, b: Array, stop: Integers | None = None) -> None:
    """Solve A u = b for positive definite A with unit diagonal; u goes over b, and A becomes its lower Cholesky factor.

    Once `stop` is set it ends, with nothing solved: thousands of unknowns take seconds.

    A pivot that rounding has made negative is replaced by a small positive one: the step is then merely damped, and the caller's
    line search or safeguard does the rest.
    """
    n = A.shape[0]
    for row in range(n):
        if stop is not None and stop[0] != 0:
            return
        for column in range(row + 1):
            total = A[row, column]
            for l in range(column):
                total -= A[row, l] * A[column, l]
            if row == column:
                A[row, row] = math.sqrt(max(total, 1e-14))
            else:
                A[row, column] = total / A[column, column]
    for row in range(n):
        total = b[row]
        for l in range(row):
            total -= A[row, l] * b[l]
        b[row] = total / A[row, row]
    for row in range(n - 1, -1, -1):
        b[row] /= A[row, row]
        for l in range(row):
            b[l] -= A[row, l] * b[row]


@part
def solve_definite(M: Array, b: Array) -> bool:
    """Solve M u = b by Cholesky, u over b; False if M is not safely positive definite."""
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
def solve(M: Array, b: Array) -> bool:
    """Solve M u = b by Gaussian elimination with partial pivoting, u over b; False if M is singular."""
    n = b.shape[0]
    for column in range(n):
        pivot = column
        for row in range(column + 1, n):
            if abs(M[row, column]) > abs(M[pivot, column]):
                pivot = row
        if not abs(M[pivot, column]) > 1e-14:
            return False
        if pivot != column:
            for k in range(column, n):
                M[column, k], M[pivot, k] = M[pivot, k], M[column, k]
            b[column], b[pivot] = b[pivot], b[column]
        for row in range(column + 1, n):
            factor = M[row, column] / M[column, column]
            if factor != 0.0:
                for k in range(column + 1, n):
                    M[row, k] -= factor * M[column, k]
                b[row] -= factor * b[column]
    for row in range(n - 1, -1, -1):
        for k in range(row + 1, n):
            b[row] -= M[row, k] * b[k]
        b[row] /= M[row, row]
    return True
