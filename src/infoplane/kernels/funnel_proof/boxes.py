"""Branch and bound over boxes l <= q <= b of posteriors: those with g(q) < floor, or a proof that there are none.

    g(q) = H(q) - beta H(Tq) - lambda.q.   For any distribution v on Y and any number nu, with phi_x(t) = h(t) + k_x t,
    k_x = beta sum_y T[x,y] log v_y - lambda_x - nu and M_x = min(phi_x(l_x), phi_x(b_x)), every q of the box has exactly

        g(q) = B + sum_x (phi_x(q_x) - M_x) + beta KL(Tq || v),      B = nu + sum_x M_x,      every term after B >= 0

(phi_x is concave). So g >= B; and where g < floor, phi_x(q_x) - M_x <= floor - B for every x, which shrinks the ranges, or leaves two
pieces of one. The best v is Tq for the q that minimises the convex relaxation, H replaced by its secants, and nu its multiplier of
sum q = 1. Rounding is covered term by term, see docs/explanation/exact_funnel.md.

The box of least bound is cut where the secant of some letter is furthest below h. Only q on at most r = rank(T) letters matter.
"""

from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, inlined, part
from ..common import EPS, Integers, copy_row
from .recheck import BoxTrail, Levels, followed, leaves_out
from .relaxation import (
    LOOK,
    ROUNDS,
    SHRUNK,
    STEPS,
    entropy,
    fill_sharp,
    fill_tangents,
    known_enough,
    letter_to_cut,
    move,
    phi,
    place_inside,
    shrunk_by_bound,
    slope_of_last,
    smoothed_logs,
    step_length,
    worth,
)
from .search import (
    BETA,
    CELLS,
    ERROR,
    FLOOR,
    MISTAKES,
    RANK,
    RELATIVE,
    WAITING,
    count_cell,
    enough,
    explore,
    give_up,
    let_wait,
    next_cell,
)


class PosteriorBoxes(NamedTuple):
    """A search under way; arrays, updated in place. heap[:WAITING] are the cells that wait, lowest bound first, the rest are free."""

    T: Array  # (n, |Y|)         p(y|x), one row per letter
    lam: Array  # (n,)         multipliers; a search may lower them
    p: Array  # (n,)           masses
    number: Array
    tally: Integers
    heap: Integers  # (cells,)
    key: Array  # (cells,)       proven: g >= key in the cell
    low: Array  # (cells, n)
    high: Array  # (cells, n)
    guess: Array  # (cells, n)   where the relaxation was least
    letter: Integers  # (cells,) where to cut,
    cut: Array  # (cells, 2)     and what the cut leaves out
    found: Array  # (most, n)    violating posteriors
    table: Integers  # sets of letters that have been descended on


class BoxWork(NamedTuple):
    """Room for one cell: its ranges, and what bounding it leaves behind; active letters are at [:count]."""

    l: Array  # (n,)
    b: Array  # (n,)
    q: Array  # (n,)
    active: Integers  # (n,)   letters with b > 0
    line: Array  # (n,)        slope of the secant minus lambda
    h_l: Array  # (n,)         h(l)
    h_b: Array  # (n,)         h(b)
    tangent: Array  # (n,)     beta sum_y T[x,y] log v_y
    c: Array  # (n,)           slope of the relaxation
    k: Array  # (n,)           k_x, rounded downward
    least: Array  # (n,)       M_x
    u: Array  # (|Y|,)
    w: Array  # (|Y|,)         log v
    sharp: Array  # (|Y|,)     1 / u
    D: Array  # (|Y|,)
    top: Integers  # (r + 1,)  letters without a lower bound, largest b first
    cut: Array  # (n, 2)       what the bound excludes inside the range
    nu: Array  # (1,)


@part
def workspace(search: PosteriorBoxes) -> BoxWork:
    """Room for one cell."""
    n, m = search.T.shape
    a, v = np.empty((10, n)), np.empty((4, m))
    active, top = np.empty(n, np.int64), np.empty(search.tally[RANK] + 1, np.int64)
    return BoxWork(
        a[0], a[1], a[2], active, a[3], a[4], a[5], a[6], a[7], a[8], a[9], v[0], v[1], v[2], v[3], top, np.empty((n, 2)), np.empty(1)
    )  # fmt: skip


