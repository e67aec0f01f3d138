"""Borrowed arrays: the same memory, no count, and an owner that lives until it is released."""

import sys
from typing import NamedTuple

import numpy as np
from numba import njit

from infoplane.kernels.common.borrow import borrowed, release


class Pair(NamedTuple):
    table: np.ndarray
    inner: tuple[np.ndarray, int]


@njit
def doubled(pair):
    pair = borrowed(pair)
    total = 0.0
    for z in range(pair.table.shape[0]):
        for j in range(pair.table.shape[1]):
            pair.table[z, j] *= 2.0
            total += pair.table[z, j]
    for j in range(pair.inner[0].shape[0]):
        pair.inner[0][j] += pair.inner[1]
    return total


@njit
def summed(size):
    """Room made, borrowed, and used after its last mention but `release`."""
    room = np.ones(size)
    mine = borrowed(room)
    others = [np.full(size, 7.0) for _ in range(4)]  # would take the room's memory if it were free
    total = 0.0
    for i in range(size):
        total += mine[i]
    release(room)
    return total + 0.0 * others[0][0]


def test_a_borrowed_tuple_is_the_callers_memory():
    pair = Pair(np.arange(6.0).reshape(2, 3), (np.zeros(3), 5))
    counts = sys.getrefcount(pair.table), sys.getrefcount(pair.inner[0])
    assert doubled(pair) == 30.0
    np.testing.assert_array_equal(pair.table, 2.0 * np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(pair.inner[0], np.full(3, 5.0))
    assert (sys.getrefcount(pair.table), sys.getrefcount(pair.inner[0])) == counts


def test_the_owner_lives_until_it_is_released():
    for size in (10, 1000, 100_000):
        assert summed(size) == size
