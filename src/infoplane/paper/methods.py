"""A method: one solver, with one way to take its steps and to stop, and its numbers (c, alpha, limits).

    gradient   the paper's step and rule: one mean-subtracted gradient step per block, converged when sum |Ap - Bq| <= 2e-6
    exact      the same c and alpha, argmins taken exactly, converged when primal, dual and stationarity residual are <= tol
    auto       the same with the automatic, row-scaled penalty

Back-tracking begins at xi = 1 in `DouglasRachford`. To begin at xi = s is the same as to solve s L with penalty s c from xi = 1:
gradients and multipliers are multiplied by s, Armijo's condition and the iterates are the same. So `scaled` sets the first step length.
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

ProblemAt = Callable[[float], MarkovLagrangian]
"""The problem of a family at a parameter."""

FAMILIES: dict[str, ProblemAt] = {"bottleneck": bottleneck, "funnel": funnel}

StepKind = Literal["gradient", "exact", "auto"]
KINDS: dict[StepKind, str] = {
    "gradient": "the paper's gradient step and stopping rule",
    "exact": "exact steps (the paper's c)",
    "auto": "exact steps (automatic c)",
}


def scaled(family: ProblemAt, s: float) -> ProblemAt:
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
    kind: StepKind
    penalty: float = 1.0
    """c; the automatic penalty has none."""
    relaxation: float = 1.0
    first_step: float = FIRST_STEP
    """xi at the start of back-tracking; gradient only."""
    max_iter: int = LIMIT
    tol: float = 1e-8
    inner: int | None = None
    """Majorise-minimise steps per argmin; None leaves it to the solver."""

    @property
    def label(self) -> str:
        """Solver and kind of step, as pieces and legends name it."""
        return self.solver if self.solver == "blahut-arimoto" else f"{self.solver}, {self.kind}"

    @property
    def factor(self) -> float:
        """By what the problem is multiplied, so that back-tracking begins at `first_step`."""
        return self.first_step if self.kind == "gradient" else 1.0

    def options(self) -> Solver:
        """The solver object."""
        if self.solver == "blahut-arimoto":
            return BlahutArimoto()
        formulation, proximal = ("ib-1", 1.0) if self.solver == "admm-ib" else (self.solver, 0.0)
        return DouglasRachford(
            formulation,  # type: ignore[arg-type]
            step="gradient" if self.kind == "gradient" else "exact",
            penalty="auto" if self.kind == "auto" else self.penalty * self.factor,
            relaxation=self.relaxation,
            proximal=proximal,
            inner=self.inner,
        )

    def family(self, name: str) -> ProblemAt:
        """The problems that the solver is given: the family's, times `factor`."""
        return FAMILIES[name] if self.factor == 1.0 else scaled(FAMILIES[name], self.factor)

    def converged(self, run: Solution) -> bool:
        """Whether a run converged by the method's own rule: the paper's for gradient steps, stationarity for the others."""
        if self.kind != "gradient":
            return run.status.converged
        # A run that ends before the limit has met the paper's rule, or broke down with a residual above it.
        return run.iterations < self.max_iter and run.residuals.primal <= PAPER_PRIMAL_TOL

    def within(self, limit: int) -> Method:
        """The same method with at most so many iterations."""
        return replace(self, max_iter=min(self.max_iter, limit))

    def call(self, joint: str, problems: str, more: str) -> str:
        """The arguments, as Python, of the call that runs it.

        ``problems`` is the family with its parameters, for `sweep`, or one problem, for `solve`; ``more`` are further arguments.
        """
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
        """The Python of `family`."""
        return f"ip.{family}" if self.factor == 1.0 else f"scaled(ip.{family}, {self.factor:g})"
