"""Branch and bound over boxes of the Y-simplex: how low can f(q) - lambda.q be, f(q) = H(Tq) - gamma H(q)? And the local search for it.

The box with the lowest bound is cut next; its halves are weighed (`cell_bound`, `ascent`) and shrunk to what may lie below the target,
until they reach it, are empty, or gain too little. Only open boxes are stored: the row of a closed one is used again. Two halves of a box
share the face at which it was cut, so that together they hold every u that it held, whatever was rounded when the cut was placed.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, inlined, part
from ..common import Integers, copy_row, pop, push, safe_log
from .ascent import locate, newton_step
from .cell_bound import Dual, Work, bound_with, log_partition, mean, means, prepare, propagate, reduce, workspace
from .recheck import Second, bound_agrees, chosen, empty, keep_box, ranges_agree, second_workspace, sums_agree

Shorts = np.ndarray[tuple[int, ...], np.dtype[np.int16]]
Singles = np.ndarray[tuple[int, ...], np.dtype[np.float32]]

ROWS, OPEN, SPARE, CUTS, DISPUTED = range(5)  # indices of Boxes.counts
CLOSED, LOWEST = range(2)  # indices of Boxes.levels


class Boxes(NamedTuple):
    """Boxes that hold every Tq whose value may lie below the target; C rows, of which counts[ROWS] were ever used."""

    low: Array  # (C, |Y|)         l
    high: Array  # (C, |Y|)        b
    multipliers: Singles  # (C, 2 |Y|)  mu and t of its bound: any are valid, so that single precision is enough
    bounds: Array  # (C,)          proven lower bound of f(q) - lambda.q
    letters: Shorts  # (C,)        the y along which to cut it
    points: Array  # (C,)          and where
    heap: Integers  # (C,)         open boxes, lowest bound first
    spare: Integers  # (C,)        rows of closed boxes
    counts: Integers  # (5,)       rows used, open boxes, spare rows, cuts so far, claims that `recheck` did not confirm
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
def let_wait(boxes: Boxes, k: int) -> None:
    """Box k is open."""
    push(boxes.heap, boxes.counts[OPEN], boxes.bounds, k)
    boxes.counts[OPEN] += 1


@part
def release(boxes: Boxes, k: int) -> None:
    """The row of box k, closed, may be used again."""
    boxes.spare[boxes.counts[SPARE]] = k
    boxes.counts[SPARE] += 1


@part
def dispute(boxes: Boxes, k: int, inherited: float) -> None:
    """What was claimed of box k is not confirmed: it stays open as it came, with the bound of the box it was cut from, and is not cut."""
    boxes.counts[DISPUTED] += 1
    boxes.bounds[k], boxes.letters[k], boxes.points[k] = inherited, 0, math.nan
    let_wait(boxes, k)


@part
def cut(boxes: Boxes, k: int) -> int:
    """Box k in two along its letter: the lower half keeps its row; returns that of the upper one, or -1 if it is too thin to be cut."""
    y, point = boxes.letters[k], boxes.points[k]
    if not boxes.low[k, y] < point < boxes.high[k, y]:
        return -1
    if boxes.counts[SPARE] > 0:
        boxes.counts[SPARE] -= 1
        other = int(boxes.spare[boxes.counts[SPARE]])
    else:
        other = int(boxes.counts[ROWS])
        boxes.counts[ROWS] += 1
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
    k = pop(boxes.heap, boxes.counts[OPEN], boxes.bounds)
    boxes.counts[OPEN] -= 1
    bound = boxes.bounds[k]
    other = cut(boxes, k)
    if other < 0:
        boxes.levels[CLOSED] = min(boxes.levels[CLOSED], bound)
        release(boxes, k)
    return k, other, bound


ROUNDS = 6  # of range reduction, a box


@part
def ascend(dual: Dual, work: Work, bound: float, potential: float, target: float) -> tuple[float, float]:
    """Newton's method on the multipliers work.v, as long as it may reach the target."""
    n = work.v.shape[0]
    for _ in range(8):  # a round
        if bound >= target:
            break
        rise = newton_step(dual, work)
        # The bound is concave in v: a step cannot bring more than its slope promises.
        if not rise > 0.1 * (target - bound):
            break
        t = min(1.0, 4.0 * (target - bound) / rise)
        trial, trial_potential = -math.inf, 0.0
        for _ in range(4):
            for j in range(n):
                work.tried[j] = work.v[j] + t * work.step[j]
                if 2 * j >= n:
                    work.tried[j] = min(max(work.tried[j], 0.0), 1.0)
            trial, trial_potential = bound_with(dual, work, work.tried)
            if trial > bound:
                break
            t *= 0.25
        if not trial > bound:
            bound, potential = bound_with(dual, work, work.v)
            locate(work)
            break
        copy_row(work.tried, work.v)
        bound, potential = trial, trial_potential
        locate(work)
    return bound, potential


@part
def restart(work: Work) -> None:
    """Multipliers mu = 0, t = 1."""
    n_y = work.low.shape[0]
    for y in range(n_y):
        work.v[y] = 0.0
        work.v[n_y + y] = 1.0


