"""Array types that all kernels share, and the matrix product."""

import numpy as np

from ...information import Array, IntArray
from ...runtime.compiling import part

Integers = IntArray
Flags = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@part
def matmul(U: Array, V: Array) -> Array:
    """U V: the one place that calls BLAS for small tables, so that the call is compiled once."""
    return U @ V
