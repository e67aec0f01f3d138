"""The two Douglas-Rachford recursions, each written once, for any pair (F, A), (G, B).

minimise F(p) + G(q) subject to A p = B q, through the augmented Lagrangian (paper, eq. ib_alm)

    L_c(p, q, nu) = F(p) + G(q) + <nu, Ap - Bq> + (c/2) ||Ap - Bq||^2

with relaxation 0 < alpha <= 2: alpha = 1 is ADMM, alpha = 2 is Peaceman-Rachford splitting. ``c`` is a number, or an array of
one penalty per row of the constraint, in which case c ||.||^2 reads as the norm weighted by it.

`solver_one` and `solver_two` are the only places where the recursions are written. Python runs what they return as it is for a
user's own pair (`pair.douglas_rachford`); `advance` compiles the same text for the paper's formulations. They
know nothing of tolerances, iteration limits, bottlenecks or funnels. The blocks arrive as functions of some ``data`` of theirs,

    argmin_p(data, x, s, c, p) = argmin_p  F(p) - <s, Ap> + (c/2) ||Ap - x||^2        started at the present p
    argmin_q(data, x, s, c, q) = argmin_q  G(q) - <s, Bq> + (c/2) ||Bq - x||^2        started at the present q

called with x = Bq, s = -nu for p, and with x = Ap, s = +nu for q. `ascent`, the step of the dual variable, has a name of its own so that
it can be compiled as a loop: numba takes three seconds for its array expressions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Argmin = Callable[..., Any]
Map = Callable[[Any, Any], Any]


def ascent(nu: Any, t: Any, c: Any, Ap: Any, Bq: Any) -> Any:
    """nu + t c (Ap - Bq), up the slope of L_c."""
    return nu + t * c * (Ap - Bq)


def solver_one(
    argmin_p: Argmin, argmin_q: Argmin, A: Map, B: Map, ascent: Callable[..., Any] = ascent
) -> Callable[..., tuple[Any, Any, Any]]:
    """Solver I (paper, eq. main_gen_alg), one iteration per call: the dual variable follows the gradient of F."""

    def iterate(data: Any, p: Any, q: Any, nu: Any, c: Any, alpha: Any) -> tuple[Any, Any, Any]:
        Bq = B(data, q)
        nu = ascent(nu, alpha - 1.0, c, A(data, p), Bq)
        p = argmin_p(data, Bq, -nu, c, p)
        Ap = A(data, p)
        nu = ascent(nu, 1.0, c, Ap, Bq)
        q = argmin_q(data, Ap, nu, c, q)
        return p, q, nu

    return iterate


def solver_two(
    argmin_p: Argmin, argmin_q: Argmin, A: Map, B: Map, ascent: Callable[..., Any] = ascent
) -> Callable[..., tuple[Any, Any, Any]]:
    """Solver II (paper, eq. alg_alt), one iteration per call: the dual variable follows the gradient of G."""

    def iterate(data: Any, p: Any, q: Any, nu: Any, c: Any, alpha: Any) -> tuple[Any, Any, Any]:
        Bq = B(data, q)
        p = argmin_p(data, Bq, -nu, c, p)
        Ap = A(data, p)
        nu = ascent(nu, alpha - 1.0, c, Ap, Bq)
        q = argmin_q(data, Ap, nu, c, q)
        nu = ascent(nu, 1.0, c, Ap, B(data, q))
        return p, q, nu

    return iterate
