"""What a solver is: options in a frozen object, and `begin`, which turns starts into a batch of runs that can be advanced.

`solve` and `sweep` know nothing else of a solver, so that a new one touches three files: its own, `registry.py`, and the docs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeGuard

from ..information import Array
from ..joint.support import Support
from ..solution import Run
from .stopping import Stopping

if TYPE_CHECKING:
    from ..problem import MarkovLagrangian


def losses_of(support: Support, problem: MarkovLagrangian, encoders: Sequence[Array]) -> list[float]:
    """The Lagrangian at each encoder of the support."""
    return [loss for some in support.lifted(encoders) for loss in problem.values(support.joint, some)]


class Batch(Protocol):
    """Runs under way. `advance` does a bounded amount of work, so that a caller can look, stop, or show progress in between."""

    def advance(self, iterations: int) -> bool:
        """At most so many iterations of every run; False once all have ended."""

    def runs(self, traces: bool = True) -> list[Run]:
        """Every run as it stands; one that has not ended counts as INTERRUPTED, unless its residuals are small."""


class Solver(Protocol):
    """Frozen options with a registered name."""

    @property
    def name(self) -> str:
        """What the command line calls it."""

    @property
    def deterministic(self) -> bool:
        """Whether it ignores starts, so that one run is all there is."""

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Why it cannot solve a problem, or None."""

    def caution(self, support: Support, problem: MarkovLagrangian, start: Array) -> str | None:
        """What the theorems do not cover in these options, for a warning; or None."""

    def begin(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> Batch:
        """A batch with run i for problems[i] from starts[i] (R, |Z|, |X|); with ``record`` it keeps traces."""


class PathSolver(Solver, Protocol):
    """A solver that is better at many parameters than at one: each problem begins from what its neighbour has found."""

    @property
    def segment(self) -> int | None:
        """Neighbouring parameters that a sweep gives to one call of `follow`; None for the whole grid."""

    def follow(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping
    ) -> Iterator[Run | None]:
        """One Run a problem, in order. None after every bounded piece of work, so that a caller can look, or stop, in between.

        ``starts`` (R, |Z|, |X|) are encoders to begin the first problem from.
        """


def is_path(solver: Solver) -> TypeGuard[PathSolver]:
    """Whether a solver looks at all its starts, or parameters, together."""
    return hasattr(solver, "follow")


class PathBatch:
    """The problems of a path solver, one after another: a `Batch`."""

    def __init__(self, path: Iterator[Run | None], problems: int) -> None:
        self.path, self.problems = path, problems
        self.done: list[Run] = []

    def advance(self, _iterations: int) -> bool:
        """One bounded piece of work."""
        run = next(self.path)
        if run is not None:
            self.done.append(run)
        return len(self.done) < self.problems

    def runs(self, traces: bool = True) -> list[Run]:  # noqa: ARG002
        """The problems that have ended."""
        return list(self.done)
