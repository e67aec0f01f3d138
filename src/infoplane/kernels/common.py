"""What all kernels share: exp and log that vectorise, two scalar equations by Newton, small linear systems; batches and their rows; heaps.

exp x = 2^k exp(r),          k = round(x / log 2),  r = x - k log 2,  |r| <= log(2) / 2: Taylor to r^13 / 13!
log p = k log 2 + log m,     p = 2^k m,  1/sqrt 2 <= m < sqrt 2:      2 artanh(s) = 2 (s + s^3/3 + ... + s^21/21),  s = (m - 1)/(m + 1)

Both are without branches or tables, so that a loop over them runs on vector registers. They stay within 2 units in the last place
(tests/kernels/test_common.py measures it), a relative error below 5e-16. That is less than what rounding already does to their
arguments: a score of 30 carries 4e-15, and a residual of 1e-10 is the finest that is asked for.

Definite systems are solved in place, by Cholesky. Written out because LAPACK, called from a kernel, was measured to be slower up
to some 200 unknowns (1.8 times at 20, 1.1 to 1.3 at 40 to 128; 0.7 at 320, 0.3 at 1,000), to cost seconds of compile time, and not to hear
of Ctrl-C; and because an indefinite matrix is to give a damped step, not an error.

A batch holds its runs as (R, |Z|, columns). A run that has lost clusters uses the first rows only. Outcomes and the columns of a trace are
numbers here; their words are in `solution.Status` and `solution.Trace`.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..information import Array, IntArray
from ..runtime.compiling import part

UNIT = 2.0**-53  # the unit roundoff: what one operation may be off by, relatively
EPS = 2.0 * UNIT  # from 1 to the next number
LOG_TINY = -690.0  # log of the smallest mass that is told apart from zero
TINY = math.exp(LOG_TINY)
THIN = 1e-100  # no box of probabilities is thinner at zero: the logarithm of its upper end stays moderate


@part
def safe_log(p: float) -> float:
    """log p, with log 0 read as a very negative number, so that 0 log 0 = 0 and no NaN can arise."""
    return math.log(p) if p > TINY else LOG_TINY


@part
def wright_omega(b: float) -> float:
    """The w > 0 with w + log w = b (Lambert's W of e^b, without overflow)."""
    if b < -36.0:
        return math.exp(b)  # w = e^b (1 - e^b + ...): exact to rounding here
    w = b - math.log(b) if b > 2.0 else math.log1p(math.exp(b))
    for _ in range(20):
        step = w * (b - w - math.log(w)) / (1.0 + w)
        w = w + step if w + step > 0.0 else 0.5 * w
        if abs(step) <= 1e-15 * w:
            break
    return w


@part
def upper_root(b: float) -> float:
    """The s >= 0 with e^s - s = b, for b >= 1."""
    d = b - 1.0
    if d <= 0.0:
        return 0.0
    s = math.log(1.0 + d + math.sqrt(2.0 * d))  # lies above the root, from where Newton on a convex function descends
    for _ in range(40):
        slope = math.expm1(s)
        step = (slope - s - d) / slope
        s -= step
        if abs(step) <= 1e-15 * s:
            break
    return s


F = TypeVar("F", bound=Callable[..., Any])

LOG2_E = 1.0 / math.log(2.0)
LOG2_HIGH, LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""log 2 in two parts (fdlibm's), the first with trailing zeros: k LOG2_HIGH is exact."""
ROUND = 1.5 * 2.0**52  # adding it rounds to a whole number, which then stands in the lowest bits
SMALLEST_EXPONENT = -709.0  # from here on exp is 0: 2^-1023 has no bits
MANTISSA = (1 << 52) - 1  # the bits of a mantissa
ONE = 1023 << 52  # the bits of 1.0
HALF_ROOT = 0x3FE6A09E667F3BCD  # the bits of 1/sqrt 2
E2, E3, E4, E5, E6, E7, E8, E9, E10, E11, E12, E13 = (1.0 / math.factorial(n) for n in range(2, 14))
L3, L5, L7, L9, L11, L13, L15, L17, L19, L21 = (2.0 / n for n in range(3, 22, 2))


def fused(function: F) -> F:
    """A helper in which a b + c may be rounded once instead of twice."""
    return part(function, fastmath={"contract"})


def regrouped(function: F) -> F:
    """A helper whose sums may also be added in another order, which is what lets the compiler vectorise them.

    The process that compiles a kernel calls a helper's own machine code, those that load the kernel from disk a copy that was optimised
    once more. The order must be the same in both: it was, except where a sum shared a loop with exponentials that are stored. Such a sum
    gets a loop of its own; tests/kernels/bottleneck_proof/test_envelope.py and benchmarks/bench_compilation.py compare the bits.
    """
    return part(function, fastmath={"contract", "reassoc", "nsz"})


@fused
def exp(x: float) -> float:
    """e^x for x <= 709; 0 below -708.7, where it would be less than 1.6e-308."""
    x = max(x, SMALLEST_EXPONENT)
    shifted = x * LOG2_E + ROUND
    k = shifted - ROUND
    r = (x - k * LOG2_HIGH) - k * LOG2_LOW
    r2 = r * r
    r4 = r2 * r2
    tail = ((E2 + r * E3) + r2 * (E4 + r * E5)) + r4 * ((E6 + r * E7) + r2 * (E8 + r * E9))
    tail += r4 * r4 * ((E10 + r * E11) + r2 * (E12 + r * E13))
    power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    return (1.0 + (r + r2 * tail)) * power


@fused
def log(p: float) -> float:
    """log p for p >= 2.3e-308; smaller arguments, and 0, are for the caller to exclude."""
    bits = np.float64(p).view(np.int64)
    k = (bits - HALF_ROOT) >> 52
    m = np.int64(bits - (k << 52)).view(np.float64)
    f = m - 1.0
    s = f / (m + 1.0)
    s2 = s * s
    s4 = s2 * s2
    s8 = s4 * s4
    tail = ((L3 + s2 * L5) + s4 * (L7 + s2 * L9)) + s8 * ((L11 + s2 * L13) + s4 * (L15 + s2 * L17))
    tail += s8 * s8 * (L19 + s2 * L21)
    return k * LOG2_HIGH + (k * LOG2_LOW + (f - s * (f - s2 * tail)))  # 2 s = f - s f, and f is exact


@fused
def floored_log(p: float) -> float:
    """log p, with log 0 read as a very negative number (`LOG_TINY`), so that 0 log 0 = 0 and no NaN can arise."""
    return max(log(max(p, TINY)), LOG_TINY)


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


# -- tables of batches: how a run ended, and clusters as rows, copied out and back, without those that have no mass ----------

RUNNING, STATIONARY, PRIMAL_ONLY, STALLED, FAILED = range(5)
"""Values of `outcome`. PRIMAL_ONLY: the paper's rule, on the primal residual alone. STALLED: nothing moves, and yet it is not
stationary. FAILED: an iterate is not finite."""

LOSS, AUGMENTED, PRIMAL, DUAL, STATIONARITY, PENALTY, TRACE_COLUMNS = range(7)
"""Columns of a trace, one row per iteration; solvers that do not split leave all but LOSS and STATIONARITY at 0."""

DEAD = 1e-12
"""A cluster with less mass than this is dropped."""

Integers = IntArray
Flags = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
Row = np.ndarray[tuple[int, ...], np.dtype[Any]]


@part
def matmul(U: Array, V: Array) -> Array:
    """U V: the one place that calls BLAS for small tables, so that the call is compiled once."""
    return U @ V


@part
def fetch(table: Array, r: int, out: Array) -> None:
    """Fill out with the first rows of run r."""
    for z in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[z, j] = table[r, z, j]


@part
def load(table: Array, r: int, rows: int) -> Array:
    """A copy of the first rows of run r."""
    out = np.empty((rows, table.shape[2]))
    fetch(table, r, out)
    return out


@part
def save(table: Array, r: int, rows: Array) -> None:
    """Put rows back into run r, with zeros below them."""
    for z in range(table.shape[1]):
        for j in range(table.shape[2]):
            table[r, z, j] = rows[z, j] if z < rows.shape[0] else 0.0


@part
def copy_row(row: Row, out: Row) -> None:
    """A vector into the first places of another; numba takes seconds longer to compile out[:] = row."""
    for i in range(row.shape[0]):
        out[i] = row[i]


@part
def fill(row: Row, value: float) -> None:
    """The same number into all places of a vector."""
    for i in range(row.shape[0]):
        row[i] = value


@part
def total_of(row: Array) -> float:
    """The sum of a vector."""
    total = 0.0
    for i in range(row.shape[0]):
        total += row[i]
    return total


@part
def largest_of(row: Array) -> float:
    """The largest absolute value in a vector; NaN if one of them is, which `max` might lose."""
    largest = 0.0
    for i in range(row.shape[0]):
        if not abs(row[i]) <= largest:
            largest = abs(row[i])
        if largest != largest:
            break
    return largest


@part
def copy_rows(rows: Array, out: Array) -> None:
    """Fill the first rows of out, which may have more of them, with a table."""
    for z in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            out[z, j] = rows[z, j]


@part
def mark_dead(q: Array, keep: Flags) -> int:
    """Mark the rows of q(z, y) that have mass as those to keep; returns how many have none."""
    dead = 0
    for z in range(q.shape[0]):
        mass = 0.0
        for y in range(q.shape[1]):
            mass += q[z, y]
        keep[z] = mass >= DEAD
        dead += not keep[z]
    return dead


@part
def move_up(table: Array, keep: Flags) -> None:
    """Move the marked rows to the front, in place."""
    row = 0
    for z in range(keep.shape[0]):
        if keep[z]:
            for i in range(table.shape[1]):
                table[row, i] = table[z, i]
            row += 1


@part
def move_up_blocks(blocks: Array, keep: Flags) -> None:
    """The same in every block of (blocks, |Z|, width)."""
    for c in range(blocks.shape[0]):
        move_up(blocks[c], keep)


@part
def copy_blocks(blocks: Array, out: Array) -> None:
    """Fill out with (blocks, |Z|, width)."""
    for c in range(out.shape[0]):
        for z in range(out.shape[1]):
            for i in range(out.shape[2]):
                out[c, z, i] = blocks[c, z, i]


@part
def kept_rows(table: Array, keep: Flags, kept: int) -> Array:
    """A copy of the marked rows, of which there are ``kept``."""
    out = np.empty((kept, table.shape[1]))
    row = 0
    for z in range(table.shape[0]):
        if keep[z]:
            for j in range(table.shape[1]):
                out[row, j] = table[z, j]
            row += 1
    return out


@part
def normalise_columns(table: Array, floor: float) -> None:
    """Add ``floor`` to every entry and rescale each column to sum to 1, in place."""
    for j in range(table.shape[1]):
        total = 0.0
        for z in range(table.shape[0]):
            table[z, j] += floor
            total += table[z, j]
        for z in range(table.shape[0]):
            table[z, j] /= total


@part
def push(heap: Integers, count: int, keys: Array, item: int) -> None:
    """Put an item into the heap heap[:count], least key first; there is room for one more."""
    i = count
    while i > 0:
        parent = (i - 1) // 2
        if keys[heap[parent]] <= keys[item]:
            break
        heap[i] = heap[parent]
        i = parent
    heap[i] = item


@part
def pop(heap: Integers, count: int, keys: Array) -> int:
    """Take the item of least key out of heap[:count]; it is left at heap[count - 1]."""
    first = heap[0]
    last = heap[count - 1]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= count - 1:
            break
        if child + 1 < count - 1 and keys[heap[child + 1]] < keys[heap[child]]:
            child += 1
        if keys[last] <= keys[heap[child]]:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = last
    heap[count - 1] = first
    return int(first)
