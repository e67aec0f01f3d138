"""What a solver is, where its runs begin, and the one loop that drives those that iterate.

A solver has its options in a frozen object, and `run`, which answers a `Job`. Most iterate: they write `begin`, which makes an `Iteration`,
and `drive` does the rest. It owns the limit, the trace, the pauses, being stopped, and the status of a run:

    while some run goes on, and neither the user nor the clock asks for an end:
        advance every run by a block of steps
        keep their traces
        let the algorithm look at those that have ended
        tell whoever watches

What is compiled is `advance` alone. How long a block is follows the clock, and no result depends on it. `solve` and `sweep` use nothing
else of a solver, so that a new one touches three files: its own, `registry.py`, and its test.

Random encoders are the paper's start; a near-identity one was measured to miss fewer optima.
"""

from __future__ import annotations

import math
import reprlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import whole_number
from ..encoder.encoder import check_encoder
from ..errors import InvalidOptionError
from ..information import Array, IntArray
from ..joint.grouping import grouped
from ..joint.joint import Support
from ..kernels.common import RUNNING, STATIONARY, TRACE_COLUMNS
from ..problem import MarkovLagrangian, family_of
from ..solution import Residuals, Run, Status, Trace, judge
from .job import Iteration, Job, Seed

if TYPE_CHECKING:
    from ..joint.joint import Joint


class StartSizes(NamedTuple):
    """How large starts are, and may be."""

    first_clusters: int = 64
    """Clusters that a start has by default if X has more letters: solvers that find |Z| themselves grow it from there."""
    clusters_a_y: int = 4
    """... or so many for each letter of Y, as long as a start has no more than `start_entries` entries."""
    start_entries: int = 4_000_000
    encoder_bytes: int = 2**28
    """Memory that one encoder may take by default, 8 bytes for each of |Z| |X| entries: |Z| grows up to |X|, or to what fits in here
    (1,031 clusters for 32,537 letters). Up to thirteen encoders are held at a time, so that all stays below 4 GB. ``clusters`` asks
    for more."""
    starts_bytes: int = 2**32
    """Memory that all starts of a call may take together: beyond it they are refused, since solvers hold several times as much."""


SIZES = StartSizes()


KINDS = ("mixed", "random", "identity", "spread")
"""One near-identity and the others random; all random (the paper's); the near-identity one; anything between the two."""


def random_encoder(clusters: int, letters: int, rng: np.random.Generator) -> Array:
    """Unif(0,1) entries, columns normalised: the paper's start (Section V)."""
    W: Array = rng.random((clusters, letters))
    W /= W.sum(axis=0)
    return W


def near_identity(clusters: int, letters: int, groups: IntArray | None = None, shared: float = 0.05) -> Array:
    """0.95 I + 0.05/|Z|; with fewer clusters than letters, letters share clusters by group, or in turn."""
    W = np.full((clusters, letters), shared / clusters)
    W[np.arange(letters) % clusters if groups is None else groups, np.arange(letters)] += 1.0 - shared
    return W


def between(clusters: int, letters: int, rng: np.random.Generator, groups: IntArray | None = None) -> Array:
    """A share t of I and 1 - t of a random encoder, t uniform in (0, 1): a funnel's clusters hold few letters each."""
    W = random_encoder(clusters, letters, rng)
    t = rng.random()
    W *= 1.0 - t
    W[np.arange(letters) % clusters if groups is None else groups, np.arange(letters)] += t
    return W


def default_init(problem: MarkovLagrangian) -> str:
    """The kind of starts that the problem's family asks for."""
    return family_of(problem).init or ("spread" if problem.rho_zy < 0.0 else "mixed")


