"""Small dense linear systems, solved in place: one Cholesky, one Gauss.

Written out because LAPACK, called from a kernel, was measured to be slower up to some 200 unknowns (1.8 times at 20, 1.1 to 1.3 at 40 to
128; 0.7 at 320, 0.3 at 1,000), to cost seconds of compile time, and not to hear of Ctrl-C; and because callers differ in what they need if
a matrix is singular or not definite.
"""

import math

from ...information import Array
from ...runtime.compiling import part


@part
def solve_definite(A: Array, b: Array, least: float) -> bool:
    """Solve A u = b by Cholesky for positive definite A of a unit diagonal, about; u goes over b, and A becomes its lower factor.

    A pivot that is not above `least`, by rounding or since A is not definite, is replaced by it: False says so, and u is merely damped.
    """
    n, definite = b.size, True
    for row in range(n):
        for column in range(row + 1):
            total = A[row, column]
            for l in range(column):
                total -= A[row, l] * A[column, l]
            if row > column:
                A[row, column] = total / A[column, column]
            else:
                definite = definite and total > least
                A[row, row] = math.sqrt(max(total, least))
    for row in range(n):
        total = b[row]
        for l in range(row):
            total -= A[row, l] * b[l]
        b[row] = total / A[row, row]
    for row in range(n - 1, -1, -1):
        b[row] /= A[row, row]
        for l in range(row):
            b[l] -= A[row, l] * b[row]
    return definite


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
