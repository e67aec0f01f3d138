"""Letters of X with the same p(y|x) are one letter to the bottleneck.

Let c(x) be the class of x, classes being letters with equal columns of T, and lambda'_c multipliers of the joint of (c(X), Y). Then

    lambda_x = lambda'_c(x) + gamma log(p(x) / p(c(x)))

are multipliers of (X, Y) with gamma H(X) + lambda.p_x = gamma H(c(X)) + lambda'.p_c and the same minimum of f(q) - lambda.q, because both
enter it through sum_{x in c} exp(lambda_x / gamma) = exp(lambda'_c / gamma). Tables of counts have many such letters: those seen once.
"""

from __future__ import annotations

import numpy as np

from ..information import Array, IntArray
from ..joint.joint import Joint
from ..joint.support import Support
from ..kernels.common.numerics import UNIT

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
