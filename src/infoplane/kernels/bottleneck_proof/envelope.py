"""Branch and bound over the Y-simplex: how low can f(q) - lambda.q be, f(q) = H(Tq) - gamma H(q)? And the local search for it.

The cell with the lowest bound is cut next (`leaves`); its halves are weighed (`cell_bound`), and closed once they reach the target.
"""

import math

import numpy as np

from ...information import Array
from ..common.jit import entry, part
from ..common.roots import safe_log
from .cell_bound import (
    Dual,
    Work,
    bound_with,
    interpolate,
    invert,
    locate,
    log_partition,
    longest_edge,
    mean,
    newton_step,
    room,
)
from .leaves import CLOSED, CUTS, LEAVES, LOWEST, OPEN, Cells, copy, cut, entropy_of, pop, push

NEWTON_STEPS = 8  # a cell


@part
def weigh(dual: Dual, cells: Cells, k: int, inherited: float, target: float, work: Work) -> None:
    """The bound of leaf k, at least the inherited one of the leaf it was cut from; open below the target, else closed."""
    n_y = work.a.shape[0]
    for i in range(n_y):
        work.heights[i] = cells.heights[cells.corners[k, i]]
        work.s[i] = 0.0
        for y in range(n_y):
            work.corners[i, y] = cells.vertices[cells.corners[k, i], y]
            work.square[y, i] = work.corners[i, y]
    invert(work.square, work.inverse)
    interpolate(work, work.s)
    bound, potential = bound_with(dual, work)
    if not bound >= inherited:  # a flat cell has a steep interpolant: begin from the parent's a instead
        least = math.inf
        copy(cells.slopes[k], work.a)
        for i in range(n_y):
            work.s[i] = work.heights[i]
            for y in range(n_y):
                work.s[i] -= work.a[y] * work.corners[i, y]
            least = min(least, work.s[i])
        for i in range(n_y):
            work.s[i] -= least
        bound, potential = bound_with(dual, work)
    locate(dual, work)
    for _ in range(NEWTON_STEPS):
        if bound >= target:
            break
        rise = newton_step(dual, work)
        # The bound is concave in s: a step cannot bring more than its slope promises.
        if not rise > 0.1 * (target - bound):
            break
        copy(work.a, work.kept)
        t = min(1.0, 4.0 * (target - bound) / rise)
        for _ in range(4):
            for i in range(n_y):
                work.tried[i] = max(work.s[i] + t * work.step[i], 0.0)
            interpolate(work, work.tried)
            trial, trial_potential = bound_with(dual, work)
            if trial > bound:
                break
            t *= 0.25
        if not trial > bound:
            copy(work.kept, work.a)
            break
        copy(work.tried, work.s)
        bound, potential = trial, trial_potential
        locate(dual, work)
    cells.bounds[k] = max(bound, inherited)
    copy(work.a, cells.slopes[k])
    if cells.bounds[k] >= target:
        cells.levels[CLOSED] = min(cells.levels[CLOSED], cells.bounds[k])
        return
    value = entropy_of(work.u) - potential
    for y in range(n_y):
        value -= work.a[y] * work.u[y]
    if value < cells.levels[LOWEST]:
        cells.levels[LOWEST] = value
        copy(work.u, cells.lowest)
    longest_edge(work, cells.edges[k])
    push(cells, k)


@entry
def search(dual: Dual, cells: Cells, target: float, first: int, last: int, cuts: int) -> None:
    """Weigh the leaves first..last-1 (the caller has emptied heap and levels), then cut open ones, lowest bound first.

    At most `cuts` of them, for which the arrays must have room; nothing is left to do once no leaf is open.
    """
    work = room(*dual.T.shape)
    for k in range(first, last):
        weigh(dual, cells, k, -math.inf, target, work)
    for _ in range(cuts):
        if cells.counts[OPEN] == 0:
            break
        k = pop(cells)
        bound = cells.bounds[k]
        if not cut(cells, k):
            cells.levels[CLOSED] = min(cells.levels[CLOSED], bound)
            continue
        cells.counts[CUTS] += 1
        for half in (k, cells.counts[LEAVES] - 1):
            weigh(dual, cells, half, bound, target, work)


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
            for y in range(n_y):
                after = mean(w, dual.T[y])
                moved = max(moved, abs(after - decoders[z, y]))
                decoders[z, y] = after
            if moved <= 1e-13:
                break
