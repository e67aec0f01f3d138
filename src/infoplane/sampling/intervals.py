"""Intervals of I(X;Z) and I(Y;Z) in the population, for an encoder W that was fixed before the n records were looked at.

    I^ - df/2n  +-  z sqrt(Var psi / n + |df| / 2n^2),   clipped at 0                                             (95%: z = 1.96)

I(Y;Z): psi and df as below. I(X;Z): psi(x) = KL(W_x || p_z), df = -(sum_z (W.W p^_x)_z / p_z - 1), as the plug-in H(Z) is
too small. The first term under the root is the delta method's; the second is the spread of a chi-square with |df| degrees, which is all
that is left where psi vanishes: at independence, and of I(X;Z) where p(z) is uniform. Coverage is measured in docs/benchmarks/coverage.md,
beside that of a percentile bootstrap, which fails since every resampled table is as much too informative again. On the records that W was
made from none of this holds.

I(Y;Z) of an encoder W that was fixed before n records were looked at: the plug-in value, its bias and its variance.

    q = W P^,   psi(x, y) = sum_z W[z, x] log(q(z, y) / (p(z) p(y))),   I^ = mean of psi over the records
    df = (|Y| - 1) (sum_z (W.W p^_x)_z / p_z - 1),    E I^ - I = df / 2n,    Var I^ = Var psi / n + df / 2n^2

with |Y| the letters seen, W.W the squares entry by entry. A hard W has df = (|Z| - 1) (|Y| - 1), Miller's and Wilks' number; a soft one
has less, since its noise is not that of the records. To first order in 1/n; at independence psi vanishes, and df is all there is.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..information import Array, bits, expected_information, mutual_information, rel_entr


class SampledInformation(NamedTuple):
    """I(Y;Z) as n records show it; nats."""

    records: int
    value: float
    """The plug-in I^."""
    variance: float
    """Var psi."""
    degrees: float
    """df: I^ is df / 2n too large on average."""
    expected: float
    """What independence alone would show, on average: of a hard encoder exactly, with these counts; else df / 2n."""


def sampled_information(W: Array, counts: Any) -> SampledInformation:
    """I^(Y;Z) of the encoder W[z, x] = p(z|x) from counts N[x, y], dense or ``scipy.sparse``, of records that did not shape W.

    Examples
    --------
    >>> found = sampled_information(np.eye(2), np.array([[30, 10], [10, 30]]))
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
    alive = p_z > 0.0
    spread = float(((W * W) @ n_x / n)[alive] @ (1.0 / p_z[alive])) - 1.0
    degrees = max(float((np.count_nonzero(n_y) - 1) * spread), 0.0)
    return SampledInformation(n, value, square, degrees, _expected(W, n_x, n_y, degrees / (2 * n)))


def _expected(W: Array, n_x: Array, n_y: Array, otherwise: float) -> float:
    if not np.isin(W, (0.0, 1.0)).all():
        return otherwise
    return expected_information((W @ n_x).astype(np.int64), n_y.astype(np.int64))


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
