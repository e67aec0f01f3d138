"""Rows of counts, each shrunk towards what all rows say together: a Dirichlet prior whose concentration the rows themselves choose.

p(n_x | a) = Gamma(a) / Gamma(n_x + a) prod_y Gamma(n_xy + a pi_y) / Gamma(a pi_y)          (Dirichlet-multinomial)
p(y|x)     = (n_xy + a pi_y) / (n_x + a),     a = argmax sum_x log p(n_x | a)               (empirical Bayes)

A category that was seen twice says about pi, one that was seen ten thousand times about its own counts. Reference: Minka (2000), Estimating
a Dirichlet distribution; the multinomial coefficients, which do not depend on a, are left out throughout.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..information import Array
from .distinct import DistinctRows

HALF = 0.5
"""Pseudo-count of every y in what all rows say together, and in each centre (Krichevsky and Trofimov 1981)."""


class ShrinkageRules(NamedTuple):
    """What is added, and how much of it may be."""

    least: float = 1e-2
    most: float = 1e6
    """Between which the concentration a is looked for: a row of one record, or of a million, then decides alone or not at all."""


RULES = ShrinkageRules()


def overall(columns: Array) -> Array:
    """pi_y = (n_y + 1/2) / (n + |Y|/2), from the counts of each y."""
    raised = columns + HALF
    shares: Array = raised / raised.sum()
    return shares


def log_likelihood(counts: DistinctRows, alpha: Array) -> float:
    """sum_x log p(n_x | alpha) in nats, alpha = a pi."""
    from scipy.special import gammaln  # its import takes longer than a small joint

    def rises(n: Array, a: float) -> Array:
        return np.asarray(gammaln(n + a) - gammaln(a))

    # The same few counts occur again and again: one logarithm for each that is different.
    total = 0.0
    for seen, a, sign in [
        *((counts.rows[:, y], float(alpha[y]), 1.0) for y in range(len(alpha))),
        (counts.rows.sum(axis=1), float(alpha.sum()), -1.0),
    ]:
        n, place = np.unique(seen, return_inverse=True)
        total += sign * float(np.bincount(place.ravel(), counts.times) @ rises(n, a))
    return total


def concentrated(counts: DistinctRows) -> Array:
    """alpha = a pi with the a of largest likelihood."""
    from scipy.optimize import minimize_scalar

    pi = overall(counts.times @ counts.rows)
    found = minimize_scalar(
        lambda log_a: -log_likelihood(counts, np.exp(log_a) * pi),
        bounds=(np.log(RULES.least), np.log(RULES.most)),
        method="bounded",
        options={"xatol": 1e-3},
    )
    alpha: Array = np.exp(found.x) * pi
    return alpha


def shrunk(rows: Array, alpha: Array) -> Array:
    """p(y|x) = (n_xy + alpha_y) / (n_x + a) of every row."""
    raised = rows + alpha
    shares: Array = raised / raised.sum(axis=1, keepdims=True)
    return shares
