"""What a solver is: options in a frozen object, and `begin`, which turns starts into a batch of runs that can be advanced.

`solve` and `sweep` know nothing else of a solver, so that a new one touches three files: its own, `registry.py`, and the docs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeGuard

import numpy as np
from scipy import sparse

from .errors import InvalidJointError
from .information import BLOCK, Array, entropy
from .solution import Solution, StartSummary, Trace
from .stopping import Residuals, Status, Stopping

if TYPE_CHECKING:
    from .joint import Joint
    from .problem import MarkovLagrangian

IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

LARGEST_TABLE = 50_000_000
"""Cells of the dense |X| x |Y| table that solvers without a sparse path may make of a sparse joint."""

SPARSE_CELLS, SPARSE_SHARE = 1_000_000, 0.1
"""A sparse joint is worked on as such from so many cells on, if at most this share of them holds mass: BLAS wins below."""


class Rows(NamedTuple):
    """P row by row (CSR): row x has its cells at indptr[x]:indptr[x+1], in columns ``indices`` with probabilities ``data``."""

    indptr: IntArray
    indices: IntArray
    data: Array


class Support:
    """A joint on its letters of positive mass, as dense C-contiguous tables or as sparse rows; and the way back."""

    def __init__(self, joint: Joint) -> None:
        self.joint = joint
        self.x, self.y = joint.support()
        self.p_x: Array = joint.p_x[self.x]
        self.p_y: Array = joint.p_y[self.y]
        self.cells = len(self.p_x) * len(self.p_y)
        self.sparse = bool(
            joint.is_sparse and self.cells >= SPARSE_CELLS and joint.p_xy.nnz <= SPARSE_SHARE * self.cells
        )

    @cached_property
    def P(self) -> Array:
        """p(x, y), dense; the joint's own table, read-only, if all letters have mass."""
        if self.cells > LARGEST_TABLE:
            raise InvalidJointError(
                f"this solver works on a dense table; the joint has {len(self.p_x):,} x {len(self.p_y):,} letters of positive mass, more "
                f"than {LARGEST_TABLE:,} cells. Use the default solver or 'accelerated', which work on sparse rows, or group rare letters."
            )
        p_xy = self.joint.p_xy.toarray() if self.joint.is_sparse else self.joint.p_xy
        if self.x.all() and self.y.all():
            return np.ascontiguousarray(p_xy)
        return np.ascontiguousarray(p_xy[np.ix_(self.x, self.y)])

    @cached_property
    def rows(self) -> Any:
        """p(x, y) as a scipy.sparse CSR array."""
        rows = sparse.csr_array(self.joint.p_xy)[self.x][:, self.y]
        rows.sort_indices()
        return rows

    @cached_property
    def csr(self) -> Rows:
        """p(x, y) as the arrays that compiled code takes."""
        rows = self.rows
        return Rows(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(float))

    @cached_property
    def T(self) -> Array:
        """p(y|x), a row a y."""
        return np.ascontiguousarray((self.P / self.p_x[:, None]).T)

    @cached_property
    def h_y(self) -> float:
        """H(Y)."""
        return entropy(self.p_y)

    @cached_property
    def K(self) -> Array:
        """p(x|y), a column a y."""
        return self.P / self.p_y

    def lift(self, W: Array) -> Array:
        """An encoder of the full alphabet, columns summing to one; letters of zero mass get the column p(z)."""
        W = np.maximum(W, 0.0)
        W /= W.sum(axis=0)
        if W.shape[1] == self.joint.shape[0]:
            return W
        full = np.empty((W.shape[0], self.joint.shape[0]))
        full[:, self.x] = W
        p_z = W @ self.p_x
        full[:, ~self.x] = (p_z / p_z.sum())[:, None]
        return full

    def lifted(self, encoders: Sequence[Array]) -> Iterator[list[Array]]:
        """All of them on the full alphabet, a few at a time: copies of all would need as much room again."""
        step = max(1, BLOCK // max(max((W.size for W in encoders), default=1), 1))
        for first in range(0, len(encoders), step):
            yield [self.lift(W) for W in encoders[first : first + step]]

    def losses(self, problem: MarkovLagrangian, encoders: Sequence[Array]) -> list[float]:
        """The Lagrangian at each."""
        return [loss for some in self.lifted(encoders) for loss in problem.values(self.joint, some)]


@dataclass(frozen=True)
class Run:
    """One start's end, on the support."""

    encoder: Array
    status: Status
    iterations: int
    residuals: Residuals
    died: int = 0
    trace: Trace | None = None
    found_by: str = ""
    lower_bound: float | None = None
    """A proven lower bound of the problem's optimum, in nats; None if nothing was proven."""


def finished(
    support: Support,
    problem: MarkovLagrangian,
    run: Run,
    *,
    seconds: float,
    parameter: float | None = None,
    start: int = 0,
    starts: tuple[StartSummary, ...] = (),
) -> Solution:
    """A run as the user sees it, on the full alphabet; the parameter is the problem's own unless a sweep varied another."""
    parameter = problem.parameter if parameter is None else parameter
    return Solution(
        joint=support.joint,
        problem=problem,
        encoder=support.lift(run.encoder),
        status=run.status,
        solver=run.found_by,
        iterations=run.iterations,
        seconds=seconds,
        residuals=run.residuals,
        trace=run.trace,
        parameter=math.nan if parameter is None else parameter,
        start=start,
        died=run.died,
        starts=starts,
        lower_bound=run.lower_bound,
    )


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
