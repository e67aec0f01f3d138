"""`sweep`: a whole frontier in one call, parameters side by side in threads."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .errors import InvalidOptionError, PenaltyWarning
from .frontier import Frontier
from .information import Array
from .joint import Joint
from .problem import MarkovLagrangian
from .registry import resolve
from .solution import Solution
from .solve import block_length
from .solver import Solver, Support, finished
from .starts import Seed, make_starts, seed_sequence
from .stopping import Stopping
from .threads import all_cores, one_blas_thread

Family = Callable[[float], MarkovLagrangian]


@dataclass(frozen=True)
class SweepProgress:
    """What a progress callback sees after every parameter."""

    done: int
    total: int
    parameter: float
    best_loss: float
    converged: int
    runs: int


class Progress(Protocol):
    """A plain callback, for notebooks and services."""

    def __call__(self, progress: SweepProgress, /) -> object:
        """Called in the thread of `sweep` after every parameter."""


def sweep(
    joint: Joint,
    family: Family,
    parameters: Sequence[float] | Array,
    solver: Solver | str | None = None,
    *,
    clusters: int | None = None,
    starts: int = 16,
    rng: Seed = None,
    max_iter: int = 20_000,
    tol: float = 1e-8,
    init: str | Array | None = None,
    executor: Executor | None = None,
    progress: bool | Progress = False,
) -> Frontier:
    """Solve ``family(parameter)`` for every parameter, from every start, and keep all of it.

    Parameters
    ----------
    joint, family, parameters
        p(x, y); a function from a parameter to a problem, such as `bottleneck` or `funnel`; the grid.
    solver, clusters, starts, rng, max_iter, tol, init
        As in `solve`. Start i of a parameter depends on the seed, the parameter's place in the grid and i only.
    executor
        Where parameters run; default threads on all cores (kernels release the GIL). Results do not depend on it.
    progress
        True shows a bar on stderr; a callable gets a `SweepProgress` after every parameter.

    Examples
    --------
    >>> import numpy as np, infoplane as ip
    >>> f = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, np.geomspace(0.1, 1, 4), starts=2, rng=0)
    >>> f
    Frontier(4 parameters, 8 runs, 8 converged)
    """
    grid = np.array(parameters, dtype=float)
    if grid.ndim != 1 or grid.size == 0:
        raise InvalidOptionError(f"parameters must be a non-empty list of numbers, found shape {grid.shape}.")
    stopping = Stopping(tol=tol, max_iter=max_iter)
    problems = [family(float(parameter)) for parameter in grid]
    chosen = resolve(solver, *problems)
    support = Support(joint)
    tasks = []
    for parameter, problem, seed in zip(grid, problems, seed_sequence(rng).spawn(len(grid)), strict=True):
        W = make_starts(joint, clusters, starts, seed, init)
        tasks.append((float(parameter), problem, W[:1] if chosen.deterministic else W))
    if sentence := chosen.caution(support, tasks[0][1], tasks[0][2][0]):
        warnings.warn(sentence, PenaltyWarning, stacklevel=2)
    stop = threading.Event()
    done: dict[int, list[Solution]] = {}
    complete = True
    with one_blas_thread(), _executor(executor) as pool, _listener(progress, len(tasks)) as tell:
        futures: dict[Future[list[Solution]], int] = {
            pool.submit(_solve_parameter, chosen, support, task, stopping, stop): index
            for index, task in enumerate(tasks)
        }
        try:
            for future in as_completed(futures):
                runs = future.result()
                done[futures[future]] = runs
                if tell is not None:
                    tell(_told(done, futures[future], len(tasks)))
        except KeyboardInterrupt:
            complete = False
            stop.set()
            for future in futures:
                future.cancel()
    return Frontier(joint, [run for index in sorted(done) for run in done[index]], complete=complete)


def _solve_parameter(
    solver: Solver,
    support: Support,
    task: tuple[float, MarkovLagrangian, Array],
    stopping: Stopping,
    stop: threading.Event,
) -> list[Solution]:
    """All starts of one parameter; a share of the batch's time by iterations is each run's own."""
    parameter, problem, W = task
    began = time.perf_counter()
    batch = solver.begin(support, [problem] * len(W), W, stopping, False)
    while batch.advance(block_length(W)) and not stop.is_set():
        pass
    runs = batch.runs()
    seconds = time.perf_counter() - began
    iterations = max(sum(run.iterations for run in runs), 1)
    return [
        finished(support, problem, run, seconds=seconds * run.iterations / iterations, parameter=parameter, start=start)
        for start, run in enumerate(runs)
    ]


def _told(done: dict[int, list[Solution]], index: int, total: int) -> SweepProgress:
    runs = [run for one in done.values() for run in one]
    return SweepProgress(
        done=len(done),
        total=total,
        parameter=done[index][0].parameter,
        best_loss=min(run.loss for run in done[index]),
        converged=sum(run.status.converged for run in runs),
        runs=len(runs),
    )


@contextmanager
def _executor(executor: Executor | None) -> Iterator[Executor]:
    """The user's executor, left open; or threads on all cores, closed at the end."""
    if executor is not None:
        yield executor
        return
    with all_cores() as pool:
        yield pool


@contextmanager
def _listener(progress: bool | Progress, total: int) -> Iterator[Progress | None]:
    """The user's callback, a bar, or nothing."""
    if progress is False:
        yield None
    elif progress is True:
        from .progress import bar

        with bar(total) as tell:
            yield tell
    else:
        yield progress
