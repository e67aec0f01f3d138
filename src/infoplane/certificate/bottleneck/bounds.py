"""Bounds of the bottleneck that always hold, whatever |Y| is: contraction, and both ends of the curve.

    I(Y;Z) <= eta I(X;Z),   I(Y;Z) <= I(X;Y)   =>   gamma I(X;Z) - I(Y;Z) >= -max(0, 1 - gamma/eta) I(X;Y)

eta is Dobrushin's coefficient max_{x,x'} TV(p(y|x), p(y|x')), which bounds the strong data-processing constant of Kullback-Leibler
divergence from above (proof in docs/certificates.md). The squared maximal correlation bounds it from below, so it may not be used here.
"""

from __future__ import annotations

import math

import numpy as np

from ...information import Array, mutual_information
from ...joint.support import Support
from ...kernels.bottleneck_proof.cell_bound import UNIT
from ...problem import MarkovLagrangian

MOST_SUBSETS = 1 << 12
MOST_PAIRS = 1 << 22


def dobrushin(T: Array) -> float:
    """max_{x,x'} TV(T_x, T_x') = max_A (max_x T(A|x) - min_x T(A|x)); T[y, x] = p(y|x).

    By subsets A of Y, or by pairs of x, whichever is fewer; if both are too many, Doeblin's 1 - sum_y min_x p(y|x), which is no smaller.
    """
    n_y, n_x = T.shape
    if 2 ** min(n_y - 1, 60) <= min(MOST_SUBSETS, n_x * n_x):
        subsets = (np.arange(2 ** (n_y - 1))[:, None] >> np.arange(n_y - 1)) & 1
        mass = subsets.astype(float) @ T[: n_y - 1]
        return float((mass.max(axis=1) - mass.min(axis=1)).max())
    if n_x * n_x <= MOST_PAIRS:
        return max(0.5 * float(np.abs(T - T[:, x : x + 1]).sum(axis=0).max()) for x in range(n_x))
    return float(max(1.0 - T.min(axis=1).sum(), 0.0))


def imbalance(support: Support, problem: MarkovLagrangian) -> float:
    """|rho_z + rho_zx + rho_zy| log |X|: what a sum that rounding keeps from 0 can do to the loss of an encoder with |Z| <= |X|."""
    return abs(sum(problem.rho)) * math.log(max(len(support.p_x), 2))


def contraction_bound(support: Support, problem: MarkovLagrangian) -> float:
    """-rho_zy max(0, 1 - gamma/eta) I(X;Y), rounded down: a lower bound of every encoder's loss, in nats."""
    gamma = -problem.rho_zx / problem.rho_zy
    n_x, n_y = support.P.shape
    off = imbalance(support, problem)
    if gamma >= 1.0:
        return -off
    eta = min(dobrushin(support.T) + 4.0 * (n_y + 4.0) * UNIT, 1.0)
    if gamma >= eta:
        return -off
    information = mutual_information(support.P)
    rounding = 4.0 * (n_x + n_y + 32.0) * UNIT * (information + 1.0)
    return -problem.rho_zy * (1.0 - gamma / eta) * (information + rounding) - off
