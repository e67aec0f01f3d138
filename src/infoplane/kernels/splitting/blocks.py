"""The recursions of `douglas_rachford`, compiled for the two blocks of a splitting.

    p, q = W, v or v, W          A p, B q = W M, v or v, W M

Which block comes first, and whether an argmin is taken exactly or by one gradient step, is asked at run time: a branch costs nothing
beside an argmin, while each recursion that is compiled takes seconds.
"""

from ...information import Array
from ...runtime.compiling import inlined
from ..common.rows import matmul
from .douglas_rachford import solver_one, solver_two
from .encoder import argmin_encoder
from .gradient import gradient_encoder, gradient_marginal
from .marginal import argmin_marginal
from .tables import Split


@inlined
def _argmin(split: Split, of_encoder: bool, x: Array, s: Array, c: Array, u: Array) -> Array:
    """The argmin of one block, started at u."""
    if split.gradient:
        return gradient_encoder(split, x, s, c, u) if of_encoder else gradient_marginal(split, x, s, c, u)
    return argmin_encoder(split, x, s, c, u) if of_encoder else argmin_marginal(split, x, s, c, u)


@inlined
def _argmin_p(split: Split, x: Array, s: Array, c: Array, p: Array) -> Array:
    return _argmin(split, split.encoder_first, x, s, c, p)


@inlined
def _argmin_q(split: Split, x: Array, s: Array, c: Array, q: Array) -> Array:
    return _argmin(split, not split.encoder_first, x, s, c, q)


@inlined
def _A(split: Split, p: Array) -> Array:
    return matmul(p, split.M) if split.encoder_first else p


@inlined
def _B(split: Split, q: Array) -> Array:
    return q if split.encoder_first else matmul(q, split.M)


step_one = inlined(solver_one(_argmin_p, _argmin_q, _A, _B))
"""One iteration of Solver I: p, q, nu from (split, p, q, nu, c, alpha)."""

step_two = inlined(solver_two(_argmin_p, _argmin_q, _A, _B))
"""One iteration of Solver II."""
