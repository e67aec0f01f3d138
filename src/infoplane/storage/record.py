"""`RunRecord`: one run of a sweep that has ended, with the numbers by which runs are compared and counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..solution import Run, Trace, contenders
from ..status import Status

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
