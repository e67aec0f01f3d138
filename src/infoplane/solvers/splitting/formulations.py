"""The formulations, the paper's five and pf-1: which block is p and which q, which part of L each carries, the M of their constraint.

minimise F(p) + G(q), Ap = Bq, where one block is the encoder W = p(z|x) and the other a table v of marginals with v = W M:
M = p(x) gives v = p(z), M = p(x|y) gives v = p(z|y). Written for the general Lagrangian (rho_z, rho_zx, rho_zy); the
bottleneck and the funnel are what the paper prints. `Shares` says how L is split:

    marginal block   sum_j h_j H(v_j)
    encoder block    a_z H(Z) + a_zx H(Z|X) + a_zy H(Z|Y) - d_y sum p(z,y) log q(y|z) - d_x sum p(z,x) log q(x|z)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...errors import InvalidOptionError, UnsupportedProblemError
from ...information import Array
from ...problem import MarkovLagrangian


class Shares(NamedTuple):
    """How a formulation shares L out between its two blocks."""

    h: Array
    a: tuple[float, float, float]
    d: tuple[float, float]


@dataclass(frozen=True)
class Formulation:
    """One way to split L; see the module's docstring for the letters."""

    name: str
    description: str
    order: int
    """1: Solver I, 2: Solver II."""
    theorem: int | None
    """The paper's general theorem (1, 2 or 3) for it, None for pf-1; docs/explanation/theory.md says which of its premises hold."""
    encoder_first: bool
    """Whether the encoder is p (else q)."""
    columns: tuple[str, ...]
    """What v holds: "z" for p(z), "zy" for p(z|y)."""
    share: Callable[[MarkovLagrangian, Array], Shares]
    refusal: Callable[[MarkovLagrangian], str | None]
    """Why it cannot solve a problem, or None."""
    tune_on_encoder: bool = False
    """Whether the automatic penalty takes its masses from W M (else from v)."""

    @property
    def descends(self) -> bool:
        """Whether the descent theorem of docs/explanation/theory.md covers it: nu follows a block whose map (A or B) is the identity."""
        return (self.order == 1) != self.encoder_first

    def constraint(self, p_x: Array, p_x_given_y: Array) -> Array:
        """M[x, j], the columns that turn W into v."""
        blocks = {"z": p_x[:, None], "zy": p_x_given_y}
        return np.ascontiguousarray(np.hstack([blocks[name] for name in self.columns]))


# -- ib-1: Solver I.  p = p(z), q = W;  F = rho_z H(Z),  G = rho_zx H(Z|X) + rho_zy H(Z|Y) with p(z|y) = W K;  Ap = p, Bq = W p_x.


def _share_ib_1(problem: MarkovLagrangian, _p_y: Array) -> Shares:
    return Shares(np.array([problem.rho_z]), (0.0, problem.rho_zx, problem.rho_zy), (0.0, 0.0))


def _refuse_ib_1(problem: MarkovLagrangian) -> str | None:
    if problem.rho_z > 0:
        return f"F = rho_z H(Z) must be convex, that is rho_z <= 0, found {problem.rho_z:g}"
    return None


# -- ib-2: Solver II.  p = W, q = (p(z), p(z|y));  F = rho_zx H(Z|X),  G = rho_z H(Z) + rho_zy H(Z|Y);  Ap = (W p_x, W K), Bq = q.


def _share_ib_2(problem: MarkovLagrangian, p_y: Array) -> Shares:
    return Shares(np.concatenate([[problem.rho_z], problem.rho_zy * p_y]), (0.0, problem.rho_zx, 0.0), (0.0, 0.0))


def _refuse_ib_2(problem: MarkovLagrangian) -> str | None:
    if problem.rho_zx >= 0:
        return f"F = rho_zx H(Z|X) must be strictly convex, that is rho_zx < 0, found {problem.rho_zx:g}"
    return None


# -- ib-1v: Solver II (the paper names it after I; its conditions are Theorem 5's).  p = W, q = p(z);
#    F = rho_zx H(Z|X) - rho_zy sum p(z,y) log q(y|z),  G = (rho_z + rho_zy) H(Z);  Ap = W p_x, Bq = q.
#    Since H(Z|Y) = H(Z) + H(Y|Z) - H(Y), and the decoder bounds H(Y|Z) from above, tightly once refreshed.


def _share_ib_1v(problem: MarkovLagrangian, _p_y: Array) -> Shares:
    return Shares(np.array([problem.rho_z + problem.rho_zy]), (0.0, problem.rho_zx, 0.0), (problem.rho_zy, 0.0))


def _refuse_ib_1v(problem: MarkovLagrangian) -> str | None:
    if problem.rho_zx >= 0:
        return f"F holds rho_zx H(Z|X), which must be strictly convex, that is rho_zx < 0, found {problem.rho_zx:g}"
    if problem.rho_zy < 0:
        return f"a variational decoder q(y|z) bounds rho_zy H(Y|Z) from above only if rho_zy >= 0, found {problem.rho_zy:g}"
    return None


