"""Tables of batches: their types, how a run ended, and clusters as rows, copied out and back, without those that have no mass.

A batch holds its runs as (R, |Z|, columns). A run that has lost clusters uses the first rows only. Outcomes and the columns of a trace are
numbers here; their words are in `status.Status` and `solution.Trace`.
"""

import numpy as np

from ...information import Array, IntArray
from ...runtime.compiling import part

RUNNING, STATIONARY, PRIMAL_ONLY, STALLED, FAILED = range(5)
"""Values of `outcome`. PRIMAL_ONLY: the paper's rule, on the primal residual alone. STALLED: nothing moves, and yet it is not
stationary. FAILED: an iterate is not finite."""

LOSS, AUGMENTED, PRIMAL, DUAL, STATIONARITY, PENALTY, TRACE_COLUMNS = range(7)
"""Columns of a trace, one row per iteration; solvers that do not split leave all but LOSS and STATIONARITY at 0."""

DEAD = 1e-12
"""A cluster with less mass than this is dropped."""

Integers = IntArray
Flags = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


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
def copy_row(row: Array, out: Array) -> None:
    """A vector into another; numba takes seconds longer to compile out[:] = row."""
    for i in range(out.shape[0]):
        out[i] = row[i]


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
