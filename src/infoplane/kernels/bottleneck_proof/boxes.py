"""Boxes l <= u <= b of the Y-simplex that a search has still to look at: the heap of open ones, and cuts.

Only open boxes are stored: the place of a closed one is used again. Two halves of a box share the face at which it was cut, so that
together they hold every u that it held, whatever was rounded when the cut was placed.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common.rows import Integers, copy_row

Shorts = np.ndarray[tuple[int, ...], np.dtype[np.int16]]
Singles = np.ndarray[tuple[int, ...], np.dtype[np.float32]]

PLACES, OPEN, SPARE, CUTS, DISPUTED = range(5)  # slots of Boxes.counts
CLOSED, LOWEST = range(2)  # slots of Boxes.levels


class Boxes(NamedTuple):
    """Boxes that hold every Tq whose value may lie below the target; C places, of which counts[PLACES] were ever used."""

    low: Array  # (C, |Y|)         l
    high: Array  # (C, |Y|)        b
    multipliers: Singles  # (C, 2 |Y|)  mu and t of its bound: any are valid, so that single precision is enough
    bounds: Array  # (C,)          proven lower bound of f(q) - lambda.q
    letters: Shorts  # (C,)        the y along which to cut it
    points: Array  # (C,)          and where
    heap: Integers  # (C,)         open boxes, lowest bound first
    spare: Integers  # (C,)        places of closed boxes
    counts: (
        Integers  # (5,)       places used, open boxes, spare places, cuts so far, claims that `recheck` did not confirm
    )
    levels: Array  # (2,)          lowest bound of what is not open; lowest value of f(q) - lambda.q met
    lowest: Array  # (|Y|,)        Tq where that was met


@part
def entropy_of(v: Array) -> float:
    """H(v), 0 log 0 = 0."""
    total = 0.0
    for y in range(v.shape[0]):
        if v[y] > 0.0:
            total -= v[y] * math.log(v[y])
    return total


@part
def push(boxes: Boxes, k: int) -> None:
    """Box k joins the heap."""
    place = boxes.counts[OPEN]
    boxes.counts[OPEN] += 1
    while place > 0:
        above = (place - 1) // 2
        if boxes.bounds[boxes.heap[above]] <= boxes.bounds[k]:
            break
        boxes.heap[place] = boxes.heap[above]
        place = above
    boxes.heap[place] = k


@part
def pop(boxes: Boxes) -> int:
    """The open box with the lowest bound leaves the heap."""
    lowest = boxes.heap[0]
    boxes.counts[OPEN] -= 1
    size = boxes.counts[OPEN]
    last = boxes.heap[size]
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and boxes.bounds[boxes.heap[below + 1]] < boxes.bounds[boxes.heap[below]]:
            below += 1
        if boxes.bounds[boxes.heap[below]] >= boxes.bounds[last]:
            break
        boxes.heap[place] = boxes.heap[below]
        place = below
    boxes.heap[place] = last
    return int(lowest)


@part
def release(boxes: Boxes, k: int) -> None:
    """The place of box k, closed, may be used again."""
    boxes.spare[boxes.counts[SPARE]] = k
    boxes.counts[SPARE] += 1


@part
def dispute(boxes: Boxes, k: int, inherited: float) -> None:
    """What was claimed of box k is not confirmed: it stays open as it came, with the bound of the box it was cut from, and is not cut."""
    boxes.counts[DISPUTED] += 1
    boxes.bounds[k], boxes.letters[k], boxes.points[k] = inherited, 0, math.nan
    push(boxes, k)


@part
def cut(boxes: Boxes, k: int) -> int:
    """Box k in two along its letter: the lower half keeps its place; returns that of the upper one, or -1 if it is too thin to be cut."""
    y, point = boxes.letters[k], boxes.points[k]
    if not boxes.low[k, y] < point < boxes.high[k, y]:
        return -1
    if boxes.counts[SPARE] > 0:
        boxes.counts[SPARE] -= 1
        other = int(boxes.spare[boxes.counts[SPARE]])
    else:
        other = int(boxes.counts[PLACES])
        boxes.counts[PLACES] += 1
    copy_row(boxes.low[k], boxes.low[other])
    copy_row(boxes.high[k], boxes.high[other])
    copy_row(boxes.multipliers[k], boxes.multipliers[other])
    boxes.high[k, y] = point
    boxes.low[other, y] = point
    boxes.counts[CUTS] += 1
    return other


@part
def halved(boxes: Boxes) -> tuple[int, int, float]:
    """Cut the box of lowest bound: its halves, and that bound; the second is -1 if it cannot be cut, and then its bound stands."""
    k = pop(boxes)
    bound = boxes.bounds[k]
    other = cut(boxes, k)
    if other < 0:
        boxes.levels[CLOSED] = min(boxes.levels[CLOSED], bound)
        release(boxes, k)
    return k, other, bound
