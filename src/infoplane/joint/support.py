"""A joint as solvers use it: restricted to letters of positive mass, dense or sparse; and encoders back on the full alphabet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..errors import InvalidJointError
from ..information import BLOCK, Array, IntArray, entropy
from .joint import Joint
from .tables import LARGEST_TABLE, SPARSE_CELLS, SPARSE_SHARE


class Rows(NamedTuple):
    """P row by row (CSR): row x has its cells at indptr[x]:indptr[x+1], in columns ``indices`` with probabilities ``data``."""

    indptr: IntArray
    indices: IntArray
    data: Array


class Support:
    """A joint on its letters of positive mass, as dense C-contiguous tables or as sparse rows; `lift` leads back to all letters."""

    def __init__(self, joint: Joint) -> None:
        self.joint = joint
        self.x, self.y = joint.support()
        self.p_x: Array = joint.p_x[self.x]
        self.p_y: Array = joint.p_y[self.y]
        self.cells = len(self.p_x) * len(self.p_y)
        self.sparse = bool(
            joint.is_sparse and self.cells >= SPARSE_CELLS and joint.p_xy.nnz <= SPARSE_SHARE * self.cells
        )

    @cached_property
    def P(self) -> Array:
        """p(x, y), dense; the joint's own table, read-only, if all letters have mass."""
        if self.cells > LARGEST_TABLE:
            raise InvalidJointError(
                f"this solver works on a dense table; the joint has {len(self.p_x):,} x {len(self.p_y):,} letters of positive mass, more "
                f"than {LARGEST_TABLE:,} cells. Use the default solver or 'accelerated', which work on sparse rows, or group rare letters."
            )
        p_xy = self.joint.p_xy.toarray() if self.joint.is_sparse else self.joint.p_xy
        if self.x.all() and self.y.all():
            return np.ascontiguousarray(p_xy)
        return np.ascontiguousarray(p_xy[np.ix_(self.x, self.y)])

    @cached_property
    def rows(self) -> Any:
        """p(x, y) as a scipy.sparse CSR array."""
        rows = sparse.csr_array(self.joint.p_xy)[self.x][:, self.y]
        rows.sort_indices()
        return rows

    @cached_property
    def csr(self) -> Rows:
        """p(x, y) as the arrays that compiled code takes."""
        rows = self.rows
        return Rows(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(float))

    @cached_property
    def T(self) -> Array:
        """p(y|x), one row per y."""
        return np.ascontiguousarray((self.P / self.p_x[:, None]).T)

    @cached_property
    def h_y(self) -> float:
        """H(Y)."""
        return entropy(self.p_y)

    @cached_property
    def K(self) -> Array:
        """p(x|y), one column per y."""
        return self.P / self.p_y

    def lift(self, W: Array) -> Array:
        """An encoder of the full alphabet, columns summing to one; letters of zero mass get the column p(z)."""
        W = np.maximum(W, 0.0)
        W /= W.sum(axis=0)
        if W.shape[1] == self.joint.shape[0]:
            return W
        full = np.empty((W.shape[0], self.joint.shape[0]))
        full[:, self.x] = W
        p_z = W @ self.p_x
        full[:, ~self.x] = (p_z / p_z.sum())[:, None]
        return full

    def spread(self, values: Array) -> Array:
        """A number for each letter of X, 0 for those of zero mass."""
        full = np.zeros(self.joint.shape[0])
        full[self.x] = values
        return full

    def lifted(self, encoders: Sequence[Array]) -> Iterator[list[Array]]:
        """The encoders on the full alphabet, a few at a time to save memory."""
        step = max(1, BLOCK // max(max((W.size for W in encoders), default=1), 1))
        for first in range(0, len(encoders), step):
            yield [self.lift(W) for W in encoders[first : first + step]]