@part
def largest_free(l: Array, b: Array, spare: int, top: Integers) -> int:
    """The spare + 1 largest b among letters that may be 0, largest first, into top; how many. Without a spare one they are all 0."""
    count = 0
    for x in range(l.size):
        if l[x] == 0.0 and b[x] > 0.0:
            if spare == 0:
                b[x] = 0.0
            elif count <= spare or b[x] > b[top[spare]]:
                i = min(count, spare)
                while i > 0 and b[top[i - 1]] < b[x]:
                    top[i] = top[i - 1]
                    i -= 1
                top[i] = x
                count = min(count + 1, spare + 1)
    return count


@part
def lowered(l: Array, b: Array, least: float, slack: float) -> bool:
    """q_x <= 1 - (what all others have at least); whether that changes much."""
    changed = False
    for x in range(l.size):
        ceiling = 1.0 - (least - l[x]) + slack
        if b[x] > 0.0 and ceiling < b[x]:
            changed = changed or ceiling < 0.95 * b[x]
            b[x] = max(ceiling, 0.0)
    return changed


@part
def raised(l: Array, b: Array, most: float, slack: float, top: Integers, used: int, runner_up: float) -> bool:
    """q_x >= 1 - (what all others have at most); whether that changes much. Of the free letters the first in top count, or the next."""
    changed = False
    for x in range(l.size):
        others = most - b[x] if l[x] > 0.0 else most
        if l[x] == 0.0:
            for i in range(used):
                if top[i] == x:
                    others = most - b[x] + runner_up
        base = 1.0 - others - slack * (1.0 + most)
        if base > l[x]:
            changed = changed or l[x] == 0.0
            l[x] = base
    return changed


@part
def propagate(l: Array, b: Array, r: int, top: Integers) -> bool:
    """Shrink a box, rounding outward, by sum q = 1 and at most r letters in use; False if nothing is left."""
    slack = 4.0 * (r + 4) * EPS
    for _ in range(3):
        spare, least, most = r, 0.0, 0.0
        for x in range(l.size):
            if l[x] > b[x]:
                return False
            if l[x] > 0.0:
                spare, least, most = spare - 1, least + l[x], most + b[x]
        if spare < 0:
            return False
        count = largest_free(l, b, spare, top)
        used = min(count, spare)
        for i in range(used):
            most += b[top[i]]
        most, least = most * (1.0 + slack), least * (1.0 - slack)
        if most < 1.0 or least > 1.0:
            return False
        runner_up = b[top[spare]] if count > spare else 0.0
        changed = lowered(l, b, least, slack)
        if not (raised(l, b, most, slack, top, used, runner_up) or changed):
            break
    return True


@part
def prepare(search: PosteriorBoxes, work: BoxWork) -> int:
    """Active letters, secants, and a q in the box with sum 1 near the guess; how many letters."""
    l, b, q = work.l, work.b, work.q
    n, count, total = l.size, 0, 0.0
    for x in range(n):
        work.cut[x, 0], work.cut[x, 1] = b[x], l[x]
        if not b[x] > 0.0:
            q[x] = 0.0
            continue
        work.active[count] = x
        count += 1
        work.h_l[x], work.h_b[x] = entropy(l[x]), entropy(b[x])
        slope = (work.h_b[x] - work.h_l[x]) / (b[x] - l[x]) if b[x] > l[x] else 0.0
        work.line[x] = slope - search.lam[x]
        q[x] = min(max(q[x], l[x]), b[x])
        total += q[x]
    # Take what is too much from, or give what is missing to, all in proportion to what they can.
    space = 0.0
    for i in range(count):
        x = work.active[i]
        space += q[x] - l[x] if total > 1.0 else b[x] - q[x]
    share = min(abs(1.0 - total) / space, 1.0) if space > 0.0 else 0.0
    work.u[:] = 0.0
    for i in range(count):
        x = work.active[i]
        q[x] += share * (l[x] - q[x] if total > 1.0 else b[x] - q[x])
        if q[x] - l[x] < 1e-14:  # not worth moving
            q[x] = l[x]
        for y in range(work.u.size):
            work.u[y] += q[x] * search.T[x, y]
    return count


