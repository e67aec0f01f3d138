"""Intervals of I(X;Z) and I(Y;Z) in the population, for an encoder W that was fixed before the n records were looked at.

    I^ - df/2n  +-  z sqrt(Var psi / n + |df| / 2n^2),   clipped at 0                                             (95%: z = 1.96)

I(Y;Z): psi and df as in `fixed_encoder.py`. I(X;Z): psi(x) = KL(W_x || p_z), df = -(sum_z (W.W p^_x)_z / p_z - 1), as the plug-in H(Z) is
too small. The first term under the root is the delta method's; the second is the spread of a chi-square with |df| degrees, which is all
that is left where psi vanishes: at independence, and of I(X;Z) where p(z) is uniform. Coverage is measured in docs/benchmarks/coverage.md,
beside that of a percentile bootstrap, which fails since every resampled table is as much too informative again. On the records that W was
made from none of this holds.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ..information import Array, bits, rel_entr
from .fixed_encoder import sampled_information


class InformationInterval(NamedTuple):
    """An information in the population, as records show it; nats."""

    value: float
    """The plug-in: of the table of these records."""
    corrected: float
    """The same without its bias to first order, at least 0."""
    low: float
    high: float

    def __str__(self) -> str:
        value, corrected, low, high = (bits(one) for one in self)
        return f"{corrected:.4g} bits, {low:.4g} to {high:.4g} (the table itself says {value:.4g})"


class Moments(NamedTuple):
    """An information from n records: its plug-in value, Var psi, and df."""

    records: int
    value: float
    variance: float
    degrees: float

    @property
    def centre(self) -> float:
        """Without its bias; may be below 0."""
        return self.value - self.degrees / (2.0 * self.records)

    @property
    def squared_error(self) -> float:
        """Var I^."""
        return self.variance / self.records + abs(self.degrees) / (2.0 * self.records**2)


def relevance(W: Array, counts: Any) -> Moments:
    """I(Y;Z) from counts N[x, y] of records that did not shape W[z, x]."""
    found = sampled_information(W, counts)
    return Moments(found.records, found.value, found.variance, found.degrees)


def complexity(W: Array, n_x: Array) -> Moments:
    """I(X;Z) from the number of records of each x.

    Examples
    --------
    >>> bool(complexity(np.eye(2), np.array([50, 50])).centre > np.log(2.0))  # the plug-in entropy is too small on average
    True
    """
    n = int(n_x.sum())
    p_x = n_x / n
    p_z = W @ p_x
    alive = p_z > 0.0
    psi = rel_entr(W[alive], p_z[alive, None]).sum(axis=0)
    psi = np.where(p_x > 0.0, psi, 0.0)
    value = float(p_x @ psi)
    spread = float(((W * W) @ p_x)[alive] @ (1.0 / p_z[alive])) - 1.0
    return Moments(n, value, float(p_x @ (psi - value) ** 2), -spread)


def interval_of(moments: list[Moments], confidence: float) -> InformationInterval:
    """From one set of records, or from several parts of them, each with an encoder that has not seen it: weighted by their records."""
    n = sum(one.records for one in moments)
    value, centre = (
        sum(one.records * part for one, part in zip(moments, parts, strict=True)) / n
        for parts in ([one.value for one in moments], [one.centre for one in moments])
    )
    error = math.sqrt(sum((one.records / n) ** 2 * one.squared_error for one in moments))
    reach = NormalDist().inv_cdf(0.5 + 0.5 * confidence) * error
    middle = max(centre, 0.0)
    return InformationInterval(value, middle, max(middle - reach, 0.0), middle + reach)
