"""Letters moved from cluster to cluster, one at a time, compiled: the sequential descent of a Lagrangian over hard partitions.

For a map x -> z H(Z|X) = 0, and up to a constant L = sum_z G(z), G(z) = rho_z h(q(z)) + rho_zy sum_y h(q(z, y)), h(t) = -t log t. So
letter x goes from z to the cluster z' where G(z' + x) - G(z') is least, if that is below G(z) - G(z - x). Only the y with p(x, y) > 0 take
part: a table with few of them in a row costs little, however many clusters there are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..information import Array
from ..runtime.compiling import entry, part
from .common.numerics import log, regrouped
from .common.rows import Integers


class HardClusters(NamedTuple):
    """A map x -> z with its tables; updated in place."""

    labels: Integers  # (|X|,)
    size: Integers  # (|Z|,)   letters in each cluster
    mass: Array  # (|Z|,)      q(z)
    h_mass: Array  # (|Z|,)    h(q(z))
    q: Array  # (|Y|, |Z|)     q(z, y)
    h_q: Array  # (|Y|, |Z|)   h(q(z, y))


class LetterRows(NamedTuple):
    """P row by row (CSR)."""

    rows: Integers  # (|X| + 1,)
    columns: Integers
    masses: Array
    p_x: Array  # (|X|,)


@part
def h(t: float) -> float:
    """-t log t."""
    return -t * math.log(t) if t > 0.0 else 0.0


@regrouped
def add_gains(q: Array, h_q: Array, p: float, rho: float, gain: Array) -> None:
    """Adds rho (h(q + p) - h(q)) for every cluster; p > 0."""
    for z in range(q.size):
        t = q[z] + p
        gain[z] -= rho * (t * log(t) + h_q[z])


@part
def put(letters: LetterRows, there: HardClusters, x: int, z: int, sign: float) -> None:
    """Adds letter x to cluster z, or takes it out (sign -1); an empty cluster has exactly no mass."""
    there.size[z] += 1 if sign > 0.0 else -1
    empty = there.size[z] == 0
    there.mass[z] = 0.0 if empty else max(there.mass[z] + sign * letters.p_x[x], 0.0)
    there.h_mass[z] = h(there.mass[z])
    for i in range(letters.rows[x], letters.rows[x + 1]):
        y = letters.columns[i]
        there.q[y, z] = 0.0 if empty else max(there.q[y, z] + sign * letters.masses[i], 0.0)
        there.h_q[y, z] = h(there.q[y, z])


@entry
def move_letters(
    letters: LetterRows, there: HardClusters, order: Integers, rho_z: float, rho_zy: float, gain: Array
) -> tuple[int, float]:
    """Every letter of ``order`` once, to where L is least; how many moved, and the fall of L in nats. ``gain`` has room for |Z| numbers."""
    moved, fall, clusters = 0, 0.0, there.mass.size
    for x in order:
        home = there.labels[x]
        put(letters, there, x, home, -1.0)
        for z in range(clusters):
            gain[z] = 0.0
        add_gains(there.mass, there.h_mass, letters.p_x[x], rho_z, gain)
        for i in range(letters.rows[x], letters.rows[x + 1]):
            y = letters.columns[i]
            add_gains(there.q[y], there.h_q[y], letters.masses[i], rho_zy, gain)
        best = home
        for z in range(clusters):
            # A move must gain more than rounding.
            if gain[z] < gain[best] - (1e-14 if best == home else 0.0):
                best = z
        fall += gain[home] - gain[best]
        moved += best != home
        there.labels[x] = best
        put(letters, there, x, best, 1.0)
    return moved, fall