@part
def slopes(search: PosteriorBoxes, work: BoxWork, count: int) -> None:
    """Log v into w, beta T.w and the relaxation's slope at every active letter into tangent and c."""
    smoothed_logs(work.u, work.w)
    fill_tangents(search.T, work.w, search.number[BETA], work.active, count, work.tangent)
    for i in range(count):
        x = work.active[i]
        work.c[x] = work.line[x] + work.tangent[x]


@part
def bounded(search: PosteriorBoxes, work: BoxWork, count: int) -> float:
    """B, rounded downward, for the v of `slopes` and the best nu; leaves nu, k_x and M_x."""
    cost, width, left = np.empty(count), np.empty(count), 1.0
    for i in range(count):
        x = work.active[i]
        cost[i], width[i] = work.c[x], work.b[x] - work.l[x]
        left -= work.l[x]
    nu = slope_of_last(cost, width, left)
    work.nu[0] = nu
    relative = search.number[RELATIVE]
    total, size = nu, abs(nu)
    for i in range(count):
        x = work.active[i]
        tangent, lam = work.tangent[x], search.lam[x]
        k = (tangent - lam - nu) - relative * (abs(tangent) + abs(lam) + abs(nu))
        least = min(phi(work.h_l[x], k, work.l[x]), phi(work.h_b[x], k, work.b[x]))
        work.k[x], work.least[x] = k, least
        total += least
        size += abs(least)
    return total - (count + 8) * EPS * size - float(search.number[ERROR])


@part
def best_move(search: PosteriorBoxes, work: BoxWork, count: int) -> tuple[int, int]:
    """The letter of least slope that can take mass, and that to take it from: the one that wins most; -1 if nothing wins 1e-12."""
    q, c, up, down, gain = work.q, work.c, -1, -1, 1e-12
    for i in range(count):
        x = work.active[i]
        if q[x] < work.b[x] and (up < 0 or c[x] < c[up]):
            up = x
    fill_sharp(work.u, work.sharp)
    for i in range(count):
        x = work.active[i]
        if up >= 0 and q[x] > work.l[x] and c[x] > c[up]:
            won = worth(search.T, up, x, work.sharp, search.number[BETA], c[x] - c[up], q[x] - work.l[x])
            if won > gain:
                gain, down = won, x
    return up, down


@part
def value_of_relaxation(search: PosteriorBoxes, work: BoxWork, count: int) -> float:
    """sum_x (secant of h at q_x) - lambda.q - beta H(u)."""
    value = 0.0
    for i in range(count):
        x = work.active[i]
        value += work.h_l[x] + (work.line[x] + search.lam[x]) * (work.q[x] - work.l[x]) - search.lam[x] * work.q[x]
    for y in range(work.u.size):
        value -= search.number[BETA] * entropy(work.u[y])
    return value


@part
def relaxed(search: PosteriorBoxes, work: BoxWork, count: int) -> float:
    """Minimise the relaxation by moves between two letters; B. Stops early if the cell is done, or cannot be."""
    q, l, b = work.q, work.l, work.b
    for step in range(STEPS + 1):
        slopes(search, work, count)
        up, down = best_move(search, work, count)
        last = down < 0 or step == STEPS
        if last or step % LOOK == LOOK - 1:
            best = bounded(search, work, count)
            if last or known_enough(best, value_of_relaxation(search, work, count), search.number[FLOOR]):
                return best
        for y in range(work.D.size):
            work.D[y] = search.T[up, y] - search.T[down, y]
        most = min(b[up] - q[up], q[down] - l[down])
        t = step_length(work.u, work.D, work.line[up] - work.line[down], search.number[BETA], most)
        if t <= 0.0:
            break
        q[up] = b[up] if t >= b[up] - q[up] else q[up] + t
        q[down] = l[down] if t >= q[down] - l[down] else q[down] - t
        move(work.u, work.D, t)
    return bounded(search, work, count)


