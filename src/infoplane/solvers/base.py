"""What a solver is: options in a frozen object, and `run`, which answers a `Job`.

Most solvers iterate: they write `begin`, which makes an `Iteration`, and the one driver does the rest (`driver`). `solve` and `sweep` use
nothing else of a solver, so that a new one touches three files: its own, `registry.py`, and its test.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeGuard

from ..information import Array
from ..joint.joint import Support
from ..results import Run
from .driver import Iteration, drive
from .job import Job

if TYPE_CHECKING:
    from ..problem import MarkovLagrangian


class Solver(ABC):
    """Options with a registered name: the base class of every solver, each of which is a frozen dataclass.

    A subclass sets ``name`` and writes `begin`, if it iterates, or else `run`; the other members have the defaults that most solvers want.

    Examples
    --------
    >>> import infoplane as ip
    >>> isinstance(ip.SOLVERS["merging"], ip.Solver), ip.SOLVERS["merging"].name
    (True, 'merging')
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The registered name, by which the command line calls it."""

    @property
    def description(self) -> str:
        """What it is, in a line, for the command line's help: the first of its class's docstring."""
        return (type(self).__doc__ or type(self).__name__).strip().splitlines()[0].rstrip(".")

    deterministic: bool = False
    """Whether it ignores all starts but the first, so that there is only one run."""

    grows: bool = False
    """Whether it finds |Z| itself, up to the cap; else an answer has no more clusters than its start."""

    serves_tasks: bool = False
    """Whether it solves problems that keep one target and hide another (`TaskLagrangian`)."""

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
        return drive(self.begin(job))


class PathSolver(Solver):
    """A solver that treats all its starts, or a row of problems, together: each problem begins from what was found for its neighbour.

    Examples
    --------
    >>> import infoplane as ip
    >>> isinstance(ip.Annealing(), ip.PathSolver)
    True
    """

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
