"""I(X;Z) and I(Y;Z) in the population, for an encoder W that was fixed before n records were looked at: plug-in, bias, variance, interval.

    q = W P^,   psi(x, y) = sum_z W[z, x] log(q(z, y) / (p(z) p(y))),   I^ = mean of psi over the records
    df = (|Y| - 1) (sum_z (W.W p^_x)_z / p_z - 1),    E I^ - I = df / 2n,    Var I^ = Var psi / n + |df| / 2n^2

    I^ - df/2n  +-  z sqrt(Var I^),   clipped at 0                                                                (95%: z = 1.96)

with |Y| the letters seen, W.W the squares entry by entry. A hard W has df = (|Z| - 1) (|Y| - 1), Miller's and Wilks' number; a soft one
has less, since its noise is not that of the records. Of I(X;Z), psi(x) = KL(W_x || p_z) and df = -(sum_z (W.W p^_x)_z / p_z - 1), as the
plug-in H(Z) is too small. The first term of the variance is the delta method's; the second is the spread of a chi-square with |df| degrees,
which is all that is left where psi vanishes: at independence, and of I(X;Z) where p(z) is uniform. To first order in 1/n. Coverage is
measured in docs/benchmarks/coverage.md, beside that of a percentile bootstrap, which fails since every resampled table is as much too
informative again. On the records that W was made from none of this holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..information import Array, bits, expected_information, mutual_information, rel_entr


class SampledInformation(NamedTuple):
    """I(Y;Z), or I(X;Z), as n records show it; nats."""

    records: int
    value: float
    """The plug-in I^."""
    variance: float
    """Var psi."""
    degrees: float
    """df: I^ is df / 2n too large on average."""
    expected: float = math.nan
    """Of I(Y;Z), what independence alone would show, on average: of a hard encoder exactly, with these counts; else df / 2n."""

    @property
    def centre(self) -> float:
        """Without its bias; may be below 0."""
        return self.value - self.degrees / (2.0 * self.records)

    @property
    def squared_error(self) -> float:
        """Var I^."""
        return self.variance / self.records + abs(self.degrees) / (2.0 * self.records**2)


def relevance(W: Array, counts: Any) -> SampledInformation:
    """I^(Y;Z) of the encoder W[z, x] = p(z|x) from counts N[x, y], dense or ``scipy.sparse``, of records that did not shape W.

    Examples
    --------
    >>> found = relevance(np.eye(2), np.array([[30, 10], [10, 30]]))
    >>> found.records, round(found.value, 4), found.degrees
    (80, 0.1308, 1.0)
    """
    n = int(counts.sum())
    cells = sparse.coo_array(counts)
    share = cells.data / n
    n_x, n_y = (np.asarray(counts.sum(axis=axis)).ravel() for axis in (1, 0))
    q: Array = np.asarray(W @ counts) / n
    p_z, p_y = W @ n_x / n, n_y / n
    logs = np.log(np.divide(q, p_z[:, None] * p_y, out=np.ones_like(q), where=q > 0.0))
    value = mutual_information(q)
    # Products of a cell and a cluster that are held at once.
    square, step = 0.0, max(1_000_000 // len(W), 1)
    for first in range(0, len(share), step):
        at = slice(first, first + step)
        psi = (W[:, cells.row[at]] * logs[:, cells.col[at]]).sum(axis=0)
        square += float(share[at] @ (psi - value) ** 2)
    degrees = max(float((np.count_nonzero(n_y) - 1) * _spread(W, n_x / n, p_z)), 0.0)
    expected = degrees / (2 * n)
    if np.isin(W, (0.0, 1.0)).all():
        expected = expected_information((W @ n_x).astype(np.int64), n_y.astype(np.int64))
    return SampledInformation(n, value, square, degrees, expected)


def _spread(W: Array, p_x: Array, p_z: Array) -> float:
    """sum_z (W.W p_x)_z / p_z - 1."""
    alive = p_z > 0.0
    return float(((W * W) @ p_x)[alive] @ (1.0 / p_z[alive])) - 1.0


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


def complexity(W: Array, n_x: Array) -> SampledInformation:
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
    psi = np.where(p_x > 0.0, rel_entr(W[alive], p_z[alive, None]).sum(axis=0), 0.0)
    value = float(p_x @ psi)
    return SampledInformation(n, value, float(p_x @ (psi - value) ** 2), -_spread(W, p_x, p_z))


def interval_of(shown: Sequence[SampledInformation], confidence: float) -> InformationInterval:
    """From one set of records, or from several parts of them, each with an encoder that has not seen it: weighted by their records."""
    shares = np.array([one.records for one in shown]) / sum(one.records for one in shown)
    value = float(shares @ [one.value for one in shown])
    middle = max(float(shares @ [one.centre for one in shown]), 0.0)
    error = math.sqrt(float(shares**2 @ [one.squared_error for one in shown]))
    reach = NormalDist().inv_cdf(0.5 + 0.5 * confidence) * error
    return InformationInterval(value, middle, max(middle - reach, 0.0), middle + reach)
