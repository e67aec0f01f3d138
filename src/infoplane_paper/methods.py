"""A method: one solver, with one way to take its steps and to stop, and its numbers (c, alpha, limits).

gradient   the paper's step and rule, as its authors' scripts have them: one mean-subtracted gradient step per block, converged when half
the absolute sum of Ap - Bq is below 1e-6 in every column
majorise   the same c and alpha, argmins in closed form or, for ib-1, pf-1, pf-2 and pf-2v, by one or ten majorise-minimise steps; converged
when primal, dual and stationarity residual are <= tol
auto       the same with the automatic, row-scaled penalty
exact      as majorise, argmins taken to a tolerance: what the theorems speak of; only the linear rates are run so
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import infoplane as ip

from .settings import FIRST_STEP, LIMIT, PAPER_TOLERANCE

SMOOTHED = "heart_smoothed"
"""The heart data with 1e-3 added to the relative frequencies instead of the counts."""

FAMILIES: dict[str, Callable[[float], ip.MarkovLagrangian]] = {"bottleneck": ip.bottleneck, "funnel": ip.funnel}

BASELINE = "blahut-arimoto"
"""The solver that the paper's are compared with on bottlenecks."""

StepKind = Literal["gradient", "majorise", "auto", "exact"]
KINDS: tuple[StepKind, ...] = ("gradient", "majorise", "auto")

WAYS: Mapping[str, str] = {
    "gradient": "the paper's gradient step and stopping rule",
    "majorise": "our steps (the paper's c)",
    "auto": "our steps (automatic c)",
}
"""The ways of running that most claims are judged for, in words: the paper's, our steps at its c, our steps with automatic c."""


def load(joint: str) -> ip.Joint:
    """The joint of that name: a built-in one, or the heart data smoothed in the other way that the paper leaves open."""
    return ip.datasets.heart(smooth_probabilities=True) if joint == SMOOTHED else ip.datasets.load(joint)


def load_call(joint: str) -> str:
    """The Python that makes it."""
    return "ip.datasets.heart(smooth_probabilities=True)" if joint == SMOOTHED else f"ip.datasets.{joint}()"


@dataclass(frozen=True)
class Method:
    """One way to run one solver."""

    solver: str
    """A formulation, "admm-ib" or `BASELINE`."""
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
        return self.solver if self.solver == BASELINE else f"{self.solver}, {self.kind}"

    def options(self, *, acceleration: bool = True) -> ip.Solver:
        """The solver object; an extrapolated tail (``acceleration``) is not the recursion whose rate the theorems speak of."""
        if self.solver == BASELINE:
            return ip.BlahutArimoto()
        formulation, proximal = ("ib-1", 1.0) if self.solver == "admm-ib" else (self.solver, 0.0)
        return ip.DouglasRachford(
            formulation,  # type: ignore[arg-type]
            step="majorise" if self.kind == "auto" else self.kind,
            penalty="auto" if self.kind == "auto" else self.penalty,
            relaxation=self.relaxation,
            acceleration=acceleration,
            proximal=proximal,
            inner=self.inner,
            first_step=self.first_step,
            order=self.order,
        )

    def converged(self, run: ip.Solution) -> bool:
        """Whether a run converged by the method's own rule: the paper's for gradient steps, stationarity for the others."""
        if self.kind != "gradient":
            return run.converged
        # A run that ends before the limit has met the paper's rule, or broke down with a residual above it.
        return run.iterations < self.max_iter and run.residuals.primal <= 2 * PAPER_TOLERANCE

    @property
    def rule(self) -> str:
        """The same as Python."""
        if self.kind != "gradient":
            return "run.converged"
        return f"run.iterations < {self.max_iter} and run.residuals.primal <= {2 * PAPER_TOLERANCE:g}"

    def within(self, limit: int) -> Method:
        """The same method with at most so many iterations."""
        return replace(self, max_iter=min(self.max_iter, limit))

    def limits(self) -> dict[str, Any]:
        """The arguments of `infoplane.solve` and `infoplane.sweep` that say when a run ends."""
        return {"max_iter": self.max_iter, "tol": self.tol}


def solver_call(options: Any) -> str:
    """The Python that makes a solver object."""
    said = [f"{one.name}={value!r}" for one in fields(options) if (value := getattr(options, one.name)) != one.default]
    return f"ip.{type(options).__name__}({', '.join(said)})"


def arguments(**named: Any) -> str:
    """Named arguments as Python."""
    return ", ".join(f"{name}={value!r}" for name, value in named.items())


@contextmanager
def no_penalty_warnings() -> Iterator[None]:
    """Suppress `PenaltyWarning`: every setting of the paper has c below what the theorems ask for, or alpha = 2 in Solver II."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ip.PenaltyWarning)
        yield
