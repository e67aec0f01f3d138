"""I(X;Z), I(Y;Z) and the Lagrangian, from p(x, y) and an encoder alone: explicit sums, rounded once (`math.fsum`); nats.

And the two comparisons that a proof may rest on: what is not a finite number is neither at most nor above anything.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

Which = np.ndarray[tuple[int, ...], np.dtype[Any]]
"""Which rows: their numbers, or whether."""

UNIT = 2.0**-53
"""Half the distance from 1 to the next number: what rounding may change, relatively."""


def at_most(low: Any, high: Any) -> Any:
    """Entry by entry: low <= high, and both are finite numbers. NaN and infinity prove nothing."""
    return np.isfinite(low) & np.isfinite(high) & (low <= high)


def above(high: Any, low: Any) -> Any:
    """Entry by entry: high > low, and both are finite numbers."""
    return np.isfinite(low) & np.isfinite(high) & (high > low)


class Recomputed(NamedTuple):
    """Of one encoder; nats."""

    ixz: float
    iyz: float
    loss: float
    iuz: float = math.nan
    isz: float = math.nan
    """What it says of the target to keep and of that to hide, if there are these two."""


def h(t: Any) -> Any:
    """-t log t, 0 at 0."""
    return -t * np.log(np.where(t > 0.0, t, 1.0))


def entropy(p: Array) -> float:
    """H(p) = -sum p log p."""
    return math.fsum(h(p).ravel().tolist())


def recomputed(P: Array, W: Array, rho: tuple[float, float, float]) -> Recomputed:
    """I(X;Z) = H(Z) - H(Z|X), I(Y;Z) = H(Z) - H(Z|Y), and rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y)."""
    p_x, p_y = P.sum(axis=1), P.sum(axis=0)
    h_z = entropy(W @ p_x)
    h_zx = math.fsum((h(W) * p_x).ravel().tolist())
    h_zy = entropy(W @ P) - entropy(p_y)
    return Recomputed(h_z - h_zx, h_z - h_zy, math.fsum([rho[0] * h_z, rho[1] * h_zx, rho[2] * h_zy]))


def recomputed_tasks(P: Array, W: Array, rho: tuple[float, float, float], kept: Which) -> Recomputed:
    """The same of a table in which U and S stand side by side, each with half of the mass: gamma I(X;Z) - keep I(U;Z) + hide I(S;Z)."""
    both = recomputed(P, W, (0.0, 0.0, 1.0))
    told = [recomputed(2.0 * P[:, part], W, (0.0, 0.0, 1.0)) for part in (kept, ~kept)]
    iuz, isz = told[0].iyz, told[1].iyz
    return Recomputed(both.ixz, both.iyz, math.fsum([-rho[0] * both.ixz, -rho[1] * iuz, -rho[2] * isz]), iuz, isz)


def rounding(x: int, y: int, z: int) -> float:
    """More than what rounding does to I(X;Z) and I(Y;Z), here and where the file was made; times the sum of the |rho|, to a loss.

    A cell of p(z), p(z, x) or p(z, y) is a sum of |X| products of a p(z|x) and a sum of |Y|; its -t log t is right to |X| + |Y| + 8 units
    of t + h(t), and an entropy to as many of 1 + log of its cells. A column of p(z|x) is a distribution to 4 |Z| units (`claims.py`).
    """
    return 4.0 * (x + y + 4.0 * z + 32.0) * UNIT * (1.0 + math.log(x * y * z))
