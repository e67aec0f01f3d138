"""I(X;Z), I(Y;Z) and the Lagrangian, from p(x, y) and an encoder alone: explicit sums, rounded once (`math.fsum`); nats."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

Which = np.ndarray[tuple[int, ...], np.dtype[Any]]
"""Which rows: their numbers, or whether."""

UNIT = 2.0**-53
"""Half the distance from 1 to the next number: what rounding may change, relatively."""


class Recomputed(NamedTuple):
    """Of one encoder; nats."""

    ixz: float
    iyz: float
    loss: float


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
