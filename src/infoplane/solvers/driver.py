"""The one loop that drives every iteration: it owns the limit, the trace, the pauses, being stopped, and the status of a run.

An algorithm says what its state is, how it begins, what a step does and what it measures (`Iteration`), and nothing else:

    while some run goes on, and neither the user nor the clock asks for an end:
        advance every run by a block of steps
        keep their traces
        let the algorithm look at those that have ended
        tell whoever watches

What is compiled is `advance` alone. How long a block is follows the clock, and no result depends on it.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..information import Array, IntArray
from ..kernels.common.rows import RUNNING, STATIONARY, TRACE_COLUMNS
from ..solution import Run, Trace
from ..status import Residuals, Status
from .job import Job

PAUSE = 0.25
"""Seconds of work between two pauses, about: an end that the user asks for is heard at the next one, unless kernels look themselves."""


LONGEST_BLOCK = 200
"""Most steps between two pauses, and so between two calls of the user's callback."""


class IterationState(Protocol):
    """What the driver reads of an algorithm's state: arrays with one row per run, which `Iteration.advance` updates in place."""

    @property
    def outcome(self) -> IntArray:
        """RUNNING, or how the run has ended (`kernels/common/rows.py`)."""

    @property
    def iterations(self) -> IntArray:
        """Steps done."""

    @property
    def residuals(self) -> Array:
        """Primal, dual, stationarity."""


class Iteration(ABC):
    """Runs of one algorithm side by side, one from each start of a job. The constructor is how they begin.

    Examples
    --------
    >>> import infoplane as ip, numpy as np
    >>> from infoplane.joint.support import Support
    >>> support = Support(ip.datasets.paper_uniform())
    >>> job = ip.Job(support, ip.bottleneck(0.2), starts=np.eye(3)[None])
    >>> begun = ip.BlahutArimoto().begin(job)
    >>> isinstance(begun, ip.Iteration), len(begun.encoders())
    (True, 1)
    """

    state: Any
    """A `IterationState`."""
    found_by: str
    """The name that solutions give as their solver."""
    advice: str = ""
    """What to change if a run does not converge, as in `Solution`."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.limit = job.budget.affordable(job.work)
        """Steps that a run may do."""
        self.recorded: list[list[Array]] = [[] for _ in job.starts]
        """Rows of the traces, block by block."""

    @abstractmethod
    def advance(self, steps: IntArray, trace: Array) -> None:
        """Do steps[r] more steps of run r, fewer if it ends or the budget is stopped, and fill a row of trace[r] for each.

        A trace without columns is not filled.
        """

    def resume(self) -> None:  # noqa: B027
        """Called after every block: an algorithm that tests stationary points further may let their runs go on."""

    @abstractmethod
    def encoders(self) -> list[Array]:
        """The encoder of every run as it stands, without dead clusters; the residuals of the state are brought up to date with them."""


@dataclass(frozen=True)
class Progress:
    """What a callback sees between blocks of iterations: nats.

    Examples
    --------
    >>> import infoplane as ip
    >>> seen = []
    >>> _ = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "blahut-arimoto", rng=0, callback=seen.append)
    >>> type(seen[0]).__name__, seen[-1].runs
    ('Progress', 16)
    """

    iterations: int
    """Most iterations that any run has done."""
    runs: int
    """Starts."""
    running: int
    """Those that have not ended."""
    best_loss: float
    """The lowest loss of any of them."""


Callback = Callable[[Progress], object]
"""What a user gives to be told; a true result asks for an end."""


def together(some: Sequence[Progress]) -> Progress:
    """The progress of several threads as one; that of none, before the first report."""
    return Progress(
        max((one.iterations for one in some), default=0),
        sum(one.runs for one in some),
        sum(one.running for one in some),
        min((one.best_loss for one in some), default=math.inf),
    )


class BlockPace:
    """How many steps there are between two pauses: first by their work, then by the time that the last ones took.

    Steps of one algorithm cost a thousand times those of another of the same size.
    """

    def __init__(self, job: Job) -> None:
        watched = job.budget.watch is not None  # whoever watches hears of the first step
        # The first block takes about 2e6 operations, all runs together: milliseconds, or a tenth of a second where a step solves equations.
        affordable = 1.0 if watched else 2e6 / (job.work * max(len(job.starts), 1))
        self.steps = int(min(max(affordable, 1.0), LONGEST_BLOCK))

    def learn(self, seconds: float) -> None:
        """Take note of how long the last block took."""
        # No more than 4 times as many steps as before: the first step of a run may take longer than the others.
        faster = min(PAUSE / max(seconds, 1e-9), 4.0)
        self.steps = int(min(max(self.steps * faster, 1.0), LONGEST_BLOCK))


def drive(iteration: Iteration) -> list[Run]:
    """Every run at its end, or as it stands once the budget is stopped."""
    budget, pace, going = iteration.job.budget, BlockPace(iteration.job), True
    while going and not budget.over:
        began = time.perf_counter()
        going = advanced(iteration, pace.steps)
        pace.learn(time.perf_counter() - began)
        if budget.watch is not None:
            budget.watch.tell(_progress(iteration), budget)
    return runs_of(iteration)


def advanced(iteration: Iteration, steps: int) -> bool:
    """Do at most so many steps of every run that has not ended; False once all have."""
    state: IterationState = iteration.state
    each = np.minimum(_left(iteration), steps)
    before = state.iterations.copy()
    trace = np.zeros((len(each), int(each.max(initial=0)), TRACE_COLUMNS if iteration.job.record else 0))
    if trace.shape[1]:
        iteration.advance(each, trace)
        iteration.resume()
    if iteration.job.record:
        for run, done in enumerate(state.iterations - before):
            iteration.recorded[run].append(trace[run, :done])
    return bool(_left(iteration).any())


def runs_of(iteration: Iteration) -> list[Run]:
    """Every run as it stands."""
    return [_ended(iteration, run, W) for run, W in enumerate(iteration.encoders())]


def _left(iteration: Iteration) -> IntArray:
    """Steps that each run may still do."""
    state: IterationState = iteration.state
    left: IntArray = (state.outcome == RUNNING) * (iteration.limit - state.iterations)
    return left


def _ended(iteration: Iteration, run: int, W: Array) -> Run:
    """One run, with the status that its residuals and its outcome say."""
    state, job, recorded = iteration.state, iteration.job, iteration.recorded[run]
    residuals = Residuals(*state.residuals[run].tolist())
    iterations = int(state.iterations[run])
    otherwise, advice = Status.STALLED, iteration.advice
    if state.outcome[run] in (RUNNING, STATIONARY):
        unfinished = iterations < iteration.limit
        otherwise = Status.INTERRUPTED if unfinished and job.budget.stopped else Status.ITERATION_LIMIT
        if unfinished and state.outcome[run] == RUNNING and job.budget.seconds_left <= 0.0:
            advice = "raise max_seconds"
    return Run(
        encoder=W,
        status=job.judge(residuals, otherwise),
        iterations=iterations,
        residuals=residuals,
        died=job.starts.shape[1] - len(W),
        trace=Trace.from_columns(np.concatenate(recorded)) if recorded else None,
        found_by=iteration.found_by,
        advice=advice,
    )


def _progress(iteration: Iteration) -> Progress:
    iterations = iteration.state.iterations
    return Progress(
        iterations=int(iterations.max(initial=0)),
        runs=len(iterations),
        running=int(np.count_nonzero(_left(iteration))),
        best_loss=min(iteration.job.losses(iteration.encoders())),
    )