# -- pf-2: Solver II.  p = p(z|y), q = W;  F = rho_zy H(Z|Y),  G = rho_z H(Z) + rho_zx H(Z|X) with p(z) = W p_x;  Ap = p, Bq = W K.


def _share_pf_2(problem: MarkovLagrangian, p_y: Array) -> Shares:
    return Shares(problem.rho_zy * p_y, (problem.rho_z, problem.rho_zx, 0.0), (0.0, 0.0))


def _refuse_pf_2(problem: MarkovLagrangian) -> str | None:
    if problem.rho_zy >= 0:
        return f"F = rho_zy H(Z|Y) must be strictly convex, that is rho_zy < 0, found {problem.rho_zy:g}"
    return None


# -- pf-1: the same blocks in Solver I's order, so that the dual variable follows F = rho_zy H(Z|Y) instead of G. Not in the paper: what it
#    gains is that G may be anything (docs/explanation/theory.md, "A theorem that does hold").


# -- pf-2v: Solver II.  p = W, q = p(z);  F = rho_zy H(Z|Y) - rho_zx sum p(z,x) log q(x|z),  G = (rho_z + rho_zx) H(Z);
#    Ap = W p_x, Bq = q.  As in ib-1v, with H(Z|X) = H(Z) + H(X|Z) - H(X) and the decoder q(x|z).


def _share_pf_2v(problem: MarkovLagrangian, _p_y: Array) -> Shares:
    return Shares(np.array([problem.rho_z + problem.rho_zx]), (0.0, 0.0, problem.rho_zy), (0.0, problem.rho_zx))


def _refuse_pf_2v(problem: MarkovLagrangian) -> str | None:
    if problem.rho_zy >= 0:
        return f"F holds rho_zy H(Z|Y), which must be strictly convex, that is rho_zy < 0, found {problem.rho_zy:g}"
    if problem.rho_zx < 0:
        return f"a variational decoder q(x|z) bounds rho_zx H(X|Z) from above only if rho_zx >= 0, found {problem.rho_zx:g}"
    return None


FORMULATIONS: dict[str, Formulation] = {
    f.name: f
    for f in (
        Formulation(
            "ib-1", "Solver I for the bottleneck: p(z) against p(z|x)", 1, 1, False, ("z",), _share_ib_1, _refuse_ib_1
        ),
        Formulation(
            "ib-2",
            "Solver II for the bottleneck: p(z|x) against (p(z), p(z|y))",
            2,
            2,
            True,
            ("z", "zy"),
            _share_ib_2,
            _refuse_ib_2,
        ),
        Formulation(
            "ib-1v",
            "Variational bottleneck: p(z|x) against p(z), decoder q(y|z)",
            2,
            2,
            True,
            ("z",),
            _share_ib_1v,
            _refuse_ib_1v,
        ),
        Formulation(
            "pf-1",
            "The funnel in Solver I's order, proven to converge: p(z|y) against p(z|x)",
            1,
            None,
            False,
            ("zy",),
            _share_pf_2,
            _refuse_pf_2,
        ),
        Formulation(
            "pf-2",
            "Solver II for the funnel: p(z|y) against p(z|x)",
            2,
            3,
            False,
            ("zy",),
            _share_pf_2,
            _refuse_pf_2,
            tune_on_encoder=True,
        ),
        Formulation(
            "pf-2v",
            "Variational funnel: p(z|x) against p(z), decoder q(x|z)",
            2,
            2,
            True,
            ("z",),
            _share_pf_2v,
            _refuse_pf_2v,
        ),
    )
}


def choose(problem: MarkovLagrangian, name: str = "auto") -> Formulation:
    """The formulation asked for, or for "auto" the one that the signs of the problem allow; an error says why none does.

    With a convex H(Z|Y) term (the funnel) it is pf-2; else with a convex or absent H(Z) term (the bottleneck, the deterministic
    one) ib-1; else with a convex H(Z|X) term ib-2.
    """
    if problem.rho_z >= 0 and problem.rho_zx >= 0 and problem.rho_zy >= 0:
        raise UnsupportedProblemError(
            f"with rho = {problem.rho} every term is a non-negative multiple of an entropy: the minimum is 0 and any constant Z "
            "attains it, so there is nothing to solve. Give at least one coefficient a negative sign."
        )
    if not isinstance(name, str) or name != "auto":
        if not isinstance(name, str) or name not in FORMULATIONS:
            raise InvalidOptionError(f"formulation must be auto or one of {', '.join(FORMULATIONS)}; found {name!r}.")
        if reason := FORMULATIONS[name].refusal(problem):
            allowed = [f.name for f in FORMULATIONS.values() if f.refusal(problem) is None]
            raise UnsupportedProblemError(
                f"{name} cannot solve rho = {problem.rho}: {reason}. Formulations that can: {', '.join(allowed)}."
            )
        return FORMULATIONS[name]
    if problem.rho_zy < 0 <= problem.rho_zx:
        return FORMULATIONS["pf-2"]
    return FORMULATIONS["ib-1" if problem.rho_z <= 0 else "ib-2"]
