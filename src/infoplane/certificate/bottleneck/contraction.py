"""Bounds of the bottleneck that always hold, whatever |Y| is: contraction, and both ends of the curve.

    I(Y;Z) <= eta I(X;Z),   I(Y;Z) <= I(X;Y)   =>   gamma I(X;Z) - I(Y;Z) >= -max(0, 1 - gamma/eta) I(X;Y)

eta is Dobrushin's coefficient max_{x,x'} TV(p(y|x), p(y|x')), which bounds the strong data-processing constant of Kullback-Leibler
divergence from above (proof: docs/explanation/certificates.md). The squared maximal correlation bounds it from below: no use here.
"""

from __future__ import annotations

from ...information import mutual_information
from ...joint.support import Support
from ...kernels.common.numerics import UNIT
from ...posterior.form import dobrushin, imbalance
from ...problem import MarkovLagrangian


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
