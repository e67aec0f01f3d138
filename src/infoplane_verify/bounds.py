"""Bounds that need no search, and multipliers that an encoder brings itself; all for letters of positive mass, T with a row per x.

    bottleneck:  gamma I(X;Z) - I(Y;Z) >= -max(0, 1 - gamma/eta) I(X;Y),   eta = max over x, x' of TV(T_x, T_x')
    funnel:      beta I(Y;Z) - I(X;Z)  >= min(0, beta - 1) I(X;Y) - H(X|Y)

(docs/explanation/certificates.md and docs/explanation/exact_funnel.md have the proofs).
"""

from __future__ import annotations

import numpy as np

from .numbers import UNIT, Array, entropy

MOST_PAIRS = 1_000_000_000
"""Numbers of T that are compared to find eta, a second or two; beyond, its largest value, 1, will do."""


def contraction(P: Array, gamma: float) -> float:
    """The bottleneck's bound, rounded down."""
    T = P / P.sum(axis=1, keepdims=True)
    eta = 1.0
    if len(T) * T.size <= MOST_PAIRS:
        eta = float(max(0.5 * np.abs(T - row).sum(axis=1).max() for row in T))
        eta = min(eta + 4.0 * (P.shape[1] + 4.0) * UNIT, 1.0)
    if gamma >= eta:
        return 0.0
    information = entropy(P.sum(axis=1)) + entropy(P.sum(axis=0)) - entropy(P)
    return -(1.0 - gamma / eta) * max(information, 0.0) - _rounding(P)


def at_most_all(P: Array, beta: float) -> float:
    """The funnel's bound, rounded down."""
    h_x, h_y, h_xy = entropy(P.sum(axis=1)), entropy(P.sum(axis=0)), entropy(P)
    return min(0.0, beta - 1.0) * (h_x + h_y - h_xy) - (h_xy - h_y) - (1.0 + beta) * _rounding(P)


def _rounding(P: Array) -> float:
    return 2.0 * (sum(P.shape) + 16.0) * UNIT * (1.0 + float(np.log(P.size)))


def bottleneck_multipliers(P: Array, W: Array, gamma: float) -> Array:
    """lambda_x = gamma (log p(x) - log sum_z p(z) exp(sum_y T_yx log p(y|z) / gamma))."""
    p_x = P.sum(axis=1)
    p_zy = W @ P
    p_zy = p_zy[p_zy.sum(axis=1) > 0.0]
    p_z = p_zy.sum(axis=1, keepdims=True)
    scores = np.log(p_z) + np.log(np.maximum(p_zy / p_z, 1e-300)) @ (P / p_x[:, None]).T / gamma
    top = scores.max(axis=0)
    lam: Array = gamma * (np.log(p_x) - top - np.log(np.exp(scores - top).sum(axis=0)))
    return lam


def funnel_multipliers(P: Array, W: Array, beta: float) -> Array:
    """lambda_x = sum_z p(z|x) (beta sum_y T_yx log p(y|z) - log p(x|z))."""
    p_x = P.sum(axis=1)
    W = W[W @ p_x > 0.0]
    p_z = (W @ p_x)[:, None]
    given, posteriors = np.maximum(W @ P / p_z, 1e-300), np.maximum(W * p_x / p_z, 1e-300)
    lam: Array = (W * (beta * np.log(given) @ (P / p_x[:, None]).T - np.log(posteriors))).sum(axis=0)
    return lam