def default_clusters(letters: int, outcomes: int = 0) -> int:
    """Rows of a start: |X|, which suffices for the Lagrangian, or `SIZES.first_clusters`, or `SIZES.clusters_a_y` for each outcome y."""
    return min(letters, max(SIZES.first_clusters, min(SIZES.clusters_a_y * outcomes, SIZES.start_entries // letters)))


def most_clusters(letters: int, clusters: int | None = None, init: str | Array | None = None) -> int:
    """The cap on |Z|: what the user asked for, by number or by the rows of ``init``; else |X|, or what `SIZES.encoder_bytes` hold."""
    given = None if init is None or isinstance(init, str) else _stack(init).shape
    rows = None if given is None or len(given) < 2 else int(given[-2])
    if clusters is not None:
        most = whole_number("clusters", clusters)
        if rows is not None and rows > most:
            raise InvalidOptionError(f"init has {rows} clusters, more than clusters = {most}; leave clusters out.")
        return most
    if rows is not None:
        return rows
    return min(letters, max(SIZES.first_clusters, SIZES.encoder_bytes // (8 * letters)))


def make_starts(
    joint: Joint,
    clusters: int | None,
    starts: int,
    seed: np.random.SeedSequence,
    init: str | Array | None,
    first_only: bool = False,
) -> Array:
    """(starts, |Z|, |X|): the encoders that runs begin from, on the letters of positive mass.

    Start i depends on the seed and on i only, not on how many there are; those after the first are made unless ``first_only``.
    """
    starts = whole_number("starts", starts)
    seen, outcomes = joint.support()
    letters = int(seen.sum())
    if init is not None and not isinstance(init, str):
        return _given(joint, seen, init)[: 1 if first_only else None]
    kind = "mixed" if init is None else init
    if kind not in KINDS:
        raise InvalidOptionError(f"init must be an encoder or one of {', '.join(KINDS)}; found {init!r}.")
    clusters = (
        default_clusters(letters, int(outcomes.sum())) if clusters is None else whole_number("clusters", clusters)
    )
    made = 1 if first_only or kind == "identity" else starts
    if 8 * made * clusters * letters > SIZES.starts_bytes:
        raise InvalidOptionError(
            f"{made:,} starts of {clusters:,} clusters and {letters:,} letters would take {8 * made * clusters * letters / 2**30:,.0f} GB, "
            f"more than {SIZES.starts_bytes // 2**30}: ask for fewer starts or clusters."
        )
    groups = None if kind == "random" or clusters >= letters else _groups(joint, clusters)
    if kind == "identity":
        return near_identity(clusters, letters, groups)[None]
    W = np.empty((made, clusters, letters))
    for start, child in enumerate(seed.spawn(made)):
        rng = np.random.default_rng(child)
        if kind == "mixed" and start == 0:
            W[start] = near_identity(clusters, letters, groups)
        elif kind == "spread":
            W[start] = between(clusters, letters, rng, groups)
        else:
            W[start] = random_encoder(clusters, letters, rng)
    return W


@lru_cache(maxsize=4)
def _groups(joint: Joint, clusters: int) -> IntArray:
    """The letters in groups, found once for all starts and parameters of a joint."""
    return grouped(Support(joint), clusters)


def _given(joint: Joint, seen: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], init: Array) -> Array:
    """Encoders that the user brings: one (|Z|, |X|), or a stack of them."""
    stack = _stack(init)
    if stack.ndim == 2:
        stack = stack[None]
    if stack.ndim != 3 or stack.shape[0] == 0:
        raise InvalidOptionError(f"init must have shape (|Z|, |X|) or (starts, |Z|, |X|), found {stack.shape}.")
    for encoder in stack:
        check_encoder(joint, encoder)
    return np.ascontiguousarray(stack[:, :, seen])


def _stack(init: object) -> Array:
    """What the user brings as encoders, as numbers."""
    if hasattr(init, "columns"):
        raise InvalidOptionError(
            "init must be an array W[z, x] = p(z|x); found a frame, whose rows would be taken for z. Give frame.to_numpy().T."
        )
    try:
        given = np.asarray(init)
        if given.dtype.kind in "biuf":
            return np.array(given, dtype=float)
    except ValueError:  # rows of different lengths
        pass
    raise InvalidOptionError(f"init must be an encoder or one of {', '.join(KINDS)}; found {reprlib.repr(init)}.")


def seed_sequence(rng: Seed) -> np.random.SeedSequence:
    """One root for all randomness of a call, from whatever the user gave as rng."""
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng.integers(0, 2**63, size=4).tolist())
    if rng is not None and (isinstance(rng, bool) or not isinstance(rng, (int, np.integer)) or rng < 0):
        raise InvalidOptionError(f"rng must be None, a non-negative whole number or a numpy Generator; found {rng!r}.")
    return np.random.SeedSequence(None if rng is None else int(rng))


PAUSE = 0.25
"""Seconds of work between two pauses, about: an end that the user asks for is heard at the next one, unless kernels look themselves."""


LONGEST_BLOCK = 200
"""Most steps between two pauses, and so between two calls of the user's callback."""


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
    each = np.minimum(_left(iteration), steps)
    before = iteration.state.iterations.copy()
    trace = np.zeros((len(each), int(each.max(initial=0)), TRACE_COLUMNS if iteration.job.record else 0))
    if trace.shape[1]:
        iteration.advance(each, trace)
        iteration.resume()
    if iteration.job.record:
        for run, done in enumerate(iteration.state.iterations - before):
            iteration.recorded[run].append(trace[run, :done])
    return bool(_left(iteration).any())


def runs_of(iteration: Iteration) -> list[Run]:
    """Every run as it stands."""
    return [_ended(iteration, run, W) for run, W in enumerate(iteration.encoders())]


def _left(iteration: Iteration) -> IntArray:
    """Steps that each run may still do."""
    left: IntArray = (iteration.state.outcome == RUNNING) * (iteration.limit - iteration.state.iterations)
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
        status=judge(residuals, job.tol, otherwise),
        iterations=iterations,
        residuals=residuals,
        died=job.died(W),
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
        """What it is, for the command line's help: the first line of its class's docstring."""
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


class BestOfStarts(PathSolver):
    """A path solver that looks at all starts of a problem together, and hands nothing on: a subclass writes `run`."""

    def follow(self, job: Job, problems: Sequence[MarkovLagrangian]) -> Iterator[Run]:
        """The best run of each problem, from the same starts."""
        for problem in problems:
            one = job.but(problem=problem)
            runs = self.run(one)
            yield replace(one.best_run(runs), iterations=sum(run.iterations for run in runs))
            if job.budget.stopped:
                return
