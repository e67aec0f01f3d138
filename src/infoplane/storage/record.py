"""One run of a sweep: as it has ended (`RunRecord`), or as a file has it (`LazySolution`).

A record has the numbers by which runs are compared and counted. Of a run in a file only the numbers are in memory; its encoder and its
trace are read when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..errors import InvalidOptionError
from ..formatting import html_note
from ..information import Array, PlanePoint
from ..results import Run, Status, Trace, contenders, read_only
from ..solution import Solution
from ..task_problem import TaskLagrangian

LONGEST_TRACE = 2000
"""Iterations of a trace that a sweep keeps; of a longer one so many, spaced evenly, and `Trace.iteration` numbers them:
more points than a chart has pixels, in 100 kB."""


Key = tuple[int, int, int]
"""A run by the index of its parameter, the number of its solver and its start."""


@dataclass(frozen=True)
class RunRecord:
    """One run of the sweep: which one it is, and how it ended; nats."""

    index: int
    """Of the parameter in the grid."""
    solver: int
    """Number of the solver in the plan."""
    start: int
    loss: float
    ixz: float
    iyz: float
    status: Status
    lower_bound: float | None = None
    """Proven of the parameter's optimum; None if nothing was."""
    seconds: float = 0.0
    run: Run | None = None
    """Encoder, residuals, trace, ...; None once the record serves to compare runs only."""

    @property
    def key(self) -> Key:
        """What no two runs of a sweep share."""
        return self.index, self.solver, self.start

    @property
    def ended(self) -> Run:
        """The run itself, of a record that a worker has just made."""
        assert self.run is not None
        return self.run

    @property
    def trace(self) -> Trace | None:
        """How the run converged; kept only for runs that may be the best."""
        return self.ended.trace

    def without_run(self) -> RunRecord:
        """The numbers alone."""
        return replace(self, run=None)

    def with_trace(self, trace: Trace | None) -> RunRecord:
        """The same run with a trace, thinned to `LONGEST_TRACE` iterations; or with none."""
        kept = None if trace is None else trace.thinned(LONGEST_TRACE)
        return replace(self, run=replace(self.ended, trace=kept))


def contending(records: Sequence[RunRecord]) -> list[RunRecord]:
    """The records of which one is the best, or will be once its status is proven; the best as of now comes last."""
    ordered = sorted(records, key=lambda one: (one.solver, one.start))
    return [ordered[i] for i in contenders([one.loss for one in ordered], [one.status.converged for one in ordered])]


class LazySolution(Solution):
    """A `Solution` with its loss, I(X;Z), I(Y;Z) and |Z| as they were stored; encoder and trace are read, or were not kept."""

    @classmethod
    def of(
        cls,
        read_encoder: Callable[[], Array] | None,
        read_trace: Callable[[], Trace | None] | None = None,
        *,
        loss: float,
        ixz: float,
        iyz: float,
        clusters: int,
        **fields: Any,
    ) -> LazySolution:
        """A run from its numbers, the other fields of `Solution`, and how to read its encoder and trace; None if they were not kept."""
        run = object.__new__(cls)
        # The stored numbers take the place of those that Solution would compute from the encoder, once.
        known = {"loss": loss, "_point": PlanePoint(ixz, iyz), "_clusters": clusters}
        run.__setstate__({**fields, **known, "_read_encoder": read_encoder, "_read_trace": read_trace})
        return run

    def __getattr__(self, name: str) -> Any:
        # Only what is not there comes here: the encoder of a run that was made by `of`, until it was read.
        if name != "encoder" or "_clusters" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if self.__dict__["_read_encoder"] is None:
            raise InvalidOptionError(
                f"the encoder of start {self.start} at {self.parameter:g} was not kept: of a stored sweep only the best runs have one. "
                "Frontier.best_rows() numbers them."
            )
        self.__dict__["encoder"] = read_only(self.__dict__["_read_encoder"]())
        return self.__dict__["encoder"]

    @cached_property
    def trace(self) -> Trace | None:
        """How the run converged; None if no trace was kept."""
        read = self.__dict__.get("_read_trace")
        return None if read is None else read()

    @cached_property
    def _tasks(self) -> tuple[float, float]:
        """From the stored numbers: I(Y;Z) is the mean of I(U;Z) and I(S;Z), L = gamma I(X;Z) - keep I(U;Z) + hide I(S;Z)."""
        problem = self.problem
        if not isinstance(problem, TaskLagrangian):
            return super()._tasks
        iuz = (2.0 * problem.hide * self.iyz - (self.loss - problem.price * self.ixz)) / (problem.keep + problem.hide)
        return max(iuz, 0.0), max(2.0 * self.iyz - iuz, 0.0)

    @property
    def has_encoder(self) -> bool:
        """Whether the encoder was kept."""
        return "encoder" in self.__dict__ or self.__dict__["_read_encoder"] is not None

    def _clusters_html(self) -> str:
        return super()._clusters_html() if self.has_encoder else html_note("The encoder of this run was not kept.")

    @property
    def clusters(self) -> int:
        """|Z|: rows of the encoder."""
        return int(self.__dict__["_clusters"]) if "_clusters" in self.__dict__ else super().clusters
