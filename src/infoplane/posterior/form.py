"""The posterior form: with p(z) and q_z = p(x|z), sum_z p(z) q_z = p_x, a Lagrangian whose rho sum to 0 is a mean of one function,

    bottleneck  rho_zy (gamma H(X) - H(Y) + sum_z p(z) f(q_z)),    f(q) = H(Tq) - gamma H(q),
    funnel      scale (beta H(Y) - H(X) + sum_z p(z) f(q_z)),      f(q) = H(q) - beta H(Tq),

so that its minimum is a constant plus the lower convex envelope of f at p_x, and any multipliers lambda with f(q) - lambda.q >= m for all q
prove min sum_z p(z) f(q_z) >= lambda.p_x + m.

Letters of X with the same p(y|x) are one letter to the bottleneck. Let c(x) be the class of x, classes being letters with equal columns of
T, and lambda'_c multipliers of the joint of (c(X), Y). Then

    lambda_x = lambda'_c(x) + gamma log(p(x) / p(c(x)))

are multipliers of (X, Y) with gamma H(X) + lambda.p_x = gamma H(c(X)) + lambda'.p_c and the same minimum of f(q) - lambda.q, because both
enter it through sum_{x in c} exp(lambda_x / gamma) = exp(lambda'_c / gamma). Tables of counts have many such letters: those seen once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..errors import UnsupportedProblemError
from ..information import Array, IntArray, entr, log_or_zero
from ..joint.joint import Joint, Support
from ..kernels.common.numerics import UNIT
from ..problem import MarkovLagrangian, is_bottleneck, is_funnel

MOST_SUBSETS, MOST_PAIRS = 1 << 12, 1 << 22
"""Subsets of Y, and pairs of letters x, that Dobrushin's coefficient is looked for among: milliseconds."""


def bottleneck_refusal(problem: MarkovLagrangian) -> str | None:
    """Why no posterior form bounds a problem from below, or None."""
    if is_bottleneck(problem):
        return None
    rho_z, rho_zx, rho_zy = problem.rho
    return (
        "the bottleneck's certificate needs rho_zx < 0 < rho_zy and rho_z + rho_zx + rho_zy = 0, any multiple of "
        f"gamma I(X;Z) - I(Y;Z); found rho = ({rho_z:g}, {rho_zx:g}, {rho_zy:g})."
    )


def gamma_of(problem: MarkovLagrangian) -> float:
    """Gamma of the problem as rho_zy (gamma I(X;Z) - I(Y;Z)); refuses any other."""
    if reason := bottleneck_refusal(problem):
        raise UnsupportedProblemError(reason)
    return -problem.rho_zx / problem.rho_zy


class Scaled(NamedTuple):
    """L = scale (beta I(Y;Z) - I(X;Z))."""

    scale: float
    beta: float


def funnel_refusal(problem: MarkovLagrangian) -> str | None:
    """Why a problem is no multiple of the privacy funnel, or None."""
    if is_funnel(problem):
        return None
    rho_z, rho_zx, rho_zy = problem.rho
    return (
        "columns solves the privacy funnel and its multiples, rho_zx > 0 >= rho_zy with rho_z + rho_zx + rho_zy = 0; found rho = "
        f"({rho_z:g}, {rho_zx:g}, {rho_zy:g})."
    )


def scaled(problem: MarkovLagrangian) -> Scaled:
    """A funnel's scale and beta."""
    if reason := funnel_refusal(problem):
        raise UnsupportedProblemError(reason)
    return Scaled(problem.rho_zx, max(-problem.rho_zy, 0.0) / problem.rho_zx)


def constant(support: Support, beta: float) -> float:
    """Beta H(Y) - H(X): what turns the programme's value into beta I(Y;Z) - I(X;Z)."""
    return beta * float(entr(support.p_y).sum()) - float(entr(support.p_x).sum())


def posteriors(support: Support, W: Array) -> Array:
    """q_z = p(x|z), one column per cluster of positive mass."""
    joint = (W * support.p_x).T
    return joint[:, joint.sum(axis=0) > 0.0]


def own_multipliers(support: Support, W: Array, beta: float) -> Array:
    """lambda_x = sum_z p(z|x) (beta sum_y T[y,x] log p(y|z) - log p(x|z)): an encoder's own multipliers.

    Moving a little mass to a new cluster with posterior q, taken from the others in proportion to p(z|x), changes the loss by
    f(q) - lambda.q a unit of mass. As lambda.p_x = sum p(z) f(q_z), an encoder is optimal exactly if no q makes this negative.
    """
    Q = posteriors(support, W)
    Q = Q / Q.sum(axis=0)
    u = support.T @ Q
    slope = beta * (support.T.T @ log_or_zero(u)) - log_or_zero(Q)
    lam: Array = (W[W.sum(axis=1) > 0.0].T * slope).sum(axis=1)
    return lam


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


SAME = 16.0 * UNIT
"""Relative difference of p(y|x) up to which columns are equal; counted in `slack`."""


class Letters:
    """The classes of a support's letters, and the joint of class and Y."""

    def __init__(self, support: Support) -> None:
        self.whole, self.support = support, support
        self.classes: IntArray | None = None
        columns = support.T.T
        _, first, classes = np.unique(np.round(columns, 12), axis=0, return_index=True, return_inverse=True)
        classes = classes.reshape(-1)
        alike = columns[first[classes]]
        alone = (np.abs(columns - alike) > SAME * alike).any(axis=1)
        classes = np.where(alone, len(first) + np.arange(len(classes)), classes)
        _, first, classes = np.unique(classes, return_index=True, return_inverse=True)
        if len(first) == len(columns):
            return
        self.classes = classes
        mass = np.bincount(classes, weights=support.p_x)
        self.support = Support(Joint.from_counts(mass[:, None] * columns[first]))

    def spread(self, lam: Array, gamma: float) -> Array:
        """Multipliers of the letters from those of their classes."""
        if self.classes is None:
            return lam
        mass = self.support.p_x[self.classes]
        return np.asarray(lam[self.classes] + gamma * np.log(self.whole.p_x / mass))

    def rounding(self, gamma: float) -> float:
        """What merging may do to a bound by rounding: of p(c), and of the logarithms."""
        if self.classes is None:
            return 0.0
        spread = float(np.log(self.support.p_x[self.classes] / self.whole.p_x).max())
        return 4.0 * UNIT * gamma * (len(self.classes) + 16.0 + 8.0 * spread)
