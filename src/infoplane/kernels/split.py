"""A splitting as numbers: what `advance` needs to know of a formulation, a problem and a joint.

In each of the paper's five formulations one block is the encoder W[z, x] and the other is a table v[z, j] of marginals that must
equal W M, with M[x, j] = p(x) for p(z) and M[x, j] = p(x|y) for p(z|y). The objective is shared out as

    marginal block   sum_j h_j H(v_j),                                  H(v_j) = -sum_z v log v, v_j on the simplex
    encoder block    a_z H(Z) + a_zx H(Z|X) + a_zy H(Z|Y) - d_y sum p(z,y) log q(y|z) - d_x sum p(z,x) log q(x|z)

so that formulations differ only in h, a, d and M, and one piece of code serves all of them.
"""

from typing import NamedTuple

from numba import njit

from ..information import Array


class Split(NamedTuple):
    """One run's data; every array C-contiguous, every letter of positive mass."""

    p_x: Array  # (|X|,)
    p_y: Array  # (|Y|,)
    P: Array  # (|X|, |Y|)      p(x, y)
    T: Array  # (|Y|, |X|)      p(y|x)
    M: Array  # (|X|, m)        the map of the constraint, v = W M
    features: Array  # (m, |X|) M' / p_x
    h: Array  # (m,)            weight of each column's entropy
    a: Array  # (3,)            a_z, a_zx, a_zy
    d: Array  # (2,)            d_y, d_x
    encoder_first: bool  # is the encoder the block p (else q)?
    exact: bool  # how an argmin is taken: exact, else the paper's gradient step
    adaptive: bool  # may a step raise the penalty of a row (penalty="auto")?
    inner: int  # majorise-minimise steps an argmin
    mirror: float  # first curvature that the mirror step tries


@njit(nogil=True)
def matmul(U: Array, V: Array) -> Array:
    """U V, here so that BLAS is compiled in once."""
    return U @ V
