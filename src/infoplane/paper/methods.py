"""A method: one solver, with one way to take its steps and to stop, and its numbers (c, alpha, limits).

gradient   the paper's step and rule, as its authors' scripts have them: one mean-subtracted gradient step per block, converged when half
the absolute sum of Ap - Bq is below 1e-6 in every column
exact      the same c and alpha, argmins taken exactly, converged when primal, dual and stationarity residual are <= tol
auto       the same with the automatic, row-scaled penalty
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
from .joints import call
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
    order: Literal["I", "II"] | None = None
    """The recursion; None is the formulation's own."""

    @property
    def label(self) -> str:
        """Solver and kind of step, as pieces and legends name it."""
        return self.solver if self.solver == "blahut-arimoto" else f"{self.solver}, {self.kind}"

    def options(self) -> Solver:
        """The solver object."""
        if self.solver == "blahut-arimoto":
            return BlahutArimoto()
        formulation, proximal = ("ib-1", 1.0) if self.solver == "admm-ib" else (self.solver, 0.0)
        return DouglasRachford(
            formulation,  # type: ignore[arg-type]
            step="gradient" if self.kind == "gradient" else "exact",
            penalty="auto" if self.kind == "auto" else self.penalty,
            relaxation=self.relaxation,
            proximal=proximal,
            inner=self.inner,
            first_step=self.first_step,
            order=self.order,
        )

    def converged(self, run: Solution) -> bool:
        """Whether a run converged by the method's own rule: the paper's for gradient steps, stationarity for the others."""
        if self.kind != "gradient":
            return run.status.converged
        # A run that ends before the limit has met the paper's rule, or broke down with a residual above it.
        return run.iterations < self.max_iter and run.residuals.primal <= 2 * PAPER_PRIMAL_TOL

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
            fields += [f"first_step={options.first_step:g}"] * (self.kind == "gradient")
            fields += [f'order="{options.order}"'] * (options.order is not None)
            solver = f"ip.DouglasRachford({', '.join(fields)})"
        else:
            solver = f"ip.{type(options).__name__}()"
        return f"({call(joint)}, {problems}, {solver}, {more}, max_iter={self.max_iter}, tol={self.tol:g})"
