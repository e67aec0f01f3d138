"""Records in parts of equal size, drawn at random from a table of counts, without a list of the records.

Part g of the n_y records with outcome y is drawn without replacement from what the parts before left: multivariate hypergeometric over the
letters x. That is the same as shuffling the records and dealing them out, stratified by y.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InvalidOptionError

PARTS = 5
"""Of the records, where encoders are held against records that they have not seen: each is made from four fifths of them. Measured with
five in docs/benchmarks/coverage.md."""


def parts_of(counts: Any, parts: int, rng: np.random.Generator) -> list[Any]:
    """So many tables of counts, dense or ``csr_array`` as the given one is, which sum to it; their sizes differ by at most one record.

    Examples
    --------
    >>> table = np.array([[5, 1], [2, 8]])
    >>> found = parts_of(table, 4, np.random.default_rng(0))
    >>> [int(part.sum()) for part in found], (sum(found) == table).all()
    ([4, 4, 4, 4], np.True_)
    """
    cells = sparse.csc_array(counts)
    records = int(cells.sum())
    if records < 2 * parts:
        raise InvalidOptionError(
            f"{parts} parts need {2 * parts:,} records at least, two in each; these are {records:,}."
        )
    drawn = np.zeros((parts, cells.nnz), dtype=np.int64)
    turn = 0  # which part the next record goes to: the parts take turns, whatever its y
    for first, last in zip(cells.indptr[:-1], cells.indptr[1:], strict=True):
        left = cells.data[first:last].astype(np.int64)
        n_y = int(left.sum())
        sizes = np.bincount((turn + np.arange(n_y % parts)) % parts, minlength=parts) + n_y // parts
        turn = (turn + n_y) % parts
        for part in range(parts - 1):
            taken = rng.multivariate_hypergeometric(left, int(sizes[part]), method="marginals")
            drawn[part, first:last] = taken
            left = left - taken
        drawn[parts - 1, first:last] = left
    tables = [sparse.csc_array((one, cells.indices, cells.indptr), shape=cells.shape) for one in drawn]
    return [one.tocsr() if sparse.issparse(counts) else one.toarray() for one in tables]