@part
def settle(search: PosteriorBoxes, work: BoxWork, trail: BoxTrail) -> None:
    """Bound a cell and shrink it while that helps, or until nothing below the floor is left in it; the trail says how."""
    floor, r = search.number[FLOOR], search.tally[RANK]
    trail.rounds[:] = 0
    for row in range(ROUNDS):
        if not propagate(work.l, work.b, r, work.top):
            trail.rounds[1] = 1
            return
        count = prepare(search, work)
        found = relaxed(search, work, count)
        share = shrunk_by_bound(work.l, work.b, work.k, work.least, floor - found, work.cut) if found < floor else 0.0
        trail.nu[row], trail.bound[row] = work.nu[0], found
        copy_row(work.w, trail.w[row])
        copy_row(work.l, trail.l[row])
        copy_row(work.b, trail.b[row])
        trail.rounds[0] = row + 1
        if found >= floor or not share > SHRUNK:
            return


@part
def place_of_cut(search: PosteriorBoxes, work: BoxWork, levels: Levels) -> tuple[int, float, float]:
    """The letter whose secant is furthest below h where the relaxation is least, and what to leave out of its range; NaN if nothing can."""
    letter = letter_to_cut(work.l, work.b, work.q)
    if letter < 0:
        return 0, np.nan, np.nan
    l, b = work.l[letter], work.b[letter]
    t1, t2 = max(work.cut[letter, 0], l), min(work.cut[letter, 1], b)
    if t1 < t2:
        if leaves_out(levels, letter, t1, t2):
            return letter, t1, t2
        search.tally[MISTAKES] += 1
    t = place_inside(l, b, work.q[letter])
    return letter, t, t


@part
def keep(search: PosteriorBoxes, work: BoxWork, levels: Levels, bound: float) -> None:
    """Let a cell wait, if it can be cut and there is room."""
    letter, t1, t2 = place_of_cut(search, work, levels)
    if t1 != t1 or search.tally[WAITING] >= search.heap.size:
        give_up(search.number, search.tally, bound)
        return
    cell = let_wait(search.heap, search.key, search.tally, bound)
    search.letter[cell], search.cut[cell, 0], search.cut[cell, 1] = letter, t1, t2
    copy_row(work.l, search.low[cell])
    copy_row(work.b, search.high[cell])
    copy_row(work.q, search.guess[cell])


@inlined
def visit(search: PosteriorBoxes, work: BoxWork, trail: BoxTrail, inherited: float) -> None:
    """Settle the cell in `work` and follow the trail; keep what holds of it, and look for a violation in it, if it is not done."""
    count_cell(search.tally)
    l, b = work.l.copy(), work.b.copy()
    settle(search, work, trail)
    bound, mistakes, levels = followed(search.T, search.lam, search.number, search.tally[RANK], l, b, trail)
    search.tally[MISTAKES] += mistakes
    if bound < np.inf:
        copy_row(l, work.l)
        copy_row(b, work.b)
        explore(search, work.q)
        keep(search, work, levels, max(inherited, bound))


@entry
def advance_boxes(search: PosteriorBoxes, cells: int) -> bool:
    """Bound at most so many cells, in pairs, at first the whole simplex; True while cells wait and the search should go on."""
    work, (n, m) = workspace(search), search.T.shape
    trail = BoxTrail(
        np.empty((ROUNDS, n)),
        np.empty((ROUNDS, n)),
        np.empty((ROUNDS, m)),
        np.empty(ROUNDS),
        np.empty(ROUNDS),
        np.empty(2, np.int64),
    )
    last = max(search.tally[CELLS], 1) + cells - 1
    low, high, guess, sides = np.zeros(n), np.ones(n), np.full(n, 1.0 / n), 1
    letter, t1, t2, bound = 0, 1.0, 1.0, -np.inf
    while True:
        if search.tally[CELLS] > 0:
            cell = next_cell(search.heap, search.key, search.tally, search.found, last)
            if cell < 0:
                return bool(search.tally[WAITING] > 0 and not enough(search.tally, search.found))
            copy_row(search.low[cell], low)
            copy_row(search.high[cell], high)
            copy_row(search.guess[cell], guess)
            letter, t1, t2, bound, sides = (
                search.letter[cell],
                search.cut[cell, 0],
                search.cut[cell, 1],
                search.key[cell],
                2,
            )
        for side in range(sides):
            copy_row(low, work.l)
            copy_row(high, work.b)
            copy_row(guess, work.q)
            if side == 0:
                work.b[letter] = t1
            else:
                work.l[letter] = t2
            visit(search, work, trail, bound)