@part
def choose_cut(boxes: Boxes, k: int, work: Work) -> None:
    """Along the y with the largest gap between h and its secant at Tw, halfway between the middle of the box and Tw."""
    n_y = work.low.shape[0]
    best = -math.inf
    boxes.letters[k], boxes.points[k] = (
        0,
        math.nan,
    )  # should every gap be NaN, the box cannot be cut, and its bound stands
    for y in range(n_y):
        low, high = work.low[y], work.high[y]
        middle = 0.5 * (low + high)
        at = 0.5 * (min(max(work.mean[y], low), high) + middle)
        share = (at - low) / (high - low) if high > low else 0.0
        gap = (1.0 - share) * low * safe_log(low) + share * high * safe_log(high) - at * safe_log(at)
        if gap > best:
            best = gap
            boxes.letters[k] = y
            boxes.points[k] = at


@part
def note(lam: Array, boxes: Boxes, work: Work, potential: float) -> None:
    """The value of f(q) - lambda.q at q = w, if it is the lowest met."""
    n_y = work.low.shape[0]
    value = entropy_of(work.mean[:n_y]) - potential
    for j in range(2 * n_y):
        value -= work.v[j] * work.mean[j]
    value += mean(work.w, work.base) - mean(work.w, lam)
    if value < boxes.levels[LOWEST]:
        boxes.levels[LOWEST] = value
        copy_row(work.mean[:n_y], boxes.lowest)


@part
def store(boxes: Boxes, k: int, bound: float, work: Work) -> None:
    """What is known of box k."""
    boxes.bounds[k] = bound
    copy_row(work.low, boxes.low[k])
    copy_row(work.high, boxes.high[k])
    copy_row(work.v, boxes.multipliers[k])


@part
def tightened(work: Work, second: Second) -> tuple[bool, bool]:
    """Tighten the box by sum_y u_y = 1: whether anything is left of it, and whether that was confirmed."""
    keep_box(work, second)
    if not propagate(work):
        return False, empty(second)
    return True, sums_agree(second, work)


@inlined
def weigh(dual: Dual, boxes: Boxes, k: int, inherited: float, target: float, work: Work, second: Second) -> None:
    """The bound of box k, at least the inherited one of the box it was cut from; open below the target, else closed.

    Nothing closes or shrinks it that `recheck` does not confirm.
    """
    copy_row(boxes.low[k], work.low)
    copy_row(boxes.high[k], work.high)
    copy_row(boxes.multipliers[k], work.v)
    best = inherited
    left, agreed, last = True, True, False
    for round_ in range(ROUNDS + 1):
        left, agreed = tightened(work, second)
        if not left or not agreed or last or round_ == ROUNDS:
            break
        keep_box(work, second)
        prepare(dual, work)
        bound, potential = bound_with(dual, work, work.v)
        if round_ == 0 and not bound > inherited:
            restart(work)
            bound, potential = bound_with(dual, work, work.v)
        locate(work)
        bound, potential = ascend(dual, work, bound, potential, target)
        before = target - best
        if bound >= target:
            left, agreed = False, bound_agrees(dual, second, work, bound)
            break
        if bound > best:
            best = bound
        note(dual.lam, boxes, work, potential)
        left = reduce(dual, work, target - bound)
        number = (64 * boxes.counts[CUTS] + k) * ROUNDS + round_  # any that differs from box to box and round to round
        if not left or chosen(second, work, number):
            agreed = ranges_agree(dual, second, work, target, not left)
        if not left or not agreed:
            break
        # A round must bring the gap below 0.85 of itself for another to follow.
        last = round_ > 0 and not target - best < 0.85 * before
    if not agreed:
        dispute(boxes, k, inherited)
    elif not left:
        release(boxes, k)
    else:
        store(boxes, k, best, work)
        choose_cut(boxes, k, work)
        let_wait(boxes, k)


@entry
def search(dual: Dual, boxes: Boxes, target: float, cuts: int) -> None:
    """Weigh the first box, if none has been, then cut open ones, lowest bound first.

    At most `cuts` of them, for which the arrays must have room; nothing is left to do once no box is open.
    """
    work, second = workspace(dual.T), second_workspace(dual.T)
    first = boxes.counts[ROWS] == 0
    for _ in range(cuts + first):
        k, other, bound, halves = 0, 0, -math.inf, 1
        if boxes.counts[ROWS] == 0:
            boxes.counts[ROWS] = 1
            boxes.levels[CLOSED] = target
        elif boxes.counts[OPEN] == 0:
            break
        else:
            k, other, bound = halved(boxes)
            halves = 2 if other >= 0 else 0
        for half in range(halves):
            weigh(dual, boxes, k if half == 0 else other, bound, target, work, second)


@entry
def climb(dual: Dual, decoders: Array, heights: Array, steps: int) -> None:
    """Iterate u <- T w, w prop. to exp((lambda + T' log u) / gamma), until u stands still: a local minimum of f(q) - lambda.q at q = w.

    No step can raise it, as -log u - 1 is the slope of the concave H at u. Its negative goes to heights; decoders are moved in place.
    """
    n_y, n_x = dual.T.shape
    a, w = np.empty(n_y), np.empty(n_x)
    for z in range(decoders.shape[0]):
        for _ in range(steps):
            moved = 0.0
            for y in range(n_y):
                a[y] = -safe_log(decoders[z, y])
            heights[z] = dual.gamma * log_partition(dual, a, w)
            means(w, dual.T, a)
            for y in range(n_y):
                moved = max(moved, abs(a[y] - decoders[z, y]))
                decoders[z, y] = a[y]
            if moved <= 1e-11:  # its height is then off by no more than rounding
                break
