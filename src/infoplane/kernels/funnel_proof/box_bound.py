"""How low g can be in a box l <= q <= b, and what of the box can be below the floor.

    g(q) = H(q) - beta H(Tq) - lambda.q.   For any distribution v on Y and any number nu, with phi_x(t) = h(t) + k_x t,
    k_x = beta sum_y T[x,y] log v_y - lambda_x - nu and M_x = min(phi_x(l_x), phi_x(b_x)), every q of the box has exactly

        g(q) = B + sum_x (phi_x(q_x) - M_x) + beta KL(Tq || v),      B = nu + sum_x M_x,      every term after B >= 0

(phi_x is concave). So g >= B; and where g < floor, phi_x(q_x) - M_x <= floor - B for every x, which shrinks the ranges, or leaves two
pieces of one. The best v is Tq for the q that minimises the convex relaxation, H replaced by its secants, and nu its multiplier of
sum q = 1. Rounding is covered term by term, see docs/explanation/exact_funnel.md.
"""

import numpy as np

from ...runtime.compiling import part
from ..common.numerics import EPS
from ..common.rows import copy_row
from .box_cells import BoxRoom, PosteriorBoxes, propagate
from .ranges import entropy, excluded, phi
from .recheck import BoxTrail
from .relaxation import LOOK, ROUNDS, SHRUNK, STEPS, smoothed_logs, step_length
from .search import BETA, ERROR, FLOOR, RANK, RELATIVE


@part
def prepare(search: PosteriorBoxes, work: BoxRoom) -> int:
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
    # Take what is too much from, or give what is missing to, all in proportion to their room.
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
def slopes(search: PosteriorBoxes, work: BoxRoom, count: int) -> None:
    """Log v into w, beta T.w and the relaxation's slope at every active letter into tangent and c."""
    beta, m = search.number[BETA], work.w.size
    smoothed_logs(work.u, work.w)
    for i in range(count):
        x = work.active[i]
        tangent = 0.0
        for y in range(m):
            tangent += search.T[x, y] * work.w[y]
        work.tangent[x] = beta * tangent
        work.c[x] = work.line[x] + work.tangent[x]


@part
def bounded(search: PosteriorBoxes, work: BoxRoom, count: int) -> float:
    """B, rounded downward, for the v of `slopes` and the best nu; leaves nu, k_x and M_x."""
    costs = np.empty(count)
    room = 1.0
    for i in range(count):
        x = work.active[i]
        costs[i] = work.c[x]
        room -= work.l[x]
    # The cheapest letters are filled up; nu is the slope of the last.
    nu = 0.0
    for i in np.argsort(costs):
        nu = costs[i]
        room -= work.b[work.active[i]] - work.l[work.active[i]]
        if room <= 0.0:
            break
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
def relaxed(search: PosteriorBoxes, work: BoxRoom, count: int) -> float:
    """Minimise the relaxation by moves between two letters; B. Stops early if the cell is done, or cannot be."""
    beta, floor, m = search.number[BETA], search.number[FLOOR], work.u.size
    q, c, T = work.q, work.c, search.T
    best = -np.inf
    for step in range(STEPS + 1):
        slopes(search, work, count)
        up = down = -1
        for i in range(count):
            x = work.active[i]
            if q[x] < work.b[x] and (up < 0 or c[x] < c[up]):
                up = x
        # Of the letters to take from, that with the largest fall by a quadratic model.
        gain = 0.0
        for y in range(m):
            work.sharp[y] = 1.0 / (work.u[y] + 1e-9)
        if up >= 0:
            for i in range(count):
                x = work.active[i]
                if q[x] > work.l[x] and c[x] > c[up]:
                    bend = 0.0
                    for y in range(m):
                        d = T[x, y] - T[up, y]
                        bend += d * d * work.sharp[y]
                    fall = c[x] - c[up]
                    # No more than all of it can be moved.
                    move = min(q[x] - work.l[x], fall / (beta * bend + 1e-300))
                    worth = fall * move - 0.5 * beta * bend * move * move
                    if worth > gain:
                        gain, down = worth, x
        last = down < 0 or step == STEPS or gain < 1e-12
        if last or step % LOOK == LOOK - 1:
            value = 0.0
            for i in range(count):
                x = work.active[i]
                secant = work.h_l[x] + (work.line[x] + search.lam[x]) * (q[x] - work.l[x])
                value += secant - search.lam[x] * q[x]
            for y in range(m):
                value -= beta * entropy(work.u[y])
            best = bounded(search, work, count)
            # If the relaxation itself is below the floor, a tenth of the distance is exact enough.
            if last or best >= floor or (value < floor and value - best < 0.1 * (floor - value)):
                break
        for y in range(m):
            work.D[y] = T[up, y] - T[down, y]
        most = min(work.b[up] - q[up], q[down] - work.l[down])
        t = step_length(work.u, work.D, work.line[up] - work.line[down], beta, most)
        if t <= 0.0:
            best = bounded(search, work, count)
            break
        q[up] = work.b[up] if t >= work.b[up] - q[up] else q[up] + t
        q[down] = work.l[down] if t >= q[down] - work.l[down] else q[down] - t
        for y in range(m):
            work.u[y] = max(work.u[y] + t * work.D[y], 0.0)
    return best


@part
def reduced(search: PosteriorBoxes, work: BoxRoom, count: int, bound: float) -> float:
    """Shrink every range by phi_x(q_x) - M_x <= floor - B; the share of the widths that went."""
    rho = (search.number[FLOOR] - bound) * (1.0 + 4.0 * EPS)
    before, after = 0.0, 0.0
    for i in range(count):
        x = work.active[i]
        l, b = work.l[x], work.b[x]
        before += b - l
        level = work.least[x] + rho + 4.0 * EPS * (abs(work.least[x]) + rho)
        t1, t2 = excluded(work.k[x], l, b, level)
        if t1 < t2:
            if t1 <= l:
                work.l[x] = t2
            elif t2 >= b:
                work.b[x] = t1
            else:
                work.cut[x, 0], work.cut[x, 1] = t1, t2
        after += work.b[x] - work.l[x]
    return (before - after) / before if before > 0.0 else 0.0


@part
def settle(search: PosteriorBoxes, work: BoxRoom, trail: BoxTrail) -> None:
    """Bound a cell and shrink it while that helps, or until nothing below the floor is left in it; the trail says how."""
    floor, r = search.number[FLOOR], search.tally[RANK]
    trail.rounds[:] = 0
    for row in range(ROUNDS):
        if not propagate(work.l, work.b, r, work.top):
            trail.rounds[1] = 1
            return
        count = prepare(search, work)
        found = relaxed(search, work, count)
        share = reduced(search, work, count, found) if found < floor else 0.0
        trail.nu[row], trail.bound[row] = work.nu[0], found
        copy_row(work.w, trail.w[row])
        copy_row(work.l, trail.l[row])
        copy_row(work.b, trail.b[row])
        trail.rounds[0] = row + 1
        if found >= floor or not share > SHRUNK:
            return
