"""A solver as it is run here: the paper's way, or with exact steps and honest stopping.

    gradient   the paper's step and rule: one mean-subtracted gradient step a block, converged when sum |Ap - Bq| <= 2e-6
    exact      the same c and alpha, argmins taken exactly, converged when primal, dual and stationarity residual are <= tol
    auto       the same with the automatic, row-scaled penalty

Back-tracking begins at xi = 1 in `DouglasRachford`. Begun at xi = s it is the same recursion on s L with penalty s c: gradients and
multipliers scale by s, Armijo's condition and the iterates stay. So `scaled` gives the first step length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from ..problem import MarkovLagrangian, bottleneck, funnel
from ..solution import Solution
from ..solvers.base import Solver
from ..solvers.fixed_point.blahut_arimoto import BlahutArimoto
from ..solvers.splitting.solver import PAPER_PRIMAL_TOL, DouglasRachford
from .settings import FIRST_STEP, LIMIT

Family = Callable[[float], MarkovLagrangian]
FAMILIES: dict[str, Family] = {"bottleneck": bottleneck, "funnel": funnel}

Kind = Literal["gradient", "exact", "auto"]
KINDS: dict[Kind, str] = {
    "gradient": "the paper's gradient step and stopping rule",
    "exact": "exact steps (the paper's c)",
    "auto": "exact steps (automatic c)",
}


def scaled(family: Family, s: float) -> Family:
    """The family with every problem multiplied by s; family and parameter keep their names."""

    def problem(parameter: float) -> MarkovLagrangian:
        whole = family(parameter)
        rho_z, rho_zx, rho_zy = (s * rho for rho in whole.rho)
        return MarkovLagrangian(rho_z, rho_zx, rho_zy, whole.family, parameter)

    return problem


@dataclass(frozen=True)
class Method:
    """One way to run one solver."""

    solver: str
    """A formulation, "admm-ib" or "blahut-arimoto"."""
    kind: Kind
    penalty: float = 1.0
    """c; the automatic penalty has none."""
    relaxation: float = 1.0
    first_step: float = FIRST_STEP
    """xi at the start of back-tracking; gradient only."""
    max_iter: int = LIMIT
    tol: float = 1e-8
    inner: int | None = None
    """Majorise-minimise steps an argmin; None leaves it to the solver."""

    @property
    def label(self) -> str:
        """Solver and kind."""
        return self.solver if self.solver == "blahut-arimoto" else f"{self.solver}, {self.kind}"

    @property
    def scale(self) -> float:
        """What the problem is multiplied by."""
        return self.first_step if self.kind == "gradient" else 1.0

    def options(self) -> Solver:
        """The solver object."""
        if self.solver == "blahut-arimoto":
            return BlahutArimoto()
        formulation, proximal = ("ib-1", 1.0) if self.solver == "admm-ib" else (self.solver, 0.0)
        return DouglasRachford(
            formulation,  # type: ignore[arg-type]
            step="gradient" if self.kind == "gradient" else "exact",
            penalty="auto" if self.kind == "auto" else self.penalty * self.scale,
            relaxation=self.relaxation,
            proximal=proximal,
            inner=self.inner,
        )

    def family(self, name: str) -> Family:
        """The problems that it is given."""
        return FAMILIES[name] if self.scale == 1.0 else scaled(FAMILIES[name], self.scale)

    def converged(self, run: Solution) -> bool:
        """By the method's own rule: the paper's for gradient steps, stationarity for the others."""
        if self.kind != "gradient":
            return run.status.converged
        # A run that ends before the limit has met the paper's rule, or broke down with a residual above it.
        return run.iterations < self.max_iter and run.residuals.primal <= PAPER_PRIMAL_TOL

    def within(self, limit: int) -> Method:
        """The same with at most so many iterations."""
        return replace(self, max_iter=min(self.max_iter, limit))

    def call(self, joint: str, problems: str, more: str) -> str:
        """The Python that runs it: ``problems`` is the family with its parameters, for `sweep`, or one problem, for `solve`."""
        options = self.options()
        if isinstance(options, DouglasRachford):
            fields = [f'"{options.formulation}"']
            fields += [f"{name}={getattr(options, name)!r}" for name in ("step", "penalty", "relaxation")]
            fields += [f"proximal={options.proximal!r}"] * (options.proximal > 0.0)
            fields += [f"inner={options.inner}"] * (options.inner is not None)
            solver = f"ip.DouglasRachford({', '.join(fields)})"
        else:
            solver = f"ip.{type(options).__name__}()"
        return f"(ip.datasets.{joint}(), {problems}, {solver}, {more}, max_iter={self.max_iter}, tol={self.tol:g})"

    def family_call(self, family: str) -> str:
        """The Python of the problems that it is given."""
        return f"ip.{family}" if self.scale == 1.0 else f"scaled(ip.{family}, {self.scale:g})"
