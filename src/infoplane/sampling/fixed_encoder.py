"""I(Y;Z) of an encoder W that was fixed before n records were looked at: the plug-in value, its bias and its variance.

    q = W P^,   psi(x, y) = sum_z W[z, x] log(q(z, y) / (p(z) p(y))),   I^ = mean of psi over the records
    df = (|Y| - 1) (sum_z (W.W p^_x)_z / p_z - 1),    E I^ - I = df / 2n,    Var I^ = Var psi / n + df / 2n^2

with |Y| the letters seen, W.W the squares entry by entry. A hard W has df = (|Z| - 1) (|Y| - 1), Miller's and Wilks' number; a soft one
has less, since its noise is not that of the records. To first order in 1/n; at independence psi vanishes, and df is all there is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..information import Array, expected_information, mutual_information


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
