"""The formulations, the paper's five and pf-1: which block is p and which q, which part of L each carries, the M of their constraint.

minimise F(p) + G(q), Ap = Bq, where one block is the encoder W = p(z|x) and the other a table v of marginals with v = W M:
M = p(x) gives v = p(z), M = p(x|y) gives v = p(z|y). Written for the general Lagrangian (rho_z, rho_zx, rho_zy); the
bottleneck and the funnel are what the paper prints. `Shares` says how L is split:

    marginal block   sum_j h_j H(v_j)
    encoder block    a_z H(Z) + a_zx H(Z|X) + a_zy H(Z|Y) - d_y sum p(z,y) log q(y|z) - d_x sum p(z,x) log q(x|z)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...errors import InvalidOptionError, UnsupportedProblemError
from ...information import Array
from ...problem import MarkovLagrangian
from ..job import nothing_to_solve


class Shares(NamedTuple):
    """How a formulation shares L out between its two blocks."""

    h: Array
    a: tuple[float, float, float]
    d: tuple[float, float]


RELATIONS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge}
"""Of a coefficient to 0, as premises name them."""


class PenaltyFactors(NamedTuple):
    """Multiples of the curvature, set by `benchmarks/convergence.py`."""

    margin: float = 1.25
    """kappa as a multiple of 2/(2 - alpha), what the descent theorem asks for in Solver II, and of 2/alpha >= 1 in ib-1, where it asks
    for 1. The penalty is reset below 0.85 of its target, and 0.85 * 1.25 > 1. (2/alpha is from the paper's Theorem 1, which is false; kept,
    because with it every start in docs/reference/convergence.md converges, and kappa = 1.25 at every alpha was not measured.)"""
    funnel_one_factor: float = 1.6
    """kappa of pf-1. The descent theorem asks for kappa > 1; with 1.6 a row may lose a quarter of its mass in one iteration, with
    0.85 * 1.6 a sixth. Measured, 1.25 is faster by half and ends in slightly worse optima."""
    funnel_factor: float = 2.5
    """kappa of pf-2, whose constraint rows carry the convex block: measured, the same for alpha = 1 and 1.618."""
    largest_factor: float = 25.0
    """kappa near alpha = 2, where Theorem 2 asks for more without bound and covers alpha = 2 not at all."""


FACTORS = PenaltyFactors()


@dataclass(frozen=True, kw_only=True)
class Formulation:
    """One way to split L; see the module's docstring for the letters."""

    name: str
    description: str
    share: Callable[[MarkovLagrangian, Array], Shares]
    premises: tuple[tuple[str, str, str], ...]
    """Signs that coefficients must have, after the words that say why: "... rho_z <= 0"."""
    order: int = 2
    """1: Solver I, 2: Solver II."""
    theorem: int | None = 2
    """The paper's general theorem (1, 2 or 3) for it, None for pf-1; docs/explanation/theory.md says which of its premises hold."""
    encoder_first: bool = True
    """Whether the encoder is p (else q)."""
    columns: tuple[str, ...] = ("z",)
    """What v holds: "z" for p(z), "zy" for p(z|y)."""
    tune_on_encoder: bool = False
    """Whether the automatic penalty takes its masses from W M (else from v)."""

    @property
    def descends(self) -> bool:
        """Whether the descent theorem of docs/explanation/theory.md covers it: nu follows a block whose map (A or B) is the identity."""
        return (self.order == 1) != self.encoder_first

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Why it cannot solve a problem, or None."""
        for why, coefficient, relation in self.premises:
            found = getattr(problem, coefficient)
            if not RELATIONS[relation](found, 0):
                return f"{why} {coefficient} {relation} 0, found {found:g}"
        return None

    def constraint(self, p_x: Array, p_x_given_y: Array) -> Array:
        """M[x, j], the columns that turn W into v."""
        blocks = {"z": p_x[:, None], "zy": p_x_given_y}
        return np.ascontiguousarray(np.hstack([blocks[name] for name in self.columns]))

    def automatic_factor(self, alpha: float) -> float:
        """kappa: margin x 2/alpha for ib-1, margin x 2/(2 - alpha) for Solver II with B = I, numbers of their own for pf-1 and pf-2."""
        if self.theorem is None:
            return FACTORS.funnel_one_factor
        if self.theorem == 1:
            return FACTORS.margin * 2.0 / alpha
        if self.theorem == 3:
            return FACTORS.funnel_factor
        largest = FACTORS.largest_factor
        return min(FACTORS.margin * 2.0 / (2.0 - alpha), largest) if alpha < 2.0 else largest


# Solver I.  p = p(z), q = W;  F = rho_z H(Z),  G = rho_zx H(Z|X) + rho_zy H(Z|Y) with p(z|y) = W K;  Ap = p, Bq = W p_x.
IB_1 = Formulation(
    name="ib-1",
    description="Solver I for the bottleneck: p(z) against p(z|x)",
    order=1,
    theorem=1,
    encoder_first=False,
    share=lambda L, _p_y: Shares(np.array([L.rho_z]), (0.0, L.rho_zx, L.rho_zy), (0.0, 0.0)),
    premises=(("F = rho_z H(Z) must be convex, that is", "rho_z", "<="),),
)

# Solver II.  p = W, q = (p(z), p(z|y));  F = rho_zx H(Z|X),  G = rho_z H(Z) + rho_zy H(Z|Y);  Ap = (W p_x, W K), Bq = q.
IB_2 = Formulation(
    name="ib-2",
    description="Solver II for the bottleneck: p(z|x) against (p(z), p(z|y))",
    columns=("z", "zy"),
    share=lambda L, p_y: Shares(np.concatenate([[L.rho_z], L.rho_zy * p_y]), (0.0, L.rho_zx, 0.0), (0.0, 0.0)),
    premises=(("F = rho_zx H(Z|X) must be strictly convex, that is", "rho_zx", "<"),),
)

# Solver II (the paper names it after I; its conditions are Theorem 5's).  p = W, q = p(z);
# F = rho_zx H(Z|X) - rho_zy sum p(z,y) log q(y|z),  G = (rho_z + rho_zy) H(Z);  Ap = W p_x, Bq = q.
# Since H(Z|Y) = H(Z) + H(Y|Z) - H(Y), and the decoder bounds H(Y|Z) from above, tightly once refreshed.
IB_1V = Formulation(
    name="ib-1v",
    description="Variational bottleneck: p(z|x) against p(z), decoder q(y|z)",
    share=lambda L, _p_y: Shares(np.array([L.rho_z + L.rho_zy]), (0.0, L.rho_zx, 0.0), (L.rho_zy, 0.0)),
    premises=(
        ("F holds rho_zx H(Z|X), which must be strictly convex, that is", "rho_zx", "<"),
        ("a variational decoder q(y|z) bounds rho_zy H(Y|Z) from above only if", "rho_zy", ">="),
    ),
)

# Solver II.  p = p(z|y), q = W;  F = rho_zy H(Z|Y),  G = rho_z H(Z) + rho_zx H(Z|X) with p(z) = W p_x;  Ap = p, Bq = W K.
PF_2 = Formulation(
    name="pf-2",
    description="Solver II for the funnel: p(z|y) against p(z|x)",
    theorem=3,
    encoder_first=False,
    columns=("zy",),
    share=lambda L, p_y: Shares(L.rho_zy * p_y, (L.rho_z, L.rho_zx, 0.0), (0.0, 0.0)),
    premises=(("F = rho_zy H(Z|Y) must be strictly convex, that is", "rho_zy", "<"),),
    tune_on_encoder=True,
)

# The same blocks in Solver I's order, so that the dual variable follows F = rho_zy H(Z|Y) instead of G. Not in the paper: what it
# gains is that G may be anything (docs/explanation/theory.md, "A theorem that does hold").
PF_1 = replace(
    PF_2,
    name="pf-1",
    description="The funnel in Solver I's order, proven to converge: p(z|y) against p(z|x)",
    order=1,
    theorem=None,
    tune_on_encoder=False,
)

# Solver II.  p = W, q = p(z);  F = rho_zy H(Z|Y) - rho_zx sum p(z,x) log q(x|z),  G = (rho_z + rho_zx) H(Z);
# Ap = W p_x, Bq = q.  As in ib-1v, with H(Z|X) = H(Z) + H(X|Z) - H(X) and the decoder q(x|z).
PF_2V = Formulation(
    name="pf-2v",
    description="Variational funnel: p(z|x) against p(z), decoder q(x|z)",
    share=lambda L, _p_y: Shares(np.array([L.rho_z + L.rho_zx]), (0.0, 0.0, L.rho_zy), (0.0, L.rho_zx)),
    premises=(
        ("F holds rho_zy H(Z|Y), which must be strictly convex, that is", "rho_zy", "<"),
        ("a variational decoder q(x|z) bounds rho_zx H(X|Z) from above only if", "rho_zx", ">="),
    ),
)

FORMULATIONS: dict[str, Formulation] = {f.name: f for f in (IB_1, IB_2, IB_1V, PF_1, PF_2, PF_2V)}


def check_name(name: str) -> None:
    """Raise unless it is that of a formulation, or auto."""
    if not isinstance(name, str) or name not in ("auto", *FORMULATIONS):
        raise InvalidOptionError(f"formulation must be auto or one of {', '.join(FORMULATIONS)}; found {name!r}.")


def choose(problem: MarkovLagrangian, name: str = "auto") -> Formulation:
    """The formulation asked for, or for "auto" the one that the signs of the problem allow; an error says why none does.

    With a convex H(Z|Y) term (the funnel) it is pf-2; else with a convex or absent H(Z) term (the bottleneck, the deterministic
    one) ib-1; else with a convex H(Z|X) term ib-2.
    """
    if min(problem.rho) >= 0.0:
        raise UnsupportedProblemError(nothing_to_solve(problem))
    check_name(name)
    if name == "auto":
        if problem.rho_zy < 0 <= problem.rho_zx:
            return PF_2
        return IB_1 if problem.rho_z <= 0 else IB_2
    if reason := FORMULATIONS[name].refusal(problem):
        allowed = [f.name for f in FORMULATIONS.values() if f.refusal(problem) is None]
        raise UnsupportedProblemError(
            f"{name} cannot solve rho = {problem.rho}: {reason}. Formulations that can: {', '.join(allowed)}."
        )
    return FORMULATIONS[name]
