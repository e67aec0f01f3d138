"""A partition of a simplex into simplicial cells: the heap of those to look at next, and exact cuts.

Corners are exact: midpoints of binary fractions, and an edge whose midpoint would be rounded is never cut.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ..common.arrays import Integers
from ..common.jit import part

Indices = np.ndarray[tuple[int, ...], np.dtype[np.int32]]
Edges = np.ndarray[tuple[int, ...], np.dtype[np.int8]]

VERTICES, LEAVES, OPEN, CUTS = 0, 1, 2, 3  # slots of Cells.counts
CLOSED, LOWEST = 0, 1  # slots of Cells.levels


class Cells(NamedTuple):
    """A partition, into leaves, of a simplex that holds every Tq; leaves whose bound is below the target wait in a heap."""

    vertices: Array  # (V, |Y|)
    heights: Array  # (V,)        H at each vertex
    corners: Indices  # (C, |Y|)  the vertices of each leaf
    slopes: Array  # (C, |Y|)     the a of its bound
    bounds: Array  # (C,)         proven lower bound of f(q) - lambda.q
    edges: Edges  # (C, 2)        the corners between which to cut it
    heap: Integers  # (C,)        open leaves, lowest bound first
    counts: Integers  # (4,)      vertices, leaves, open leaves, cuts so far
    levels: Array  # (2,)         lowest bound of a leaf that is not open; lowest value of f(q) - lambda.q met
    lowest: Array  # (|Y|,)       Tq where that was met


@part
def copy(source: Array, to: Array) -> None:
    """A vector into another; numba takes far longer to compile to[:] = source."""
    for i in range(source.shape[0]):
        to[i] = source[i]


@part
def entropy_of(v: Array) -> float:
    """H(v), 0 log 0 = 0."""
    total = 0.0
    for y in range(v.shape[0]):
        if v[y] > 0.0:
            total -= v[y] * math.log(v[y])
    return total


@part
def push(cells: Cells, k: int) -> None:
    """Leaf k joins the heap."""
    place = cells.counts[OPEN]
    cells.counts[OPEN] += 1
    while place > 0:
        above = (place - 1) // 2
        if cells.bounds[cells.heap[above]] <= cells.bounds[k]:
            break
        cells.heap[place] = cells.heap[above]
        place = above
    cells.heap[place] = k


@part
def pop(cells: Cells) -> int:
    """The open leaf with the lowest bound leaves the heap."""
    lowest = cells.heap[0]
    cells.counts[OPEN] -= 1
    size = cells.counts[OPEN]
    last = cells.heap[size]
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and cells.bounds[cells.heap[below + 1]] < cells.bounds[cells.heap[below]]:
            below += 1
        if cells.bounds[cells.heap[below]] >= cells.bounds[last]:
            break
        cells.heap[place] = cells.heap[below]
        place = below
    cells.heap[place] = last
    return int(lowest)


@part
def cut(cells: Cells, k: int) -> bool:
    """Leaf k at its edge's midpoint: one half keeps its number, the other becomes the last leaf. False if rounding forbids it."""
    i, j = cells.edges[k, 0], cells.edges[k, 1]
    new, other = cells.counts[VERTICES], cells.counts[LEAVES]
    if i == j:
        return False
    for y in range(cells.vertices.shape[1]):
        one, two = cells.vertices[cells.corners[k, i], y], cells.vertices[cells.corners[k, j], y]
        total = one + two
        if total - one != two or total - two != one:
            return False
        cells.vertices[new, y] = 0.5 * total
        cells.corners[other, y] = cells.corners[k, y]
    cells.heights[new] = entropy_of(cells.vertices[new])
    copy(cells.slopes[k], cells.slopes[other])
    cells.corners[k, i] = new
    cells.corners[other, j] = new
    cells.counts[VERTICES] += 1
    cells.counts[LEAVES] += 1
    return True
