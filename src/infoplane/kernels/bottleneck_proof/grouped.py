"""Branch and bound as in `envelope`, for many letters of X and few of Y: boxes are weighed by groups of letters (`group_bound`).

Where groups say too little letters are looked at. Groups are made at slopes that are given, -log u of the mixture's decoders, and at that
of a box for which no groups were fine enough, so that the boxes around it find some.
"""

import math

from ...information import Array
from ...runtime.compiling import entry, part
from ..common.roots import safe_log
from ..common.rows import copy_row
from .ascent import locate
from .boxes import CUTS, OPEN, Boxes, halved, push, release
from .cell_bound import Dual, Work, bound_with, mean, room
from .envelope import ROUNDS, WORTH, ascend, choose_cut, note, restart, store, weigh, weigh_first
from .group_bound import Tilt, as_letters, prepare_groups, reduce_by_groups, settle, tilt_room
from .groups import GIVEN, MADE, Groups, make_groups
from .ranges import propagate

LOOSE = 0.3  # share of the gap that groups may lose
BEYOND = 1.5  # the ascent on groups aims above the target by this much of what they grow
CUTS_A_SLOPE = 8  # groups are made for no more than one box in so many, for they cost as much as several bounds


@part
def nearest(groups: Groups, work: Work) -> int:
    """The slope nearest to -log of the middle of the box, up to a constant."""
    n_y = work.low.shape[0]
    whole = 0.0
    for y in range(n_y):
        work.step[y] = 0.5 * (work.low[y] + work.high[y])
        work.model[y] = safe_log(work.step[y])
        whole += work.step[y]
    best, found = math.inf, 0
    for p in range(groups.counts[MADE]):
        squares, total = 0.0, 0.0
        for y in range(n_y):
            apart = groups.slopes[p, y] + work.model[y]
            total += work.step[y] * apart
            squares += work.step[y] * apart * apart
        squares -= total * total / whole
        if squares < best:
            best, found = squares, p
    return found


@part
def slope_of_box(work: Work, a: Array) -> None:
    """The slope of a box's exponents, about its mean, which is what letters were just weighed with."""
    n_y = work.low.shape[0]
    for y in range(n_y):
        t = work.v[n_y + y]
        a[y] = work.v[y] + t * work.slope[y] - (1.0 - t) * (1.0 + safe_log(work.mean[y]))


@part
def weigh_by_groups(
    dual: Dual, groups: Groups, boxes: Boxes, k: int, inherited: float, target: float, work: Work, tilt: Tilt
) -> bool:
    """As `weigh`; False if letters must have a look: then box k is what is known of it by then."""
    copy_row(boxes.low[k], work.low)
    copy_row(boxes.high[k], work.high)
    copy_row(boxes.multipliers[k], work.v)
    best, p = inherited, 0
    for round_ in range(ROUNDS):
        if not propagate(work):
            release(boxes, k)
            return True
        if round_ == 0:
            p = nearest(groups, work)
        some = as_letters(groups, p, dual.gamma)
        prepare_groups(groups, p, work, tilt)
        bound, potential = bound_with(some, work, work.v)
        if round_ == 0 and not bound > inherited:
            restart(work)
            bound, potential = bound_with(some, work, work.v)
        locate(work)
        _, fall = settle(dual, groups, p, work, tilt)
        bound, potential = ascend(some, work, bound, potential, target + BEYOND * fall)
        grew, fall = settle(dual, groups, p, work, tilt)
        bound -= fall
        before = target - best
        if bound > best:
            best = bound
        if best >= target:
            release(boxes, k)
            return True
        loss = dual.gamma * math.log(grew / (1.0 + 0.5 * mean(work.w, tilt.second)))
        if not loss <= LOOSE * (target - bound):
            store(boxes, k, best, work)
            return False
        note(some.lam, boxes, work, potential)
        if not reduce_by_groups(dual, groups, p, work, tilt, target - bound, grew):
            release(boxes, k)
            return True
        if round_ > 0 and not target - best < WORTH * before:
            break
    if not propagate(work):
        release(boxes, k)
        return True
    store(boxes, k, best, work)
    choose_cut(boxes, k, work)
    push(boxes, k)
    return True


@entry
def grouped_search(dual: Dual, groups: Groups, boxes: Boxes, target: float, cuts: int) -> None:
    """As `search`, by groups where they are fine enough."""
    while groups.counts[MADE] < groups.counts[GIVEN]:
        make_groups(dual, groups)
    work, small, tilt = room(dual.T), room(groups.mean[0]), tilt_room(groups)
    weigh_first(dual, boxes, target, work)
    for _ in range(cuts):
        if boxes.counts[OPEN] == 0:
            break
        k, other, bound = halved(boxes)
        if other < 0:
            continue
        for half in (k, other):
            if weigh_by_groups(dual, groups, boxes, half, bound, target, small, tilt):
                continue
            weigh(dual, boxes, half, boxes.bounds[half], target, work)
            made = groups.counts[MADE]
            if made < groups.slopes.shape[0] and made - groups.counts[GIVEN] <= boxes.counts[CUTS] // CUTS_A_SLOPE:
                slope_of_box(work, groups.slopes[made])
                make_groups(dual, groups)
