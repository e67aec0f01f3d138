"""What a solver is: options in a frozen object, and `run`, which answers a `Job`.

Most solvers iterate: they write `begin`, which makes an `Iteration`, and the one driver does the rest (`driver`). `solve` and `sweep` use
nothing else of a solver, so that a new one touches three files: its own, `registry.py`, and its test.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ..information import Array
from ..joint.support import Support
from ..runtime.budget import Budget
from ..solution import Run
from ..status import STATIONARY_TOL, Residuals, Status, judge

if TYPE_CHECKING:
    from ..problem import MarkovLagrangian
    from .driver import Iteration


@dataclass(frozen=True)
class Job:
    """What a solver is asked for: one problem on one joint, from some starts, within a budget."""

    support: Support
    problem: MarkovLagrangian
    starts: Array
    """Encoders of the letters of positive mass, (R, |Z|, |X|)."""
    tol: float = STATIONARY_TOL
    """Residuals that count as stationary."""
    clusters: int | None = None
    """Most rows of an answer's encoder; None: as many as X has letters. Starts may have fewer."""
    record: bool = False
    """Whether runs keep traces."""
    budget: Budget = field(default_factory=Budget)

    def but(self, **changes: Any) -> Job:
        """The same job, with some fields changed."""
        return replace(self, **changes)

    def within(self, **limits: Any) -> Job:
        """The same job, with some limits of its budget changed."""
        return replace(self, budget=self.budget.part(**limits))

    @property
    def letters(self) -> int:
        """Letters of X of positive mass."""
        return len(self.support.p_x)

    @property
    def most(self) -> int:
        """The cap on |Z|."""
        return self.letters if self.clusters is None else min(self.clusters, self.letters)

    @property
    def capped(self) -> bool:
        """Whether |Z| may not be what X has letters."""
        return self.most < self.letters

    def losses(self, encoders: Sequence[Array]) -> list[float]:
        """The Lagrangian at each encoder."""
        return losses_of(self.support, self.problem, encoders)

    def loss(self, W: Array) -> float:
        """The Lagrangian at one encoder."""
        return self.losses([W])[0]

    def best(self, encoders: Sequence[Array]) -> int:
        """Which of some encoders has the lowest loss."""
        return int(np.argmin(self.losses(encoders)))

    def best_run(self, runs: Sequence[Run]) -> Run:
        """The run of lowest loss."""
        return runs[self.best([run.encoder for run in runs])]

    @property
    def work(self) -> int:
        """Operations of one iteration of one start."""
        return work_of(self.support, self.starts.shape[1])

    def judge(self, residuals: Residuals, otherwise: Status) -> Status:
        """STATIONARY or ALMOST if the residuals are that small, whatever ended the run; else ``otherwise``."""
        return judge(residuals, self.tol, otherwise)

    def standing(self, W: Array, found_by: str) -> Run:
        """An encoder as a run that ended here; STATIONARY if it is."""
        residuals = Residuals(0.0, 0.0, self.problem.stationarity(self.support.joint, self.support.lift(W)))
        return Run(W, self.judge(residuals, Status.STALLED), iterations=0, residuals=residuals, found_by=found_by)


def work_of(support: Support, clusters: int) -> int:
    """Operations of one iteration of an encoder of so many clusters; matrix products of BLAS do many at once."""
    outcomes = support.rows.nnz / len(support.p_x) if support.sparse else len(support.p_y)
    return int(len(support.p_x) * clusters * (20 + (outcomes if outcomes < 64 else outcomes / 6)))


def losses_of(support: Support, problem: MarkovLagrangian, encoders: Sequence[Array]) -> list[float]:
    """The Lagrangian at each encoder of the support."""
    return [loss for some in support.lifted(encoders) for loss in problem.values(support.joint, some)]


class Solver(ABC):
    """Options with a registered name: the base class of every solver, each of which is a frozen dataclass.

    A subclass sets ``name`` and writes `begin`, if it iterates, or else `run`; the other members have the defaults that most solvers want.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The registered name, by which the command line calls it."""

    deterministic: bool = False
    """Whether it ignores all starts but the first, so that there is only one run."""

    grows: bool = False
    """Whether it finds |Z| itself, up to the cap; else an answer has no more clusters than its start."""

    def refusal(self, problem: MarkovLagrangian) -> str | None:  # noqa: ARG002
        """Why it cannot solve a problem, or None."""
        return None

    def caution(self, support: Support, problem: MarkovLagrangian, start: Array) -> str | None:  # noqa: ARG002
        """What to warn about before it runs, such as options that no theorem covers; or None."""
        return None

    def useful_starts(self, support: Support, problem: MarkovLagrangian, clusters: int, starts: int) -> int:  # noqa: ARG002
        """How many of the starts asked for it will use, each with so many clusters: all, unless it keeps to a budget of its own."""
        return 1 if self.deterministic else starts

    def begin(self, job: Job) -> Iteration:
        """The runs of a job, before their first iteration."""
        raise NotImplementedError(f"{type(self).__name__} must write begin(job), or run(job).")

    def run(self, job: Job) -> list[Run]:
        """A run from every start, at its end; if the budget is stopped, as it stands."""
        from .driver import drive

        return drive(self.begin(job))


class PathSolver(Solver):
    """A solver that treats all its starts, or a row of problems, together: each problem begins from what was found for its neighbour."""

    segment: int | None = 1
    """Neighbouring parameters that a sweep gives to one call of `follow`; None for the whole grid."""

    @abstractmethod
    def follow(self, job: Job, problems: Sequence[MarkovLagrangian]) -> Iterator[Run]:
        """One run for each of the problems, in order, as they end; the first begins from the job's starts.

        A budget that is stopped ends it, with what there is for the problem under way, if there is anything.
        """

    def run(self, job: Job) -> list[Run]:
        """The job's own problem."""
        return list(self.follow(job, [job.problem]))


def is_path(solver: Solver) -> TypeGuard[PathSolver]:
    """Whether a solver treats all its starts, or parameters, together."""
    return isinstance(solver, PathSolver)
