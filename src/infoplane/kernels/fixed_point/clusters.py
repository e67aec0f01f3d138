"""Clusters that a run does not need, found from q(z, y): those without mass; and, of a bottleneck, those that are all but equal.

Merging z and z' loses (q(z) + q(z')) JS[p(y|z), p(y|z')] nats of I(Y;Z), of which the second-order term is used here. Clusters that will
end up equal, or empty, approach that along a direction in which the map has slope 1: iterations converge slowly there, and
every extrapolation is ill-conditioned.
"""

import numpy as np

from ...information import Array
from ...runtime.compiling import inlined, part
from ..common.numerics import regrouped
from ..common.rows import Flags, mark_dead, move_up, move_up_blocks

CHEAP = 1e-6  # nats up to which a merge, and mass up to which leaving out a shrinking cluster, is tried
EQUAL = 1e-12  # nats that a merge costs if its clusters differ by rounding only


@inlined
def without_dead(q: Array, W: Array, L: Array, keep: Flags) -> int:
    """Move the clusters that have mass to the front of q, W and L, in place; returns how many there are. ``keep`` is scratch."""
    n, dead = q.shape[0], mark_dead(q, keep)
    if dead > 0:
        move_up(q, keep[:n])
        move_up_blocks(W, keep[:n])
        move_up_blocks(L, keep[:n])
    return n - dead


@regrouped
def _merge_cost(q: Array, z: int, other: int, mass: float, other_mass: float) -> float:
    """(m m' / 2) sum_y (p(y|z) - p(y|z'))^2 / (q(z,y) + q(z',y)): the second-order term of the loss of I(Y;Z)."""
    total = 0.0
    for y in range(q.shape[1]):
        both = q[z, y] + q[other, y]
        gap = q[z, y] * other_mass - q[other, y] * mass
        total += gap * gap / both if both > 0.0 else 0.0
    return 0.5 * total / (mass * other_mass)


@part
def reduce(q: Array, q_old: Array, cheap: float, keep: Flags) -> int:
    """Merge pairs of rows of q that cost less than ``cheap``, in place, and drop shrinking clusters with less mass than that.

    Marks the rows that stay, and returns how many there are.
    """
    n = q.shape[0]
    mass, mass_old = np.zeros(n), np.zeros(n)
    for z in range(n):
        keep[z] = True
        for y in range(q.shape[1]):
            mass[z] += q[z, y]
            mass_old[z] += q_old[z, y]
    stay = n
    for z in range(n):
        if mass[z] < cheap and mass[z] < mass_old[z] and stay > 1:
            keep[z] = False
            stay -= 1
    for z in range(n):  # a small cluster that grows would cost little to merge, but is on its way to become a large one
        for other in range(z if mass[z] >= cheap else 0):
            if (
                keep[z]
                and keep[other]
                and mass[other] >= cheap
                and _merge_cost(q, z, other, mass[z], mass[other]) < cheap
            ):
                for y in range(q.shape[1]):
                    q[other, y] += q[z, y]
                mass[other] += mass[z]
                keep[z] = False
                stay -= 1
    return stay
