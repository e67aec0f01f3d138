"""A splitting as arrays: what the kernels need of a joint, a formulation and a batch of runs.

In each formulation one block is the encoder W[z, x] and the other is a table v[z, j] of marginals that must
equal W M, with M[x, j] = p(x) for p(z) and M[x, j] = p(x|y) for p(z|y). The objective is shared out as

    marginal block   sum_j h_j H(v_j),                                  H(v_j) = -sum_z v log v, v_j on the simplex
    encoder block    a_z H(Z) + a_zx H(Z|X) + a_zy H(Z|Y) - d_y sum p(z,y) log q(y|z) - d_x sum p(z,x) log q(x|z)

so that formulations differ only in h, a, d and M, and one piece of code serves all of them.
"""

from typing import NamedTuple

from ...information import Array
from ..common import Integers

Weights = tuple[float, ...]
"""A few numbers of a run; a tuple, since numba counts references to arrays."""


class Split(NamedTuple):
    """The joint on letters of positive mass, its formulation, and what the runs of a batch are to do; arrays are C-contiguous."""

    p_x: Array  # (|X|,)
    p_y: Array  # (|Y|,)
    P: Array  # (|X|, |Y|)      p(x, y)
    T: Array  # (|Y|, |X|)      p(y|x)
    M: Array  # (|X|, m)        v = W M
    features: Array  # (m, |X|) M' / p_x
    h: Array  # (m,)            weight of each marginal column's entropy
    a: Weights  # a_z, a_zx, a_zy
    d: Weights  # d_y, d_x
    rho: Weights  # rho_z, rho_zx, rho_zy
    width: float  # how the stationarity residual is scaled, see measure.fixed_point
    order: int  # 1 or 2: Solver I or II
    encoder_first: bool  # is the encoder the block p (else q)?
    inner: int  # majorise-minimise steps per argmin, at most
    inner_tol: float  # > 0: fewer, once W moves by no more than this; and decoders stay those of the iterate ("exact")
    mirror: float  # first curvature that the mirror step tries
    alpha: float  # relaxation
    kappa: float  # > 0: the automatic row-scaled penalty, of which a step may raise rows; 0: c as given
    floor: float  # smallest weight that an entropy counts with in its automatic penalty
    tune_on_encoder: bool  # are the automatic penalty's masses those of W M (else of v)?
    settled: int  # iterations after which the automatic penalty is never lowered
    proximal: float  # weight of ADMM-IB's Bregman term in the marginal block; 0 in every other solver
    tol: float  # primal, dual and stationarity residual must be at most this
    primal_tol: (
        float  # > 0: the paper's rule instead, total variation of every column of the primal residual below this
    )
    gradient: bool  # are argmins the paper's gradient steps (else exact)?
    first_step: float  # where back-tracking begins, if they are
    accelerate: bool  # extrapolate slow tails, see `advance.leap`
    stop: Integers  # (1,)      not 0 once the caller wants what there is; looked at inside long steps


class State(NamedTuple):
    """Where the runs of a batch stand; every array has one row per run and is updated in place."""

    W: Array  # (R, |Z|, |X|)
    v: Array  # (R, |Z|, m)
    nu: Array  # (R, |Z|, m)
    c: Array  # (R, |Z|, m)
    boost: Array  # (R, |Z|, m)  factors by which steps had to raise the automatic penalty
    m: Array  # (R, |Z|, m)      multipliers of the encoder block where its dual has many unknowns; begins with NaN if not known
    W_1: Array  # (R, |Z|, |X|)  where the run was one stride ago, for `advance.leap`
    W_0: Array  # (R, |Z|, |X|)  ... and two strides ago
    nu_1: Array  # (R, |Z|, m)
    looks: Integers  # (R,)      how many of these are from the present tail
    alive: Integers  # (R,)      clusters left; they come first
    outcome: Integers  # (R,)    RUNNING, STATIONARY, ...
    still: Integers  # (R,)      iterations without movement
    iterations: Integers  # (R,)
    residuals: Array  # (R, 3)   primal, dual, stationarity


class Iterate(NamedTuple):
    """Where one run stands, with one row per cluster that is alive; all arrays but c, boost and m are made anew in every iteration."""

    W: Array  # (|Z|, |X|)
    v: Array  # (|Z|, m)
    nu: Array  # (|Z|, m)
    c: Array  # (|Z|, m)
    boost: Array  # (|Z|, m)
    m: Array  # the run's own table in `State`, with all its rows
    u: Array  # (|Z|, m)     W M


class Tail(NamedTuple):
    """Where one run stood one stride and two strides ago, for `advance.leap`."""

    W_1: Array
    W_0: Array
    nu_1: Array
    looks: int  # how many of these are from the present tail
