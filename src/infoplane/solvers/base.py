"""What a solver is: options in a frozen object, and `begin`, which turns starts into a batch of runs that can be advanced.

`solve` and `sweep` use nothing else of a solver, so that a new one touches three files: its own, `registry.py`, and its test.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
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


LONGEST_BLOCK = 200
"""Most iterations between two calls of the callback, and between two checks for an interruption."""

BLOCK_WORK = 4_000_000
"""Encoder entries that one block of iterations may update: large batches pause more often, so that Ctrl-C takes about a second."""


def block_length(starts: Array) -> int:
    """How many iterations one start (|Z|, |X|), or a batch of them (R, |Z|, |X|), does between two pauses."""
    return max(5, min(LONGEST_BLOCK, BLOCK_WORK // starts.size))


def work_of(support: Support, clusters: int) -> int:
    """Operations of one iteration of one start; matrix products of BLAS do many at once."""
    outcomes = support.rows.nnz / len(support.p_x) if support.sparse else len(support.p_y)
    return int(len(support.p_x) * clusters * (20 + (outcomes if outcomes < 64 else outcomes / 6)))


class Batch(Protocol):
    """Runs in progress. `advance` does a bounded amount of work, so that a caller can stop, or show progress, in between."""

    def advance(self, iterations: int) -> bool:
        """Do at most ``iterations`` iterations of every run; False once all have ended."""

    def runs(self, traces: bool = True) -> list[Run]:
        """Every run in its present state; one that has not ended counts as INTERRUPTED, unless its residuals are small."""


PAUSE = 0.25
"""Seconds of work between two pauses, about: Ctrl-C is heard at the next one."""

GROWTH = 4.0
"""Most times as many iterations as before, up to the next pause."""


class BlockPace:
    """How many iterations a batch does between two pauses, by the time that its last ones took: first one, at most `LONGEST_BLOCK`.

    Iterations of one solver cost a thousand times those of another of the same size. No result depends on the pauses.
    """

    def __init__(self) -> None:
        self.iterations = 1

    def advance(self, batch: Batch) -> bool:
        """Go on to the next pause; False once all runs have ended."""
        began = time.perf_counter()
        more = batch.advance(self.iterations)
        seconds = max(time.perf_counter() - began, 1e-9)
        faster = min(PAUSE / seconds, GROWTH)
        self.iterations = int(min(max(self.iterations * faster, 1.0), LONGEST_BLOCK))
        return more


class Solver(ABC):
    """Options with a registered name: the base class of every solver, each of which is a frozen dataclass.

    A subclass sets ``name`` and writes `begin`; the other members have the defaults that most solvers want.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The registered name, by which the command line calls it."""

    deterministic: bool = False
    """Whether it ignores all starts but the first, so that there is only one run."""

    grows: bool = False
    """Whether it finds |Z| itself, up to `Stopping.clusters`; else an answer has no more clusters than its start."""

    def refusal(self, problem: MarkovLagrangian) -> str | None:  # noqa: ARG002
        """Why it cannot solve a problem, or None."""
        return None

    def caution(self, support: Support, problem: MarkovLagrangian, start: Array) -> str | None:  # noqa: ARG002
        """What to warn about before it runs, such as options that no theorem covers; or None."""
        return None

    def useful_starts(self, support: Support, problem: MarkovLagrangian, clusters: int, starts: int) -> int:  # noqa: ARG002
        """How many of the starts asked for it will use, each with so many clusters: all, unless it keeps to a budget of its own."""
        return 1 if self.deterministic else starts

    @abstractmethod
    def begin(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> Batch:
        """A batch with run i for problems[i] from starts[i] (R, |Z|, |X|); with ``record`` it keeps traces."""


class PathSolver(Solver):
    """A solver that treats all starts, or parameters, together: each problem begins from what was found for its neighbour."""

    segment: int | None = 1
    """Neighbouring parameters that a sweep gives to one call of `follow`; None for the whole grid."""

    @abstractmethod
    def follow(
        self,
        support: Support,
        problems: Sequence[MarkovLagrangian],
        starts: Array,
        stopping: Stopping,
        record: bool = False,
    ) -> Iterator[Run | None]:
        """One Run per problem, in order; None after every bounded amount of work, so that a caller can stop in between.

        ``starts`` (R, |Z|, |X|) are encoders to begin the first problem from. With ``record`` runs keep traces, if there are any.
        """

    def begin(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> Batch:
        """The problems one after another."""
        return PathBatch(self.follow(support, problems, starts, stopping, record), len(problems))


def is_path(solver: Solver) -> TypeGuard[PathSolver]:
    """Whether a solver treats all its starts, or parameters, together."""
    return isinstance(solver, PathSolver)


class PathBatch:
    """The problems of a path solver, one after another: a `Batch`."""

    def __init__(self, path: Iterator[Run | None], problems: int) -> None:
        self.path, self.problems = path, problems
        self.done: list[Run] = []

    def advance(self, _iterations: int) -> bool:
        """Do one bounded amount of work; False once all problems have ended."""
        run = next(self.path)
        if run is not None:
            self.done.append(run)
        return len(self.done) < self.problems

    def stop(self) -> None:
        """Interrupt the problem under way: a path that can answers with what it has, another is silent."""
        if isinstance(self.path, Generator) and len(self.done) < self.problems:
            with suppress(KeyboardInterrupt, StopIteration):
                run = self.path.throw(KeyboardInterrupt)
                while run is None:
                    run = next(self.path)
                self.done.append(run)

    def runs(self, traces: bool = True) -> list[Run]:  # noqa: ARG002
        """The runs of the problems that have ended."""
        return list(self.done)
